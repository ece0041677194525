//! The tables of what Linux's driver offers: what lines mean, and what is wrong with them.

use std::fs;

use pericore_catalog_compiler::{Arena, KernelTables, compile_kernel};
use tempfile::TempDir;

const LAYOUTS: &str = "\
# A comment.
layout control
    event=config:0-7,21 umask=config:8-15,32-63
layout wide
    event=config:0-7,21 umask=config:8-15,32-55
    filter_opc=config1:23
";
const UNITS: &str = "unit cha Slice\nunit qpi Link\nintel QPI LL\n";
const ALIASES: &str = "aliases ours\n    hits event=0x35,umask=0x1\n    ticks event=0xff\n";
const ONE: &str = "\
family first one uno
header First (R) processor
title First of all
default reads
cpu 6 0x55 0-4
unit cha wide uncore_cha uncore_type_0
aliases ours
unit qpi wide
";
const ONE_METRICS: &str =
    "file m.json 1.0 01/02/2023\nreads | MB/sec | (a * 64) / b | a=UNC_CHA_HITS.MISS:c1 | b=SECONDS\n";
const ONE_EVENTS: &str = "\
file first.json 1.2 01/02/2023
rows 5
unit cha UNC_CHA_
HITS 35 0-3
 MISS 01+c001fe Fopc d
 PART 02 p81 f7 v40433 n
*UNC_OLD 1 2 =00
unit qpi UNC_Q_
CTO 138 - =00
FLITS 2 0,1
";
const TWO: &str = "family second\nunit cha wide\nunit qpi wide\n";
const TWO_EVENTS: &str = "\
like one
rows 2
-unit qpi
unit cha UNC_CHA_
HITS 35 1-1
 NEW 04
-HITS.MISS
-HITS.PART
-*UNC_OLD.*
CLOCK 00 0-1 =00
";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().expect("a folder");
    for below in ["families", "events", "metrics"] {
        fs::create_dir_all(root.path().join("kernel").join(below)).expect("a folder");
    }
    for (name, text) in files {
        let below = match name.rsplit_once('.') {
            Some((_, "family")) => "families",
            Some((_, "events")) => "events",
            Some((_, "metrics")) => "metrics",
            _ => "",
        };
        fs::write(root.path().join("kernel").join(below).join(name), text).expect("a file");
    }
    root
}

fn compiled<'c>(to: &'c Arena, files: &[(&str, &str)]) -> Result<KernelTables<'c>, String> {
    compile_kernel(to, folder(files).path()).map_err(|defects| defects.to_string())
}

/// The files above, the first one's events without the line that is wrong.
fn good() -> Vec<(&'static str, &'static str)> {
    let events = ONE_EVENTS.strip_suffix("FLITS 2 0,1\n").expect("the wrong line").replace("rows 5", "rows 4");
    vec![
        ("layouts", LAYOUTS),
        ("units", UNITS),
        ("aliases", ALIASES),
        ("one.family", ONE),
        ("one.events", events.leak()),
        ("one.metrics", ONE_METRICS),
        ("two.family", TWO),
        ("two.events", TWO_EVENTS),
    ]
}

#[test]
fn lines_become_rows() {
    let arena = Arena::default();
    let tables = compiled(&arena, &good()).expect("no defect");
    let name = |index: u32| tables.names[index as usize].as_str();
    let first = &tables.families[0];
    assert_eq!((first.name, first.code, first.title), ("first", "one", "First of all"));
    assert_eq!((first.header, first.aliases), ("First (R) processor", &["one", "uno"][..]));
    assert_eq!((first.cpus[0].model.model, first.cpus[0].steppings), (0x55, (0, 4)));
    assert_eq!(first.documents[0].title, "Intel perfmon event file first.json, V1.2, 01/02/2023");
    let reads = &first.metrics[0];
    assert_eq!((reads.name, reads.unit_of_measure, reads.formula), ("reads", "MB/sec", "(a * 64) / b"));
    assert_eq!(reads.events, [("a", "UNC_CHA_HITS.MISS:c1")]);
    assert_eq!(reads.constants, [("b", "SECONDS")]);
    assert_eq!((first.default_metrics, first.metrics.len()), (&["reads"][..], 1));
    assert_eq!(first.metrics_source, "Intel perfmon metric file m.json 1.0 01/02/2023");
    let (slice, link) = (&first.units[0], &first.units[1]);
    assert_eq!(
        (slice.pmus, slice.prefix, link.intel_unit),
        (&["uncore_cha", "uncore_type_0"][..], "UNC_CHA_", "QPI LL")
    );
    assert_eq!((slice.fields[0].mask(), slice.fields[1].mask()), (0x20_00ff, 0x00ff_ffff_0000_ff00));
    assert_eq!(slice.aliases, [("hits", "event=0x35,umask=0x1"), ("ticks", "event=0xff")]);
    assert_eq!(link.aliases, []);
    let old = &slice.events[0];
    assert_eq!((name(old.name), old.prefixed, old.code, old.rows[0].counters), ("UNC_OLD", false, 1, 0b100));
    let hits = &slice.events[1];
    let (miss, part) = (&hits.rows[0], &hits.rows[1]);
    assert_eq!((name(hits.name), hits.prefixed, hits.code), ("HITS", true, 0x35));
    assert_eq!((miss.subevent.map(name), miss.umask, miss.counters), (Some("MISS"), 0xc001_fe01, 0xf));
    assert_eq!((miss.filters.map(name), miss.deprecated, miss.offered), (Some("opc"), true, true));
    assert_eq!((part.ports, part.flow_classes, part.filter_value, part.offered), (0x81, 7, 0x4_0433, false));
    // Bit 8 of the code is the extension of the event select, bit 21 of the register.
    let cto = &link.events[0];
    assert_eq!((link.control(cto, &cto.rows[0]), cto.rows[0].counters, cto.rows[0].subevent), (0x20_0038, 0, None));
    assert_eq!(slice.control(hits, miss), 0x00c0_01fe_0000_0135);
}

#[test]
fn a_table_like_another_has_its_rows_but_for_what_differs() {
    let arena = Arena::default();
    let tables = compiled(&arena, &good()).expect("no defect");
    let second = &tables.families[1];
    let rows: Vec<String> = second
        .units
        .iter()
        .flat_map(|unit| unit.events.iter().map(move |event| (unit, event)))
        .flat_map(|(unit, event)| event.rows.iter().map(move |row| (unit, event, row)))
        .map(|(unit, event, row)| {
            let name = |index: u32| tables.names[index as usize].as_str();
            format!("{}/{}.{} {:x}", unit.name, name(event.name), row.subevent.map_or("", name), row.umask)
        })
        .collect();
    assert_eq!(rows, ["cha/CLOCK. 0", "cha/HITS.NEW 4"]);
    assert_eq!(second.units[0].prefix, "UNC_CHA_");
}

#[test]
fn what_is_wrong_is_reported_with_its_line() {
    let with = |name: &'static str, text: &'static str| {
        let mut files = good();
        files.retain(|(known, _)| *known != name);
        files.push((name, text));
        compiled(&Arena::default(), &files).expect_err(text)
    };
    let report = with("one.events", ONE_EVENTS);
    assert!(report.contains("one.events:10: \"FLITS 2 0,1\" is no event"), "{report}");
    assert!(report.contains("one.events: the table says 5 rows, and has 4"), "{report}");
    let wrong = [
        ("layouts", "layout wide\n umask=config3:0-7\n", "layouts:2: \"umask=config3:0-7\" is no field"),
        ("layouts", "event=config:0-7\n", "layouts:1: fields of no layout"),
        ("layouts", "layout wide\n umask=config:0-7\n", "layouts: there is no layout control"),
        ("aliases", "hits event=0x1\n", "aliases:1: names of no list"),
        ("aliases", "aliases ours\n hits 3\n", "aliases:2: \" hits 3\" is no name of an event"),
        ("aliases", "aliases yours\n", "one.family:7: no aliases \"ours\""),
        ("one.metrics", "reads | MB/sec | a\n", "one.metrics:1: \"reads | MB/sec | a\" is no metric"),
        ("one.metrics", "reads || a | b=UNC_X\n", "one.metrics:1: \"reads || a | b=UNC_X\" is no metric"),
        ("one.metrics", "others || a | a=UNC_X |\n", "one.family: the family has no metric \"reads\""),
        ("units", "unit cha Slice\n", "two.family:3: no kind of unit is called \"qpi\""),
        ("two.family", "family second\nunit cha narrow\n", "two.family:2: no layout \"narrow\""),
        ("two.family", "unit cha wide\n", "two.family: the family has no name"),
        ("two.family", "family second\ncpu 6 55\nunit cha wide\n", "two.family:2: \"cpu 6 55\" is no processor"),
        ("two.family", "family second\nunit qpi wide\n", "two.family: two.events has events of cha"),
        ("two.events", "like one\nlike two\nrows 4\n", "tables refer to each other in a circle"),
        ("two.events", "rows 2\nunit cha UNC_\nA 1 0\n B 1\nA 2 0\n C 1\n", "cha/A has rows with different codes"),
    ];
    for (name, text, expected) in wrong {
        let report = with(name, text);
        assert!(report.contains(expected), "{expected}\n{report}");
    }
}

#[test]
fn a_catalogue_without_the_folder_has_no_such_families() {
    let root = tempfile::tempdir().expect("a folder");
    assert!(compile_kernel(&Arena::default(), root.path()).expect("no defect").families.is_empty());
}
