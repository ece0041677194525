//! Power states of the ranks, throttling, and errors: what the channel does when it is idle, hot or faulty.
//!
//! A rank without open rows and without requests goes into power-down after a while, and wakes for the next request or refresh. With
//! leave of the power unit an idle channel goes on into self-refresh, where the DRAM refreshes itself. Throttling keeps all requests of a rank
//! waiting for a part of each period.

use super::channel::Channel;
use super::layout::Layout;
use super::observer::Observer;
use super::timing::Timing;
use crate::facts::MemoryState;

/// How ranks that are powered down keep their DLLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PowerDown {
    /// Fast exit: DLLs stay on (precharge power-down).
    #[default]
    Fast,
    /// Slow exit: DLLs are off.
    Slow,
}

/// A part of each period in which requests must wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Throttle {
    /// Ranks that are throttled, one bit each.
    pub ranks: u8,
    /// DRAM cycles of a period.
    pub period: u64,
    /// Of those, the cycles in which requests wait; at most `period`.
    pub stopped: u64,
    /// The memory is critically hot: then it is the whole channel that stops.
    pub critical: bool,
}

/// What the rest of the machine asks of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Conditions {
    /// How ranks power down.
    pub power_down: PowerDown,
    /// DRAM cycles of idleness after which the channel may refresh itself; `None` if it may not.
    pub self_refresh: Option<u64>,
    /// Throttling, if any.
    pub throttle: Option<Throttle>,
    /// Each so many reads, one has an error that can be corrected; 0 for none.
    pub error_every: u64,
}

/// The power states of a channel, in memory as they stand here: first what is looked at in each step.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Power {
    /// Banks of the ranks whose requests wait now.
    pub blocked: u64,
    /// The next cycle at which something is due.
    pub next: u64,
    /// Ranks whose clock is off, one bit each.
    down: u8,
    /// All of them.
    all: u8,
    self_refresh: bool,
    /// Ranks whose requests wait now, one bit each.
    stopped: u8,
    /// When each rank may power down, if it is still idle then.
    due: [u64; Layout::RANKS],
    /// When the channel may go into self-refresh, if it is still idle then.
    refresh_due: u64,
    /// When throttling starts or ends next.
    edge: u64,
    /// Reads since the last error.
    reads: u64,
    conditions: Conditions,
    /// Conditions that hold from a later cycle on.
    wanted: Option<Conditions>,
    wanted_at: u64,
}

impl Power {
    /// All ranks on.
    pub fn new(timing: &Timing) -> Self {
        Self {
            conditions: Conditions::default(),
            wanted: None,
            wanted_at: u64::MAX,
            down: 0,
            all: u8::MAX >> (Layout::RANKS as u8 - timing.ranks),
            self_refresh: false,
            due: std::array::from_fn(
                |rank| {
                    if rank < usize::from(timing.ranks) { timing.power_idle } else { u64::MAX }
                },
            ),
            refresh_due: u64::MAX,
            stopped: 0,
            edge: u64::MAX,
            blocked: 0,
            next: timing.power_idle,
            reads: 0,
        }
    }

    /// The next cycle at which something is due, when that may be later than it was.
    pub(super) fn set_next(&mut self) {
        self.next =
            self.due.iter().fold(self.refresh_due.min(self.edge).min(self.wanted_at), |least, &due| least.min(due));
    }

    /// True if the rank's clock is off.
    pub const fn is_down(&self, rank: usize) -> bool {
        self.down >> rank & 1 == 1
    }
}

impl Channel {
    /// True if all ranks are powered down.
    pub const fn is_down(&self) -> bool {
        self.power.down == self.power.all
    }

    /// A rank's rows have been closed, or it is busy for itself, up to `cycle`.
    pub(super) fn rest(&mut self, rank: usize, cycle: u64) {
        let due = cycle + self.timing.power_idle;
        self.power.due[rank] = due;
        self.power.next = self.power.next.min(due);
        self.remember(due);
    }

    /// New conditions hold from `cycle` on, which must not lie in the past.
    pub fn set_conditions(&mut self, conditions: Conditions, cycle: u64) {
        self.power.wanted = Some(conditions);
        self.power.wanted_at = cycle;
        self.power.set_next();
        self.remember(cycle);
    }

    fn apply<W: Observer>(&mut self, conditions: Conditions, cycle: u64, observer: &mut W) {
        // What holds by the old conditions ends with them.
        self.stop_for(0, cycle, observer);
        let all_down = self.is_down();
        if all_down {
            self.all_down(false, cycle, observer);
        }
        self.power.conditions = conditions;
        if all_down {
            self.all_down(true, cycle, observer);
        }
        if conditions.self_refresh.is_none() && self.power.self_refresh {
            self.leave_self_refresh(cycle, observer);
        }
        self.power.refresh_due = match conditions.self_refresh {
            Some(idle) if all_down && !self.power.self_refresh => cycle + idle.max(1),
            _ => u64::MAX,
        };
        self.power.edge = if conditions.throttle.is_some() { cycle } else { u64::MAX };
    }

    /// Does what is due at `cycle`.
    pub(super) fn step_power<W: Observer>(&mut self, cycle: u64, observer: &mut W) {
        if self.power.wanted_at <= cycle {
            self.power.wanted_at = u64::MAX;
            if let Some(conditions) = self.power.wanted.take() {
                self.apply(conditions, cycle, observer);
            }
        }
        if self.power.edge <= cycle {
            self.throttle_edge(cycle, observer);
        }
        for rank in 0..self.banks.layout.ranks() {
            if self.power.due[rank] <= cycle {
                self.power.due[rank] = u64::MAX;
                if !self.power.is_down(rank) && self.is_quiet(rank) {
                    self.rank_down(rank, cycle, observer);
                }
            }
        }
        if self.power.refresh_due <= cycle {
            self.power.refresh_due = u64::MAX;
            if self.is_down() && !self.power.self_refresh {
                // That is no power-down any more (JESD79: a state of its own).
                self.all_down(false, cycle, observer);
                self.power.self_refresh = true;
                self.refresh.suspend();
                observer.state(MemoryState::SelfRefresh, true, cycle);
            }
        }
        self.power.set_next();
    }

    fn throttle_edge<W: Observer>(&mut self, cycle: u64, observer: &mut W) {
        let Some(throttle) = self.power.conditions.throttle else {
            self.power.edge = u64::MAX;
            return;
        };
        let ranks = if throttle.critical { self.power.all } else { throttle.ranks & self.power.all };
        let start = self.power.stopped == 0 && throttle.stopped > 0;
        self.stop_for(if start { ranks } else { 0 }, cycle, observer);
        let span = if start { throttle.stopped } else { throttle.period - throttle.stopped };
        self.power.edge = cycle + span.max(1);
    }

    /// From now on the requests of these ranks wait, and no others'.
    fn stop_for<W: Observer>(&mut self, ranks: u8, cycle: u64, observer: &mut W) {
        let changed = std::mem::replace(&mut self.power.stopped, ranks) ^ ranks;
        if changed == 0 {
            return;
        }
        let on = ranks != 0;
        let layout = &self.banks.layout;
        if self.power.conditions.throttle.is_some_and(|throttle| throttle.critical) {
            observer.state(MemoryState::Critical, on, cycle);
        } else {
            for rank in (0..layout.ranks()).filter(|rank| changed >> rank & 1 == 1) {
                observer.state(MemoryState::Throttled(rank as u8), on, cycle);
            }
        }
        let stopped = (0..layout.ranks()).filter(|rank| ranks >> rank & 1 == 1);
        self.power.blocked = stopped.fold(0, |banks, rank| banks | layout.banks_of(rank));
        self.no_idle_before = 0;
    }

    /// True if a rank has no open row, no request and no refresh to send.
    fn is_quiet(&self, rank: usize) -> bool {
        (self.banks.open | self.pending()) & self.banks.layout.banks_of(rank) == 0 && !self.refresh.owes(rank)
    }

    fn rank_down<W: Observer>(&mut self, rank: usize, cycle: u64, observer: &mut W) {
        self.power.down |= 1 << rank;
        observer.state(MemoryState::ClockOn(rank as u8), false, cycle);
        if self.is_down() {
            self.all_down(true, cycle, observer);
            if let Some(idle) = self.power.conditions.self_refresh {
                self.power.refresh_due = cycle + idle.max(1);
            }
        }
    }

    /// All ranks are powered down, or no longer. While they refresh themselves they are not.
    fn all_down<W: Observer>(&self, on: bool, cycle: u64, observer: &mut W) {
        if self.power.self_refresh {
            return;
        }
        let kind = self.power.conditions.power_down;
        let state = if kind == PowerDown::Fast { MemoryState::PoweredDown } else { MemoryState::DllOff };
        observer.state(state, on, cycle);
    }

    /// A rank is needed: its clock goes on if it was off.
    #[inline]
    pub(super) fn rank_up<W: Observer>(&mut self, rank: usize, cycle: u64, observer: &mut W) {
        if self.power.is_down(rank) {
            self.wake(rank, cycle, observer);
        }
    }

    #[inline(never)]
    fn wake<W: Observer>(&mut self, rank: usize, cycle: u64, observer: &mut W) {
        let delay = match self.power.conditions.power_down {
            PowerDown::Fast => self.timing.txp,
            PowerDown::Slow => self.timing.txpdll,
        };
        if self.power.self_refresh {
            self.leave_self_refresh(cycle, observer);
        }
        if self.is_down() {
            self.all_down(false, cycle, observer);
            self.power.refresh_due = u64::MAX;
        }
        self.power.down &= !(1 << rank);
        observer.state(MemoryState::ClockOn(rank as u8), true, cycle);
        self.hold(rank, cycle + delay);
        self.rest(rank, cycle);
    }

    fn leave_self_refresh<W: Observer>(&mut self, cycle: u64, observer: &mut W) {
        self.power.self_refresh = false;
        observer.state(MemoryState::SelfRefresh, false, cycle);
        if self.is_down() {
            self.all_down(true, cycle, observer);
        }
        self.refresh.resume(cycle, &self.timing);
        self.remember(self.refresh.next_due());
        (0..self.banks.layout.ranks()).for_each(|rank| self.hold(rank, cycle + self.timing.txs));
    }

    /// A read has been sent: its data may have an error.
    pub(super) fn note_read<W: Observer>(&mut self, cycle: u64, observer: &mut W) {
        let every = self.power.conditions.error_every;
        if every == 0 {
            return;
        }
        self.power.reads += 1;
        if self.power.reads >= every {
            self.power.reads = 0;
            observer.corrects(cycle);
        }
    }
}
