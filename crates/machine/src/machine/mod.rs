//! A whole machine: hardware and, on families that have one, the traffic model that drives it.

mod checked;
mod model;
mod oddity;
mod parameters;
mod shared;
mod spec;
mod truth;
mod warm_up;

use std::collections::HashSet;

use model::Model;
use pericore_catalog::Family;
use pericore_engine::{ClockDomains, ClockError};
use pericore_hardware::chassis::{Chassis, ShapeError, SnapshotError};
use pericore_hardware::signal::{SignalSink, Tick, Wiring, WiringError};
use pericore_registers::{Address, Outcome, RegisterSpace, Width};

use crate::uncore::{DependentLoads, ModelError, ProgramCounts, Progress, UnknownSetting};
pub use checked::checked;
pub use parameters::{FirstLevel, PRESETS, Parameters, add_part, part_file};
use pericore_parts::program::Stage;
use pericore_parts::settings::Setting;
use pericore_truth::{Latencies, Question, Shaped};
use pericore_workload::{ProgramSettings, ProgramSource, Sampling, Scenario, Workload};
pub use shared::SharedMachine;
pub use spec::{MachineSpec, SpecError};
pub use truth::{MemoryKind, Snapshot, Window};
pub use warm_up::WarmUp;

/// Why a machine cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The size is impossible.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A parameter of the model is.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The snapshot cannot be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The snapshot is of a machine with more cores than the model's part.
    #[error(
        "the snapshot has {cores} cores a socket, and the traffic model of {family} {most}: nothing can run on it; name a family or a preset, or look at it with `pericore machine show`, or `stat` with --dry-run or --cost"
    )]
    TooManyCores {
        /// Family.
        family: &'static str,
        /// Cores of the snapshot.
        cores: u16,
        /// Cores that there are.
        most: u16,
    },
    /// The clocks share no grid.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// The part has no such setting.
    #[error(transparent)]
    Setting(#[from] UnknownSetting),
    /// The machine has not what is said to be odd.
    #[error(transparent)]
    Oddity(#[from] SpecError),
    /// Nor a block that is said to be broken.
    #[error(transparent)]
    Block(#[from] WiringError),
    /// The family has hardware but no traffic model.
    #[error(
        "there is no software {family} yet, only its registers: --dry-run and --cost work, counts need a machine of \
         {with}"
    )]
    NoModel {
        /// Family.
        family: &'static str,
        /// Families that have one, each with its preset.
        with: String,
    },
    /// The model does not take that number of sockets.
    #[error("the traffic model of {family} has {} sockets, not {sockets}; give one of these with sockets=", known(*.most))]
    Sockets {
        /// Family.
        family: &'static str,
        /// Sockets asked for.
        sockets: u16,
        /// Sockets that there can be.
        most: u16,
    },
}

/// The numbers of sockets that a model takes, which are powers of two, in words.
fn known(most: u16) -> String {
    let numbers: Vec<String> = (0..=most.ilog2()).map(|power| (1 << power).to_string()).collect();
    match &numbers[..] {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => numbers.concat(),
    }
}

/// A software Xeon at a moment of virtual time.
#[derive(Debug)]
pub struct Machine {
    chassis: Chassis,
    model: Model,
    clocks: ClockDomains,
    /// Instances whose hardware knows what stands at this moment, also where no counter listens.
    informed: HashSet<u16>,
}

impl Machine {
    /// A machine after reset, about to run a workload that was parsed against [`MachineSpec::limits`].
    ///
    /// # Errors
    /// [`BuildError`] if the size, a parameter or the catalogue does not allow it.
    pub fn new(spec: &MachineSpec, workload: &Workload) -> Result<Self, BuildError> {
        Self::for_scenario(spec, &Scenario::from(workload.clone()))
    }

    /// A machine after reset, about to run a scenario that was parsed against [`MachineSpec::limits`].
    ///
    /// # Errors
    /// As [`Machine::new`].
    pub fn for_scenario(spec: &MachineSpec, scenario: &Scenario) -> Result<Self, BuildError> {
        Self::build(spec, |parameters, wiring| parameters.model(scenario.clone(), wiring))
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
        Self::build(spec, |parameters, wiring| parameters.model_for_program(source, settings, wiring))
    }

    fn build(
        spec: &MachineSpec,
        model: impl FnOnce(Parameters, &mut Wiring) -> Result<Model, BuildError>,
    ) -> Result<Self, BuildError> {
        let parameters = spec.parameters()?;
        let shape = spec.shape()?;
        let clocks = parameters.clocks()?;
        let mut wiring = Wiring::new(shape.family, shape.sockets);
        let model = model(parameters, &mut wiring)?;
        let chassis = spec.chassis_of(shape, wiring, |clock| clocks.period(clock))?;
        Ok(Self { chassis, model, clocks, informed: HashSet::new() })
    }

    /// The same machine with only windows of its program run in detail; what lies between them passes in no virtual
    /// time, with caches, prefetchers and directories as if it had been run.
    ///
    /// # Panics
    /// If it runs no program.
    #[must_use]
    pub fn sampled(mut self, sampling: Sampling) -> Self {
        self.model.sample(sampling);
        self
    }

    /// Of its sampled program one of so many accesses is counted from the next stretch on.
    pub fn set_density(&mut self, one_in: u32) {
        self.model.set_density(one_in);
    }

    /// What the accesses that have their turn now are to the sample; nothing if there is none.
    pub fn stage(&self) -> Option<Stage> {
        self.model.stage()
    }

    /// What is known of all accesses of its program so far, also of those that were passed over: how many there are,
    /// how many of them had to go beyond the L2s, and how many lines memory has read.
    pub fn passed(&self) -> [u64; 3] {
        let counts = self.program().unwrap_or_default();
        let read = [MemoryKind::Dram, MemoryKind::Expander].map(|kind| self.memory_lines(kind)[0]);
        [self.progress().done + counts.passed_over, counts.beyond_l2, read[0] + read[1] + counts.brought]
    }

    /// Runs the model for so many ticks.
    pub fn run_for(&mut self, ticks: Tick) {
        self.informed.clear();
        if self.model.is_between_windows() {
            self.model.open_window();
        }
        let until = self.model.now() + ticks;
        self.model.run_until(until, &mut self.chassis);
        self.chassis.set_now(until);
    }

    /// Runs the model for so many ticks, and tells another sink what happens instead of this machine's hardware.
    pub fn run_into<S: SignalSink>(&mut self, ticks: Tick, sink: &mut S) {
        self.informed.clear();
        let until = self.model.now() + ticks;
        self.model.run_until(until, sink);
    }

    /// The same into a sink of any type, compiled here once and for all: each type that [`Self::run_into`] is called
    /// with compiles the whole model anew, as the caller's crate is compiled.
    pub fn run_into_any(&mut self, ticks: Tick, mut sink: &mut dyn SignalSink) {
        self.run_into(ticks, &mut sink);
    }

    /// Virtual time, in ticks since reset.
    pub fn now(&self) -> Tick {
        self.model.now()
    }

    /// The same in seconds.
    pub fn seconds(&self) -> f64 {
        self.clocks.seconds(0, self.now())
    }

    /// The clocks.
    pub const fn clocks(&self) -> &ClockDomains {
        &self.clocks
    }

    /// How far the workload has come.
    pub fn progress(&self) -> Progress {
        self.model.progress()
    }

    /// Loads whose data a thread waited for, so far.
    pub fn dependent_loads(&self) -> DependentLoads {
        self.model.dependent_loads()
    }

    /// What the program has done so far, if the machine runs one.
    pub fn program(&self) -> Option<ProgramCounts> {
        self.model.program()
    }

    /// True when the workload is done and nothing is under way.
    pub fn finished(&self) -> bool {
        self.model.finished()
    }

    /// The same machine without a truth: faster, where none is asked for.
    #[must_use]
    pub fn without_truth(mut self) -> Self {
        self.model.drop_truth();
        self
    }

    /// Lines that memory of a kind has read and written since reset, over all sockets.
    pub fn memory_lines(&self, kind: MemoryKind) -> [u64; 2] {
        self.model.memory_lines(kind)
    }

    /// The truth as of now.
    ///
    /// # Panics
    /// If the machine keeps none ([`Machine::without_truth`]).
    pub fn snapshot(&self) -> Snapshot {
        self.model.snapshot()
    }

    /// Keeps from now on what [`Machine::shaped`] needs. It grows with the run.
    pub fn keep_levels(&mut self) {
        self.model.keep_levels();
    }

    /// What an occupancy event of an instance of a socket gives behind a threshold, over the requests that have
    /// ended since [`Machine::keep_levels`]; `None` without it, or if the ledger keeps no level for the event.
    pub fn shaped(&self, socket: u16, instance: u16, question: Question<'_>, threshold: u64) -> Option<Shaped> {
        self.model.shaped(socket, instance, question, threshold)
    }

    /// Keeps how long each read takes from now on.
    ///
    /// # Panics
    /// If the machine keeps no truth ([`Machine::without_truth`]).
    pub fn keep_latencies(&mut self) {
        self.model.keep_latencies();
    }

    /// How long the reads took that have ended since [`Machine::keep_latencies`], by the model's records; `None`
    /// without it.
    pub fn latencies(&self) -> Option<ReadLatencies<'_>> {
        let (latencies, ticks) = self.model.latencies()?;
        let nanoseconds = ticks as f64 / self.clocks.ticks_per_second() as f64 * 1e9;
        Some(ReadLatencies { what: self.model.timed_reads(), latencies, nanoseconds })
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
        // A counter that begins to listen starts from what stands, which the hardware was not told while none did.
        // Several registers are written at a time: once is enough.
        for instance in self.chassis.programs(address, width).into_iter().flatten() {
            if self.informed.insert(instance) {
                self.model.emit_occupancies(instance, &mut self.chassis);
            }
        }
        self.chassis.write(address, width, value)
    }

    fn pci_segments(&mut self) -> Vec<u16> {
        self.chassis.pci_segments()
    }
}

/// How long reads took.
#[derive(Debug, Clone, Copy)]
pub struct ReadLatencies<'a> {
    /// Which reads, and where they are looked at.
    pub what: &'static str,
    /// The reads by cycles.
    pub latencies: &'a Latencies,
    /// Nanoseconds of a cycle.
    pub nanoseconds: f64,
}

/// Which signals of a family the model of its first preset emits, links between two sockets included where it can have
/// them; `None` for a family without a model.
pub fn modelled(family: &'static Family) -> Option<Wiring> {
    let parameters = MachineSpec::of(family).parameters().ok()?;
    let sockets = parameters.most_sockets().min(2);
    let parameters = parameters.with_sockets(sockets);
    let mut wiring = Wiring::new(family, sockets);
    // With everything that a machine can be given, and with all of it that can be taken from it.
    let ends: [fn(&Setting) -> u64; 2] = [|setting| setting.most, |setting| setting.least];
    for end in ends {
        let mut settings = parameters.settings().into_iter();
        let given = |parameters: Parameters, setting: Setting| parameters.with_setting(setting.key, end(&setting));
        settings.try_fold(parameters.clone(), given).ok()?.bind(&mut wiring).ok()?;
    }
    Some(wiring)
}
