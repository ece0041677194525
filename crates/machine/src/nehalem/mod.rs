//! A machine of the Xeon 5500 series: its model, and the readers of what happens in it.

#[cfg(test)]
mod tests;

use pericore_engine::Tick;
use pericore_hardware::signal::{SignalSink, Wiring, WiringError};
use pericore_models::nehalem::{Model, Parameters};
use pericore_parts::work::{Work, Worker};
use pericore_truth::Latencies;
use pericore_truth::nehalem::{Ledger, Opcodes, Shape, Snapshot};
use pericore_workload::{ProgramSettings, ProgramSource, Scenario};

use crate::memory_traffic::{MemoryTraffic, NO_TRUTH};
use crate::signals::nehalem::NehalemSignals;
use crate::uncore::ModelError;

/// A model, its signals, and the truth where it is kept.
#[derive(Debug)]
pub struct Nehalem {
    model: Model,
    signals: NehalemSignals,
    traffic: MemoryTraffic,
    truth: Option<Ledger>,
}

impl Nehalem {
    /// A machine at tick 0 with empty caches, about to run a scenario that was parsed against [`Parameters::limits`].
    ///
    /// # Errors
    /// [`ModelError`] if a parameter is out of range or the catalogue lacks a name.
    pub fn for_scenario(parameters: Parameters, scenario: Scenario, wiring: &mut Wiring) -> Result<Self, ModelError> {
        Self::of(Model::for_scenario(parameters, scenario)?, wiring)
    }

    /// A machine at tick 0 with empty caches, about to run a program.
    ///
    /// # Errors
    /// As [`Nehalem::for_scenario`].
    pub fn for_program(
        parameters: Parameters,
        source: Box<dyn ProgramSource>,
        settings: ProgramSettings,
        wiring: &mut Wiring,
    ) -> Result<Self, ModelError> {
        Self::of(Model::for_program(parameters, source, settings)?, wiring)
    }

    /// Binds the signals that a model with these parameters emits.
    ///
    /// # Errors
    /// [`ModelError`] if the catalogue lacks a name.
    pub fn bind(parameters: &Parameters, wiring: &mut Wiring) -> Result<(), ModelError> {
        NehalemSignals::bind(wiring, parameters)?;
        Ok(())
    }

    fn of(model: Model, wiring: &mut Wiring) -> Result<Self, ModelError> {
        let parameters = model.parameters();
        let signals = NehalemSignals::bind(wiring, parameters)?;
        let truth = Ledger::new(parameters.clocks(), opcodes(wiring)?, shape(parameters));
        Ok(Self { model, signals, traffic: MemoryTraffic::default(), truth: Some(truth) })
    }

    /// Runs everything that happens before `until`; afterwards it is `until`.
    pub fn run_until<S: SignalSink>(&mut self, until: Tick, sink: &mut S) {
        let Self { model, signals, traffic, truth } = self;
        signals.listen(model.now(), sink);
        model.run_until(until, &mut (signals.reader(sink), (traffic, truth.as_mut())));
    }

    /// The same into a sink of any type, compiled once for all of them: each type that [`Self::run_until`] is called
    /// with compiles the whole model anew.
    #[cfg(test)]
    pub fn run_until_any(&mut self, until: Tick, mut sink: &mut dyn SignalSink) {
        self.run_until(until, &mut sink);
    }

    /// Keeps how long each read takes from now on.
    ///
    /// # Panics
    /// Without a truth.
    pub fn keep_latencies(&mut self) {
        self.truth.as_mut().expect(NO_TRUTH).keep_latencies();
    }

    /// How long the reads took that have ended since then, in cycles of so many ticks.
    pub fn latencies(&self) -> Option<(&Latencies, u64)> {
        self.truth.as_ref()?.latencies()
    }

    /// Keeps no truth from now on.
    pub fn drop_truth(&mut self) {
        self.truth = None;
    }

    /// Lines that memory has read and written.
    pub const fn memory_traffic(&self) -> &MemoryTraffic {
        &self.traffic
    }

    /// Emits the levels of a PMON instance, whose counters may begin to observe them.
    pub fn stands<S: SignalSink>(&self, instance: u16, sink: &mut S) {
        self.signals.emit_instance(instance, self.model.now(), sink);
    }

    /// The truth as of now, with the part so far of what is under way.
    ///
    /// # Panics
    /// After [`Nehalem::drop_truth`].
    pub fn snapshot(&self) -> Snapshot {
        let mut at = self.truth.as_ref().expect(NO_TRUTH).so_far();
        self.model.under_way(&mut at);
        at.at(self.model.now())
    }
}

/// Sizes that the truth depends on.
const fn shape(parameters: &Parameters) -> Shape {
    Shape {
        sockets: parameters.sockets,
        trackers: parameters.trackers,
        home_entries: parameters.home_entries,
        reads: parameters.dram.reads,
        writes: parameters.dram.writes,
        high_priority: parameters.high_priority,
    }
}

/// Opcodes of the messages that the match register selects.
fn opcodes(wiring: &Wiring) -> Result<Opcodes, WiringError> {
    let family = wiring.family();
    let opcode = |name: &str| {
        let missing = || WiringError::NoSignal { unit: "uncore", name: format!("qpi-messages {name}") };
        family.named_value("qpi-messages", name).ok_or_else(missing)
    };
    Ok(Opcodes { forward_shared: opcode("RspFwdS")?, forward: opcode("RspFwdI")?, write_back: opcode("RspIWb")? })
}

impl Worker for Nehalem {
    fn agenda(&self) -> &Work {
        self.model.agenda()
    }

    fn agenda_mut(&mut self) -> &mut Work {
        self.model.agenda_mut()
    }

    fn now(&self) -> Tick {
        self.model.now()
    }

    fn is_at_rest(&self) -> bool {
        self.model.is_at_rest()
    }

    fn open_window(&mut self) {
        Worker::open_window(&mut self.model);
    }

    fn go_on(&mut self) {
        self.model.go_on();
    }
}
