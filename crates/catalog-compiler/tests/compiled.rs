//! The compiled rows have what the files of a catalogue have: a small catalogue that uses every key, compiled,
//! packed and read again.
//!
//! `compiled/rows.txt` has the expected rows. It was checked against the texts line by line, and is changed
//! by hand. Numbers are decimal there.

mod box_block;
mod files;

use std::fmt::Write;
use std::fs;

use pericore_catalog_schema::{Family, Judgements, Unit, inflate, unpack};
use tempfile::TempDir;

/// The folder into which a catalogue was compiled.
fn compiled() -> TempDir {
    let root = tempfile::tempdir().expect("a folder");
    for (path, text) in files::FILES {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let files = pericore_catalog_compiler::Files::of(root.path());
    let catalogue = pericore_catalog_compiler::compile_files(&files).unwrap_or_else(|defects| panic!("{defects}"));
    let out = tempfile::tempdir().expect("a folder");
    pericore_catalog_compiler::emit::write(
        &catalogue,
        &pericore_catalog_compiler::KernelTables::default(),
        &files,
        out.path(),
    )
    .expect("written");
    out
}

/// The rows of a file, inflated.
fn bytes(folder: &TempDir, name: &str) -> Vec<u8> {
    inflate(&fs::read(folder.path().join(name)).expect("packed")).expect("compressed")
}

#[test]
fn the_rows_have_what_the_files_have() {
    let out = compiled();
    let (rows, departures) = (bytes(&out, "toy.rows"), bytes(&out, "judgements.rows"));
    let family: Family<'_> = unpack(&rows).expect("rows");
    let judgements: Judgements<'_> = unpack(&departures).expect("rows");
    let mut found = String::new();
    let Family {
        name,
        aliases,
        title,
        documents,
        cpus,
        clocks,
        default_metrics,
        views,
        summary,
        floorplan,
        processor,
        stubs,
        discovery,
        units,
        value_sets,
    } = family;
    writeln!(found, "family {name:?} {aliases:?} {title:?} {default_metrics:?}").expect("text");
    found += &lines(documents);
    found += &lines(cpus);
    found += &lines(clocks);
    found += &lines(views);
    found += &lines(summary);
    found += &lines(floorplan);
    found += &lines(processor.as_slice());
    found += &lines(stubs);
    found += &lines(discovery.as_slice());
    found += &lines(value_sets);
    for unit in units {
        found += &unit_lines(unit);
    }
    found += &lines(judgements.deviations);
    found += &lines(judgements.choices);
    for (number, (found, expected)) in found.lines().zip(include_str!("compiled/rows.txt").lines()).enumerate() {
        assert_eq!(found, expected, "line {}", number + 1);
    }
    assert_eq!(found, include_str!("compiled/rows.txt"));
}

#[test]
fn a_family_can_be_found_by_name_alias_and_processor_before_its_rows_are_unpacked() {
    let table = fs::read_to_string(compiled().path().join("families.rs")).expect("written");
    let row = r#"Shipped::new("toy", &["t", "ty"], &[(6, 1), (6, 45)], &["#;
    let blocks = r#"&["card-v1", "box-v1", "stop-v1", "room-v1"], include_bytes!("toy.rows")),"#;
    assert!(table.contains(row) && table.contains(blocks), "{table}");
    assert!(table.contains("[Shipped; 1]"), "{table}");
}

fn unit_lines(unit: &Unit<'_>) -> String {
    let Unit { name, title, description, source, intel_unit, intel_prefix, perf_pmu, perf_events, .. } = unit;
    let Unit { clock, instances, one_per, discovery_type, isolated, counters, counter_width, caveats, .. } = unit;
    format!(
        "unit {name:?} {title:?} {description:?} {source:?} {intel_unit:?} {intel_prefix:?} {perf_pmu:?} \
         {perf_events:?}\n{clock:?} {instances} instances, {one_per:?}, {discovery_type:?}, isolated {isolated:?}, \
         {counters} counters, {counter_width} bits, {caveats:?}\n{}{}{}{}{}{}",
        lines(unit.placements),
        lines(unit.registers),
        lines(unit.field_sets),
        lines(unit.signals),
        lines(unit.events),
        lines(unit.metrics),
    )
}

/// Rows as text, one a line.
fn lines<T: std::fmt::Debug>(rows: &[T]) -> String {
    rows.iter().map(|row| format!("{row:?}\n")).collect()
}
