//! Who listens, and how much there is in the queues of an instance when somebody begins to.
//!
//! That it agrees with the arrivals and departures that were said one by one is for a test to show (`tests/levels.rs`).

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{Class, UnitInstance};
use pericore_hardware::signal::SignalSink;

use super::emitter::Signals;
use super::lines::binding::Line;
use crate::signals::levels::{Occupancies, is_observed};

impl Signals {
    /// True if it must be known at once that a core's request comes to its agent, not only when it leaves the ingress
    /// queue.
    #[inline]
    pub fn observes_ingress(&self, agent: UnitInstance) -> bool {
        self.levels.is_observed(self.lines.agents.ingress, agent)
    }

    /// Asks where counters listen; to be done whenever counters may have been programmed. `ingress` are cores'
    /// requests in the ingress queue of an agent. True if somebody observes levels that nobody has observed before.
    pub fn listen<S: SignalSink>(&mut self, now: Tick, ingress: impl Fn(UnitInstance) -> u64, sink: &mut S) -> bool {
        let mut anew = false;
        for instance in 0..self.observation.any.len() as u16 {
            self.observation.any[usize::from(instance)] = sink.observes_any(instance);
            if self.listen_to_levels(instance, sink) {
                anew = true;
                self.emit_occupancies(instance, now, &ingress, sink);
            }
        }
        self.mesh.listen(self.stride, sink);
        anew
    }

    /// Asks which levels of an instance a sink hears; true if it has not observed all of them before.
    fn listen_to_levels<S: SignalSink>(&mut self, number: u16, sink: &S) -> bool {
        let (any, (socket, unit, index)) =
            (self.observation.any[usize::from(number)], self.observation.places[usize::from(number)]);
        let (stride, instance) = (self.stride, (socket, index));
        let observes = |line: Line| is_observed(sink, line.wire(stride, socket, index));
        let mut anew = false;
        for &level in &self.observation.of_units[unit].0 {
            let observed = any && self.levels.lines(level).all().any(observes);
            anew |= self.levels.set_observed(level, instance, observed);
        }
        if self.observation.of_units[unit].1 {
            let observed = any && observes(self.lines.requests.tor);
            anew |= observed & !std::mem::replace(&mut self.observation.table_mut(instance).observed, observed);
        }
        anew
    }

    /// Emits the occupancies of an instance, as far as nobody may have seen them change.
    pub fn emit_occupancies<S: SignalSink>(
        &self,
        number: u16,
        now: Tick,
        ingress: impl Fn(UnitInstance) -> u64,
        sink: &mut S,
    ) {
        let (socket, unit, index) = self.observation.places[usize::from(number)];
        let mut occupancies = Occupancies::default();
        let mut add = |line: Line, tag: u64, count: u64| {
            occupancies.add(line.wire(self.stride, socket, index), tag, count as u32);
        };
        let (levels, has_table) = &self.observation.of_units[unit];
        for &level in levels {
            // Cores' requests may have come to it unheard.
            let live = (level == self.lines.agents.ingress).then(|| ingress((socket, index)));
            self.levels.occupancy(level, (socket, index), live, &mut add);
        }
        if *has_table {
            let table = self.observation.table((socket, index));
            for (number, &count) in table.entries.iter().enumerate() {
                add(self.lines.requests.tor, self.lines.requests.tor_tag(Class::of(number)), count.into());
            }
        }
        occupancies.emit(now, sink);
    }
}
