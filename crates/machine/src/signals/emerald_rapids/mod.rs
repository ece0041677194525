//! The signals of Emerald Rapids, made of what happens.

mod agents;
mod arbitration;
mod devices;
mod emitter;
mod gates;
mod home;
mod level_signals;
mod levels;
mod lines;
mod links;
mod memory;
mod mesh;
mod observation;
mod occupancies;
mod platform;
mod system_queues;

pub use emitter::{SignalMaker, Signals};
pub use lines::binding::link_codes;
use pericore_engine::Tick;
use pericore_facts::FactReader;
use pericore_facts::emerald_rapids::{Class, Fact, Found, Queue, Reason, UnitInstance};
use pericore_hardware::signal::SignalSink;

impl<S: SignalSink> FactReader<Fact> for SignalMaker<'_, S> {
    #[inline(always)]
    fn read(&mut self, at: Tick, fact: Fact) {
        match fact {
            // Nobody can see that from outside.
            Fact::SetsOut(..) | Fact::Answered(..) => {}
            Fact::Comes(agent) => self.ingress::<true>(agent, at),
            Fact::Leaves(agent, _) => self.ingress::<false>(agent, at),
            Fact::LooksUp(agent, class, found) => self.looks_up(agent, class, found, at),
            Fact::TakesEntry(agent, class) => self.entry::<true>(agent, class, at),
            Fact::GivesEntry(agent, class, _) => {
                self.entry::<false>(agent, class, at);
                self.happens(agent, self.signals.lines.agents.entry_freed, at);
            }
            Fact::TurnsAway(agent, queue, reason, again) => self.turns_away(agent, queue, reason, again, at),
            Fact::TriesAgain(agent, queue, reason) => self.tries_again(agent, queue, reason, at),
            Fact::GivesWay(agent, victim) => {
                let lines = &self.signals.lines.requests;
                let (line, tag) = (lines.victim, lines.victim_tag(victim));
                self.pulse(line, tag, agent, 1, at);
            }
            Fact::Goes(socket, message) => {
                self.signals.mesh.goes(socket, message, self.signals.stride, at, self.sink);
            }
            Fact::Link(link, fact) => self.at_link(link, fact, at),
            Fact::Responds(port, result, snoop) => {
                let lines = &self.signals.lines.responses;
                self.pulse(lines.responses, lines.tag(result, snoop), port, 1, at);
                self.all(port, |lines| &lines.devices.snooped, at);
            }
            Fact::Requested(agent, what, remote) => {
                let line = self.signals.lines.home.requested[what as usize][usize::from(remote)];
                self.happens(agent, line, at);
            }
            Fact::Sends(agent, request, at_once, credit) => self.sends(agent, request, at_once, credit, at),
            Fact::SendsPrefetch(agent, half, sent) => self.sends_prefetch(agent, half, sent, at),
            Fact::PrefetchComes(unit, half, sender, fate) => self.prefetch_comes(unit, half, (sender, fate), at),
            Fact::ComesToMemory(unit, request) => self.comes_to_memory(unit, request, at),
            Fact::LeavesMemory(unit, request) => self.leaves_memory(unit, request, at),
            Fact::LooksInDirectory(agent, unit, state, queries) => {
                self.looks_in_directory(agent, unit, state, queries, at)
            }
            Fact::ChangesDirectory(agent, unit, states, had) => {
                self.changes_directory(agent, unit, states, had, at);
            }
            Fact::Memory(subchannel, fact) => self.memory(subchannel, fact, at),
            Fact::Agent(agent, fact) => self.at_agent(agent, fact, at),
            Fact::MemoryUnit(unit, fact) => self.at_memory_unit(unit, fact, at),
            Fact::Device(stack, station, request) => self.at_device(stack, station, request, at),
            Fact::Stack(stack, fact) => self.in_stack(stack, fact, at),
            Fact::Peer(station, line) => self.at_peer(station, line, at),
            Fact::Expander(link, fact) => self.at_expander(link, fact, at),
            Fact::Core(socket, from, to, demoted) => self.core(socket, from, to, demoted, at),
            Fact::CoreChanges(socket, begins) => self.core_changes(socket, begins, at),
            Fact::Package(socket, condition, on) => {
                self.holds(self.signals.lines.power.conditions[condition as usize], (socket, 0), on, at);
            }
            Fact::System(socket, fact) => self.system(socket, fact, at),
        }
    }
}

impl<S: SignalSink> SignalMaker<'_, S> {
    /// A core's request comes to an ingress queue (`COMES`), or leaves it. How many there are is not counted: some
    /// come unheard.
    #[inline]
    fn ingress<const COMES: bool>(&mut self, agent: UnitInstance, at: Tick) {
        let ingress = self.signals.lines.agents.ingress;
        if self.signals.levels.is_observed(ingress, agent) {
            self.report::<COMES>(ingress, agent, 0, at);
        }
    }

    fn looks_up(&mut self, agent: UnitInstance, class: Class, found: Found, at: Tick) {
        let lines = &self.signals.lines.requests;
        let line = lines.lookup;
        if self.signals.observes(line, agent) {
            let tag = lines.lookup_tag(class, found);
            self.sink.pulse(line.wire(self.signals.stride, agent.0, agent.1), tag, at, 1);
            if class.kind.reads_for_ownership() && matches!(found, Found::Shared | Found::FilterShared) {
                self.happens(agent, self.signals.lines.agents.claimed_shared, at);
            }
            if matches!(class.kind.queue(), Queue::Remote | Queue::RemoteWriteback) {
                self.looks_up_for_other(agent, class, found, at);
            }
        }
    }

    /// A request takes an entry of the table of requests (`TAKES`), or gives it back.
    fn entry<const TAKES: bool>(&mut self, agent: UnitInstance, class: Class, at: Tick) {
        if self.signals.observation.entry::<TAKES>(agent, class) {
            let lines = &self.signals.lines.requests;
            let (wire, tag) = (lines.tor.wire(self.signals.stride, agent.0, agent.1), lines.tor_tag(class));
            if TAKES { self.sink.enter(wire, tag, at) } else { self.sink.leave(wire, tag, at) }
        }
    }

    fn turns_away(&mut self, agent: UnitInstance, queue: Queue, reason: Reason, again: bool, at: Tick) {
        let lines = self.signals.lines.rejects.turned_away(queue, reason, again);
        lines.for_each(|line| self.happens(agent, line, at));
    }

    fn tries_again(&mut self, agent: UnitInstance, queue: Queue, reason: Reason, at: Tick) {
        let lines = self.signals.lines.rejects.retried(queue, reason);
        lines.for_each(|line| self.happens(agent, line, at));
    }
}
