//! A whole machine: hardware and, on families that have one, the traffic model that drives it.

mod spec;

use pericore_catalog::Family;
use pericore_registers::{Address, Outcome, RegisterSpace, Width};

use crate::chassis::{Chassis, ShapeError};
use crate::engine::{ClockError, Clocks};
use crate::ledger::{Opcodes, Snapshot};
use crate::signal::{Tick, Wiring};
use crate::uncore::{Model, ModelError, Parameters, ProgramCounts, Progress};
use crate::workload::{ProgramSettings, ProgramSource, Scenario, Workload};
pub use spec::{MachineSpec, SpecError};

/// Why a machine cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The size is impossible.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A parameter of the model is.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The clocks share no grid.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// The catalogue lacks an opcode that the model's requests carry.
    #[error("the catalogue's value set idi-opcodes of {family} has no {name}; add it to catalog/values")]
    NoOpcode {
        /// Family.
        family: &'static str,
        /// Opcode.
        name: &'static str,
    },
    /// The family has hardware but no traffic model.
    #[error("{family} has no traffic model yet, only its PMON hardware; workloads run on e5-2600")]
    NoModel {
        /// Family.
        family: &'static str,
    },
    /// The model has not so many.
    #[error(
        "the traffic model of {family} has 1, 2 or 4 sockets, and {sockets} were asked for: give sockets=4 or less"
    )]
    TooManySockets {
        /// Family.
        family: &'static str,
        /// Sockets asked for.
        sockets: u16,
    },
}

/// A software Xeon at a moment of virtual time.
#[derive(Debug)]
pub struct Machine {
    chassis: Chassis,
    model: Model,
    clocks: Clocks,
}

impl Machine {
    /// A machine after reset, about to run a workload that was parsed against [`MachineSpec::parameters`]' limits.
    ///
    /// # Errors
    /// [`BuildError`] if the size, a parameter or the catalogue does not allow it.
    pub fn new(spec: &MachineSpec, workload: &Workload) -> Result<Self, BuildError> {
        Self::build(spec, |parameters, opcodes, wiring| Model::new(parameters, opcodes, workload, wiring))
    }

    /// A machine after reset, about to run a scenario that was parsed against [`MachineSpec::parameters`]' limits.
    ///
    /// # Errors
    /// As [`Machine::new`].
    pub fn for_scenario(spec: &MachineSpec, scenario: &Scenario) -> Result<Self, BuildError> {
        Self::build(spec, |parameters, opcodes, wiring| {
            Model::for_scenario(parameters, opcodes, scenario.clone(), wiring)
        })
    }

    /// A machine after reset, about to run a program.
    ///
    /// # Errors
    /// As [`Machine::new`].
    pub fn for_program(
        spec: &MachineSpec,
        source: Box<dyn ProgramSource>,
        settings: ProgramSettings,
    ) -> Result<Self, BuildError> {
        Self::build(spec, |parameters, opcodes, wiring| {
            Model::for_program(parameters, opcodes, source, settings, wiring)
        })
    }

    fn build(
        spec: &MachineSpec,
        model: impl FnOnce(Parameters, Opcodes, &mut Wiring) -> Result<Model, ModelError>,
    ) -> Result<Self, BuildError> {
        let parameters = spec.parameters()?;
        let shape = spec.shape()?;
        let clocks = parameters.clocks()?;
        let mut wiring = Wiring::new(shape.family, shape.sockets);
        let model = model(parameters, opcodes(shape.family)?, &mut wiring)?;
        let chassis = Chassis::new(shape, wiring, |clock| period(&clocks, clock));
        Ok(Self { chassis, model, clocks })
    }

    /// Runs the model for so many ticks.
    pub fn run_for(&mut self, ticks: Tick) {
        let until = self.model.now() + ticks;
        self.model.run_until(until, &mut self.chassis);
        self.chassis.set_now(until);
    }

    /// Virtual time, in ticks since reset.
    pub const fn now(&self) -> Tick {
        self.model.now()
    }

    /// The clocks.
    pub const fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// How far the workload has come.
    pub const fn progress(&self) -> Progress {
        self.model.progress()
    }

    /// What the program has done so far, if the machine runs one.
    pub fn program(&self) -> Option<ProgramCounts> {
        self.model.program()
    }

    /// True when the workload is done and nothing is under way.
    pub fn finished(&self) -> bool {
        self.model.finished()
    }

    /// The truth as of now.
    pub fn snapshot(&self) -> Snapshot {
        self.model.snapshot()
    }

    /// The hardware.
    pub const fn chassis(&self) -> &Chassis {
        &self.chassis
    }
}

impl RegisterSpace for Machine {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.chassis.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.chassis.write(address, width, value)
    }
}

/// Ticks per cycle of a clock domain. What has no period of its own on the grid counts uncore clocks.
fn period(clocks: &Clocks, clock: &str) -> u64 {
    match clock {
        "dclk" => clocks.dclk.ticks(),
        "pclk" => clocks.pclk().ticks(),
        "qclk" => clocks.qclk.ticks(),
        _ => clocks.uclk.ticks(),
    }
}

fn opcodes(family: &'static Family) -> Result<Opcodes, BuildError> {
    Opcodes::by_name(|name| family.named_value("idi-opcodes", name))
        .map_err(|name| BuildError::NoOpcode { family: family.name, name })
}

/// Which signals of a family the model emits; `None` for a family without a model.
pub fn modelled(family: &'static Family) -> Option<Wiring> {
    // With one socket there are no links.
    let parameters = MachineSpec::of(family).parameters().ok()?.with_sockets(2);
    let mut wiring = Wiring::new(family, 2);
    let workload = Workload::parse("stream", &parameters.limits()).ok()?;
    Model::new(parameters, opcodes(family).ok()?, &workload, &mut wiring).ok()?;
    Some(wiring)
}
