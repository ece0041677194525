//! `pericore machine run`: a program on a machine of a family, in real time.

use pericore_catalog::Family;
use pericore_machine::chassis::{Chassis, Shape, ShapeError};
use pericore_machine::engine::{ClockError, Clocks};
use pericore_machine::signal::Wiring;

use crate::error::DoorsError;
use crate::namespace::Command;
use crate::paced::{Paced, Traffic};
use crate::platform::usable_cpus;
use crate::run::{Finished, Options, run};

/// Cores of a socket, whatever the host has: CPUID and APIC IDs say so; CPUs beyond the host's are offline.
const CORES: u16 = 8;

/// Frequencies of a family's emulated part in MHz: cores and uncore, DRAM, power control unit.
struct Frequencies {
    family: &'static str,
    uclk: u64,
    dclk: u64,
    pclk: u64,
}

/// E5-2600: an E5-2680 with DDR3-1600; the guide gives the PCU's 800 MHz (2.6). Others: of the order of their first parts, on a
/// grid that [`Clocks`] can hold.
const FREQUENCIES: [Frequencies; 3] = [
    Frequencies { family: "nehalem", uclk: 2900, dclk: 725, pclk: 2900 },
    Frequencies { family: "e5-2600", uclk: 2700, dclk: 800, pclk: 800 },
    Frequencies { family: "emerald-rapids", uclk: 1900, dclk: 2800, pclk: 1900 },
];

/// A machine of a family in real time, not yet running.
#[derive(Debug)]
pub struct LiveMachine {
    /// The hardware. Its wiring is for traffic to bind signals with before the machine is started.
    pub wiring: Wiring,
    shape: Shape,
    clocks: Clocks,
    pclk: u64,
    hertz: u64,
}

/// A machine that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LiveMachineError {
    /// The size is impossible.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The clocks share no grid.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// The family has no frequencies.
    #[error("no frequencies are known of {family}; add a row to FREQUENCIES in crates/doors/src/machine_run.rs")]
    NoFrequencies {
        /// Family.
        family: &'static str,
    },
}

impl LiveMachine {
    /// A machine of `sockets` sockets.
    ///
    /// # Errors
    /// [`LiveMachineError`] if it cannot be.
    pub fn new(family: &'static Family, sockets: u16) -> Result<Self, LiveMachineError> {
        let row = FREQUENCIES.iter().find(|row| row.family == family.name);
        let row = row.ok_or(LiveMachineError::NoFrequencies { family: family.name })?;
        let clocks = Clocks::new(row.uclk, row.dclk)?;
        let shape = Shape::new(family, sockets, CORES, 1)?;
        let pclk = clocks.ticks_per_second / (row.pclk * 1_000_000);
        Ok(Self { wiring: Wiring::new(family, sockets), shape, clocks, pclk, hertz: row.uclk * 1_000_000 })
    }

    /// Ticks of virtual time in a second.
    pub const fn ticks_per_second(&self) -> u64 {
        self.clocks.ticks_per_second
    }

    /// The machine at reset, for a way in that keeps its own time.
    pub fn into_chassis(self) -> Chassis {
        let Self { wiring, shape, clocks, pclk, .. } = self;
        Chassis::new(shape, wiring, |clock| match clock {
            "dclk" => clocks.dclk.ticks(),
            "pclk" => pclk,
            _ => clocks.uclk.ticks(),
        })
    }

    /// Starts time, with `traffic` on the machine, on the CPUs that this process may use.
    ///
    /// # Errors
    /// [`DoorsError::TooFewCpus`] if a socket would have no CPU.
    pub fn start<T: Traffic>(self, traffic: T) -> Result<Paced<T>, DoorsError> {
        let (ticks_per_second, hertz) = (self.clocks.ticks_per_second, self.hertz);
        Paced::start(self.into_chassis(), traffic, ticks_per_second, hertz, &usable_cpus()?)
    }
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
