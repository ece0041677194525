//! A broken catalogue: all defects at once, each with file, line and what to do.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// A small catalogue that is right, in a folder of its own.
pub struct Catalogue(TempDir);

const FAMILY: &str = r#"family = "toy"
aliases = ["t"]
title = "Toy"
documents = [{ cite = "guide", title = "The toy guide" }]
cpus = [{ family = 6, model = 1 }]
clocks = [{ name = "uclk", description = "The clock." }]

[[unit]]
name = "box"
block = "box-v1"

[[unit.placement]]
space = "msr"
base = 0x100
"#;

const BLOCK: &str = r#"title = "Box"
description = "A toy box."
source = "1"
clock = "uclk"
counters = 2
counter_width = 48
"#;

const REGISTERS: &str = r#"[[register]]
name = "ctl"
guide_name = "CTL"
role = "control"
offset = 0
count = 2
stride = 1
width = 32
source = "1.1"
description = "Selects."
fields = [
  { name = "thresh",   bits = "31:24", access = "RW", description = "Threshold." },
  { name = "invert",   bits = "23",    access = "RW", description = "Inverts it." },
  { name = "en",       bits = "22",    access = "RW", description = "Enables." },
  { name = "rsv",      bits = "21:19", access = "RV" },
  { name = "edge_det", bits = "18",    access = "RW", description = "Edges." },
  { name = "rsv",      bits = "17:16", access = "RV" },
  { name = "umask",    bits = "15:8",  access = "RW", description = "Subevents." },
  { name = "ev_sel",   bits = "7:0",   access = "RW", description = "Event." },
]

[[register]]
name = "ctr"
guide_name = "CTR"
role = "counter"
offset = 8
count = 2
stride = 1
width = 64
source = "1.1"
description = "Counts."
fields = [
  { name = "rsv",         bits = "63:48", access = "RV" },
  { name = "event_count", bits = "47:0",  access = "RW-V", description = "The count." },
]
"#;

const EVENTS: &str = r#"[[event]]
name = "CLOCKTICKS"
code = 0x00
counters = [0, 1]
source = "1.2"
description = "Cycles of the clock."
measure = "clock"

[[event]]
name = "TOYS"
code = 0x01
counters = [0, 1]
source = "1.2"
description = "Toys that come out."
subevents = [
  { name = "RED",  umask = 0x01, description = "Toys painted red." },
  { name = "BLUE", umask = 0x02, description = "Toys painted blue." },
]
"#;

const METRICS: &str = r#"[[metric]]
name = "TOY_RATE"
expression = "TOYS.RED / seconds"
unit_of_measure = "/s"
quantity = "extensive"
description = "Red toys in a second."
source = "1.3"
"#;

impl Catalogue {
    pub fn new() -> Self {
        let root = tempfile::tempdir().expect("a folder");
        let files = [
            ("families/toy.toml", FAMILY),
            ("blocks/box-v1/block.toml", BLOCK),
            ("blocks/box-v1/registers.toml", REGISTERS),
            ("blocks/box-v1/events.toml", EVENTS),
            ("blocks/box-v1/metrics.toml", METRICS),
            ("undefined.toml", ""),
        ];
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        Self(root)
    }

    pub fn replace(self, path: &str, from: &str, to: &str) -> Self {
        let path = self.root().join(path);
        let text = fs::read_to_string(&path).expect("there");
        assert!(text.contains(from), "{from:?} is not in {}", path.display());
        fs::write(path, text.replacen(from, to, 1)).expect("written");
        self
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    /// What the compiler reports, as one text.
    pub fn report(&self) -> String {
        match pericore_catalog_compiler::compile(self.root()) {
            Ok(_) => "no defects".to_owned(),
            Err(diagnostics) => diagnostics.to_string(),
        }
    }
}

#[test]
fn the_toy_is_right() {
    assert_eq!(Catalogue::new().report(), "no defects");
}

#[test]
fn every_defect_is_named_with_file_line_and_fix() {
    let (block, unit) = ("blocks/box-v1/block.toml", "blocks/box-v1/registers.toml");
    let (events, metrics) = ("blocks/box-v1/events.toml", "blocks/box-v1/metrics.toml");
    let family = "families/toy.toml";
    let cases: [(&str, &str, &str, &[&str]); 27] = [
        (family, r#"block = "box-v1""#, r#"block = "bax-v1""#, &["no block \"bax-v1\"", "did you mean \"box-v1\""]),
        (
            family,
            r#"block = "box-v1""#,
            "block = \"box-v1\"\nwithout = [\"TOYS.GREEN\"]",
            &["no \"TOYS.GREEN\" to leave out"],
        ),
        (unit, "offset = 8", "offset = 8\nlayout = \"box-v2/ctr\"", &["has fields and a layout"]),
        (unit, r#"bits = "22", "#, r#"bits = "23", "#, &["registers.toml:14", "overlaps", "fix:"]),
        (unit, r#"  { name = "rsv",      bits = "21:19", access = "RV" },"#, "", &["0x380000", "rsv"]),
        (unit, "offset = 8", "offset = 1", &["shares msr", "ctl"]),
        (block, "counters = 2", "counters = 3", &["3 counters and 2 registers"]),
        (block, r#"clock = "uclk""#, r#"clock = "ulck""#, &["no clock", "ulck"]),
        (unit, r#"role = "control""#, r#"role = "kontrol""#, &["no role", "kontrol"]),
        (unit, r#"access = "RW-V""#, r#"access = "WR""#, &["no access", "RW"]),
        (unit, "width = 32", "width = 32\nwitdh = 7", &["unknown key", "witdh", "did you mean \"width\""]),
        (events, "counters = [0, 1]", "counters = [0, 5]", &["counter 5", "has 2"]),
        (events, "umask = 0x02", "umask = 0x01", &["TOYS.BLUE and TOYS.RED both select 0x101", "same_as"]),
        (events, "umask = 0x02", "umask = 0x102", &["0x102", "does not fit"]),
        (events, r#"name = "BLUE""#, r#"name = "RED""#, &["subevent \"RED\" exists twice"]),
        (events, r#"name = "BLUE""#, r#"name = "BL/UE""#, &["subevent \"BL/UE\": no name has '/'", "letters, digits"]),
        (events, r#"name = "TOYS""#, r#"name = "TOYS.ALL""#, &["event \"TOYS.ALL\": no name has '.'"]),
        (events, "code = 0x00", "code = 0x01", &["0x1, the code of TOYS", "select a umask", "TOYS stands at"]),
        (events, "measure = \"clock\"", "signal = \"toys\"", &["no signal \"toys\""]),
        (events, r#"description = "Toys painted red.""#, r#"description = "Red""#, &["only repeats its name"]),
        (
            events,
            r#"description = "Toys painted red.""#,
            r#"description = "Red toys.""#,
            &["TOYS.RED only repeats its name"],
        ),
        (metrics, "TOY_RATE", "LIMITS", &["metric \"LIMITS\" has the name of a view", "rename it"]),
        (metrics, "TOYS.RED /", "TOYS.RAD /", &["TOYS.RAD", "did you mean TOYS.RED"]),
        (metrics, "TOYS.RED / seconds", "TOYS.RED / (", &["TOY_RATE"]),
        (
            metrics,
            "\"1.3\"",
            "\"1.3\"\nlimit = { above = 50, means = \"Many.\" }",
            &["TOY_RATE is no share", "in % only"],
        ),
        (metrics, "\"1.3\"", "\"1.3\"\nlimit = { above = 100, means = \"All.\" }", &["a limit above 100 %", "1 to 99"]),
        (
            metrics,
            "\"1.3\"",
            "\"1.3\"\nlimit = { above = 5, means = \"Some.\", see = [\"box/X\"] }",
            &["no metric \"box/X\""],
        ),
    ];
    for (file, from, to, words) in cases {
        let report = Catalogue::new().replace(file, from, to).report();
        assert!(report.contains(&format!("{file}:")), "no place in: {report}");
        assert!(report.contains("fix:"), "no fix in: {report}");
        for word in words {
            assert!(report.contains(word), "no {word:?} in: {report}");
        }
    }
}

/// The width stands in one file and the counter in another: the defect is at the counter and names both.
#[test]
fn a_counter_of_another_width_than_its_block_says() {
    let report =
        Catalogue::new().replace("blocks/box-v1/block.toml", "counter_width = 48", "counter_width = 44").report();
    let wanted = "blocks/box-v1/registers.toml:22: counters of box are 44 bits wide, field event_count is not\n    \
                  fix: make counter_width and the field event_count agree\n";
    assert!(report.contains(wanted), "wanted {wanted}found {report}");
}

#[test]
fn all_defects_come_at_once() {
    let report = Catalogue::new()
        .replace("blocks/box-v1/registers.toml", "offset = 8", "offset = 1")
        .replace("blocks/box-v1/events.toml", "counters = [0, 1]", "counters = [9]")
        .replace("blocks/box-v1/events.toml", "code = 0x01", "code = 0x1000")
        .replace("blocks/box-v1/metrics.toml", "\"/s\"", "\"furlong\"")
        .report();
    for word in ["shares msr", "counter 9", "0x1000", "furlong"] {
        assert!(report.contains(word), "no {word:?} in: {report}");
    }
}

#[test]
fn damaged_and_missing_files() {
    let report = Catalogue::new().replace("blocks/box-v1/events.toml", "[[event]]", "[[event").report();
    assert!(report.contains("blocks/box-v1/events.toml:1") && report.contains("TOML syntax"), "{report}");
    let catalogue = Catalogue::new();
    fs::remove_file(catalogue.root().join("blocks/box-v1/block.toml")).expect("removed");
    let report = catalogue.report();
    assert!(report.contains("families/toy.toml:8") && report.contains("has no block.toml"), "{report}");
    let catalogue = Catalogue::new();
    fs::create_dir(catalogue.root().join("blocks/old-v1")).expect("made");
    fs::write(catalogue.root().join("blocks/box-v1/event.toml"), EVENTS).expect("written");
    let report = catalogue.report();
    assert!(
        report.contains("no family has the block \"old-v1\"") && report.contains("event.toml: no file of a block"),
        "{report}"
    );
    let empty = Catalogue(tempfile::tempdir().expect("a folder"));
    assert!(empty.report().contains("no family"));
}
