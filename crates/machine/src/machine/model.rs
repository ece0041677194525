//! The traffic models that a machine can hold, behind one face.

use super::truth::Snapshot;
use crate::signal::{SignalSink, Tick};
use crate::uncore::{self, ProgramCounts, Progress, emerald_rapids, nehalem};

/// What a machine asks of a family's traffic model.
pub trait TrafficModel {
    /// Runs everything that happens before `until`; afterwards it is `until`.
    fn run_until<S: SignalSink>(&mut self, until: Tick, sink: &mut S);
    /// Virtual time, in ticks since reset.
    fn now(&self) -> Tick;
    /// How far the workload has come.
    fn progress(&self) -> Progress;
    /// What the program has done so far, if one runs.
    fn program(&self) -> Option<ProgramCounts>;
    /// True when the workload is done and nothing is under way.
    fn finished(&self) -> bool;
    /// The truth as of now.
    fn snapshot(&self) -> Snapshot;
}

impl TrafficModel for uncore::Model {
    fn run_until<S: SignalSink>(&mut self, until: Tick, sink: &mut S) {
        Self::run_until(self, until, sink);
    }

    fn now(&self) -> Tick {
        Self::now(self)
    }

    fn progress(&self) -> Progress {
        Self::progress(self)
    }

    fn program(&self) -> Option<ProgramCounts> {
        Self::program(self)
    }

    fn finished(&self) -> bool {
        Self::finished(self)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::E5(Box::new(Self::snapshot(self)))
    }
}

impl TrafficModel for nehalem::Model {
    fn run_until<S: SignalSink>(&mut self, until: Tick, sink: &mut S) {
        Self::run_until(self, until, sink);
    }

    fn now(&self) -> Tick {
        Self::now(self)
    }

    fn progress(&self) -> Progress {
        Self::progress(self)
    }

    fn program(&self) -> Option<ProgramCounts> {
        Self::program(self)
    }

    fn finished(&self) -> bool {
        Self::finished(self)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::Nehalem(Box::new(Self::snapshot(self)))
    }
}

impl TrafficModel for emerald_rapids::Model {
    fn run_until<S: SignalSink>(&mut self, until: Tick, sink: &mut S) {
        Self::run_until(self, until, sink);
    }

    fn now(&self) -> Tick {
        Self::now(self)
    }

    fn progress(&self) -> Progress {
        Self::progress(self)
    }

    fn program(&self) -> Option<ProgramCounts> {
        None
    }

    fn finished(&self) -> bool {
        Self::finished(self)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::EmeraldRapids(Box::new(Self::snapshot(self)))
    }
}

/// The model of a machine. A choice at run time between types known at build time: within a run there is no indirect call.
#[derive(Debug)]
pub enum Model {
    /// Of the E5-2600.
    E5(Box<uncore::Model>),
    /// Of the Xeon 5500 series.
    Nehalem(Box<nehalem::Model>),
    /// Of Emerald Rapids.
    EmeraldRapids(Box<emerald_rapids::Model>),
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

impl TrafficModel for Model {
    fn run_until<S: SignalSink>(&mut self, until: Tick, sink: &mut S) {
        each!(self, model => TrafficModel::run_until(model.as_mut(), until, sink));
    }

    fn now(&self) -> Tick {
        each!(self, model => TrafficModel::now(model.as_ref()))
    }

    fn progress(&self) -> Progress {
        each!(self, model => TrafficModel::progress(model.as_ref()))
    }

    fn program(&self) -> Option<ProgramCounts> {
        each!(self, model => TrafficModel::program(model.as_ref()))
    }

    fn finished(&self) -> bool {
        each!(self, model => TrafficModel::finished(model.as_ref()))
    }

    fn snapshot(&self) -> Snapshot {
        each!(self, model => TrafficModel::snapshot(model.as_ref()))
    }
}
