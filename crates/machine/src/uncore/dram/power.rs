//! Power states of the ranks, throttling, and errors: what the channel does when it is idle, hot or faulty.
//!
//! A rank without open rows and without requests goes into power-down after a while, and wakes for the next request or refresh. With
//! leave of the power unit an idle channel goes on into self-refresh, where the DRAM refreshes itself. Throttling keeps all requests of a rank
//! waiting for a part of each period.

use super::banks::banks_of;
use super::channel::Channel;
use super::timing::{RANKS, Timing};
use crate::ledger::{Ledger, MemoryState};
use crate::signal::{SignalSink, Wire};

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

/// Wires of a channel's power states.
#[derive(Debug, Clone, Copy)]
pub struct PowerWires {
    /// Clock enabled, with the tag of each rank.
    pub clock: (Wire, [u64; RANKS]),
    /// Throttled, with the tag of each rank.
    pub throttle: (Wire, [u64; RANKS]),
    /// All traffic stopped.
    pub critical: Wire,
    /// Self-refresh.
    pub self_refresh: Wire,
    /// All ranks powered down, fast exit and slow exit.
    pub all_down: [Wire; 2],
    /// Corrected errors.
    pub corrected: Wire,
}

impl PowerWires {
    /// For a family without such events: everything on one wire.
    pub const fn on(wire: Wire) -> Self {
        Self {
            clock: (wire, [0; RANKS]),
            throttle: (wire, [0; RANKS]),
            critical: wire,
            self_refresh: wire,
            all_down: [wire; 2],
            corrected: wire,
        }
    }
}

/// The power states of a channel.
#[derive(Debug, Clone)]
pub struct Power {
    conditions: Conditions,
    /// Conditions that hold from a later cycle on.
    wanted: Option<Conditions>,
    wanted_at: u64,
    /// Ranks whose clock is off, one bit each.
    down: u8,
    self_refresh: bool,
    /// When each rank may power down, if it is still idle then.
    due: [u64; RANKS],
    /// When the channel may go into self-refresh, if it is still idle then.
    refresh_due: u64,
    /// Ranks whose requests wait now, one bit each.
    stopped: u8,
    /// When throttling starts or ends next.
    edge: u64,
    /// Banks of those ranks.
    pub blocked: u32,
    /// The next cycle at which something is due.
    pub next: u64,
    /// Reads since the last error.
    reads: u64,
}

impl Power {
    /// All ranks on.
    pub fn new(timing: &Timing) -> Self {
        Self {
            conditions: Conditions::default(),
            wanted: None,
            wanted_at: u64::MAX,
            down: 0,
            self_refresh: false,
            due: [timing.power_idle; RANKS],
            refresh_due: u64::MAX,
            stopped: 0,
            edge: u64::MAX,
            blocked: 0,
            next: timing.power_idle,
            reads: 0,
        }
    }

    fn set_next(&mut self) {
        self.next =
            self.due.iter().fold(self.refresh_due.min(self.edge).min(self.wanted_at), |least, &due| least.min(due));
    }

    /// A rank's rows have been closed, or it is busy for itself, up to `cycle`.
    pub fn rest(&mut self, rank: usize, cycle: u64, timing: &Timing) {
        self.due[rank] = cycle + timing.power_idle;
        self.next = self.next.min(self.due[rank]);
    }

    /// True if the rank's clock is off.
    pub const fn is_down(&self, rank: usize) -> bool {
        self.down >> rank & 1 == 1
    }
}

const fn all_ranks() -> u8 {
    (1 << RANKS) - 1
}

impl Channel {
    /// Emits the power states that hold from the start.
    pub(super) fn start_power<S: SignalSink>(&self, sink: &mut S) {
        let (wire, tags) = self.wires.power.clock;
        tags.iter().for_each(|&tag| sink.enter(wire, tag, 0));
    }

    /// New conditions hold from `cycle` on, which must not lie in the past.
    pub fn set_conditions(&mut self, conditions: Conditions, cycle: u64) {
        self.power.wanted = Some(conditions);
        self.power.wanted_at = cycle;
        self.power.set_next();
        self.next = self.next.min(cycle);
    }

    fn apply<S: SignalSink>(&mut self, conditions: Conditions, cycle: u64, sink: &mut S, ledger: &mut Ledger) {
        // What holds by the old conditions ends with them.
        self.stop_for(0, cycle, sink, ledger);
        let all_down = self.power.down == all_ranks();
        if all_down {
            self.all_down(false, cycle, sink, ledger);
        }
        self.power.conditions = conditions;
        if all_down {
            self.all_down(true, cycle, sink, ledger);
        }
        if conditions.self_refresh.is_none() && self.power.self_refresh {
            self.leave_self_refresh(cycle, sink, ledger);
        }
        self.power.refresh_due = match conditions.self_refresh {
            Some(idle) if all_down && !self.power.self_refresh => cycle + idle.max(1),
            _ => u64::MAX,
        };
        self.power.edge = if conditions.throttle.is_some() { cycle } else { u64::MAX };
    }

    /// Does what is due at `cycle`.
    pub(super) fn step_power<S: SignalSink>(&mut self, cycle: u64, sink: &mut S, ledger: &mut Ledger) {
        if self.power.wanted_at <= cycle {
            self.power.wanted_at = u64::MAX;
            if let Some(conditions) = self.power.wanted.take() {
                self.apply(conditions, cycle, sink, ledger);
            }
        }
        if self.power.edge <= cycle {
            self.throttle_edge(cycle, sink, ledger);
        }
        for rank in 0..RANKS {
            if self.power.due[rank] <= cycle {
                self.power.due[rank] = u64::MAX;
                if !self.power.is_down(rank) && self.is_quiet(rank) {
                    self.rank_down(rank, cycle, sink, ledger);
                }
            }
        }
        if self.power.refresh_due <= cycle {
            self.power.refresh_due = u64::MAX;
            if self.power.down == all_ranks() && !self.power.self_refresh {
                self.power.self_refresh = true;
                self.refresh.suspend();
                sink.enter(self.wires.power.self_refresh, 0, cycle * self.clock.ticks());
                ledger.memory_state(self.number, MemoryState::SelfRefresh, true, cycle);
            }
        }
        self.power.set_next();
    }

    fn throttle_edge<S: SignalSink>(&mut self, cycle: u64, sink: &mut S, ledger: &mut Ledger) {
        let Some(throttle) = self.power.conditions.throttle else {
            self.power.edge = u64::MAX;
            return;
        };
        let ranks = if throttle.critical { all_ranks() } else { throttle.ranks & all_ranks() };
        let start = self.power.stopped == 0 && throttle.stopped > 0;
        self.stop_for(if start { ranks } else { 0 }, cycle, sink, ledger);
        let span = if start { throttle.stopped } else { throttle.period - throttle.stopped };
        self.power.edge = cycle + span.max(1);
    }

    /// From now on the requests of these ranks wait, and no others'.
    fn stop_for<S: SignalSink>(&mut self, ranks: u8, cycle: u64, sink: &mut S, ledger: &mut Ledger) {
        let changed = std::mem::replace(&mut self.power.stopped, ranks) ^ ranks;
        if changed == 0 {
            return;
        }
        let tick = cycle * self.clock.ticks();
        let on = ranks != 0;
        let wires = self.wires.power;
        let critical = self.power.conditions.throttle.is_some_and(|throttle| throttle.critical);
        for rank in (0..RANKS).filter(|rank| changed >> rank & 1 == 1 && !critical) {
            switch(sink, wires.throttle.0, wires.throttle.1[rank], tick, on);
            ledger.memory_state(self.number, MemoryState::Throttled(rank as u8), on, cycle);
        }
        if critical {
            switch(sink, wires.critical, 0, tick, on);
            ledger.memory_state(self.number, MemoryState::Critical, on, cycle);
        }
        self.power.blocked =
            (0..RANKS).filter(|rank| ranks >> rank & 1 == 1).fold(0, |banks, rank| banks | banks_of(rank));
        self.no_idle_before = 0;
    }

    /// True if a rank has no open row, no request and no refresh to send.
    fn is_quiet(&self, rank: usize) -> bool {
        let pending = self.reads.pending | self.writes.pending | self.underfills.pending;
        (self.banks.open | pending) & banks_of(rank) == 0 && !self.refresh.owes(rank)
    }

    fn rank_down<S: SignalSink>(&mut self, rank: usize, cycle: u64, sink: &mut S, ledger: &mut Ledger) {
        self.power.down |= 1 << rank;
        let (wire, tags) = self.wires.power.clock;
        sink.leave(wire, tags[rank], cycle * self.clock.ticks());
        ledger.memory_state(self.number, MemoryState::ClockOn(rank as u8), false, cycle);
        if self.power.down == all_ranks() {
            self.all_down(true, cycle, sink, ledger);
            if let Some(idle) = self.power.conditions.self_refresh {
                self.power.refresh_due = cycle + idle.max(1);
            }
        }
    }

    /// All ranks are powered down, or no longer.
    fn all_down<S: SignalSink>(&self, on: bool, cycle: u64, sink: &mut S, ledger: &mut Ledger) {
        let kind = self.power.conditions.power_down;
        switch(sink, self.wires.power.all_down[kind as usize], 0, cycle * self.clock.ticks(), on);
        let state = if kind == PowerDown::Fast { MemoryState::PoweredDown } else { MemoryState::DllOff };
        ledger.memory_state(self.number, state, on, cycle);
    }

    /// A rank is needed: its clock goes on if it was off.
    pub(super) fn rank_up<S: SignalSink>(&mut self, rank: usize, cycle: u64, sink: &mut S, ledger: &mut Ledger) {
        if !self.power.is_down(rank) {
            return;
        }
        let delay = match self.power.conditions.power_down {
            PowerDown::Fast => self.timing.txp,
            PowerDown::Slow => self.timing.txpdll,
        };
        if self.power.self_refresh {
            self.leave_self_refresh(cycle, sink, ledger);
        }
        if self.power.down == all_ranks() {
            self.all_down(false, cycle, sink, ledger);
            self.power.refresh_due = u64::MAX;
        }
        self.power.down &= !(1 << rank);
        let (wire, tags) = self.wires.power.clock;
        sink.enter(wire, tags[rank], cycle * self.clock.ticks());
        ledger.memory_state(self.number, MemoryState::ClockOn(rank as u8), true, cycle);
        self.banks.held(rank, cycle + delay);
        self.power.rest(rank, cycle, &self.timing);
    }

    fn leave_self_refresh<S: SignalSink>(&mut self, cycle: u64, sink: &mut S, ledger: &mut Ledger) {
        self.power.self_refresh = false;
        sink.leave(self.wires.power.self_refresh, 0, cycle * self.clock.ticks());
        ledger.memory_state(self.number, MemoryState::SelfRefresh, false, cycle);
        self.refresh.resume(cycle, &self.timing);
        (0..RANKS).for_each(|rank| self.banks.held(rank, cycle + self.timing.txs));
    }

    /// A read has been sent: its data may have an error.
    pub(super) fn note_read<S: SignalSink>(&mut self, cycle: u64, sink: &mut S, ledger: &mut Ledger) {
        let every = self.power.conditions.error_every;
        if every == 0 {
            return;
        }
        self.power.reads += 1;
        if self.power.reads >= every {
            self.power.reads = 0;
            sink.pulse(self.wires.power.corrected, 0, cycle * self.clock.ticks(), 1);
            ledger.corrected(self.number);
        }
    }
}

fn switch<S: SignalSink>(sink: &mut S, wire: Wire, tag: u64, tick: u64, on: bool) {
    if on { sink.enter(wire, tag, tick) } else { sink.leave(wire, tag, tick) }
}
