//! The signals of home agents, and of where mesh and memory meet.

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{
    DirectoryState, MemoryAction, MemoryRequest, PrefetchFate, PrefetchSender, PrefetchSent, UnitInstance,
};
use pericore_hardware::signal::SignalSink;

use super::emitter::SignalMaker;
use super::lines::levels::LevelNumber;

/// Writes of lines, of parts, and isochronous ones of lines.
fn kind_of_write(request: MemoryRequest) -> usize {
    match (request.action, request.isochronous) {
        (MemoryAction::PartialWrite, _) => 1,
        (_, isochronous) => 2 * usize::from(isochronous),
    }
}

impl<S: SignalSink> SignalMaker<'_, S> {
    /// An agent sends a request to memory.
    #[inline]
    pub(super) fn sends(&mut self, agent: UnitInstance, request: MemoryRequest, at_once: bool, credit: bool, at: Tick) {
        // All of them are of one unit.
        if self.signals.observes(self.signals.lines.home.read[0], agent) {
            self.sent(agent, request, at_once, credit, at);
        }
    }

    #[inline(never)]
    fn sent(&mut self, agent: UnitInstance, request: MemoryRequest, at_once: bool, credit: bool, at: Tick) {
        let lines = &self.signals.lines.home;
        let reads = request.action == MemoryAction::Read;
        let without = lines.without_credit[usize::from(!reads)][usize::from(request.unit) % 4];
        if reads {
            let (read, bypass) = (lines.read[usize::from(request.isochronous)], lines.bypass[usize::from(!at_once)]);
            self.happens(agent, read, at);
            self.happens(agent, bypass, at);
        } else {
            let line = lines.writes[kind_of_write(request)];
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
            let (tracked, written) = (lines.writes_tracked[half], lines.written[kind_of_write(request)][half]);
            self.happens(unit, tracked, at);
            self.level::<true>(self.tracker(request), unit, at);
            self.level::<true>(self.signals.lines.home.write_tracker[half], unit, at);
            self.happens(unit, written, at);
            return;
        }
        self.level::<true>(self.signals.lines.home.tracker[half], unit, at);
        if !self.signals.observes(self.signals.lines.home.came, unit) {
            return;
        }
        let lines = &self.signals.lines.home;
        let merged = request.ahead.map(|sender| lines.merged[sender as usize]);
        let came = [lines.came, lines.tracked[half], lines.reads[usize::from(request.isochronous)][half]];
        came.into_iter().chain(merged).for_each(|line| self.happens(unit, line, at));
    }

    /// An agent has a prefetch for memory.
    pub(super) fn sends_prefetch(&mut self, agent: UnitInstance, half: u8, sent: PrefetchSent, at: Tick) {
        let lines = &self.signals.lines.home;
        let line = match sent {
            PrefetchSent::Goes => &lines.prefetch_sent,
            PrefetchSent::NoCredit => &lines.prefetch_without_credit,
            PrefetchSent::Conflict => &lines.prefetch_without_port,
        }[usize::from(half) % 2];
        self.happens(agent, line, at);
    }

    /// A prefetch comes to memory.
    pub(super) fn prefetch_comes(
        &mut self,
        unit: UnitInstance,
        half: u8,
        (sender, fate): (PrefetchSender, PrefetchFate),
        at: Tick,
    ) {
        let (half, by) = (usize::from(half) % 2, sender as usize);
        if fate == PrefetchFate::Runs {
            self.level::<true>(self.signals.lines.home.prefetches[half], unit, at);
        }
        if !self.signals.observes(self.signals.lines.home.came, unit) {
            return;
        }
        let lines = &self.signals.lines.home;
        let reason = match fate {
            PrefetchFate::Runs => {
                let taken = [lines.prefetched[by][half], lines.prefetch_taken];
                return taken.into_iter().for_each(|line| self.happens(unit, line, at));
            }
            PrefetchFate::BackToBack => Some(lines.back_to_back[half]),
            PrefetchFate::NoRoom => Some(lines.no_room[half]),
            PrefetchFate::BeyondThreshold => Some(lines.dropped[by][half]),
            PrefetchFate::WritesWait => Some(lines.writes_wait[half]),
            PrefetchFate::CamFull => Some(lines.cam_full[half]),
            PrefetchFate::TooLate => None,
        };
        let lost = [lines.prefetch_lost[by][half], lines.prefetch_squashed];
        lost.into_iter().chain(reason).for_each(|line| self.happens(unit, line, at));
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
        let line = if request.ahead.is_some() { lines.prefetch_done[half] } else { lines.not_prefetched[half] };
        self.level::<false>(self.signals.lines.home.tracker[half], unit, at);
        if request.ahead.is_some() {
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
