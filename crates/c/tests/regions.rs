//! A C program with regions on a software machine, held against what the ledger of the model has for the same times.

use std::collections::BTreeMap;

use pericore_machine::workload::Scenario;
use pericore_machine::{Machine, MachineSpec, MemoryKind};

use crate::programs::{Installed, succeeded};

const WORKLOAD: &str = "mixed:read=60,stride=64k,footprint=1G,requests=20000";

/// A line of the program: count, seconds, grade and starts of an event in a region.
type Line = (u64, f64, u64, u64);

fn events(printed: &str) -> BTreeMap<(String, String), Line> {
    let mut events = BTreeMap::new();
    for line in printed.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let [region, event, count, seconds, grade, starts] = words[..] {
            let line = (
                count.parse().expect("a count"),
                seconds.parse().expect("seconds"),
                grade.parse().expect("a grade"),
                starts.parse().expect("starts"),
            );
            events.insert((region.to_owned(), event.to_owned()), line);
        }
    }
    events
}

/// Lines that memory has read and written by the times at which the program sets its markers, the last at the end of
/// the workload.
fn ledger(microseconds: &[u64]) -> Vec<[u64; 2]> {
    let spec = MachineSpec::parse("e5-2600").expect("a machine");
    let scenario = Scenario::of(WORKLOAD, &spec.limits().expect("limits")).expect("a workload").warmed();
    let mut machine = Machine::for_scenario(&spec, &scenario).expect("a machine");
    machine.warm_up(&scenario);
    let (began, second) = (machine.now(), machine.clocks().ticks_per_second());
    let lines = |machine: &Machine| machine.memory_lines(MemoryKind::Dram);
    let mut at_markers = Vec::new();
    for until in microseconds {
        machine.run_for(began + until * second / 1_000_000 - machine.now());
        at_markers.push(lines(&machine));
    }
    while !machine.finished() {
        machine.run_for(second / 10_000_000);
    }
    at_markers.push(lines(&machine));
    at_markers
}

#[test]
fn regions_have_the_counts_of_the_ledger() {
    let installed = Installed::new();
    let program = installed.compile("gcc", "regions.c", &["-std=c11"]);
    let run = || String::from_utf8(succeeded(&mut installed.command(&program)).stdout).expect("text");
    let printed = run();
    assert_eq!(run(), printed, "virtual time and seeds: a second run prints the same");
    let found = events(&printed);
    let of = |region: &str, event: &str| found[&(region.to_owned(), event.to_owned())];
    // Markers at 1, 4 and 8 us.
    let truth = ledger(&[1, 4, 8]);
    for (direction, event) in ["imc/CAS_COUNT.RD/", "imc/CAS_COUNT.WR/"].into_iter().enumerate() {
        let between = |from: usize, to: usize| truth[to][direction] - truth[from][direction];
        let counts = ["load", "solve", "rest", "whole"].map(|region| of(region, event).0);
        assert_eq!(counts, [between(0, 1), between(1, 2), between(2, 3), between(0, 3)], "{event}\n{printed}");
        assert!(counts.iter().all(|count| *count > 100), "{event} counts\n{printed}");
    }
    for (region, microseconds, starts) in [("load", 3.0, 1), ("solve", 4.0, 2)] {
        let (clocks, seconds, grade, started) = of(region, "cbo/CLOCKTICKS/");
        assert!((seconds - microseconds * 1e-6).abs() < 1e-12, "{region} took {seconds} s");
        assert_eq!((grade, started), (0, starts), "{region}");
        // Each of eight slices counts the uncore's clock, which the preset has at 2.7 GHz: so many cycles and one at
        // each end.
        let cycles = 8.0 * 2.7e9 * seconds;
        assert!((clocks as f64 - cycles).abs() <= 16.0, "{region}: {clocks} instead of {cycles}");
    }
    // A line has 64 bytes.
    let line = format!("load MEM_BW_READS {} B 0", 64 * (truth[1][0] - truth[0][0]));
    assert!(printed.lines().any(|printed| printed == line), "{line} in\n{printed}");
}
