//! Rules of what a family has besides its units: its processor and the MSRs of its cores.

use std::fs;

use crate::defects::Catalogue;
use crate::rules::{Case, case, refused};

const FAMILY: &str = "families/toy.toml";

/// A catalogue whose family has a processor.
fn whole() -> Catalogue {
    let catalogue = Catalogue::new().replace(FAMILY, "[[unit]]", &format!("{PROCESSOR}\n[[unit]]"));
    fs::create_dir(catalogue.root().join("core-msrs")).unwrap();
    fs::write(catalogue.root().join(CORE), CORE_MSRS).unwrap();
    catalogue
}

const CORE: &str = "core-msrs/core.toml";

const CORE_MSRS: &str = r#"source = "SDM"
msrs = [
  { address = 0x10, name = "SE", scope = "cpu", kind = "kept", writable = 255, controls = "event_select", counter = 0 },
  { address = 0x11, name = "ENABLES", scope = "cpu", kind = "kept", writable = 3, controls = "global" },
  { address = 0x12, name = "COUNT",   scope = "cpu", kind = "counter", enable = 0 },
  { address = 0x13, name = "FIXED",   scope = "cpu", kind = "counter", enable = 32 },
  { address = 0x14, name = "FIXES",   scope = "cpu", kind = "kept", writable = 3, controls = "fixed" },
  { address = 0x15, name = "ENERGY",  scope = "package", kind = "energy", watts = 1 },
]
"#;

const PROCESSOR: &str = r#"[processor]
model = { family = 6, model = 1 }
stepping = 2
brand = "Toy CPU"
nominal_mhz = 1000
source = "A dump"
leaves = [
  { leaf = 0x1, ecx = 0x10 },
  { leaf = 0x6, eax = 0x7 },
]
caches = [
  { level = 1, kind = "data", ways = 8, sets = 64 },
]
core_msrs = ["core"]
"#;

const CASES: &[Case] = &[
    case(
        FAMILY,
        "model = { family = 6, model = 1 }\n",
        "",
        "[processor]",
        "the processor has no model",
        "add model = { family = 6, model = … }, one of `cpus`",
    ),
    case(
        FAMILY,
        "model = { family = 6, model = 1 }\n",
        "model = { family = 6, model = 2 }\n",
        "[processor]",
        "family toy has no processor of family 6, model 2",
        "name one of `cpus`, or add it there",
    ),
    case(
        FAMILY,
        "stepping = 2",
        "stepping = 16",
        "[processor]",
        "CPUID has no room for model 1, stepping 16",
        "write a model up to 255 and a stepping up to 15",
    ),
    case(
        FAMILY,
        "\"Toy CPU\"",
        "\"Toy CPU of forty-eight characters, one too many.\"",
        "[processor]",
        "a brand string of 48 bytes",
        "write at most 47 ASCII characters",
    ),
    case(
        FAMILY,
        "leaf = 0x6,",
        "leaf = 0xb,",
        "{ leaf = 0xb",
        "leaf 0xb is worked out: it has the topology",
        "remove the row",
    ),
    case(
        FAMILY,
        "ecx = 0x10",
        "eax = 0x10",
        "{ leaf = 0x1,",
        "EAX and EBX of leaf 0x1 are worked out from model, stepping and topology",
        "remove eax and ebx",
    ),
    case(
        FAMILY,
        "leaf = 0x6,",
        "leaf = 0x1,",
        "{ leaf = 0x1, eax",
        "leaf 0x1 has two rows",
        "remove one, or tell them apart by subleaf; the other stands at families/toy.toml:15",
    ),
    case(
        FAMILY,
        "kind = \"data\"",
        "kind = \"dat\"",
        "{ level = 1",
        "no kind of cache \"dat\"",
        "write one of data, instruction, unified",
    ),
    case(
        FAMILY,
        "ways = 8,",
        "ways = 1025,",
        "{ level = 1",
        "a cache of level 1 with 1025 ways of 64 sets",
        "write a level from 1 to 7, 1 to 1024 ways, and at least one set",
    ),
    case(
        FAMILY,
        "core_msrs = [\"core\"]",
        "core_msrs = [\"cor\"]",
        "core_msrs",
        "no set of core MSRs \"cor\"",
        "did you mean \"core\"?",
    ),
    case(
        FAMILY,
        "core_msrs = [\"core\"]",
        "core_msrs = [\"zz\", \"core\"]",
        "core_msrs",
        "no set of core MSRs \"zz\"",
        "add the file core-msrs/zz.toml, or correct the name",
    ),
    case(
        CORE,
        "address = 0x15",
        "address = 0x12",
        "  { address = 0x12, name = \"ENERGY\"",
        "toy has MSR 0x12 twice: COUNT and ENERGY",
        "remove one, or move it to a set of its own; the other stands at core-msrs/core.toml:5",
    ),
    // The second control of the unit.
    case(
        CORE,
        "address = 0x15",
        "address = 0x101",
        "  { address = 0x101",
        "toy has MSR 0x101 twice: ENERGY and PMON register ctl",
        "remove the row; the register stands at blocks/box-v1/registers.toml:1",
    ),
    case(
        CORE,
        "enable = 32",
        "enable = 0",
        "  { address = 0x13",
        "bit 0 enables two counters of toy",
        "correct one of them; the other stands at core-msrs/core.toml:5",
    ),
    case(
        CORE,
        "enable = 0 }",
        "enable = 1 }",
        "  { address = 0x12",
        "no MSR of toy selects what COUNT counts",
        "add one with controls = \"event_select\", counter = 1",
    ),
    case(
        CORE,
        ", controls = \"global\"",
        "",
        "  { address = 0x12",
        "no MSR of toy enables COUNT",
        "add one with controls = \"global\"",
    ),
    case(
        CORE,
        "controls = \"fixed\"",
        "controls = \"global\"",
        "  { address = 0x14",
        "two MSRs of toy control the same counters",
        "correct one of them; the other stands at core-msrs/core.toml:4",
    ),
    case(
        CORE,
        "kind = \"energy\", watts = 1",
        "kind = \"energy\"",
        "  { address = 0x15",
        "\"watts\" is missing",
        "add watts = 0x…",
    ),
    case(
        CORE,
        "kind = \"energy\", watts = 1",
        "kind = \"kept\", watts = 1",
        "  { address = 0x15",
        "unknown key \"watts\"",
        "remove it; known here: address, controls, kind, name, reset, scope, writable",
    ),
];

#[test]
fn a_set_that_no_family_has_is_named() {
    let catalogue = whole();
    fs::write(catalogue.root().join("core-msrs/spare.toml"), CORE_MSRS).unwrap();
    let fix = "add \"spare\" to `core_msrs` of a family's processor, or remove the file";
    let wanted = format!("core-msrs/spare.toml: no family has these core MSRs\n    fix: {fix}\n");
    assert!(catalogue.report().contains(&wanted), "{}", catalogue.report());
}

#[test]
fn what_breaks_a_rule_is_refused_with_its_line_and_its_fix() {
    refused(whole, CASES);
}

#[test]
fn what_just_keeps_a_rule_is_taken() {
    let brand = format!("\"{}\"", "x".repeat(47));
    for (from, to) in [
        ("stepping = 2", "stepping = 15"),
        ("\"Toy CPU\"", brand.as_str()),
        ("leaf = 0x6,", "leaf = 0x7, subleaf = 0, ebx = 1 },\n  { leaf = 0x7, subleaf = 1,"),
        ("ways = 8,", "ways = 1024,"),
    ] {
        assert_eq!(whole().replace(FAMILY, from, to).report(), "no defects", "{to}");
    }
}
