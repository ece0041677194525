//! `pericore machine run`: a program on a machine of a family, in real time.

use pericore_machine::chassis::{Chassis, Shape, ShapeError};
use pericore_machine::engine::ClockDomains;
use pericore_machine::signal::Wiring;
use pericore_machine::steady::{Pace, Steady};
use pericore_machine::workload::{Kind, Workload, WorkloadError};
use pericore_machine::{BuildError, Machine, MachineSpec};

use crate::error::DoorsError;
use crate::namespace::Command;
use crate::paced::{Paced, Traffic};
use crate::platform::usable_cpus;
use crate::run::{Finished, Options, run};
use crate::window_cache::{self, WindowCache};

/// Cores of a socket, whatever the host has: CPUID and APIC IDs say so; CPUs beyond the host's are offline. Fewer take part if the
/// machine's name says so.
const CORES: u16 = 8;

/// A machine of a family in real time, not yet running.
#[derive(Debug)]
pub struct LiveMachine {
    /// The hardware. Its wiring is for traffic to bind signals with before the machine is started.
    pub wiring: Wiring,
    chassis: Chassis,
    ticks_per_second: u64,
    hertz: u64,
}

/// A machine that cannot be.
#[derive(Debug, thiserror::Error)]
pub enum LiveMachineError {
    /// The size is impossible.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The traffic model cannot be.
    #[error(transparent)]
    Model(#[from] BuildError),
    /// The workload is none.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A number of accesses makes no sense for traffic that does not end.
    #[error("{0:?}: on a live machine a workload goes on for as long as the program runs; leave out requests=")]
    Requests(String),
    /// Phases follow each other, but here one window repeats.
    #[error(
        "{0:?}: on a live machine one workload goes on and no phases follow; name a workload, such as stream, or run the phases with `pericore stat --workload`"
    )]
    Phases(String),
}

impl LiveMachine {
    /// A machine with the clocks of the family's first preset. There may be more sockets than its traffic model can have: this machine
    /// runs without one.
    ///
    /// # Errors
    /// [`LiveMachineError`] if it cannot be.
    pub fn new(spec: &MachineSpec) -> Result<Self, LiveMachineError> {
        let sockets = spec.shape()?.sockets;
        let clocks = MachineSpec::of(spec.family()).parameters()?.with_sockets(sockets).clocks()?;
        Self::with_clocks(spec, sockets, &clocks)
    }

    fn with_clocks(spec: &MachineSpec, sockets: u16, clocks: &ClockDomains) -> Result<Self, LiveMachineError> {
        let family = spec.family();
        let active = spec.active_cores().map_or(CORES, |cores| cores.min(CORES));
        let shape =
            Shape::new(family, sockets, CORES, 1)?.with_active_cores(active)?.with_slices(spec.shape()?.slices)?;
        let ticks_per_second = clocks.ticks_per_second();
        // The time-stamp counter runs with the first clock.
        let hertz = ticks_per_second / family.clocks.first().map_or(1, |clock| clocks.period(clock.name));
        // Wiring is not copied: numbering is all that the chassis needs of its own.
        let chassis = spec.chassis_of(shape, Wiring::new(family, sockets), |clock| clocks.period(clock))?;
        Ok(Self { wiring: Wiring::new(family, sockets), chassis, ticks_per_second, hertz })
    }

    /// A machine under a workload, and the traffic to start it with: the workload's steady phase, which a model
    /// measures now, after the warm-up that the workload asks for, if it does.
    ///
    /// # Errors
    /// [`LiveMachineError`] if the family has no model, or there is no such workload.
    pub fn with_workload(spec: &MachineSpec, workload: &str, pace: &Pace) -> Result<(Self, Steady), LiveMachineError> {
        let workload = without_end(spec, workload)?;
        let pace = Pace { warm_up: workload.warm_up.or(pace.warm_up), ..*pace };
        let mut machine = Machine::new(spec, &workload)?;
        let live = Self::with_clocks(spec, machine.chassis().shape().sockets, machine.clocks())?;
        let steady = Steady::measure(&mut machine, live.chassis.clock_grid(), &pace);
        Ok((live, steady))
    }

    /// The same, with a steady phase that was measured before if a cache has it; else it is measured and kept there.
    /// What went wrong with the cache, which changes nothing else, comes as words.
    ///
    /// # Errors
    /// As [`Self::with_workload`].
    pub fn with_kept_workload(
        spec: &MachineSpec,
        workload: &str,
        pace: &Pace,
        cache: &WindowCache,
    ) -> Result<(Self, Steady, Vec<String>), LiveMachineError> {
        let endless = without_end(spec, workload)?;
        let measured = Pace { warm_up: endless.warm_up.or(pace.warm_up), ..*pace };
        let clocks = spec.parameters()?.clocks()?;
        let live = Self::with_clocks(spec, spec.shape()?.sockets, &clocks)?;
        let key = window_cache::key(spec, &endless, &measured, live.chassis.clock_grid())?;
        let mut wrong = Vec::new();
        match cache.take(&key, &live.wiring) {
            Ok(Some(steady)) => return Ok((live, steady, wrong)),
            Ok(None) => {}
            Err(what) => wrong.push(what),
        }
        let (live, steady) = Self::with_workload(spec, workload, pace)?;
        wrong.extend(cache.keep(&key, &steady).err());
        Ok((live, steady, wrong))
    }

    /// Ticks of virtual time in a second.
    pub const fn ticks_per_second(&self) -> u64 {
        self.ticks_per_second
    }

    /// The hardware after reset, for a way in that keeps its own time too.
    pub fn into_chassis(self) -> Chassis {
        self.chassis
    }

    /// Starts time, with `traffic` on the machine, on the CPUs that this process may use.
    ///
    /// # Errors
    /// [`DoorsError::TooFewCpus`] if a socket would have no CPU.
    pub fn start<T: Traffic>(self, traffic: T) -> Result<Paced<T>, DoorsError> {
        Paced::start(self.chassis, traffic, self.ticks_per_second, self.hertz, &usable_cpus()?)
    }
}

/// A machine about to run a workload that does not end, with caches that it has filled. Built alike twice, it does the
/// same twice.
///
/// # Errors
/// [`LiveMachineError`] if the family has no model, or there is no such workload.
pub fn endless(spec: &MachineSpec, workload: &str) -> Result<Machine, LiveMachineError> {
    Ok(Machine::new(spec, &without_end(spec, workload)?)?)
}

fn without_end(spec: &MachineSpec, workload: &str) -> Result<Workload, LiveMachineError> {
    let mut keys = workload.split_once(':').map_or("", |(_, keys)| keys).split(',');
    if keys.any(|key| key.split('=').next() == Some("requests")) {
        return Err(LiveMachineError::Requests(workload.to_owned()));
    }
    if workload.ends_with(".scenario") {
        return Err(LiveMachineError::Phases(workload.to_owned()));
    }
    let mut workload = Workload::parse(workload, &spec.limits()?)?;
    // Idleness does not end anyhow, and has no requests.
    if workload.kind != Kind::Idle {
        workload.requests = u64::MAX >> 8;
        workload.warm = true;
    }
    Ok(workload)
}

/// Runs a program on a machine that starts now.
///
/// # Errors
/// [`DoorsError`] as from [`run`].
pub fn run_machine<T: Traffic + 'static>(
    machine: LiveMachine,
    traffic: T,
    command: Command,
    options: &Options,
) -> Result<Finished, DoorsError> {
    run(machine.start(traffic)?, command, options)
}

#[cfg(test)]
mod tests {
    use pericore_registers::{Address, Operation, RegisterSpace, Width};

    use super::*;

    #[test]
    fn cores_that_firmware_leaves_out_are_not_shown() {
        let shape = |machine: &str| {
            let live = LiveMachine::new(&MachineSpec::parse(machine).unwrap()).unwrap();
            let shape = live.into_chassis().shape().clone();
            (shape.cores, shape.built, shape.cpus(), shape.slices)
        };
        assert_eq!(shape("e5-2600:sockets=2,cores=3,slices=6"), (3, 8, 6, 6));
        assert_eq!(shape("8592+:cores=48"), (8, 8, 8, 64));
        assert_eq!(shape("x5570"), (8, 8, 8, 1));
    }

    /// CBo 0's TOR_OCCUPANCY (0x36) of all misses (0x0a), from 0x1000 on: as if it had been written when time began.
    #[test]
    fn counters_of_a_snapshot_go_on_under_a_workload() {
        const SETUP: [(u32, u64); 2] = [(0xd10, 0x40_0a36), (0xd16, 0x1000)];
        let plain = MachineSpec::parse("e5-2600:cores=4").unwrap();
        let (at, width) = (|msr| Address::Msr { cpu: 0, msr }, Width::B8);
        let count = |spec: &MachineSpec, setup: &[(u32, u64)]| {
            let pace = Pace { warm_up: None, window: 50, cells: 256 };
            let (live, steady) = LiveMachine::with_workload(spec, "random:footprint=1G", &pace).unwrap();
            let (mut chassis, mut replay) = (live.into_chassis(), steady.replay());
            for &(msr, value) in setup {
                replay.advance(&mut chassis, &Operation::Write { address: at(msr), width, value }, 0);
                chassis.write(at(msr), width, value).unwrap();
            }
            let address = at(0xd16);
            replay.advance(&mut chassis, &Operation::Read { address, width }, 123_456_789);
            chassis.set_now(123_456_789);
            chassis.read(address, width).unwrap()
        };
        let mut hardware = plain.chassis().unwrap();
        SETUP.iter().for_each(|&(msr, value)| hardware.write(at(msr), width, value).unwrap());
        let of_snapshot = count(&MachineSpec::of_snapshot(&hardware.dump()).unwrap(), &[]);
        assert_eq!(of_snapshot, count(&plain, &SETUP));
        assert!(of_snapshot > 0x1000 + 1_000_000, "{of_snapshot}");
    }

    #[test]
    fn a_workload_goes_on_and_idleness_does_nothing() {
        for machine in ["nehalem", "e5-2600", "emerald-rapids"] {
            let spec = MachineSpec::parse(machine).unwrap();
            let requests = |workload: &str| {
                let mut machine = endless(&spec, workload).unwrap();
                machine.run_for(5 * machine.clocks().ticks_per_second() / 1_000_000);
                machine.progress().done
            };
            assert!(requests("stream") > 1000, "{machine}");
            assert_eq!(requests("idle"), 0, "{machine}");
        }
    }
}
