//! The traffic models that a machine can hold, behind one face.

use super::truth::Snapshot;
use crate::ledger::Shaped;
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

    /// Keeps from now on what [`TrafficModel::shaped`] needs. It grows with the run.
    fn keep_levels(&mut self) {}

    /// What an occupancy event of an instance of a socket (unit, event, subevent) gives behind a threshold, since
    /// [`TrafficModel::keep_levels`]; `None` without it, or if the ledger keeps no level for the event.
    fn shaped(
        &self,
        _place: (u16, u16),
        _event: (&str, &str, &str),
        _filters: &[(&str, u64)],
        _threshold: u64,
    ) -> Option<Shaped> {
        None
    }
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

    fn keep_levels(&mut self) {
        self.keep_stays();
    }

    fn shaped(
        &self,
        place: (u16, u16),
        event: (&str, &str, &str),
        filters: &[(&str, u64)],
        threshold: u64,
    ) -> Option<Shaped> {
        self.ledger().shaped(place, event, filters, threshold)
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

    fn keep_levels(&mut self) {
        self.keep_changes();
    }

    fn shaped(
        &self,
        place: (u16, u16),
        event: (&str, &str, &str),
        _filters: &[(&str, u64)],
        threshold: u64,
    ) -> Option<Shaped> {
        self.ledger().shaped(place, event, threshold)
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

    fn keep_levels(&mut self) {
        each!(self, model => TrafficModel::keep_levels(model.as_mut()));
    }

    fn shaped(
        &self,
        place: (u16, u16),
        event: (&str, &str, &str),
        filters: &[(&str, u64)],
        threshold: u64,
    ) -> Option<Shaped> {
        each!(self, model => TrafficModel::shaped(model.as_ref(), place, event, filters, threshold))
    }
}
