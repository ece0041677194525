//! Caching agents beside their tables of requests.

use pericore_facts::emerald_rapids::{AgentFact, FilterVictim, Kind, Queue, SnoopCause, SnoopReply};

use super::gauge::Gauge;

/// Totals of one agent.
#[derive(Debug, Clone)]
pub struct CachingCells {
    /// Cores' requests that wait. How long is known when they leave.
    pub ingress: Gauge,
    /// Snoops, reads and writebacks of the other socket that wait.
    pub outside: [Gauge; 3],
    pub devices: u64,
    /// By cause: one core, several.
    pub snooped: [[u64; 2]; SnoopCause::COUNT],
    pub dropped_silently: u64,
    pub dropped: [u64; FilterVictim::COUNT],
    pub granted: [u64; Kind::COUNT],
    pub answered: [u64; SnoopReply::COUNT],
    pub took_data: u64,
}

impl Default for CachingCells {
    fn default() -> Self {
        Self {
            ingress: Gauge::default(),
            outside: Default::default(),
            devices: 0,
            snooped: Default::default(),
            dropped_silently: 0,
            dropped: [0; FilterVictim::COUNT],
            granted: [0; Kind::COUNT],
            answered: [0; SnoopReply::COUNT],
            took_data: 0,
        }
    }
}

const ENDLESS: u64 = u64::MAX;

impl CachingCells {
    /// Something happens at the agent.
    pub fn read(&mut self, fact: AgentFact, cycle: u64) {
        match fact {
            AgentFact::Queued(Queue::Io) => self.devices += 1,
            AgentFact::Queued(queue) => self.outside(queue).enter(cycle, ENDLESS),
            AgentFact::Dequeued(queue) => self.outside(queue).leave(cycle, ENDLESS),
            AgentFact::SnoopsCores(cause, all) => self.snooped[cause as usize][usize::from(all)] += 1,
            AgentFact::DropsSilently => self.dropped_silently += 1,
            AgentFact::DropsEntry(entry) => self.dropped[entry as usize] += 1,
            AgentFact::Grants(kind) => self.granted[kind as usize] += 1,
            AgentFact::Answered(reply) => self.answered[reply as usize] += 1,
            AgentFact::TakesData => self.took_data += 1,
        }
    }

    fn outside(&mut self, queue: Queue) -> &mut Gauge {
        let [snoops, reads, writebacks] = &mut self.outside;
        match queue {
            Queue::Snoop => snoops,
            Queue::Remote => reads,
            _ => writebacks,
        }
    }

    /// Brings its sums up to a cycle.
    pub fn bring_up(&mut self, cycle: u64) {
        let all = self.outside.iter_mut().chain([&mut self.ingress]);
        all.for_each(|gauge| *gauge = gauge.at(cycle, ENDLESS));
    }

    /// True if nothing waits.
    pub fn is_at_rest(&self) -> bool {
        self.outside.iter().chain([&self.ingress]).all(|gauge| gauge.live == 0)
    }
}
