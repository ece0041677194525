//! Rules of the parts that a small catalogue does not need: signals, field sets, named values, free-running registers,
//! included blocks.

use std::fs;
use std::process::Command;

use crate::defects::Catalogue;
use crate::rules::{Case, case, refused};

const BLOCK: &str = "blocks/box-v1/block.toml";
const REGISTERS: &str = "blocks/box-v1/registers.toml";
const SIGNALS: &str = "blocks/box-v1/signals.toml";
const EVENTS: &str = "blocks/box-v1/events.toml";
const METRICS: &str = "blocks/box-v1/metrics.toml";
const FAMILY: &str = "families/toy.toml";

/// A catalogue with those parts.
fn whole() -> Catalogue {
    let catalogue = Catalogue::new();
    let files = [
        (SIGNALS, SIGNAL),
        ("blocks/box-v1/registers-more.toml", MORE),
        (
            "blocks/box-v1/values/kinds.toml",
            "source = \"2\"\nvalues = [{ name = \"ONE\", value = 1, description = \"The first.\" }]\n",
        ),
        ("blocks/lid-v1/events.toml", LID),
    ];
    for (path, text) in files {
        let path = catalogue.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    catalogue.replace(BLOCK, "title = \"Box\"", "title = \"Box\"\ninclude = [{ block = \"lid-v1\" }]")
}

const MORE: &str = r#"[[register]]
name = "flow"
guide_name = "FLOW"
role = "free_running"
offset = 16
width = 64
source = "1.4"
description = "What flows through."
event = "FLOW"
fields = [
  { name = "rsv",         bits = "63:48", access = "RV" },
  { name = "event_count", bits = "47:0",  access = "RW-V", description = "The count." },
]

[[field_set]]
name = "matcher"
source = "1.5"
fields = [{ name = "class", bits = "11:8", access = "RW", description = "Class of packets.", values = "kinds" }]

[[field_set]]
name = "other"
source = "1.5"
fields = [{ name = "kind", bits = "11:8", access = "RW", description = "Another use of the bits." }]
"#;

const SIGNAL: &str = r#"[[signal]]
name = "toy"
kind = "level"
description = "Toys inside."
attributes = [{ name = "colour", width = 3 }]
"#;

const LID: &str = r#"[[event]]
name = "LIDS"
code = 0x30
counters = [0]
source = "3"
description = "Closed boxes."
"#;

const TAKEN: &[(&str, &str, &str)] = &[
    (BLOCK, "block = \"lid-v1\"", "block = \"lid-v1\", without = [\"LIDS\"]"),
    // 64 bits in all: a tag's width.
    (SIGNALS, "width = 3 }", "width = 3 }, { name = \"way\", width = 61 }"),
    (
        EVENTS,
        "description = \"Toys that come out.\"",
        "description = \"Toys that come out.\"\nsignal = \"toy\"\nmeasure = \"occupancy\"",
    ),
    (
        EVENTS,
        "description = \"Toys that come out.\"",
        "description = \"Toys that come out.\"\nsignal = \"toy\"\ndecode = [{ bit = 39, any = \"colour\" }]",
    ),
    (
        EVENTS,
        "description = \"Toys that come out.\"",
        "description = \"Toys that come out.\"\nsignal = \"toy\"\ndecode = [{ required = \"colour = filter.thresh\" }]",
    ),
    (
        EVENTS,
        "description = \"Toys that come out.\"",
        "description = \"Toys that come out.\"\nsignal = \"toy\"\nfield_set = \"matcher\"\n\
         decode = [{ field = \"class\", required = \"colour = 1\" }]",
    ),
    (
        EVENTS,
        "description = \"Toys that come out.\"",
        "description = \"Toys that come out.\"\nfield_set = \"matcher\"\nfilters = [\"class\"]",
    ),
    (METRICS, "TOYS.RED / seconds", "FLOW / seconds"),
    // The counter's 48 bits need not be the lowest.
    (
        REGISTERS,
        "bits = \"63:48\", access = \"RV\" },\n  { name = \"event_count\", bits = \"47:0\",",
        "bits = \"63:49\", access = \"RV\" },\n  { name = \"rsv\", bits = \"0\", access = \"RV\" },\n\
           { name = \"event_count\", bits = \"48:1\",",
    ),
];

#[test]
fn parts_that_keep_the_rules_are_taken() {
    assert_eq!(whole().report(), "no defects");
    for (file, from, to) in TAKEN {
        assert_eq!(whole().replace(file, from, to).report(), "no defects", "{to}");
    }
}

const TOYS: &str = "description = \"Toys that come out.\"";
const EVENT: &str = "[[event]]\nname = \"TOYS\"";

const CASES: &[Case] = &[
    case(
        BLOCK,
        "block = \"lid-v1\"",
        "block = \"lid-v1\", without = [\"NONE\"]",
        "include",
        "unit box has no \"NONE\" to leave out",
        "name an event, EVENT.SUBEVENT, a register or a metric of its block",
    ),
    case(
        FAMILY,
        "base = 0x100\n",
        "base = 0x100\n\n[[unit]]\nname = \"box\"\nblock = \"box-v1\"\nisolated = [1]\n[[unit.placement]]\n\
         space = \"msr\"\nbase = 0x200\n",
        "[[unit]]\nname = \"box\"\nblock = \"box-v1\"\nisolated",
        "unit \"box\" exists twice",
        "rename or remove one; the other stands at families/toy.toml:8",
    ),
    case(
        SIGNALS,
        "width = 3 }",
        "width = 3 }, { name = \"way\", width = 62 }",
        "[[signal]]",
        "the attributes of signal toy take 65 bits",
        "give each at least one bit, and all at most 64",
    ),
    case(
        SIGNALS,
        "width = 3 }",
        "width = 3 }, { name = \"way\", width = 0 }",
        "[[signal]]",
        "the attributes of signal toy take 3 bits",
        "give each at least one bit, and all at most 64",
    ),
    case(
        EVENTS,
        TOYS,
        "description = \"Toys that come out.\"\nsignal = \"toy\"\ndecode = [{ bit = 40, any = \"colour\" }]",
        "decode",
        "no such bit of the umask",
        "0 to 7 are the umask, 8 to 39 its extension",
    ),
    case(
        EVENTS,
        TOYS,
        "description = \"Toys that come out.\"\nsignal = \"toy\"\ndecode = [{ bit = 0, any = \"smell\" }]",
        "decode",
        "signal toy has no attribute \"smell\"",
        "correct the name or add the attribute",
    ),
    case(
        EVENTS,
        TOYS,
        "description = \"Toys that come out.\"\nsignal = \"toy\"\n\
         decode = [{ bit = 0, any = \"colour = filter.class\" }]",
        "decode",
        "no filter or control register of unit box, nor the event's field set, has \"class\"",
        "correct the name",
    ),
    case(
        EVENTS,
        TOYS,
        "description = \"Toys that come out.\"\nsignal = \"toy\"\nfield_set = \"other\"\n\
         decode = [{ bit = 0, any = \"colour = filter.class\" }]",
        "decode",
        "no filter or control register of unit box, nor the event's field set, has \"class\"",
        "correct the name",
    ),
    case(
        EVENTS,
        TOYS,
        "description = \"Toys that come out.\"\nfilters = [\"class\"]",
        EVENT,
        "unit box has no filter field \"class\"",
        "name a field of a register with role filter or control, or of the field_set",
    ),
    case(
        EVENTS,
        TOYS,
        "description = \"Toys that come out.\"\nfield_set = \"other\"\nfilters = [\"class\"]",
        EVENT,
        "unit box has no filter field \"class\"",
        "name a field of a register with role filter or control, or of the field_set",
    ),
    case(
        EVENTS,
        TOYS,
        "description = \"Toys that come out.\"\nfield_set = \"matchers\"",
        EVENT,
        "unit box has no field set \"matchers\"",
        "add the [[field_set]] to the unit's file or correct the name",
    ),
    case(
        EVENTS,
        "counters = [0, 1]",
        "counters = [0, 16]",
        "counters = [0, 16]",
        "counter 16 is beyond any unit's last",
        "list counters from 0 to 15",
    ),
    case(
        EVENTS,
        "umask = 0x02",
        "umask = \"b\"",
        "  { name = \"BLUE\"",
        "\"umask\" is not a number from 0 to 0xffffffffffffffff",
        "correct the number",
    ),
    case(
        EVENTS,
        "umask = 0x02",
        "umask = \"b00000000000000000000000000000000000000000000000000000000000000010\"",
        "  { name = \"BLUE\"",
        "\"umask\" is not a number from 0 to 0xffffffffffffffff",
        "correct the number",
    ),
    case(
        METRICS,
        "TOYS.RED / seconds",
        "FLOW0 / seconds",
        "[[metric]]",
        "TOY_RATE names FLOW0, which unit box does not have",
        "did you mean FLOW?",
    ),
    case(
        REGISTERS,
        "count = 2\nstride = 1",
        "count = 0\nstride = 1",
        "[[register]]",
        "register ctl has 0 members at stride 1",
        "give count and stride",
    ),
    case(
        REGISTERS,
        "count = 2\nstride = 1",
        "count = 2",
        "[[register]]",
        "register ctl has 2 members at stride 0",
        "give count and stride",
    ),
    case(
        REGISTERS,
        "bits = \"23\", ",
        "bits = \"24\", ",
        "  { name = \"invert\"",
        "field invert (24:24) overlaps thresh",
        "correct the bits of one of them",
    ),
    case(
        REGISTERS,
        "{ name = \"invert\", ",
        "{ name = \"thresh\", ",
        "  { name = \"thresh\",   bits = \"23\"",
        "field \"thresh\" exists twice",
        "rename or remove one; the other stands at blocks/box-v1/registers.toml:12",
    ),
    case(
        REGISTERS,
        "offset = 0\ncount = 2\nstride = 1",
        "offset = 0\ncount = 2\nstride = 8",
        "[[register]]\nname = \"ctr\"",
        "box0 ctr0 shares msr 0x108 with box0 ctl1",
        "correct the offset here or at blocks/box-v1/registers.toml:1",
    ),
    case(
        EVENTS,
        TOYS,
        "description = \"Toys.\"\nsignal = \"toy\"\ndecode = [{ bit = 0, any = \"colour = filter.\" }]",
        "decode",
        "cannot read the term \"colour = filter.\"",
        "write attr, !attr, attr = X, attr != X, attr in X, attr has X, attr >= X or attr like X/X, with X a number or \
         filter.F",
    ),
    case(
        REGISTERS,
        "bits = \"18\", ",
        "bits = \"22\", ",
        "  { name = \"edge_det\"",
        "field edge_det (22:22) overlaps en",
        "correct the bits of one of them",
    ),
];

#[test]
fn parts_that_break_a_rule_are_refused_with_their_line_and_fix() {
    refused(whole, CASES);
}

/// The measure of a queue wants a signal that has a level.
#[test]
fn an_occupancy_of_pulses() {
    let catalogue = whole().replace(SIGNALS, "kind = \"level\"", "kind = \"pulses\"");
    let catalogue =
        catalogue.replace(EVENTS, TOYS, "description = \"Toys.\"\nsignal = \"toy\"\nmeasure = \"nonempty\"");
    let report = catalogue.report();
    let wanted = "TOYS measures the occupancy of toy, which is no level\n    \
                  fix: make the signal a level, or measure arrivals\n";
    assert!(report.contains(wanted), "{report}");
}

/// A 32-bit register takes four bytes of a function's space, an MSR one number.
#[test]
fn registers_of_a_function_that_overlap() {
    let pci = "space = \"pcicfg\"\nfunctions = [{ device = 16, function = 1 }]\n";
    let catalogue = Catalogue::new().replace(FAMILY, "space = \"msr\"\nbase = 0x100\n", pci);
    let report = catalogue
        .replace(REGISTERS, "offset = 0\ncount = 2\nstride = 1\n", "offset = 0\ncount = 2\nstride = 2\n")
        .report();
    assert!(report.contains("registers.toml:1: box0 ctl1 shares pci 10.1 0x2 with box0 ctl0"), "{report}");
    let catalogue = Catalogue::new().replace(FAMILY, "space = \"msr\"\nbase = 0x100\n", pci);
    let report = catalogue
        .replace(REGISTERS, "offset = 0\ncount = 2\nstride = 1\n", "offset = 0\ncount = 2\nstride = 4\n")
        .report();
    assert!(
        report.starts_with("blocks/box-v1/registers.toml:22: box0 ctr1 shares pci 10.1 0x9 with box0 ctr0"),
        "{report}"
    );
    assert!(report.ends_with("1 defect in the catalogue"), "{report}");
}

/// The program that the gate runs: defects on standard error and a status, or what the catalogue holds.
#[test]
fn the_program_reports_whether_a_catalogue_is_right() {
    let run = |catalogue: &Catalogue| {
        Command::new(env!("CARGO_BIN_EXE_pericore-catalog-compiler")).arg(catalogue.root()).output().expect("it runs")
    };
    let right = run(&whole());
    let words = String::from_utf8_lossy(&right.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words, "toy box 3 events 2 subevents 3 registers 1 metrics 0 deviations, 0 choices");
    assert!(right.status.success());
    let wrong = run(&Catalogue::new().replace(EVENTS, "umask = 0x02", "umask = 0x01"));
    assert_eq!(wrong.status.code(), Some(1));
    let report = String::from_utf8_lossy(&wrong.stderr);
    assert!(report.contains("both select 0x101") && report.ends_with("1 defect in the catalogue\n"), "{report}");
}
