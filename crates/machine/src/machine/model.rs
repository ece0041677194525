//! The traffic models that a machine can hold, behind one face.

use pericore_hardware::signal::{SignalSink, Tick};

use super::truth::{MemoryKind, Snapshot};
use crate::e5_2600::E5;
use crate::emerald_rapids::EmeraldRapids;
use crate::nehalem::Nehalem;
use pericore_parts::program::{Program, ProgramCounts, Stage};
use pericore_parts::work::{DependentLoads, Progress, Worker};
use pericore_truth::{Latencies, Question, Shaped};
use pericore_workload::Sampling;

/// The model of a machine. A choice at run time between types known at build time: within a run there is no indirect call.
#[derive(Debug)]
pub enum Model {
    /// Of the E5-2600.
    E5(Box<E5>),
    /// Of the Xeon 5500 series.
    Nehalem(Box<Nehalem>),
    /// Of Emerald Rapids.
    EmeraldRapids(Box<EmeraldRapids>),
}

/// Does the same with whichever model it is.
macro_rules! each {
    ($model:expr, $it:ident => $do:expr) => {
        match $model {
            Model::E5($it) => $do,
            Model::Nehalem($it) => $do,
            Model::EmeraldRapids($it) => $do,
        }
    };
}

impl Model {
    /// Runs everything that happens before `until`; afterwards it is `until`.
    pub fn run_until<S: SignalSink>(&mut self, until: Tick, sink: &mut S) {
        each!(self, model => model.run_until(until, sink));
    }

    /// Virtual time, in ticks since reset.
    pub fn now(&self) -> Tick {
        each!(self, model => model.now())
    }

    /// Says what stands on the wires of a PMON instance, as far as it may have been left unsaid: before its counters are programmed.
    pub fn emit_occupancies<S: SignalSink>(&self, instance: u16, sink: &mut S) {
        match self {
            Self::E5(model) => model.emit_occupancies(instance, sink),
            Self::Nehalem(model) => model.stands(instance, sink),
            Self::EmeraldRapids(machine) => machine.emit_occupancies(instance, sink),
        }
    }

    /// How far the workload has come.
    pub fn progress(&self) -> Progress {
        each!(self, model => model.progress())
    }

    /// Loads that threads waited for.
    pub fn dependent_loads(&self) -> DependentLoads {
        each!(self, model => model.dependent_loads())
    }

    /// What the program has done so far, if one runs.
    pub fn program(&self) -> Option<ProgramCounts> {
        each!(self, model => model.program())
    }

    /// Only windows of the program are run in detail from now on.
    ///
    /// # Panics
    /// If there is no program.
    pub fn sample(&mut self, sampling: Sampling) {
        let program = each!(self, model => model.agenda_mut().program.as_mut());
        program.expect("only a program is sampled").sample(sampling);
    }

    /// One of so many accesses of the sampled program is counted from the next stretch on.
    pub fn set_density(&mut self, one_in: u32) {
        if let Some(program) = each!(self, model => model.agenda_mut().program.as_mut()) {
            program.set_density(one_in);
        }
    }

    /// What the accesses that have their turn now are to the sample.
    pub fn stage(&self) -> Option<Stage> {
        each!(self, model => model.agenda().program.as_ref()).and_then(Program::stage)
    }

    /// True if a sampled program stands between two windows.
    pub fn is_between_windows(&self) -> bool {
        each!(self, model => model.is_between_windows())
    }

    /// Passes over what lies before the next window.
    pub fn open_window(&mut self) {
        each!(self, model => Worker::open_window(&mut **model));
    }

    /// True when the workload is done and nothing is under way.
    pub fn finished(&self) -> bool {
        each!(self, model => model.finished())
    }

    /// Ends the phase that runs. The next one waits.
    pub fn hold(&mut self) {
        each!(self, model => model.hold());
    }

    /// True when a phase has ended that was to, and nothing is under way.
    pub fn is_parked(&self) -> bool {
        each!(self, model => model.is_parked())
    }

    /// The phase that waits begins.
    pub fn begin_measured(&mut self) {
        each!(self, model => model.begin_measured());
    }

    /// Keeps no truth from now on.
    pub fn drop_truth(&mut self) {
        each!(self, model => model.drop_truth());
    }

    /// Lines that memory of a kind has read and written since reset, over the machine's sockets.
    pub fn memory_lines(&self, kind: MemoryKind) -> [u64; 2] {
        let traffic = each!(self, model => model.memory_traffic());
        match kind {
            MemoryKind::Dram => traffic.dram,
            MemoryKind::Expander => traffic.expander,
        }
    }

    /// The truth as of now.
    pub fn snapshot(&self) -> Snapshot {
        match self {
            Self::E5(model) => Snapshot::E5(Box::new(model.snapshot())),
            Self::Nehalem(model) => Snapshot::Nehalem(Box::new(model.snapshot())),
            Self::EmeraldRapids(model) => Snapshot::EmeraldRapids(Box::new(model.snapshot())),
        }
    }

    /// Keeps from now on what [`Model::shaped`] needs. It grows with the run.
    pub fn keep_levels(&mut self) {
        match self {
            Self::E5(model) => model.keep_stays(),
            Self::Nehalem(_) => {}
            Self::EmeraldRapids(model) => model.keep_changes(),
        }
    }

    /// Keeps how long each read takes from now on.
    pub fn keep_latencies(&mut self) {
        each!(self, model => model.keep_latencies());
    }

    /// How long the reads took that have ended since then, in cycles of so many ticks.
    pub fn latencies(&self) -> Option<(&Latencies, Tick)> {
        each!(self, model => model.latencies())
    }

    /// Which reads these are, and where they are looked at.
    pub const fn timed_reads(&self) -> &'static str {
        match self {
            Self::Nehalem(_) => "latency of reads by cores, in the home logic of their socket",
            Self::E5(_) | Self::EmeraldRapids(_) => "latency of loads that missed the LLC, in the table of requests",
        }
    }

    /// What an occupancy event of an instance of a socket gives behind a threshold, since
    /// [`Model::keep_levels`]; `None` without it, or if the ledger keeps no level for the event.
    pub fn shaped(&self, socket: u16, instance: u16, question: Question<'_>, threshold: u64) -> Option<Shaped> {
        match self {
            Self::E5(model) => model.shaped(socket, instance, question, threshold),
            Self::Nehalem(_) => None,
            Self::EmeraldRapids(model) => model.shaped(socket, instance, question, threshold),
        }
    }
}
