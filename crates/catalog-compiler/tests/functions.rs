//! Rules of PCI functions that have no PMON registers.

use crate::defects::Catalogue;
use crate::rules::{Case, case, refused};

const FAMILY: &str = "families/toy.toml";

/// A catalogue with such functions, and a unit that discovery tables list.
fn whole() -> Catalogue {
    let catalogue = Catalogue::new().replace(FAMILY, "[[unit]]", &format!("{FUNCTIONS}\n[[unit]]"));
    let catalogue = catalogue.replace(FAMILY, "base = 0x100\n", &format!("base = 0x100\n{PLACEMENT}"));
    catalogue.replace("blocks/box-v1/block.toml", "counters = 2\n", "counters = 2\ndiscovery_type = 1\n")
}

const FUNCTIONS: &str = r#"[discovery]
device = 3
function = 1
device_id = 0x9a7
class = 0x88000
description = "Leads to the table."
source = "Driver"

[[stub]]
device = 14
function = 0
device_id = 0x3ca0
class = 0x88000
revision = 7
description = "For scans."
source = "Sheet"

[[stub]]
device = 19
function = 0
device_id = 0x3ce4
class = 0x88000
description = "For scans, too."
source = "Sheet"
"#;

const PLACEMENT: &str = r#"
[[unit.placement]]
name = "match"
space = "pcicfg"
functions = [{ device = 14, function = 1 }]
"#;

const FIRST: &str = "[[stub]]\ndevice = 14";

const CASES: &[Case] = &[
    case(
        FAMILY,
        "device = 19\nfunction = 0",
        "device = 32\nfunction = 0",
        "[[stub]]\ndevice = 32",
        "a bus has no function 20.0",
        "write a device up to 31 and a function up to 7",
    ),
    case(
        FAMILY,
        "device = 3\nfunction = 1",
        "device = 3\nfunction = 8",
        "[discovery]",
        "a bus has no function 03.8",
        "write a device up to 31 and a function up to 7",
    ),
    case(
        FAMILY,
        "class = 0x88000\nrevision = 7",
        "class = 0x8800007",
        FIRST,
        "class 0x8800007 of function 0e.0 has more than 24 bits",
        "leave out the revision: it has a key of its own",
    ),
    case(
        FAMILY,
        "device = 19\n",
        "device = 14\n",
        "[[stub]]\ndevice = 14\nfunction = 0\ndevice_id = 0x3ce4",
        "toy has stub 0e.0 twice",
        "remove one; the other stands at families/toy.toml:16",
    ),
    case(
        FAMILY,
        "device = 14\nfunction = 0",
        "device = 14\nfunction = 1",
        FIRST,
        "stub 0e.1 of toy is a function of unit box",
        "remove it; the unit's placement stands at families/toy.toml:41",
    ),
    case(
        FAMILY,
        "[discovery]",
        "[[stub]]",
        "family = ",
        "discovery tables of toy list unit box, and no function leads to them",
        "add [discovery] with the function's device, function and device_id",
    ),
];

#[test]
fn what_breaks_a_rule_is_refused_with_its_line_and_its_fix() {
    refused(whole, CASES);
}

#[test]
fn a_function_that_leads_to_no_table_is_refused() {
    let report = whole().replace("blocks/box-v1/block.toml", "discovery_type = 1\n", "").report();
    let wanted = "families/toy.toml:8: function 03.1 leads to discovery tables of toy, which list no unit\n    fix: \
                  remove it, or give the units' blocks a discovery_type\n";
    assert!(report.contains(wanted), "{report}");
}

#[test]
fn what_just_keeps_a_rule_is_taken() {
    for (from, to) in [
        ("device = 19\nfunction = 0", "device = 31\nfunction = 7"),
        ("device = 19\n", "device = 15\n"),
        // Another bus of the socket.
        ("functions = [{ device = 14, function = 1 }]", "functions = [{ device = 14, function = 0 }]\nbus = 1"),
        ("class = 0x88000\nrevision", "class = 0xffffff\nrevision"),
    ] {
        assert_eq!(whole().replace(FAMILY, from, to).report(), "no defects", "{to}");
    }
}
