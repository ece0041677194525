//! The signals of home agents, and of where mesh and memory meet.

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{DirectoryState, MemoryAction, MemoryPrefetch, MemoryRequest, UnitInstance};
use pericore_hardware::signal::SignalSink;

use super::emitter::SignalMaker;
use super::lines::levels::LevelNumber;

impl<S: SignalSink> SignalMaker<'_, S> {
    /// An agent sends a request to memory.
    #[inline]
    pub(super) fn sends(&mut self, agent: UnitInstance, request: MemoryRequest, at_once: bool, credit: bool, at: Tick) {
        // All of them are of one unit.
        if self.signals.observes(self.signals.lines.home.read, agent) {
            self.sent(agent, request, at_once, credit, at);
        }
    }

    #[inline(never)]
    fn sent(&mut self, agent: UnitInstance, request: MemoryRequest, at_once: bool, credit: bool, at: Tick) {
        let lines = &self.signals.lines.home;
        let (half, reads) = (usize::from(request.half) % 2, request.action == MemoryAction::Read);
        let without = lines.without_credit[usize::from(!reads)][usize::from(request.unit) % 4];
        if reads {
            let prefetch = match request.prefetch {
                MemoryPrefetch::Agent | MemoryPrefetch::AgentLost | MemoryPrefetch::AgentFull => {
                    Some(lines.prefetch_sent[half])
                }
                // The link sends those.
                _ => None,
            };
            let (read, bypass) = (lines.read, lines.bypass[usize::from(!at_once)]);
            self.happens(agent, read, at);
            self.happens(agent, bypass, at);
            prefetch.into_iter().for_each(|line| self.happens(agent, line, at));
        } else {
            let line = lines.writes[usize::from(request.action == MemoryAction::PartialWrite)];
            self.happens(agent, line, at);
        }
        if !credit {
            self.happens(agent, without, at);
        }
    }

    /// The tracker of a write.
    fn tracker(&self, request: MemoryRequest) -> LevelNumber {
        let (lines, half) = (&self.signals.lines.home, usize::from(request.half) % 2);
        if request.action == MemoryAction::PartialWrite { lines.nonposted[half] } else { lines.posted[half] }
    }

    /// A request comes to memory.
    pub(super) fn comes_to_memory(&mut self, unit: UnitInstance, request: MemoryRequest, at: Tick) {
        let half = usize::from(request.half) % 2;
        if request.action != MemoryAction::Read {
            let lines = &self.signals.lines.home;
            let (tracked, written) = (
                lines.writes_tracked[half],
                lines.written[usize::from(request.action == MemoryAction::PartialWrite)][half],
            );
            self.happens(unit, tracked, at);
            self.level::<true>(self.tracker(request), unit, at);
            self.level::<true>(self.signals.lines.home.write_tracker[half], unit, at);
            self.happens(unit, written, at);
            return;
        }
        self.level::<true>(self.signals.lines.home.tracker[half], unit, at);
        let observed = self.signals.observes(self.signals.lines.home.came, unit);
        if observed {
            let lines = &self.signals.lines.home;
            [lines.came, lines.tracked[half], lines.reads[half]]
                .into_iter()
                .for_each(|line| self.happens(unit, line, at));
        }
        if request.prefetch.runs() {
            self.level::<true>(self.signals.lines.home.prefetches[half], unit, at);
        }
        if observed {
            let lines = &self.signals.lines.home;
            let lost = |by: usize| [lines.prefetch_lost[by][half], lines.dropped[by][half], lines.prefetch_squashed];
            let full = |by: usize| [lines.prefetch_lost[by][half], lines.no_room[half], lines.prefetch_squashed];
            let runs = |by: usize| [lines.prefetched[by][half], lines.prefetch_taken, lines.merged[by]];
            let pulses = match request.prefetch {
                MemoryPrefetch::Never => return,
                MemoryPrefetch::AgentLost => lost(0),
                MemoryPrefetch::LinkLost => lost(1),
                MemoryPrefetch::AgentFull => full(0),
                MemoryPrefetch::LinkFull => full(1),
                MemoryPrefetch::Agent => runs(0),
                MemoryPrefetch::Link => runs(1),
            };
            pulses.into_iter().for_each(|line| self.happens(unit, line, at));
        }
    }

    /// Memory has done a request.
    pub(super) fn leaves_memory(&mut self, unit: UnitInstance, request: MemoryRequest, at: Tick) {
        if request.action != MemoryAction::Read {
            let half = usize::from(request.half) % 2;
            self.level::<false>(self.tracker(request), unit, at);
            self.level::<false>(self.signals.lines.home.write_tracker[half], unit, at);
            return;
        }
        let (lines, half) = (&self.signals.lines.home, usize::from(request.half) % 2);
        let line = if request.prefetch.runs() { lines.prefetch_done[half] } else { lines.not_prefetched[half] };
        self.level::<false>(self.signals.lines.home.tracker[half], unit, at);
        if request.prefetch.runs() {
            self.level::<false>(self.signals.lines.home.prefetches[half], unit, at);
        }
        self.happens(unit, line, at);
    }

    /// A line has come with directory bits, and the agent queries the other socket or not.
    pub(super) fn looks_in_directory(
        &mut self,
        (socket, cha): UnitInstance,
        unit: u16,
        state: DirectoryState,
        queries: bool,
        at: Tick,
    ) {
        let lines = &self.signals.lines.home;
        let ([looked, found], decided) = (lines.found[state as usize], lines.looked[usize::from(queries)]);
        let snoop = self.signals.lines.agents.snoop_sent;
        self.happens((socket, unit), looked, at);
        self.happens((socket, unit), found, at);
        self.happens((socket, cha), decided, at);
        if queries {
            self.happens((socket, cha), snoop, at);
        }
    }

    /// A line's directory bits change for a request of an agent.
    pub(super) fn changes_directory(
        &mut self,
        (socket, cha): UnitInstance,
        unit: u16,
        (from, to): (DirectoryState, DirectoryState),
        had: bool,
        at: Tick,
    ) {
        let lines = &self.signals.lines.home;
        let (change, by) = (lines.changes[from as usize][to as usize], lines.changed[usize::from(had)]);
        change.into_iter().for_each(|line| self.happens((socket, unit), line, at));
        self.happens((socket, cha), by, at);
    }
}
