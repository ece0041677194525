//! A machine of Emerald Rapids: its model, and who reads what happens there.

use pericore_facts::emerald_rapids::Clocks;
use pericore_hardware::signal::{SignalSink, Tick, Wiring};
use pericore_parts::work::{Work, Worker};
use pericore_truth::emerald_rapids::{Ledger, Snapshot};
use pericore_truth::{Latencies, Question, Shaped};
use pericore_workload::{ProgramSettings, ProgramSource, Scenario};

use crate::memory_traffic::{MemoryTraffic, NO_TRUTH};
use crate::signals::emerald_rapids::{SignalMaker, Signals, link_codes};
use crate::uncore::ModelError;
use crate::uncore::emerald_rapids::{Model, Parameters};

/// The readers of a machine, the signals for a sink.
pub type MachineReaders<'a, S> = (SignalMaker<'a, S>, (&'a mut MemoryTraffic, Option<&'a mut Ledger>));

/// The model, and its readers: signals, and the truth where it is kept.
#[derive(Debug)]
pub struct EmeraldRapids {
    model: Model,
    signals: Signals,
    traffic: MemoryTraffic,
    truth: Option<Ledger>,
}

impl EmeraldRapids {
    /// A machine at tick 0 that runs a scenario.
    ///
    /// # Errors
    /// [`ModelError`] if a parameter is out of range or the catalogue lacks a name that the signals have.
    pub fn for_scenario(parameters: Parameters, scenario: Scenario, wiring: &mut Wiring) -> Result<Self, ModelError> {
        Self::read_by(Model::for_scenario(parameters, scenario)?, wiring)
    }

    /// A machine at tick 0 that runs a program.
    ///
    /// # Errors
    /// As [`EmeraldRapids::for_scenario`].
    pub fn for_program(
        parameters: Parameters,
        source: Box<dyn ProgramSource>,
        settings: ProgramSettings,
        wiring: &mut Wiring,
    ) -> Result<Self, ModelError> {
        Self::read_by(Model::for_program(parameters, source, settings)?, wiring)
    }

    fn read_by(model: Model, wiring: &mut Wiring) -> Result<Self, ModelError> {
        let family = wiring.family();
        let units = family.units.iter().map(|unit| (unit.name, unit.instances)).collect();
        let shape = model.shape(units, link_codes(wiring)?);
        let signals = Signals::new(wiring, &shape, |name| family.named_value("idi-opcodes", name))?;
        let truth = Some(Ledger::new(*model.clocks(), shape));
        Ok(Self { model, signals, traffic: MemoryTraffic::default(), truth })
    }

    /// Binds every signal, and builds no machine.
    ///
    /// # Errors
    /// The catalogue does not have the names that the signals have.
    pub fn bind(wiring: &mut Wiring) -> Result<(), ModelError> {
        let family = wiring.family();
        Signals::bind(wiring, |name| family.named_value("idi-opcodes", name))?;
        Ok(())
    }

    /// The model.
    pub const fn model(&self) -> &Model {
        &self.model
    }

    /// Runs everything that happens before `until`; afterwards it is `until`.
    pub fn run_until<S: SignalSink>(&mut self, until: Tick, sink: &mut S) {
        let Self { model, signals, truth, .. } = self;
        signals.listen(model.now(), |agent| model.in_ingress(agent), sink);
        Self::announce(model, signals, truth.as_ref());
        let (model, mut readers) = self.split(sink);
        model.run_until(until, &mut readers);
    }

    /// The same into a sink of any type, compiled once for all of them: each type that [`Self::run_until`] is called
    /// with compiles the whole model anew.
    #[cfg(test)]
    pub fn run_until_any(&mut self, until: Tick, mut sink: &mut dyn SignalSink) {
        self.run_until(until, &mut sink);
    }

    /// The model, and its readers with a sink for the signals.
    pub const fn split<'a, S>(&'a mut self, sink: &'a mut S) -> (&'a mut Model, MachineReaders<'a, S>) {
        (&mut self.model, (self.signals.read_for(sink), (&mut self.traffic, self.truth.as_mut())))
    }

    /// Keeps no truth from now on.
    pub fn drop_truth(&mut self) {
        self.truth = None;
    }

    /// Lines that memory has read and written.
    pub const fn memory_traffic(&self) -> &MemoryTraffic {
        &self.traffic
    }

    /// Arrivals in ingress queues are announced where somebody wants to know of them at once.
    fn announce(model: &mut Model, signals: &Signals, truth: Option<&Ledger>) {
        let always = truth.is_some_and(Ledger::keeps_changes);
        model.announce_arrivals(|agent| always || signals.observes_ingress(agent));
    }

    /// Emits how much there is in the queues of a PMON instance, whose counters may begin to listen.
    pub fn emit_occupancies<S: SignalSink>(&self, instance: u16, sink: &mut S) {
        self.signals.emit_occupancies(instance, self.model.now(), |agent| self.model.in_ingress(agent), sink);
    }

    /// The clocks.
    pub const fn clocks(&self) -> &Clocks {
        self.model.clocks()
    }

    /// The running account. [`EmeraldRapids::snapshot`] is what to ask for figures.
    ///
    /// # Panics
    /// After [`EmeraldRapids::drop_truth`].
    pub const fn ledger(&self) -> &Ledger {
        self.truth.as_ref().expect(NO_TRUTH)
    }

    /// The account as of now.
    ///
    /// # Panics
    /// As [`EmeraldRapids::ledger`].
    pub fn snapshot(&self) -> Snapshot {
        self.ledger().snapshot(self.model.now(), self.model.all_in_ingress())
    }

    /// Keeps every DRAM command from now on, for checkers.
    ///
    /// # Panics
    /// As [`EmeraldRapids::ledger`].
    pub fn keep_commands(&mut self) {
        self.truth.as_mut().expect(NO_TRUTH).keep_commands();
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

    /// Keeps every change of the agents' levels from now on, for [`EmeraldRapids::shaped`].
    ///
    /// # Panics
    /// As [`EmeraldRapids::ledger`].
    pub fn keep_changes(&mut self) {
        self.truth.as_mut().expect(NO_TRUTH).keep_changes();
        Self::announce(&mut self.model, &self.signals, self.truth.as_ref());
    }

    /// What an occupancy event of an instance gives behind a threshold, since [`EmeraldRapids::keep_changes`].
    pub fn shaped(&self, socket: u16, instance: u16, question: Question<'_>, threshold: u64) -> Option<Shaped> {
        self.ledger().shaped(socket, instance, question, threshold)
    }
}

impl Worker for EmeraldRapids {
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
