//! The channel: arrivals, the two queues, major modes, and the commands that go out.

use super::banks::{Banks, rank_of};
use super::plan::{Action, Candidates, Lane, Plan, gates};
use super::power::Power;
use super::queue::PendingQueue;
use super::refresh::Refresh;
use super::timing::{RANKS, Timing};
use crate::engine::{NEVER, Period, Ring};
use crate::ledger::{Ledger, MajorMode, Pending};
use crate::signal::{SignalSink, Tick};
use crate::uncore::wires::ChannelWires;

/// A request on its way from the home agent.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// DRAM cycle of arrival; one request arrives in a cycle.
    pub cycle: u64,
    /// The request.
    pub owner: u16,
    /// Line number.
    pub line: u32,
    /// Bank of the channel.
    pub bank: u8,
    /// Row of the bank.
    pub row: u32,
    /// Reads or writes.
    pub queue: Pending,
    /// A write of a part of the line: the rest must be read first.
    pub partial: bool,
}

/// What the channel tells the home agent.
#[derive(Debug, Clone, Copy)]
pub enum Outcome {
    /// The last data of a read will be there at `cycle`; its queue entry is free.
    Data {
        /// The request.
        owner: u16,
        /// DRAM cycle after the last data.
        cycle: u64,
    },
    /// A write has been taken over.
    Posted {
        /// The request.
        owner: u16,
    },
    /// A write's queue entry is free.
    WriteCredit,
}

/// A read that a pending write answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forward {
    done: u64,
    entered: u64,
    owner: u16,
}

/// A partial write whose underfill read is on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Completing {
    pub done: u64,
    pub entered: u64,
    pub line: u32,
    pub row: u32,
    pub bank: u8,
}

/// One memory channel.
#[derive(Debug)]
pub struct Channel {
    pub(super) number: u16,
    pub(super) clock: Period,
    pub(super) timing: Timing,
    pub(super) wires: ChannelWires,
    pub(super) arrivals: Ring<Arrival, 64>,
    pub(super) forwards: Ring<Forward, 32>,
    pub(super) reads: PendingQueue,
    pub(super) writes: PendingQueue,
    /// Partial writes that wait for their underfill read.
    pub(super) underfills: PendingQueue,
    pub(super) completing: Ring<Completing, 32>,
    /// By lane.
    pub(super) candidates: [Candidates; Lane::COUNT],
    pub(super) banks: Banks,
    pub(super) refresh: Refresh,
    pub(super) power: Power,
    pub(super) mode: MajorMode,
    /// Since when no reads are pending.
    pub(super) no_reads_since: u64,
    pub(super) sequence: u64,
    /// First cycle in which the command bus is free.
    pub(super) bus_free: u64,
    pub(super) plan: Plan,
    /// No row is closed for idleness before this cycle.
    pub(super) no_idle_before: u64,
    pub(super) next: u64,
}

impl Channel {
    /// An idle channel with closed banks.
    pub fn new(number: u16, clock: Period, timing: &Timing, wires: ChannelWires) -> Self {
        let refresh = Refresh::new(timing);
        let power = Power::new(timing);
        let next = refresh.next_due().min(power.next);
        Self {
            number,
            clock,
            timing: timing.clone(),
            wires,
            arrivals: Ring::new(Arrival {
                cycle: 0,
                owner: 0,
                line: 0,
                bank: 0,
                row: 0,
                queue: Pending::Reads,
                partial: false,
            }),
            forwards: Ring::new(Forward { done: 0, entered: 0, owner: 0 }),
            reads: PendingQueue::new(),
            writes: PendingQueue::new(),
            underfills: PendingQueue::new(),
            completing: Ring::new(Completing { done: 0, entered: 0, line: 0, row: 0, bank: 0 }),
            candidates: [Candidates::new(), Candidates::new(), Candidates::new()],
            banks: Banks::new(),
            refresh,
            power,
            mode: MajorMode::Read,
            no_reads_since: 0,
            sequence: 0,
            bus_free: 0,
            plan: Plan::SLEEP,
            no_idle_before: u64::MAX,
            next,
        }
    }

    /// Emits the levels that hold from the start.
    pub fn start<S: SignalSink>(&self, sink: &mut S) {
        sink.enter(self.wires.mode.0, self.wires.mode.1[MajorMode::Read as usize], 0);
        self.start_power(sink);
    }

    /// The tick of the channel's next action.
    pub const fn next_tick(&self) -> Tick {
        if self.next == u64::MAX { NEVER } else { self.next * self.clock.ticks() }
    }

    /// The last cycle for which an arrival has been announced; the next must come later.
    pub fn last_arrival(&self) -> Option<u64> {
        self.arrivals.back().map(|arrival| arrival.cycle)
    }

    /// Announces a request. Arrivals come in order, at most one in a cycle, and not in the past.
    pub fn announce(&mut self, arrival: Arrival) {
        self.next = self.next.min(arrival.cycle);
        self.arrivals.push(arrival);
    }

    /// True if nothing is pending or on its way.
    pub fn is_idle(&self) -> bool {
        self.reads.len() == 0 && self.writes_queued() == 0 && self.arrivals.is_empty() && self.forwards.is_empty()
    }

    /// Arrival cycles of what is in a queue.
    pub fn entries(&self, queue: Pending) -> Box<dyn Iterator<Item = u64> + '_> {
        match queue {
            Pending::Reads => {
                Box::new(self.reads.arrivals().chain(self.forwards.iter().map(|forward| forward.entered)))
            }
            Pending::Writes => {
                let completing = self.completing.iter().map(|write| write.entered);
                Box::new(self.writes.arrivals().chain(self.underfills.arrivals()).chain(completing))
            }
        }
    }

    /// Entries of the write queue, complete or not.
    pub(super) fn writes_queued(&self) -> usize {
        usize::from(self.writes.len()) + usize::from(self.underfills.len()) + self.completing.len()
    }

    /// Does what is due at the cycle of [`Channel::next_tick`].
    pub fn step<S: SignalSink>(&mut self, sink: &mut S, ledger: &mut Ledger, out: &mut Vec<Outcome>) {
        let cycle = self.next;
        let mut changed = false;
        while let Some(forward) = self.forwards.front().filter(|forward| forward.done <= cycle) {
            self.forwards.pop();
            out.push(Outcome::Data { owner: forward.owner, cycle });
            self.leave(Pending::Reads, forward.entered, cycle, sink, ledger);
        }
        if self.power.next <= cycle {
            self.step_power(cycle, sink, ledger);
            changed = true;
        }
        while let Some(write) = self.completing.front().filter(|write| write.done <= cycle) {
            self.completing.pop();
            self.complete(write, cycle, sink, ledger);
            changed = true;
        }
        if let Some(arrival) = self.arrivals.front().filter(|arrival| arrival.cycle == cycle) {
            self.arrivals.pop();
            changed |= self.arrive(arrival, sink, ledger, out);
        }
        if self.underfill_starves_at() <= cycle && self.mode == MajorMode::Read {
            self.set_mode(MajorMode::Partial, cycle, sink, ledger);
            changed = true;
        }
        if self.refresh.next_due() <= cycle {
            for rank in 0..RANKS {
                if self.refresh.is_due(rank, cycle) {
                    self.rank_up(rank, cycle, sink, ledger);
                }
            }
            self.refresh.fall_due(cycle, &self.timing);
            changed = true;
        }
        if changed {
            self.replan(cycle);
        }
        if self.plan.cycle == cycle {
            self.send(cycle, sink, ledger, out);
            self.replan(cycle);
        }
        let arrival = self.arrivals.front().map_or(u64::MAX, |arrival| arrival.cycle);
        let forward = self.forwards.front().map_or(u64::MAX, |forward| forward.done);
        let completed = self.completing.front().map_or(u64::MAX, |write| write.done);
        let starves = if self.mode == MajorMode::Read { self.underfill_starves_at().max(cycle + 1) } else { u64::MAX };
        let queues = self.plan.cycle.min(arrival).min(forward).min(completed).min(starves);
        self.next = queues.min(self.refresh.next_due()).min(self.power.next);
    }

    /// When the oldest underfill read has waited for too long.
    fn underfill_starves_at(&self) -> u64 {
        if self.underfills.len() == 0 {
            return u64::MAX;
        }
        let oldest = self.underfills.arrivals().fold(u64::MAX, u64::min);
        oldest + self.timing.underfill_patience
    }

    /// The rest of a partial write's line has come: the write can go out.
    fn complete<S: SignalSink>(&mut self, write: Completing, cycle: u64, sink: &mut S, ledger: &mut Ledger) {
        let Completing { entered, line, row, bank, .. } = write;
        self.rank_up(rank_of(bank), cycle, sink, ledger);
        self.sequence += 1;
        let slot = self.writes.push(line, bank, row, 0, self.sequence, entered);
        let starved = cycle.saturating_sub(self.timing.starvation);
        self.writes.note_hit(bank, slot, self.banks.open_row[usize::from(bank)], starved);
        self.candidates[Lane::Writes as usize].update(&self.banks, &self.writes, bank);
        self.drain_writes(cycle, sink, ledger);
    }

    /// True if a partial write of the line is being completed.
    fn is_completing(&self, line: u32) -> bool {
        self.underfills.len() > 0 && self.underfills.find(line).is_some()
            || self.completing.iter().any(|write| write.line == line)
    }

    /// Takes a request in; true if the plan must be made anew.
    fn arrive<S: SignalSink>(
        &mut self,
        new: Arrival,
        sink: &mut S,
        ledger: &mut Ledger,
        out: &mut Vec<Outcome>,
    ) -> bool {
        let Arrival { cycle, owner, line, bank, row, queue, partial } = new;
        let tick = cycle * self.clock.ticks();
        let pending_write = self.writes.len() > 0 && self.writes.find(line).is_some();
        let starved = cycle.saturating_sub(self.timing.starvation);
        let open_row = self.banks.open_row[usize::from(bank)];
        self.sequence += 1;
        match queue {
            Pending::Reads => {
                self.enter(queue, cycle, sink, ledger);
                if pending_write {
                    sink.pulse(self.wires.read_hit, 0, tick, 1);
                    ledger.forwarded(self.number);
                    self.forwards.push(Forward { done: cycle + self.timing.forward, entered: cycle, owner });
                    return false;
                }
                self.rank_up(rank_of(bank), cycle, sink, ledger);
                let slot = self.reads.push(line, bank, row, owner, self.sequence, cycle);
                self.reads.note_hit(bank, slot, open_row, starved);
                self.candidates[Lane::Reads as usize].update(&self.banks, &self.reads, bank);
                // The first read takes over from the writes.
                self.reads.len() == 1 || self.consider(Lane::Reads, bank, cycle)
            }
            Pending::Writes => {
                out.push(Outcome::Posted { owner });
                if pending_write || self.is_completing(line) {
                    sink.pulse(self.wires.write_hit, 0, tick, 1);
                    ledger.merged(self.number);
                    out.push(Outcome::WriteCredit);
                    return false;
                }
                self.enter(queue, cycle, sink, ledger);
                self.rank_up(rank_of(bank), cycle, sink, ledger);
                let lane = if partial { Lane::Underfills } else { Lane::Writes };
                let waiting = if partial { &mut self.underfills } else { &mut self.writes };
                let slot = waiting.push(line, bank, row, owner, self.sequence, cycle);
                waiting.note_hit(bank, slot, open_row, starved);
                self.candidates[lane as usize].update(&self.banks, waiting, bank);
                if self.drain_writes(cycle, sink, ledger) {
                    return true;
                }
                partial || self.consider(lane, bank, cycle)
            }
        }
    }

    /// Changes to write major mode if many writes are pending and some of them can go out; true if the mode has changed.
    pub(super) fn drain_writes<S: SignalSink>(&mut self, cycle: u64, sink: &mut S, ledger: &mut Ledger) -> bool {
        let many = self.writes_queued() >= usize::from(self.timing.write_high);
        if self.mode != MajorMode::Read || !many {
            return false;
        }
        // Writes that lack a part of their line cannot be drained: that comes first.
        let mode = if self.writes.len() > self.timing.write_low {
            MajorMode::Write
        } else if self.underfills.len() > 0 {
            MajorMode::Partial
        } else {
            return false;
        };
        self.set_mode(mode, cycle, sink, ledger);
        true
    }

    /// Lets the plan know that a bank has a new candidate; true if the plan must be made anew instead.
    fn consider(&mut self, lane: Lane, bank: u8, cycle: u64) -> bool {
        if self.refresh.is_owed() || self.power.blocked != 0 || self.plan.action == Action::PrechargeIdle {
            return true;
        }
        let (serving, floor) = self.serving(cycle);
        if serving == lane {
            let gates = gates(&self.banks, lane, floor);
            self.plan.offer(self.candidates[lane as usize].of(bank, &gates, floor, lane));
        }
        false
    }

    /// The lane that is served, and from which cycle on.
    fn serving(&self, cycle: u64) -> (Lane, u64) {
        let floor = cycle.max(self.bus_free);
        match self.mode {
            MajorMode::Write => (Lane::Writes, floor),
            MajorMode::Partial => (Lane::Underfills, floor),
            MajorMode::Read if self.reads.len() > 0 => (Lane::Reads, floor),
            MajorMode::Read if self.underfills.len() > 0 => (Lane::Underfills, floor),
            MajorMode::Read => (Lane::Writes, floor.max(self.no_reads_since + self.timing.write_patience)),
        }
    }

    /// Finds the next command, on the bus after the last one.
    fn replan(&mut self, cycle: u64) {
        let pending = self.reads.pending | self.writes.pending | self.underfills.pending;
        if self.refresh.is_owed() {
            self.refresh.decide(pending, &self.timing);
        }
        let blocked = self.refresh.blocked() | self.power.blocked;
        let (lane, floor) = self.serving(cycle);
        let gates = gates(&self.banks, lane, floor);
        let banks = match lane {
            Lane::Reads => self.reads.pending,
            Lane::Writes => self.writes.pending,
            Lane::Underfills => self.underfills.pending,
        };
        let mut plan = self.candidates[lane as usize].best(&gates, floor, banks & !blocked, lane);
        let floor = cycle.max(self.bus_free);
        if plan.cycle >= self.no_idle_before {
            let idle = self.banks.open & !(pending | blocked);
            self.no_idle_before = plan.offer_idle(&self.banks, idle, floor, &self.timing);
        }
        if blocked != 0 {
            plan.offer_refresh(&self.banks, &self.refresh, floor);
        }
        self.plan = plan;
    }

    pub(super) fn set_mode<S: SignalSink>(&mut self, mode: MajorMode, cycle: u64, sink: &mut S, ledger: &mut Ledger) {
        if mode == self.mode {
            return;
        }
        let (wire, tags) = self.wires.mode;
        let tick = cycle * self.clock.ticks();
        sink.leave(wire, tags[self.mode as usize], tick);
        sink.enter(wire, tags[mode as usize], tick);
        ledger.mode(self.number, mode, cycle);
        self.mode = mode;
    }

    fn live(&self, queue: Pending) -> (usize, u8) {
        match queue {
            Pending::Reads => (usize::from(self.reads.len()) + self.forwards.len(), self.timing.reads),
            Pending::Writes => (self.writes_queued(), self.timing.writes),
        }
    }

    /// An entry is about to be added to a queue.
    fn enter<S: SignalSink>(&self, queue: Pending, cycle: u64, sink: &mut S, ledger: &mut Ledger) {
        let tick = cycle * self.clock.ticks();
        sink.enter(self.wires.queue[queue as usize], 0, tick);
        let (live, capacity) = self.live(queue);
        if live + 1 == usize::from(capacity) {
            sink.enter(self.wires.full[queue as usize], 0, tick);
        }
        ledger.queued(self.number, queue, cycle);
    }

    /// An entry has been taken from a queue.
    pub(super) fn leave<S: SignalSink>(
        &self,
        queue: Pending,
        entered: u64,
        cycle: u64,
        sink: &mut S,
        ledger: &mut Ledger,
    ) {
        let tick = cycle * self.clock.ticks();
        sink.leave(self.wires.queue[queue as usize], 0, tick);
        let (live, capacity) = self.live(queue);
        if live + 1 == usize::from(capacity) {
            sink.leave(self.wires.full[queue as usize], 0, tick);
        }
        ledger.unqueued(self.number, queue, entered, cycle);
    }
}
