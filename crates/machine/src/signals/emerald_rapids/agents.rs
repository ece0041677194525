//! The signals of caching agents, beside those of look-ups and tables of requests.

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{AgentFact, Class, Found, Kind, MemoryUnitFact, Queue, UnitInstance};
use pericore_hardware::signal::SignalSink;

use super::emitter::SignalMaker;

impl<S: SignalSink> SignalMaker<'_, S> {
    /// Something happens at an agent.
    pub(super) fn at_agent(&mut self, agent: UnitInstance, fact: AgentFact, at: Tick) {
        let lines = &self.signals.lines.agents;
        let line = match fact {
            AgentFact::Queued(Queue::Io) => lines.devices,
            AgentFact::Queued(queue) => return self.outside(agent, queue, true, at),
            AgentFact::Dequeued(queue) => return self.outside(agent, queue, false, at),
            AgentFact::SnoopsCores(cause, several) => lines.snooped[cause as usize][usize::from(several)],
            AgentFact::DropsSilently => lines.drops_silently,
            AgentFact::DropsEntry(entry) => lines.dropped[entry as usize],
            AgentFact::Grants(kind) => lines.granted[granted(kind)],
            AgentFact::Answered(reply) => {
                let [line, local] = [0, 1].map(|set: usize| lines.answered[set][reply as usize]);
                self.happens(agent, local, at);
                line
            }
            AgentFact::TakesData => lines.takes_data,
        };
        self.happens(agent, line, at);
    }

    /// The other socket's requests that wait at an agent are one more or less.
    fn outside(&mut self, agent: UnitInstance, queue: Queue, comes: bool, at: Tick) {
        let number = match queue {
            Queue::Snoop => 0,
            Queue::Remote => 1,
            _ => 2,
        };
        self.holds(self.signals.lines.agents.outside[number], agent, comes, at);
    }

    /// An agent looks up a request of the other socket: its HitME cache.
    #[inline(never)]
    pub(super) fn looks_up_for_other(&mut self, agent: UnitInstance, class: Class, found: Found, at: Tick) {
        let lines = &self.signals.lines.agents;
        match class.kind.queue() {
            Queue::RemoteWriteback if class.kind != Kind::RemoteWrite => {
                let owned = usize::from(class.kind == Kind::RemoteWritebackExclusive);
                let (looked_up, hit) = (lines.hitme_looked_up[1], lines.hitme_hit[owned]);
                self.happens(agent, looked_up, at);
                self.happens(agent, hit, at);
            }
            Queue::Remote => {
                let shared = matches!(found, Found::Shared | Found::Forward | Found::FilterShared);
                let owns = class.kind == Kind::RemoteOwnership;
                let missed = lines.hitme_missed[if owns { 1 + usize::from(shared) } else { 0 }];
                let (looked_up, updated) = (lines.hitme_looked_up[0], lines.hitme_updated);
                self.happens(agent, looked_up, at);
                self.happens(agent, missed, at);
                if owns {
                    self.happens(agent, updated, at);
                }
            }
            _ => {}
        }
    }

    /// Something happens where mesh and memory meet.
    pub(super) fn at_memory_unit(&mut self, unit: UnitInstance, fact: MemoryUnitFact, at: Tick) {
        let lines = &self.signals.lines.home;
        match fact {
            MemoryUnitFact::ReadWaits(on) => self.holds(lines.read_waits, unit, on, at),
            MemoryUnitFact::NoWriteCredit(half, on) => {
                self.holds(lines.no_write_credit[usize::from(half)], unit, on, at)
            }
            MemoryUnitFact::NoSpecialCredit(half, on) => {
                self.holds(lines.no_special_credit[usize::from(half)], unit, on, at)
            }
            MemoryUnitFact::Sends(waited) => self.happens(unit, lines.sent[usize::from(waited)], at),
            MemoryUnitFact::NotDirect => self.happens(unit, lines.not_direct, at),
            MemoryUnitFact::SendsAway(direct) => self.happens(unit, lines.sent_away[usize::from(direct)], at),
        }
    }
}

/// How a core is told that its request will be done.
const fn granted(kind: Kind) -> usize {
    match kind {
        Kind::StreamFull | Kind::StreamPart => 1,
        kind if kind.is_writeback() => 3,
        kind if kind.is_device() => 0,
        _ => 2,
    }
}
