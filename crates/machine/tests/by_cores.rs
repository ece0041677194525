//! Bandwidth of kernels by the number of cores of an E5-2680, against silicon: steady, over 250 MB.

use pericore_machine::workload::{Scenario, Workload};
use pericore_machine::{Machine, MachineSpec, MemoryKind, Window};

/// Published measurements, with their source.
const SILICON: &str = include_str!("../../../docs/silicon/e5-2680-by-cores.csv");

/// A kernel's column in the file, its workload, which share of the lines at memory the kernel asks for, and the error
/// that is allowed. A line that is only stored to is read first, and that read is in none of the published figures.
const KERNELS: [(&str, &str, f64, f64); 4] = [
    ("load", "stream:", 1.0, 0.1),
    ("triad", "triad:", 4.0 / 5.0, 0.1),
    ("copy", "copy:", 2.0 / 3.0, 0.1),
    // Each element is read and written where it lies.
    ("update", "stream:read=0,", 1.0, 0.15),
];

/// GB/s of all lines that memory reads and writes.
fn bandwidth(workload: &str) -> f64 {
    let spec = MachineSpec::parse("e5-2680").unwrap();
    let scenario = Scenario::from(Workload::parse(workload, &spec.limits().unwrap()).unwrap()).warmed();
    let mut machine = Machine::for_scenario(&spec, &scenario).unwrap();
    machine.warm_up(&scenario).unwrap();
    let from = machine.snapshot();
    let second = machine.clocks().ticks_per_second();
    while !machine.finished() {
        machine.run_for(second / 1_000_000);
    }
    let to = machine.snapshot();
    let lines = |at: &pericore_machine::Snapshot| at.memory_lines(MemoryKind::Dram, 1).iter().sum::<u64>();
    (lines(&to) - lines(&from)) as f64 * 64.0 / 1e9 / Window::between(&from, &to).seconds(machine.clocks())
}

/// A core, few that memory has room for, and all eight.
#[test]
fn kernels_move_what_silicon_moves() {
    let mut rows =
        SILICON.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(',').collect::<Vec<_>>());
    let columns = rows.next().expect("a head");
    let rows: Vec<_> = rows.filter(|row| ["1", "2", "3", "8"].contains(&row[0])).collect();
    assert_eq!(rows.len(), 4);
    for (kernel, workload, share, allowed) in KERNELS {
        let column = columns.iter().position(|name| *name == kernel).expect("a column");
        for row in &rows {
            let silicon: f64 = row[column].parse().expect("a number");
            let model = share * bandwidth(&format!("{workload}threads={},footprint=250M,requests=150k", row[0]));
            let error = model / silicon - 1.0;
            assert!(
                error.abs() < allowed,
                "{kernel}, {} cores: {model:.1} GB/s, silicon {silicon}: {error:+.2}",
                row[0]
            );
        }
    }
}
