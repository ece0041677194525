//! The whole way of a request, to no counters at all and to sixteen.

use pericore_machine::signal::{SignalSink, Tick, Wire};
use pericore_machine::workload::Workload;
use pericore_machine::{Machine, MachineSpec};
use pericore_registers::{Address, Bdf, RegisterSpace, Width};

use crate::Measured;
use crate::stopwatch::Stopwatch;

/// Hears nothing.
pub struct Nothing;

impl SignalSink for Nothing {
    fn pulse(&mut self, _: Wire, _: u64, _: Tick, _: u32) {}
    fn enter(&mut self, _: Wire, _: u64, _: Tick) {}
    fn leave(&mut self, _: Wire, _: u64, _: Tick) {}
    fn observes(&self, _: Wire) -> bool {
        false
    }
    fn observes_any(&self, _: u16) -> bool {
        false
    }
}

/// A workload on a machine.
pub struct Path {
    /// As `--machine` takes it.
    pub machine: &'static str,
    pub workload: &'static str,
    /// Accesses before those that are measured, where caches must be warm.
    pub warm: u64,
    /// Programs sixteen counters.
    pub counters: fn(&mut Machine),
}

impl Path {
    /// Runs so many accesses behind the warm ones.
    pub fn run(&self, warm: u64, requests: u64) -> Measured {
        self.run_into(warm, requests, |machine, ticks| machine.run_for(ticks))
    }

    /// The same, with nothing behind the signals.
    pub fn run_unheard(&self, warm: u64, requests: u64) -> Measured {
        self.run_into(warm, requests, |machine, ticks| machine.run_into(ticks, &mut Nothing))
    }

    fn run_into(&self, warm: u64, requests: u64, run: impl Fn(&mut Machine, Tick)) -> Measured {
        let spec = MachineSpec::parse(self.machine).expect("the machine is known");
        let limits = spec.limits().expect("it has a model");
        let workload = format!("{},requests={}", self.workload, warm + requests);
        let workload = Workload::parse(&workload, &limits).expect("the workload is sound");
        let mut machine = Machine::new(&spec, &workload).expect("the preset is sound");
        (self.counters)(&mut machine);
        while machine.progress().done < warm {
            run(&mut machine, 100_000);
        }
        let done = machine.progress().done;
        let watch = Stopwatch::start();
        while !machine.finished() {
            run(&mut machine, 1_000_000);
        }
        Measured { seconds: watch.seconds(), requests: machine.progress().done - done, cycles: None }
    }
}

/// Builds machines; gives the time of one.
pub fn build(machine: &str, machines: u64) -> Measured {
    let spec = MachineSpec::parse(machine).expect("the machine is known");
    let workload = Workload::parse("random", &spec.limits().expect("it has a model")).expect("a workload");
    let watch = Stopwatch::start();
    for _ in 0..machines {
        std::hint::black_box(Machine::new(&spec, &workload).expect("the preset is sound"));
    }
    Measured { seconds: watch.seconds(), requests: machines, cycles: None }
}

fn write(machine: &mut Machine, address: Address, width: Width, value: u64) {
    machine.write(address, width, value).expect("the register exists");
}

/// Two counters on each of four slices and of the four channels, by hand from the guide: look-ups of data reads (Table 2-15) and
/// occupancy of the table of requests (Table 2-31); reads and writes of DRAM and occupancy of the read queue (2.5.8).
pub fn e5_2600(machine: &mut Machine) {
    for slice in 0..4 {
        let base = 0xd00 + 0x20 * slice;
        for (register, value) in [(0x14, 0x1f << 18), (0x10, 0x0040_0836), (0x11, 0x0040_0334)] {
            write(machine, Address::Msr { cpu: 0, msr: base + register }, Width::B8, value);
        }
    }
    for function in [0, 1, 4, 5] {
        for (offset, value) in [(0xd8, 0x0040_0f04), (0xdc, 0x0040_0080)] {
            write(machine, Address::Pci { bdf: Bdf::new(0xff, 16, function), offset }, Width::B4, value);
        }
    }
}

/// The same of Emerald Rapids, by hand from the guide: occupancy of the table of requests by cores' misses and look-ups of data
/// reads on four agents (tables 1-9, 2-63 and on); all reads of DRAM, and entries of the read queue of the first pseudo channel, on
/// four channels (Table 1-12).
pub fn emerald_rapids(machine: &mut Machine) {
    for agent in 0..4 {
        let base = 0x2000 + 0x10 * agent;
        for (register, value) in [(2, 0x00c8_17fe_0000_0136), (3, 0x0000_1fff_0000_8134)] {
            write(machine, Address::Msr { cpu: 0, msr: base + register }, Width::B8, value);
        }
    }
    for (controller, channel) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let base = 0xf000_0000 + 0x8_0000 * controller + 0x2_2800 + 0x8000 * channel;
        for (offset, value) in [(0x40, 0xcf05), (0x44, 0x0180)] {
            write(machine, Address::Mmio { physical: base + offset }, Width::B4, value);
        }
    }
}

/// The eight counters of each of two sockets, by hand from the SDM (18.8.2.2 and its table of uncore events): occupied cycles and
/// allocations of the global queue's read tracker; misses and hits of the last-level cache; reads and writes of all channels.
pub fn nehalem(machine: &mut Machine) {
    let events = [0x0103, 0x0203, 0x0308, 0x0309, 0x072c, 0x072f, 0x0120, 0x0320];
    for socket in 0..2 {
        let cpu = machine.chassis().shape().first_cpu(socket);
        for (counter, event) in (0..).zip(events) {
            write(machine, Address::Msr { cpu, msr: 0x3c0 + counter }, Width::B8, 1 << 22 | event);
        }
        write(machine, Address::Msr { cpu, msr: 0x391 }, Width::B8, 0xff);
    }
}
