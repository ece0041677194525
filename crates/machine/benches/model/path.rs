//! The whole way of a request, to no counters at all and to sixteen.

use pericore_machine::chassis::{Chassis, Shape};
use pericore_machine::ledger::Opcodes;
use pericore_machine::signal::{SignalSink, Tick, Wire, Wiring};
use pericore_machine::uncore::{Model, Parameters};
use pericore_machine::workload::Workload;
use pericore_registers::{Address, Bdf, RegisterSpace, Width};

use crate::Measured;
use crate::stopwatch::Stopwatch;

/// Hears nothing.
pub struct Nothing;

impl SignalSink for Nothing {
    fn pulse(&mut self, _: Wire, _: u64, _: Tick, _: u32) {}
    fn enter(&mut self, _: Wire, _: u64, _: Tick) {}
    fn leave(&mut self, _: Wire, _: u64, _: Tick) {}
    fn hears(&self, _: Wire) -> bool {
        false
    }
}

const MISS: &str = "random:footprint=16G";
const STREAM: &str = "stream:footprint=256M";
/// Beyond what the L2s hold, within the LLC.
const HIT: &str = "random:footprint=8M";

pub fn miss(requests: u64) -> Measured {
    run(MISS, requests, 0, &mut Nothing)
}

pub fn miss_counted(requests: u64) -> Measured {
    run(MISS, requests, 0, &mut counters())
}

pub fn stream(requests: u64) -> Measured {
    run(STREAM, requests, 0, &mut Nothing)
}

pub fn stream_counted(requests: u64) -> Measured {
    run(STREAM, requests, 0, &mut counters())
}

pub fn hit(requests: u64) -> Measured {
    run(HIT, requests, 50, &mut Nothing)
}

pub fn hit_counted(requests: u64) -> Measured {
    run(HIT, requests, 50, &mut counters())
}

/// The family that has a model.
pub const FAMILY: &str = "e5-2600";

/// Runs a workload and measures what comes after `warm` per cent of it. At least a million requests go before that where
/// caches must be warm, so that runs of different length differ by warm requests only.
fn run<S: SignalSink>(workload: &str, requests: u64, warm: u64, sink: &mut S) -> Measured {
    let family = pericore_catalog::family(FAMILY).expect("the family is in the catalogue");
    let parameters = Parameters::e5_2680();
    let opcodes = Opcodes::by_name(|name| family.named_value("idi-opcodes", name)).expect("the opcodes are too");
    let before = if warm == 0 { 0 } else { 1_000_000.max(requests * warm / 100) };
    let workload = format!("{workload},requests={}", before + requests);
    let workload = Workload::parse(&workload, &parameters.limits()).expect("the workload is sound");
    let mut wiring = Wiring::new(family, 1);
    let mut model = Model::new(parameters, opcodes, &workload, &mut wiring).expect("the preset is sound");
    while model.progress().done < before {
        model.run_until(model.now() + 100_000, sink);
    }
    let done = model.progress().done;
    let watch = Stopwatch::start();
    while !model.finished() {
        model.run_until(model.now() + 1_000_000, sink);
    }
    Measured { seconds: watch.seconds(), requests: model.progress().done - done, cycles: None }
}

/// Two counters on each of four slices and of the four channels, by hand from the guide: look-ups of data reads (Table 2-15) and
/// occupancy of the table of requests (Table 2-31); reads and writes of DRAM and occupancy of the read queue (2.5.8).
fn counters() -> Chassis {
    let family = pericore_catalog::family(FAMILY).expect("the family is in the catalogue");
    let shape = Shape::new(family, 1, 8, 2).expect("one socket");
    let clocks = Parameters::e5_2680().clocks().expect("the preset's clocks");
    let period = |clock: &str| if clock == "dclk" { clocks.dclk.ticks() } else { clocks.uclk.ticks() };
    let mut chassis = Chassis::new(shape, Wiring::new(family, 1), period);
    for slice in 0..4 {
        let base = 0xd00 + 0x20 * slice;
        for (register, value) in [(0x14, 0x1f << 18), (0x10, 0x0040_0836), (0x11, 0x0040_0334)] {
            let address = Address::Msr { cpu: 0, msr: base + register };
            chassis.write(address, Width::B8, value).expect("the MSR exists");
        }
    }
    for function in [0, 1, 4, 5] {
        for (offset, value) in [(0xd8, 0x0040_0f04), (0xdc, 0x0040_0080)] {
            let address = Address::Pci { bdf: Bdf::new(0xff, 16, function), offset };
            chassis.write(address, Width::B4, value).expect("the register exists");
        }
    }
    chassis
}
