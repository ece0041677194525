//! Each rule: what breaks it by a little is refused with its line, message and fix, and what just keeps it is taken.

use std::fs;

use crate::defects::Catalogue;

const BLOCK: &str = "blocks/box-v1/block.toml";
const REGISTERS: &str = "blocks/box-v1/registers.toml";
const EVENTS: &str = "blocks/box-v1/events.toml";
const METRICS: &str = "blocks/box-v1/metrics.toml";
const FAMILY: &str = "families/toy.toml";

/// A change, where its defect stands, and what is report of it.
pub struct Case {
    file: &'static str,
    from: &'static str,
    to: &'static str,
    /// Text that begins on the line of the defect.
    at: &'static str,
    message: &'static str,
    fix: &'static str,
}

pub const fn case(
    file: &'static str,
    from: &'static str,
    to: &'static str,
    at: &'static str,
    message: &'static str,
    fix: &'static str,
) -> Case {
    Case { file, from, to, at, message, fix }
}

const QUANTITY: &str = "multiply or divide by instances, or correct the quantity";
const TOY_RATE: &str = "[[metric]]\nname = \"TOY_RATE\"";

const CASES: &[Case] = &[
    case(
        METRICS,
        "quantity = \"extensive\"\n",
        "",
        TOY_RATE,
        "TOY_RATE: a number in \"/s\" may or may not add up over instances",
        "write quantity = \"extensive\" or \"intensive\"",
    ),
    case(
        METRICS,
        "TOYS.RED / seconds",
        "TOYS.RED / TOYS.BLUE",
        TOY_RATE,
        "TOY_RATE is extensive, and its expression is not",
        QUANTITY,
    ),
    case(
        METRICS,
        "TOYS.RED / seconds",
        "1 - TOYS.RED",
        TOY_RATE,
        "TOY_RATE is extensive, and its expression is not: its terms grow differently with the number of instances",
        QUANTITY,
    ),
    case(
        METRICS,
        "quantity = \"extensive\"",
        "quantity = \"intensive\"\nside = \"sent\"",
        TOY_RATE,
        "TOY_RATE is intensive, and says at which side it counts",
        "leave out the side: only what adds up is counted twice",
    ),
    case(
        REGISTERS,
        "width = 32",
        "width = 24",
        "[[register]]\nname = \"ctl\"",
        "register ctl is 24 bits wide",
        "write 8, 16, 32 or 64",
    ),
    case(
        REGISTERS,
        "width = 32",
        "width = 32\nreset = 0x100000000",
        "[[register]]\nname = \"ctl\"",
        "reset 0x100000000 is wider than the register",
        "correct the reset value",
    ),
    case(
        REGISTERS,
        "name = \"ctl\"\n",
        "name = \"ctl\"\nplacement = \"other\"\n",
        "[[register]]\nname = \"ctl\"",
        "unit box has no placement \"other\"",
        "add the [[placement]] or correct the name",
    ),
    case(
        REGISTERS,
        "{ name = \"ev_sel\",   bits = \"7:0\",   access = \"RW\", description",
        "{ name = \"ev_sel\",   bits = \"7:0\",   access = \"RW\", values = \"none\", description",
        "{ name = \"ev_sel\"",
        "toy has no value set \"none\"",
        "add values/none.toml to a block of the family or correct the name",
    ),
    case(
        REGISTERS,
        "bits = \"31:24\"",
        "bits = \"24:31\"",
        "{ name = \"thresh\"",
        "\"24:31\" is no bit range",
        "write \"31:24\" or \"22\"",
    ),
    case(
        BLOCK,
        "counters = 2\n",
        "counters = \"2\"\n",
        "counters = \"2\"",
        "\"counters\" is not a number from 0 to 0xff",
        "correct the number",
    ),
    case(
        BLOCK,
        "counters = 2\n",
        "counters = 256\n",
        "counters = 256",
        "\"counters\" is not a number from 0 to 0xff",
        "correct the number",
    ),
    case(
        BLOCK,
        "counters = 2\n",
        "counters = true\n",
        "counters = true",
        "\"counters\" is a boolean",
        "write a number",
    ),
    case(BLOCK, "title = \"Box\"\n", "title = 7\n", "title = 7", "\"title\" is an integer", "write a string in quotes"),
    case(BLOCK, "title = \"Box\"\n", "title = \" \"\n", "title = \" \"", "\"title\" is empty", "write what it is"),
    case(BLOCK, "title = \"Box\"\n", "", "description = \"A toy box.\"", "\"title\" is missing", "add title = \"…\""),
    case(
        BLOCK,
        "counter_width = 48\n",
        "",
        "title = \"Box\"",
        "\"counter_width\" is missing",
        "add counter_width = 0x…",
    ),
    case(
        FAMILY,
        "space = \"msr\"",
        "space = \"mrs\"",
        "space = \"mrs\"",
        "no address space \"mrs\"",
        "write msr, pcicfg or mmio",
    ),
    case(
        FAMILY,
        "base = 0x100\n",
        "base = 0x100\ncount = 2\n",
        "count = 2\n",
        "several instances at one address",
        "add stride = 0x…",
    ),
    case(
        EVENTS,
        "counters = [0, 1]\nsource = \"1.2\"\ndescription = \"Toys",
        "source = \"1.2\"\ndescription = \"Toys",
        "[[event]]\nname = \"TOYS\"",
        "TOYS names no counters",
        "add counters = [0, 1, …]: the register restrictions of the document",
    ),
    case(
        EVENTS,
        "counters = [0, 1]\nsource = \"1.2\"\ndescription = \"Toys",
        "counters = [0, 2]\nsource = \"1.2\"\ndescription = \"Toys",
        "[[event]]\nname = \"TOYS\"",
        "TOYS names counter 2; unit box has 2",
        "correct the counters",
    ),
    case(
        EVENTS,
        "{ name = \"BLUE\",",
        "{ name = \"BLUE\", counters = [2],",
        "{ name = \"BLUE\"",
        "TOYS.BLUE names counter 2; unit box has 2",
        "correct the counters",
    ),
    case(
        EVENTS,
        "measure = \"clock\"",
        "measure = \"clocks\"",
        "measure = \"clocks\"",
        "no measure \"clocks\"",
        "write one of arrivals, occupancy, nonempty, clock, counter0, halfclock",
    ),
    case(
        EVENTS,
        "{ name = \"BLUE\",",
        "{ name = \"BLUE\", filters = [\"colour\"],",
        "{ name = \"BLUE\"",
        "unit box has no filter field \"colour\"",
        "name a field of a register with role filter or control, or of the field_set",
    ),
    case(
        METRICS,
        "\"/s\"",
        "\"furlong\"",
        "[[metric]]",
        "no unit of measure \"furlong\"",
        "use one of catalog/README.md",
    ),
    case(
        METRICS,
        "TOYS.RED / seconds",
        "crate/TOYS.RED / seconds",
        "[[metric]]",
        "TOY_RATE names a unit that toy does not have: crate/TOYS.RED",
        "correct the name",
    ),
    case(
        METRICS,
        "TOYS.RED / seconds",
        "TOYS.RED{colour=1} / seconds",
        "[[metric]]",
        "TOY_RATE sets \"colour\", which is no field of unit box",
        "name a control or filter field",
    ),
    case(
        FAMILY,
        "block = \"box-v1\"",
        "block = \"bax-v1\"",
        "[[unit]]",
        "no block \"bax-v1\"",
        "did you mean \"box-v1\"?",
    ),
    case(
        FAMILY,
        "aliases = [\"t\"]",
        "aliases = [\"t\"]\ndefault_metrics = [\"box/TOY_RAT\"]",
        "family = \"toy\"",
        "no default metric \"box/TOY_RAT\"",
        "name it as unit/METRIC",
    ),
    case(
        FAMILY,
        "[[unit]]",
        "[[view]]\nname = \"all\"\ntitle = \"All.\"\nmetrics = [\"box/TOY_RAT\"]\n\n[[unit]]",
        "[[view]]",
        "view all: no metric \"box/TOY_RAT\"",
        "name it as unit/METRIC",
    ),
    case(
        FAMILY,
        "[[unit]]",
        "[[view]]\nname = \"all\"\ntitle = \"All.\"\nmetrics = []\n\n[[unit]]",
        "[[view]]",
        "view all has no metrics",
        "name those that belong to it, or leave it out",
    ),
    case(
        FAMILY,
        "[[unit]]",
        "[[view]]\nname = \"toy_rate\"\ntitle = \"All.\"\nmetrics = [\"box/TOY_RATE\"]\n\n[[unit]]",
        "[[view]]",
        "view toy_rate has a name that stands for something else",
        "rename it",
    ),
    case(
        FAMILY,
        "aliases = [\"t\"]",
        "aliases = [\"t\"]\nfloorplan = [\"box0 bax1\"]",
        "floorplan",
        "floorplan: \"bax1\" is no unit instance",
        "write a unit and the number of an instance, as cha12, or . for other parts",
    ),
    case(
        FAMILY,
        "aliases = [\"t\"]",
        "aliases = [\"t\"]\nfloorplan = [\"box0 .\", \". box0\"]",
        "floorplan",
        "floorplan: box0 has two places",
        "leave one out",
    ),
    case(
        FAMILY,
        "[[unit]]",
        "[[summary]]\nlabel = \"Rate\"\nmetric = \"box/TOY_RAT\"\n\n[[unit]]",
        "[[summary]]",
        "summary \"Rate\": no metric \"box/TOY_RAT\"",
        "name it as unit/METRIC",
    ),
    case(
        FAMILY,
        "aliases = [\"t\"]",
        "aliases = [\"t\", \"TOY\"]",
        "family = \"toy\"",
        "family name \"TOY\" exists twice",
        "rename or remove one; the other stands at families/toy.toml:1",
    ),
];

#[test]
fn what_breaks_a_rule_is_refused_with_its_line_and_its_fix() {
    refused(Catalogue::new, CASES);
}

/// Checks cases, each with a catalogue of its own.
pub fn refused(catalogue: impl Fn() -> Catalogue, cases: &[Case]) {
    let mut wrong = Vec::new();
    for Case { file, from, to, at, message, fix } in cases {
        let catalogue = catalogue().replace(file, from, to);
        let text = fs::read_to_string(catalogue.root().join(file)).unwrap();
        let place = text.find(at).unwrap_or_else(|| panic!("{at:?} is not in {file}"));
        let line = text[..place].lines().count().max(1) + usize::from(text[..place].ends_with('\n'));
        let wanted = format!("{file}:{line}: {message}\n    fix: {fix}\n");
        let report = catalogue.report();
        if !report.contains(&wanted) {
            wrong.push(format!("wanted {wanted}found {report}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn what_just_keeps_a_rule_is_taken() {
    for (file, from, to) in [
        (REGISTERS, "width = 32", "width = 32\nreset = 0xffffffff"),
        (FAMILY, "base = 0x100\n", "base = 0x100\ncount = 2\nstride = 0x20\n"),
        (FAMILY, "base = 0x100\n", "base = 0x100\ncount = 1\n"),
        // Right behind the two controls.
        (REGISTERS, "offset = 8", "offset = 2"),
        (EVENTS, "{ name = \"BLUE\",", "{ name = \"BLUE\", counters = [1],"),
        (EVENTS, "umask = 0x02", "umask = 0xff"),
        (EVENTS, "umask = 0x02", "umask = \"bxxxxxx1x\""),
        (EVENTS, "umask = 0x02,", "umask = 0x01, same_as = \"TOYS.RED\","),
        (EVENTS, "{ name = \"BLUE\",", "{ name = \"BLUE\", thresh = 0xff,"),
        (METRICS, "TOYS.RED / seconds", "box/TOYS.RED{thresh=1} * instances / (TOYS.BLUE + CLOCKTICKS)"),
        // Printed for one instance: of several the mean is taken.
        (METRICS, "\"extensive\"", "\"intensive\""),
        (METRICS, "\"/s\"", "\"%\"\nlimit = { above = 99, means = \"Many.\", see = [\"box/TOY_RATE\"] }"),
        (METRICS, "\"/s\"", "\"%\"\nlimit = { above = 1, means = \"Some.\" }"),
        (FAMILY, "aliases = [\"t\"]", "aliases = [\"t\"]\ndefault_metrics = [\"box/TOY_RATE\"]"),
    ] {
        assert_eq!(Catalogue::new().replace(file, from, to).report(), "no defects", "{to}");
    }
}
