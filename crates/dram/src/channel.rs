//! The channel: what it holds, and what is due when.

use std::sync::Arc;

use pericore_engine::{NEVER, Period, Ring, Tick};

use super::banks::{Banks, Step};
use super::candidates::Candidates;
use super::idle::Idle;
use super::observer::Observer;
use super::plan::{Action, Lane, Plan};
use super::power::Power;
use super::queue::PendingQueue;
use super::refresh::Refresh;
use super::timing::Timing;
use crate::arrival::{Arrival, Outcome};
use crate::facts::{MajorMode, Pending};

/// A read that a pending write answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forward {
    pub done: u64,
    pub entered: u64,
    pub owner: u16,
}

/// A partial write whose underfill read is on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Completing {
    pub done: u64,
    pub entered: u64,
    pub line: u32,
    pub row: u32,
    pub bank: u8,
    pub isochronous: bool,
}

/// One memory channel, or one DDR5 subchannel.
///
/// In memory it lies in this order: what each step looks at comes first, in few cache lines of the host.
#[derive(Debug)]
#[repr(C)]
pub struct Channel {
    next: u64,
    /// Cycle of the first arrival.
    pub(super) arrival: u64,
    /// Nothing but arrivals and the plan is due before this cycle.
    pub(super) errand: u64,
    pub(super) plan: Plan,
    /// First cycle in which the command bus is free.
    pub(super) bus_free: u64,
    /// No row is closed for idleness before this cycle.
    pub(super) no_idle_before: u64,
    pub(super) timing: Arc<Timing>,
    pub(super) mode: MajorMode,
    /// The mode that isochronous reads have interrupted.
    pub(super) interrupted: MajorMode,
    /// Entries of the read and the write queue that are taken.
    pub(super) held: [u8; 2],
    pub(super) candidates: Candidates,
    /// By [`Lane`]; partial writes wait for their underfill read in a lane of their own.
    pub(super) lanes: [PendingQueue; Lane::COUNT],
    pub(super) refresh: Refresh,
    pub(super) power: Power,
    /// Since when no reads are pending.
    pub(super) no_reads_since: u64,
    pub(super) sequence: u64,
    pub(super) clock: Period,
    /// Open rows without requests.
    pub(super) idle: Idle,
    pub(super) banks: Banks,
    pub(super) arrivals: Ring<Arrival, 128>,
    pub(super) forwards: Ring<Forward, 64>,
    pub(super) completing: Ring<Completing, 64>,
}

impl Channel {
    /// An idle channel with closed banks. Channels of one kind share their timing.
    pub fn new(clock: Period, timing: &Arc<Timing>) -> Self {
        let queue = Pending::Reads;
        let nobody =
            Arrival { cycle: 0, owner: 0, line: 0, bank: 0, row: 0, queue, partial: false, isochronous: false };
        let refresh = Refresh::new(timing);
        let power = Power::new(timing);
        let next = refresh.next_due().min(power.next);
        Self {
            clock,
            arrivals: Ring::new(nobody),
            arrival: u64::MAX,
            forwards: Ring::new(Forward { done: 0, entered: 0, owner: 0 }),
            lanes: std::array::from_fn(|_| PendingQueue::new()),
            candidates: Candidates::new(),
            completing: Ring::new(Completing { done: 0, entered: 0, line: 0, row: 0, bank: 0, isochronous: false }),
            banks: Banks::new(timing),
            timing: Arc::clone(timing),
            refresh,
            power,
            mode: MajorMode::Read,
            interrupted: MajorMode::Read,
            no_reads_since: 0,
            sequence: 0,
            // Nothing is sent before cycle 1, so that a cycle of 0 can mean that a candidate is not known.
            bus_free: 1,
            plan: Plan::SLEEP,
            no_idle_before: u64::MAX,
            idle: Idle::new(),
            held: [0; 2],
            errand: next,
            next,
        }
    }

    /// Says what holds from the start.
    pub fn start<W: Observer>(&self, observer: &mut W) {
        observer.begins(self.timing.ranks);
    }

    /// The tick of the channel's next action.
    #[inline]
    pub const fn next_tick(&self) -> Tick {
        if self.next == u64::MAX { NEVER } else { self.next * self.clock.ticks() }
    }

    /// The last cycle for which an arrival has been announced; the next must come later.
    #[inline]
    pub fn last_arrival(&self) -> Option<u64> {
        self.arrivals.back().map(|arrival| arrival.cycle)
    }

    /// Announces a request. Arrivals come in order, at most one in a cycle, and not in the past.
    #[inline]
    pub fn announce(&mut self, arrival: Arrival) {
        self.next = self.next.min(arrival.cycle);
        self.arrival = self.arrival.min(arrival.cycle);
        self.arrivals.push(arrival);
    }

    /// Something is due at a cycle.
    #[inline]
    pub(super) fn remember(&mut self, cycle: u64) {
        self.errand = self.errand.min(cycle);
        self.next = self.next.min(cycle);
    }

    /// True if nothing is pending or on its way.
    pub fn is_idle(&self) -> bool {
        self.held == [0; 2] && self.arrivals.is_empty()
    }

    /// What the channel does at present.
    pub const fn mode(&self) -> MajorMode {
        self.mode
    }

    /// Arrival cycles of what is in a queue.
    pub fn entries(&self, queue: Pending) -> Box<dyn Iterator<Item = u64> + '_> {
        match queue {
            Pending::Reads => {
                let forwards = self.forwards.iter().map(|forward| forward.entered);
                let waiting = self.lane(Lane::Reads).arrivals().chain(self.lane(Lane::Isochronous).arrivals());
                Box::new(waiting.chain(forwards))
            }
            Pending::Writes => {
                let completing = self.completing.iter().map(|write| write.entered);
                let waiting = self.lane(Lane::Writes).arrivals().chain(self.lane(Lane::Underfills).arrivals());
                Box::new(waiting.chain(completing))
            }
        }
    }

    #[inline]
    pub(super) const fn lane(&self, lane: Lane) -> &PendingQueue {
        &self.lanes[lane as usize]
    }

    /// Banks with requests in any queue.
    #[inline]
    pub(super) fn pending(&self) -> u64 {
        self.lanes.iter().fold(0, |banks, lane| banks | lane.pending)
    }

    /// A command has gone to a bank.
    #[inline(always)]
    pub(super) fn renew(&mut self, bank: usize) {
        self.candidates.renew(&self.banks, &self.lanes, bank, self.bus_free);
    }

    /// A rank takes no command before `cycle`: it is busy for itself.
    pub(super) fn hold(&mut self, rank: usize, cycle: u64) {
        self.banks.held(rank, cycle);
        self.candidates.forget(Step::Activate);
    }

    /// Does what is due at the cycle of [`Channel::next_tick`].
    pub fn step<W: Observer>(&mut self, observer: &mut W, out: &mut Vec<Outcome>) {
        let cycle = self.next;
        let errand = self.errand <= cycle;
        let changed = if errand {
            self.run_errands(cycle, observer, out)
        } else {
            self.arrival <= cycle && self.arrive(observer, out)
        };
        if changed {
            self.decide_refresh();
        }
        if changed || self.plan == Plan::look(cycle) {
            self.plan_anew(cycle);
        }
        if self.plan.cycle == cycle {
            self.send(cycle, observer, out);
            self.replan(cycle);
        }
        if errand {
            self.errand = self.next_errand(cycle);
        }
        self.next = self.plan.cycle.min(self.arrival).min(self.errand);
    }

    /// Does what is due besides the plan; true if that must be made anew.
    #[inline(never)]
    fn run_errands<W: Observer>(&mut self, cycle: u64, observer: &mut W, out: &mut Vec<Outcome>) -> bool {
        let before = self.errands_before(cycle, observer, out);
        let arrived = self.arrival <= cycle && self.arrive(observer, out);
        let after = self.errands_after(cycle, observer);
        before || arrived || after
    }

    /// What is due before an arrival of the same cycle; true if the plan must be made anew.
    fn errands_before<W: Observer>(&mut self, cycle: u64, observer: &mut W, out: &mut Vec<Outcome>) -> bool {
        let mut changed = false;
        while let Some(forward) = self.forwards.front().filter(|forward| forward.done <= cycle) {
            self.forwards.pop();
            out.push(Outcome::Data { owner: forward.owner, cycle });
            self.leave(Pending::Reads, forward.entered, cycle, observer);
        }
        if self.power.next <= cycle {
            self.step_power(cycle, observer);
            changed = true;
        }
        while let Some(write) = self.completing.front().filter(|write| write.done <= cycle) {
            self.completing.pop();
            self.complete(write, cycle, observer);
            changed = true;
        }
        changed
    }

    /// What is due after an arrival of the same cycle; true if the plan must be made anew.
    fn errands_after<W: Observer>(&mut self, cycle: u64, observer: &mut W) -> bool {
        let mut changed = false;
        if self.underfill_starves_at() <= cycle && self.mode == MajorMode::Read {
            self.set_mode(MajorMode::Partial, cycle, observer);
            changed = true;
        }
        if self.refresh.next_due() <= cycle {
            for rank in 0..self.banks.layout.ranks() {
                if self.refresh.is_due(rank, cycle) {
                    self.rank_up(rank, cycle, observer);
                }
            }
            self.refresh.fall_due(cycle, &self.timing);
            changed = true;
        }
        changed
    }

    /// When something besides arrivals and the plan is due next.
    pub(super) fn next_errand(&self, cycle: u64) -> u64 {
        let forward = self.forwards.front().map_or(u64::MAX, |forward| forward.done);
        let completed = self.completing.front().map_or(u64::MAX, |write| write.done);
        let queues = forward.min(completed).min(self.underfill_errand(cycle));
        queues.min(self.refresh.next_due()).min(self.power.next)
    }

    /// When an underfill read will have waited for too long, if that matters in this mode.
    pub(super) fn underfill_errand(&self, cycle: u64) -> u64 {
        if self.mode == MajorMode::Read { self.underfill_starves_at().max(cycle + 1) } else { u64::MAX }
    }

    /// When the oldest underfill read has waited for too long.
    fn underfill_starves_at(&self) -> u64 {
        let waiting = self.lane(Lane::Underfills);
        if waiting.len() == 0 {
            return u64::MAX;
        }
        waiting.arrivals().fold(u64::MAX, u64::min) + self.timing.underfill_patience
    }

    /// The lane that is served, and from which cycle on.
    #[inline]
    pub(super) fn serving(&self, cycle: u64) -> (Lane, u64) {
        let floor = cycle.max(self.bus_free);
        match self.mode {
            MajorMode::Write => (Lane::Writes, floor),
            MajorMode::Partial => (Lane::Underfills, floor),
            MajorMode::Isochronous => (Lane::Isochronous, floor),
            MajorMode::Read if self.lane(Lane::Reads).len() > 0 => (Lane::Reads, floor),
            MajorMode::Read if self.lane(Lane::Underfills).len() > 0 => (Lane::Underfills, floor),
            MajorMode::Read => (Lane::Writes, floor.max(self.no_reads_since + self.timing.write_patience)),
        }
    }

    /// Lets the plan know that a bank has a new candidate; true if the plan must be made anew instead.
    #[inline]
    pub(super) fn consider(&mut self, lane: Lane, candidate: Plan, cycle: u64) -> bool {
        if self.power.blocked != 0 || self.plan.is_idle() {
            return true;
        }
        let bank = candidate.bank();
        if self.refresh.is_owed() && self.plan.bank() == bank {
            return true;
        }
        let (serving, floor) = self.serving(cycle);
        if serving == lane && self.refresh.blocked() >> bank & 1 == 0 {
            self.plan.offer(candidate.not_before(floor));
        }
        false
    }

    /// A rank may have run out of requests, or owe more refreshes.
    #[inline]
    pub(super) fn decide_refresh(&mut self) {
        if self.refresh.is_owed() {
            self.refresh.decide(self.pending(), &self.banks.layout, &self.timing);
        }
    }

    /// Finds the next command when none has been sent, which is seldom.
    #[inline(never)]
    fn plan_anew(&mut self, cycle: u64) {
        self.replan(cycle);
    }

    /// Finds the next command, on the bus after the last one.
    #[inline(always)]
    fn replan(&mut self, cycle: u64) {
        let blocked = self.power.blocked | self.refresh.blocked();
        let (lane, floor) = self.serving(cycle);
        let queue = &self.lanes[lane as usize];
        let mut plan = self.candidates.best(lane, !blocked, &self.banks, queue, floor);
        if plan.cycle >= self.no_idle_before {
            self.close_idle(&mut plan, blocked, cycle.max(self.bus_free));
        }
        if blocked != 0 {
            plan.offer_refresh(&self.banks, &self.refresh, cycle.max(self.bus_free));
        }
        self.plan = plan;
    }

    /// Closes a row that nobody needs, now or when there may be one.
    #[inline(never)]
    fn close_idle(&mut self, plan: &mut Plan, blocked: u64, floor: u64) {
        if self.no_idle_before > floor {
            *plan = Plan::look(self.no_idle_before);
            return;
        }
        self.no_idle_before = u64::MAX;
        if let Some((bank, cycle)) = self.idle.first(blocked, floor) {
            self.no_idle_before = cycle;
            plan.offer(Plan { cycle, key: Action::PrechargeIdle.key(bank as u64) });
        }
    }
}
