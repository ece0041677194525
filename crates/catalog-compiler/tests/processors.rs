//! Rules of what a family has besides its units: its processor.

use crate::defects::Catalogue;
use crate::rules::{Case, case, refused};

const FAMILY: &str = "families/toy.toml";

/// A catalogue whose family has a processor.
fn whole() -> Catalogue {
    Catalogue::new().replace(FAMILY, "[[unit]]", &format!("{PROCESSOR}\n[[unit]]"))
}

const PROCESSOR: &str = r#"[processor]
model = { family = 6, model = 1 }
stepping = 2
brand = "Toy CPU"
source = "A dump"
leaves = [
  { leaf = 0x1, ecx = 0x10 },
  { leaf = 0x6, eax = 0x7 },
]
caches = [
  { level = 1, kind = "data", ways = 8, sets = 64 },
]
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
        "remove one, or tell them apart by subleaf; the other stands at families/toy.toml:14",
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
];

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
        (PROCESSOR, ""),
    ] {
        assert_eq!(whole().replace(FAMILY, from, to).report(), "no defects", "{to}");
    }
}
