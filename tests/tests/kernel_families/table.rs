//! `docs/counting/families.md`: families, their units and what only one way can count.
//!
//! `PERICORE_WRITE_TABLES=1 cargo test -p pericore-tests --test all kernel_families::table` writes it anew.

use std::env;
use std::fmt::Write as _;
use std::fs;

use pericore_catalog::kernel::{self, ShippedKernel, intel_events};

const HEAD: &str = "\
# What is counted on which family, and in which way

Written by `PERICORE_WRITE_TABLES=1 cargo test -p pericore-tests --test all kernel_families::table` from the catalogue.
Units that both ways count are in the third column; a unit may have events or filters that one of them refuses
(`list --json`: `perf` is null where the driver has no room). Events are Intel's, and in brackets those that the driver
takes. Free-running counters belong to the unit itself where registers are known, and are a unit of their own elsewhere.

| family | ways | units | only by registers | only through the kernel | in no way | Intel's events | metrics |
|---|---|---|---|---|---|---|---|
";

fn join(names: &[&str]) -> String {
    if names.is_empty() { "-".to_owned() } else { names.join(" ") }
}

fn row(shipped: &'static ShippedKernel) -> String {
    let family = shipped.family();
    let has_registers = !shipped.is_without_registers();
    let known = &shipped.tables().units;
    let is_driven = |name: &str| known.iter().any(|unit| unit.name == name && !unit.pmus.is_empty());
    let is_ours = |name: &str| has_registers && family.unit(name).is_some();
    let mut names: Vec<&str> = family.units.iter().map(|unit| unit.name).collect();
    names.extend(known.iter().map(|unit| unit.name).filter(|name| family.unit(name).is_none()));
    let of = |ours: bool, driven: bool| -> Vec<&str> {
        names.iter().copied().filter(|name| (is_ours(name), is_driven(name)) == (ours, driven)).collect()
    };
    let (both, registers, driver, none) = (of(true, true), of(true, false), of(false, true), of(false, false));
    let ways = if has_registers { "registers, kernel" } else { "kernel" };
    // Without registers all is counted through the kernel: that is no exception there.
    let (units, only_driver) = if has_registers { (both, driver) } else { (driver, Vec::new()) };
    let events: Vec<bool> = intel_events(shipped).map(|event| event.perf.is_ok()).collect();
    let taken = events.iter().filter(|taken| **taken).count();
    let metrics: usize = family.units.iter().map(|unit| unit.metrics.len()).sum();
    format!(
        "| {} (`{}`) | {ways} | {} | {} | {} | {} | {} ({taken}) | {metrics} |",
        family.name,
        shipped.code,
        join(&units),
        join(&registers),
        join(&only_driver),
        join(&none),
        events.len()
    )
}

#[test]
fn the_table_of_families_is_current() {
    let mut text = HEAD.to_owned();
    for shipped in kernel::families() {
        let _ = writeln!(text, "{}", row(shipped));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/counting/families.md");
    if env::var_os("PERICORE_WRITE_TABLES").is_some() {
        fs::write(path, &text).expect("written");
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    assert!(found == text, "docs/counting/families.md is not current: PERICORE_WRITE_TABLES=1 writes it anew");
    // By hand: thirteen families of sixteen and Nehalem have no registers here.
    assert_eq!(text.lines().filter(|line| line.contains("| kernel |")).count(), 13);
}
