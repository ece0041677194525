//! A machine that runs a workload, and its counters by raw address.

use pericore_machine::workload::Scenario;
use pericore_machine::{Machine, MachineSpec};
use pericore_registers::{Address, Bdf, RegisterSpace, Width};

/// A machine about to run a workload.
pub fn machine(name: &str, workload: &str) -> Machine {
    let spec = MachineSpec::parse(name).expect("a machine");
    let scenario = Scenario::of(workload, &spec.limits().expect("a model")).expect("a workload");
    Machine::for_scenario(&spec, &scenario).expect("a machine")
}

/// Runs so many nanoseconds.
pub fn run(machine: &mut Machine, nanoseconds: u64) {
    let ticks = u128::from(machine.clocks().ticks_per_second()) * u128::from(nanoseconds) / 1_000_000_000;
    machine.run_for(ticks as u64);
}

/// Runs to the end of the workload; gives the nanoseconds until its last access was done.
pub fn finish(machine: &mut Machine) -> f64 {
    let step = machine.clocks().ticks_per_second() / 20_000_000;
    while machine.progress().done < machine.progress().total {
        machine.run_for(step);
        assert!(machine.now() < step * 100_000, "the workload does not end");
    }
    let nanoseconds = machine.now() as f64 * 1e9 / machine.clocks().ticks_per_second() as f64;
    while !machine.finished() {
        machine.run_for(step);
    }
    nanoseconds
}

/// An MSR on CPU 0.
pub const fn msr(number: u32) -> Address {
    Address::Msr { cpu: 0, msr: number }
}

pub fn write(machine: &mut Machine, address: Address, value: u64) {
    let width = if matches!(address, Address::Msr { .. }) { Width::B8 } else { Width::B4 };
    machine.write(address, width, value).expect("a control");
}

pub fn read(machine: &mut Machine, address: Address) -> u64 {
    machine.read(address, Width::B8).expect("a counter")
}

/// Channels of an E5-2600 whose uncore bus is `bus` (guide 2.5.2.1: device 16, functions 4, 5, 0 and 1).
pub fn e5_channel(bus: u8, channel: usize, offset: u16) -> Address {
    Address::Pci { bdf: Bdf::new(bus, 16, [4, 5, 0, 1][channel]), offset }
}

/// Counter `n` of a channel of an E5-2600 counts an event from now on (Tables 2-60 to 2-62).
pub fn count_on_e5_channel(machine: &mut Machine, bus: u8, channel: usize, n: u16, event: u64) {
    write(machine, e5_channel(bus, channel, 0xd8 + 4 * n), 0x40_0000 | event);
}

/// Counter `n` of a channel of an E5-2600.
pub fn e5_channel_count(machine: &mut Machine, bus: u8, channel: usize, n: u16) -> u64 {
    read(machine, e5_channel(bus, channel, 0xa0 + 8 * n))
}

/// The registers of channel 0 to 7 of a lone Emerald Rapids (1.10.3 and Table 1-12): four controllers of two channels.
pub fn emr_channel(channel: u64, offset: u64) -> Address {
    Address::Mmio { physical: 0xf000_0000 + 0x8_0000 * (channel / 2) + 0x8000 * (channel % 2) + offset }
}

/// Counter `n` of a channel of Emerald Rapids counts an event from now on.
pub fn count_on_emr_channel(machine: &mut Machine, channel: u64, n: u64, event: u64) {
    write(machine, emr_channel(channel, 0x2_2840 + 4 * n), event);
}

/// Counter `n` of a channel of Emerald Rapids.
pub fn emr_channel_count(machine: &mut Machine, channel: u64, n: u64) -> u64 {
    read(machine, emr_channel(channel, 0x2_2808 + 8 * n))
}

/// Each share is that of an even spread, within `per_cent`.
#[track_caller]
pub fn even(what: &str, counts: &[u64], per_cent: f64) {
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let sound = |count: u64| (count as f64 - mean).abs() <= mean * per_cent / 100.0;
    assert!(mean > 0.0 && counts.iter().all(|&count| sound(count)), "{what}: {counts:?} around {mean:.0}");
}

/// A value lies between two others.
#[track_caller]
pub fn between(what: &str, least: f64, value: f64, most: f64) {
    println!("{what}: {value:.2}, from {least} to {most}");
    assert!((least..=most).contains(&value), "{what}: {value:.2}, allowed {least} to {most}");
}
