//! A machine of the E5-2600: its model, and the readers of what happens in it.

#[cfg(test)]
mod tests;

use pericore_engine::{Clocks, Tick};
use pericore_facts::CommandRecord;
use pericore_hardware::signal::{SignalSink, Wiring, WiringError};
use pericore_models::e5_2600::{Model, Parameters};
use pericore_parts::work::{Work, Worker};
use pericore_truth::e5_2600::{Ledger, Opcodes, Shape, Snapshot};
use pericore_truth::{Latencies, Question, Shaped};
use pericore_workload::{ProgramSettings, ProgramSource, Scenario};

use crate::memory_traffic::{MemoryTraffic, NO_TRUTH};
use crate::signals::e5_2600::E5Signals;
use crate::uncore::ModelError;

/// A model, its signals, and the truth where it is kept.
#[derive(Debug)]
pub struct E5 {
    model: Model,
    signals: E5Signals,
    traffic: MemoryTraffic,
    truth: Option<Ledger>,
}

impl E5 {
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
    /// As [`E5::for_scenario`].
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
        E5Signals::bind(wiring, parameters)?;
        Ok(())
    }

    fn of(model: Model, wiring: &mut Wiring) -> Result<Self, ModelError> {
        let signals = E5Signals::bind(wiring, model.parameters())?;
        let truth = Ledger::new(*model.clocks(), opcodes(wiring)?, shape(model.parameters()));
        Ok(Self { model, signals, traffic: MemoryTraffic::default(), truth: Some(truth) })
    }

    /// Runs everything that happens before `until`; afterwards it is `until`.
    pub fn run_until<S: SignalSink>(&mut self, until: Tick, sink: &mut S) {
        let Self { model, signals, traffic, truth } = self;
        if !model.agenda().has_started() {
            signals.start(sink);
        }
        signals.listen(model.now(), |occupancy| model.under_way(occupancy), sink);
        model.announce_arrivals(|slice| signals.observes_ingress(slice));
        model.run_until(until, &mut (signals.reader(sink), (traffic, truth.as_mut())));
    }

    /// The same into a sink of any type, compiled once for all of them: each type that [`Self::run_until`] is called
    /// with compiles the whole model anew.
    pub fn run_until_any(&mut self, until: Tick, mut sink: &mut dyn SignalSink) {
        self.run_until(until, &mut sink);
    }

    /// Emits what stands in the queues of a PMON instance, whose counters may begin to listen.
    pub fn emit_occupancies<S: SignalSink>(&self, instance: u16, sink: &mut S) {
        if self.model.agenda().has_started() {
            self.signals.emit_occupancies(
                instance,
                self.model.now(),
                |occupancy| self.model.under_way(occupancy),
                sink,
            );
        }
    }

    /// The clocks.
    pub const fn clocks(&self) -> &Clocks {
        self.model.clocks()
    }

    /// Keeps no truth from now on.
    pub fn drop_truth(&mut self) {
        self.truth = None;
    }

    /// Lines that memory has read and written.
    pub const fn memory_traffic(&self) -> &MemoryTraffic {
        &self.traffic
    }

    /// The running account.
    const fn ledger(&self) -> &Ledger {
        self.truth.as_ref().expect(NO_TRUTH)
    }

    /// Keeps every DRAM command from now on, for checkers.
    ///
    /// # Panics
    /// After [`E5::drop_truth`], as all that the truth tells.
    pub fn keep_commands(&mut self) {
        self.truth.as_mut().expect(NO_TRUTH).keep_commands();
    }

    /// The DRAM commands kept since [`E5::keep_commands`], with their channel.
    pub fn commands(&self) -> &[(u16, CommandRecord)] {
        self.ledger().commands()
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

    /// Keeps every request's stays from now on, for [`E5::shaped`].
    ///
    /// # Panics
    /// As [`E5::ledger`].
    pub fn keep_stays(&mut self) {
        self.truth.as_mut().expect(NO_TRUTH).keep_stays();
    }

    /// What an occupancy event of an instance gives behind a threshold, since [`E5::keep_stays`].
    pub fn shaped(&self, socket: u16, instance: u16, question: Question<'_>, threshold: u64) -> Option<Shaped> {
        self.ledger().shaped(socket, instance, question, threshold)
    }

    /// The truth as of now, with the part so far of what is under way.
    pub fn snapshot(&self) -> Snapshot {
        let mut at = self.ledger().so_far();
        self.model.under_way(&mut at);
        at.at(self.model.now())
    }
}

/// Sizes that the truth depends on.
fn shape(parameters: &Parameters) -> Shape {
    let sockets = usize::from(parameters.sockets);
    Shape {
        sockets,
        slices: sockets * usize::from(parameters.cores),
        channels: sockets * usize::from(parameters.channels),
        pending: [parameters.dram.reads.into(), parameters.dram.writes.into()],
        special: parameters.isochronous_entries.into(),
        links: if sockets > 1 { 2 * sockets } else { 0 },
        flight: parameters.link_flight,
        shared: parameters.link_credits.into(),
    }
}

/// Numbers that requests and packets carry, from the catalogue's value sets.
fn opcodes(wiring: &Wiring) -> Result<Opcodes, WiringError> {
    let family = wiring.family();
    Opcodes::by_name(|set, name| family.named_value(set, name)).map_err(|(set, name)| {
        let unit = if set == "idi-opcodes" { "cbo" } else { "qpi" };
        WiringError::NoSignal { unit, name: format!("{name} in {set}") }
    })
}

impl Worker for E5 {
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
