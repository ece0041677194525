//! Rules of what ties units and registers to a socket.

use std::fs;

use crate::defects::Catalogue;
use crate::rules::{Case, case, refused};

const FAMILY: &str = "families/toy.toml";
const BLOCK: &str = "blocks/box-v1/block.toml";
const NODES: &str = "blocks/box-v1/registers-nodes.toml";

/// A catalogue whose box has node registers, one a slice.
fn whole() -> Catalogue {
    let catalogue = Catalogue::new().replace(FAMILY, "base = 0x100\n", &format!("base = 0x100\n{PLACEMENT}"));
    fs::write(catalogue.root().join(NODES), REGISTERS).unwrap();
    catalogue.replace(BLOCK, "counters = 2\n", "counters = 2\none_per = \"slice\"\n")
}

const PLACEMENT: &str = r#"
[[unit.placement]]
name = "node"
space = "pcicfg"
functions = [{ device = 14, function = 1 }]
device_ids = [0x3ce0]
"#;

const REGISTERS: &str = r#"[[register]]
name = "node"
guide_name = "NODE"
role = "identity"
identity = "node_id"
placement = "node"
offset = 0x40
width = 32
source = "1.6"
description = "Number of the socket."
fields = [
  { name = "rsv", bits = "31:3", access = "RV" },
  { name = "id",  bits = "2:0",  access = "RO", description = "The number." },
]

[[register]]
name = "map"
guide_name = "MAP"
role = "identity"
identity = "node_map"
placement = "node"
offset = 0x54
width = 32
source = "1.6"
description = "Numbers of all sockets."
fields = [{ name = "ids", bits = "31:0", access = "RO", description = "The numbers." }]
"#;

const MAP: &str = "[[register]]\nname = \"map\"";

const CASES: &[Case] = &[
    case(
        NODES,
        "role = \"identity\"\nidentity = \"node_map\"",
        "role = \"filter\"\nidentity = \"node_map\"",
        MAP,
        "register map has an identity and another role",
        "write role = \"identity\", or leave out the identity",
    ),
    case(
        NODES,
        "{ name = \"ids\", bits = \"31:0\", access = \"RO\"",
        "{ name = \"rsv\", bits = \"31:0\", access = \"RV\"",
        MAP,
        "register map has no field for its identity",
        "describe the field that holds it; the lowest is taken",
    ),
    case(
        NODES,
        "\"node_map\"",
        "\"node_id\"",
        MAP,
        "node and map have the same identity in toy",
        "correct one of them; the other stands at blocks/box-v1/registers-nodes.toml:1",
    ),
    case(
        NODES,
        "identity = \"node_map\"\n",
        "",
        "[[register]]",
        "register node needs the other of node_id and node_map",
        "add a register with that identity",
    ),
    case(
        NODES,
        "identity = \"node_map\"\nplacement = \"node\"",
        "identity = \"node_map\"",
        MAP,
        "node registers node and map stand apart",
        "give both the same unit and placement",
    ),
    case(
        FAMILY,
        "device_ids = [0x3ce0]\n",
        "",
        "[[unit]]",
        "no bus of toy can be found by register node",
        "place it in pcicfg, with device_ids",
    ),
    case(
        NODES,
        "\"node_map\"",
        "\"node_mop\"",
        "identity = \"node_mop\"",
        "no identity \"node_mop\"",
        "write one of node_id, node_map, memory_base, memory_offset, links, slices_low, slices_high, slice_count, \
         stack_buses",
    ),
];

#[test]
fn what_breaks_a_rule_is_refused_with_its_line_and_its_fix() {
    refused(whole, CASES);
}

#[test]
fn two_units_cannot_both_have_an_instance_for_each_slice() {
    let second = "[[unit]]\nname = \"bin\"\nblock = \"box-v1\"\n\n[[unit.placement]]\nspace = \"msr\"\nbase = 0x200\n";
    let second = format!("{second}{}", PLACEMENT.replace("device = 14", "device = 15"));
    let report = whole().replace(FAMILY, "[[unit]]", &format!("{second}\n[[unit]]")).report();
    let wanted = "units bin and box of toy have an instance for each slice\n    fix: leave out one_per in one of their";
    assert!(report.contains(wanted), "{report}");
}

#[test]
fn what_keeps_the_rules_is_taken() {
    assert_eq!(whole().report(), "no defects");
    let links = whole().replace(BLOCK, "\"slice\"", "\"link\"");
    assert_eq!(links.report(), "no defects");
}

/// A catalogue whose box is on two stacks' buses, which an MSR has.
fn stacks() -> Catalogue {
    let placements = "base = 0x100\n\n[[unit.placement]]\nname = \"buses\"\nspace = \"msr\"\nbase = 0x300\n\n\
                      [[unit.placement]]\nname = \"north\"\nspace = \"pcicfg\"\nstack = 0\n\
                      functions = [{ device = 10, function = 2 }]\n\n\
                      [[unit.placement]]\nname = \"south\"\nspace = \"pcicfg\"\nstack = 1\n\
                      functions = [{ device = 10, function = 2 }]\n";
    let catalogue = Catalogue::new().replace(FAMILY, "base = 0x100\n", placements);
    fs::write(catalogue.root().join(NODES), STACKS).unwrap();
    catalogue
}

/// The filters are at one offset of one function, but on two buses.
const STACKS: &str = r#"[[register]]
name = "buses"
guide_name = "CPUBUSNO"
role = "identity"
identity = "stack_buses"
placement = "buses"
offset = 0
width = 64
source = "1.7"
description = "Buses of the stacks."
fields = [
  { name = "valid", bits = "63",    access = "RO", description = "They are set." },
  { name = "rsv",   bits = "62:16", access = "RV" },
  { name = "bus1",  bits = "15:8",  access = "RO", description = "Of stack 1." },
  { name = "bus0",  bits = "7:0",   access = "RO", description = "Of stack 0." },
]

[[register]]
name = "north"
guide_name = "NORTH"
role = "filter"
placement = "north"
offset = 0x40
width = 32
source = "1.7"
description = "A filter."
fields = [{ name = "north", bits = "31:0", access = "RW", description = "What passes." }]

[[register]]
name = "south"
guide_name = "SOUTH"
role = "filter"
placement = "south"
offset = 0x40
width = 32
source = "1.7"
description = "A filter."
fields = [{ name = "south", bits = "31:0", access = "RW", description = "What passes." }]
"#;

const SOUTH: &str = "[[unit.placement]]\nname = \"south\"";

const STACK_CASES: &[Case] = &[
    case(
        FAMILY,
        "stack = 1\n",
        "stack = 2\n",
        SOUTH,
        "placement south of unit box in toy: there is no stack 2",
        "write one that the register with identity stack_buses has",
    ),
    case(
        FAMILY,
        "stack = 1\n",
        "",
        SOUTH,
        "placement south of unit box in toy: each of the family's stacks has a bus of its own",
        "write stack = N in place of bus",
    ),
    case(
        FAMILY,
        "stack = 1\n",
        "stack = 1\nbus = 1\n",
        "stack = 1\nbus = 1",
        "a placement is on one bus, and has both bus and stack",
        "remove one of them",
    ),
    case(
        FAMILY,
        "base = 0x300\n",
        "base = 0x300\nstack = 0\n",
        "[[unit.placement]]\nname = \"buses\"",
        "placement buses of unit box in toy: only PCI functions are on a bus",
        "remove stack",
    ),
    case(
        NODES,
        "placement = \"buses\"",
        "placement = \"south\"",
        "[[register]]\nname = \"buses\"",
        "register buses has the buses of stacks, and is no MSR",
        "place it in msr: a bus must be known before PCI is read",
    ),
    case(
        NODES,
        "{ name = \"valid\", bits = \"63\",    access = \"RO\"",
        "{ name = \"there\", bits = \"63\",    access = \"RO\"",
        "[[register]]\nname = \"buses\"",
        "register buses has the buses of stacks, and not the fields for them",
        "describe bus0, bus1, … of eight bits and valid of one",
    ),
];

#[test]
fn stacks_with_buses_of_their_own_have_rules_too() {
    refused(stacks, STACK_CASES);
    assert_eq!(stacks().report(), "no defects");
    let unknown = whole().replace(FAMILY, "space = \"pcicfg\"\n", "space = \"pcicfg\"\nstack = 0\n").report();
    assert!(
        unknown.contains("no register of the family has the buses of its stacks\n    fix: add a register"),
        "{unknown}"
    );
    let same_bus = stacks().replace(FAMILY, "stack = 1", "stack = 0");
    let report = same_bus.report();
    assert!(report.contains("shares pci stack 0 0a.2 0x40 with box0 north0"), "{report}");
}
