//! What one core alone reads: within 15 % of what is published of relatives.

use pericore_machine::workload::Scenario;
use pericore_machine::{Machine, MachineSpec};

use super::raw::between;

/// GB/s of a core that reads an array from start to end, in the steady state.
fn reads(name: &str, footprint: &str) -> f64 {
    const LINES: u32 = 60_000;
    let spec = MachineSpec::parse(name).expect("a machine");
    let workload = format!("stream:threads=1,requests={LINES},footprint={footprint}");
    let scenario = Scenario::of(&workload, &spec.limits().expect("a model")).expect("a workload").warmed();
    let mut machine = Machine::for_scenario(&spec, &scenario).expect("a machine").without_truth();
    machine.warm_up(&scenario).expect("a warm-up");
    let (ticks_per_second, begun, done) = (machine.clocks().ticks_per_second(), machine.now(), machine.progress().done);
    while machine.progress().done < machine.progress().total {
        machine.run_for(ticks_per_second / 10_000_000);
    }
    let seconds = (machine.now() - begun) as f64 / ticks_per_second as f64;
    (machine.progress().done - done) as f64 * 64.0 / seconds / 1e9
}

/// Sapphire Rapids 8470, whose cores run at 2.0 GHz as the 8480+'s do.
#[test]
fn of_sapphire_rapids() {
    between("from the LLC", 0.85 * 17.6, reads("8480+", "32M"), 1.15 * 17.6);
    between("from memory", 0.85 * 14.5, reads("8480+", "2G"), 1.15 * 14.5);
}

/// Of the next generation's 6962P, whose cores are nearer to the 8592+'s 2.8 GHz.
#[test]
fn of_emerald_rapids() {
    between("from the LLC", 0.85 * 27.0, reads("8592+", "32M"), 1.15 * 27.0);
    between("from memory", 0.85 * 16.0, reads("8592+", "2G"), 1.15 * 16.0);
}
