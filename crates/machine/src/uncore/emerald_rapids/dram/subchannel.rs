//! The subchannel: arrivals, the two queues, major modes, refresh, and the choice of the next command.

use super::banks::{Banks, banks_of};
use super::queue::PendingQueue;
use super::timing::{RANKS, Timing};
use crate::engine::{NEVER, Period};
use crate::ledger::emerald_rapids::compiled::{deed, level};
use crate::signal::{SignalSink, Tick};
use crate::uncore::emerald_rapids::account::Account;
use std::collections::VecDeque;

/// A request on its way from the mesh.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// DRAM cycle of arrival; one request arrives in a cycle.
    pub cycle: u64,
    /// The request.
    pub owner: u16,
    /// Line number.
    pub line: u32,
    /// Bank of the subchannel.
    pub bank: u8,
    /// Row of the bank.
    pub row: u32,
    /// A write.
    pub write: bool,
    /// A write of part of a line.
    pub partial: bool,
}

/// What the subchannel tells the mesh side.
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

#[derive(Debug, Clone, Copy)]
pub(super) struct Forward {
    pub done: u64,
    pub owner: u16,
}

/// What to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Column,
    Activate,
    PrechargeMiss,
    PrechargeIdle,
    PrechargeAll,
    Refresh,
}

/// A command and when it goes out, if nothing else happens before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub cycle: u64,
    /// Kind, most urgent first, and age.
    pub key: (u8, u64),
    pub bank: u8,
    pub slot: u8,
    pub action: Action,
    pub write: bool,
    pub starved: bool,
}

impl Plan {
    const SLEEP: Self = Self {
        cycle: u64::MAX,
        key: (u8::MAX, 0),
        bank: 0,
        slot: 0,
        action: Action::PrechargeIdle,
        write: false,
        starved: false,
    };

    fn offer(&mut self, other: Self) {
        if (other.cycle, other.key) < (self.cycle, self.key) {
            *self = other;
        }
    }
}

/// One subchannel.
#[derive(Debug)]
pub struct Subchannel {
    pub(super) socket: u16,
    pub(super) channel: u16,
    pub(super) pseudo: u8,
    /// Over all sockets, for the log of commands.
    pub(super) number: u16,
    pub(super) clock: Period,
    pub(super) timing: Timing,
    pub(super) arrivals: VecDeque<Arrival>,
    pub(super) forwards: VecDeque<Forward>,
    pub(super) reads: PendingQueue,
    pub(super) writes: PendingQueue,
    /// Reads whose data is on its way into the read data buffer.
    pub(super) buffered: VecDeque<u64>,
    pub(super) banks: Banks,
    pub(super) write_mode: bool,
    pub(super) no_reads_since: u64,
    pub(super) sequence: u64,
    /// First cycle in which the command bus is free.
    pub(super) bus_free: u64,
    pub(super) plan: Plan,
    /// Refreshes by rank: when the next falls due, how many are owed, which kind is wanted.
    pub(super) due: [u64; RANKS],
    pub(super) owed: [u64; RANKS],
    pub(super) wanted: [Option<bool>; RANKS],
    /// The cycle since which nothing has happened, while it could power down.
    pub(super) quiet_since: u64,
    /// Powered down.
    pub down: bool,
    pub(super) next: u64,
}

impl Subchannel {
    /// An idle subchannel with closed banks.
    pub fn new(socket: u16, channel: u16, pseudo: u8, number: u16, clock: Period, timing: &Timing) -> Self {
        let due: [u64; RANKS] = std::array::from_fn(|rank| timing.trefi * (rank as u64 + 1) / RANKS as u64);
        Self {
            socket,
            channel,
            pseudo,
            number,
            clock,
            timing: timing.clone(),
            arrivals: VecDeque::with_capacity(128),
            forwards: VecDeque::with_capacity(64),
            reads: PendingQueue::new(),
            writes: PendingQueue::new(),
            buffered: VecDeque::with_capacity(64),
            banks: Banks::new(),
            write_mode: false,
            no_reads_since: 0,
            sequence: 0,
            bus_free: 0,
            plan: Plan::SLEEP,
            due,
            owed: [0; RANKS],
            wanted: [None; RANKS],
            quiet_since: 0,
            down: false,
            next: due[0].min(timing.power_down),
        }
    }

    /// Emits the levels that hold from the start.
    pub fn start<S: SignalSink>(&self, account: &mut Account, sink: &mut S) {
        account.enter(level!("imc/MAJOR_MODES.PREF_RD"), self.socket, self.channel, 0, sink);
    }

    /// The tick of the next action.
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
        self.arrivals.push_back(arrival);
    }

    /// True if nothing is pending or on its way.
    pub fn is_idle(&self) -> bool {
        self.reads.len() == 0
            && self.writes.len() == 0
            && self.arrivals.is_empty()
            && self.forwards.is_empty()
            && self.buffered.is_empty()
    }

    /// Does what is due at the cycle of [`Subchannel::next_tick`].
    pub fn step<S: SignalSink>(&mut self, account: &mut Account, sink: &mut S, out: &mut Vec<Outcome>) {
        let cycle = self.next;
        let mut changed = false;
        while self.buffered.front().is_some_and(|&done| done <= cycle) {
            self.buffered.pop_front();
            account.leave(BUFFER[self.half()], self.socket, self.channel, self.tick(cycle), sink);
        }
        while let Some(forward) = self.forwards.front().copied().filter(|forward| forward.done <= cycle) {
            self.forwards.pop_front();
            out.push(Outcome::Data { owner: forward.owner, cycle });
            account.leave(RPQ[self.half()], self.socket, self.channel, self.tick(cycle), sink);
        }
        if let Some(arrival) = self.arrivals.front().copied().filter(|arrival| arrival.cycle == cycle) {
            self.arrivals.pop_front();
            self.wake(cycle, account, sink);
            self.arrive(arrival, account, sink, out);
            changed = true;
        }
        for rank in 0..RANKS {
            while self.due[rank] <= cycle {
                self.due[rank] += self.timing.trefi;
                self.owed[rank] += 1;
                self.wake(cycle, account, sink);
                changed = true;
            }
        }
        if changed {
            self.replan(cycle);
        }
        if self.plan.cycle == cycle {
            self.send(cycle, account, sink, out);
            self.quiet_since = cycle;
            self.replan(cycle);
        }
        if self.may_power_down() && cycle >= self.quiet_since + self.timing.power_down {
            self.sleep(cycle, account, sink);
        }
        self.next = self.next_cycle();
    }

    fn next_cycle(&self) -> u64 {
        let arrival = self.arrivals.front().map_or(u64::MAX, |arrival| arrival.cycle);
        let forward = self.forwards.front().map_or(u64::MAX, |forward| forward.done);
        let buffered = self.buffered.front().copied().unwrap_or(u64::MAX);
        let due = self.due.iter().fold(u64::MAX, |least, &due| least.min(due));
        let power = if self.may_power_down() { self.quiet_since + self.timing.power_down } else { u64::MAX };
        self.plan.cycle.min(arrival).min(forward).min(buffered).min(due).min(power)
    }

    fn may_power_down(&self) -> bool {
        !self.down && self.plan.cycle == u64::MAX && self.is_idle()
    }

    fn sleep<S: SignalSink>(&mut self, cycle: u64, account: &mut Account, sink: &mut S) {
        self.down = true;
        let tick = self.tick(cycle);
        CKE[self.half()].into_iter().for_each(|rank| account.enter(rank, self.socket, self.channel, tick, sink));
    }

    fn wake<S: SignalSink>(&mut self, cycle: u64, account: &mut Account, sink: &mut S) {
        self.quiet_since = cycle;
        if self.down {
            self.down = false;
            let tick = self.tick(cycle);
            CKE[self.half()].into_iter().for_each(|rank| account.leave(rank, self.socket, self.channel, tick, sink));
            self.bus_free = self.bus_free.max(cycle + self.timing.txp);
            self.banks.woken(cycle + self.timing.txp);
        }
    }

    fn arrive<S: SignalSink>(&mut self, new: Arrival, account: &mut Account, sink: &mut S, out: &mut Vec<Outcome>) {
        let Arrival { cycle, owner, line, bank, row, write, partial } = new;
        let (tick, half) = (self.tick(cycle), self.half());
        let (socket, channel) = (self.socket, self.channel);
        let pending_write = if self.writes.len() > 0 { self.writes.find(line) } else { None };
        self.sequence += 1;
        if !write {
            account.enter(RPQ[half], socket, channel, tick, sink);
            account.deed(RPQ_LOW[half], socket, channel, tick, sink);
            if pending_write.is_some() {
                account.deed(READ_HIT[half], socket, channel, tick, sink);
                self.forwards.push_back(Forward { done: cycle + self.timing.forward, owner });
            } else {
                self.reads.push(line, bank, row, owner, self.sequence, cycle);
            }
            return;
        }
        out.push(Outcome::Posted { owner });
        if let Some(slot) = pending_write {
            account.deed(WRITE_HIT[half], socket, channel, tick, sink);
            // A full line replaces whatever part was to be written.
            if !partial {
                self.writes.partial &= !(1 << slot);
            }
            out.push(Outcome::WriteCredit);
            return;
        }
        account.enter(WPQ[half], socket, channel, tick, sink);
        account.deed(WPQ_LOW[half], socket, channel, tick, sink);
        let slot = self.writes.push(line, bank, row, owner, self.sequence, cycle);
        self.writes.partial |= u64::from(partial) << slot;
        if self.writes.len() >= self.timing.write_high {
            self.set_mode(true, cycle, account, sink);
        }
    }

    /// The queue that is served (true: the writes), and from which cycle on.
    fn serving(&self, cycle: u64) -> (bool, u64) {
        let floor = cycle.max(self.bus_free);
        match self.write_mode {
            true => (true, floor),
            false if self.reads.len() > 0 => (false, floor),
            false => (true, floor.max(self.no_reads_since + self.timing.write_patience)),
        }
    }

    /// Finds the next command, on the bus after the last one: first ready, then by kind, then by age.
    fn replan(&mut self, cycle: u64) {
        let blocked = self.decide_refresh();
        let (write, floor) = self.serving(cycle);
        let starved_before = cycle.saturating_sub(self.timing.starvation);
        let queue = if write { &self.writes } else { &self.reads };
        let mut plan = Plan::SLEEP;
        let mut banks = queue.pending & !blocked;
        while banks != 0 {
            let bank = banks.trailing_zeros() as u8;
            banks &= banks - 1;
            let choice = queue.choose(bank, self.banks.open_row[usize::from(bank)], starved_before);
            let sequence = queue.sequence[usize::from(choice.slot)];
            let (at, kind, action) = if choice.hit {
                // The read before a write of part of a line.
                let reads = !write || queue.partial >> choice.slot & 1 == 1;
                (self.banks.column_at(bank, !reads), 1, Action::Column)
            } else if self.banks.is_open(bank) {
                (self.banks.precharge[usize::from(bank)], 3, Action::PrechargeMiss)
            } else {
                (self.banks.activate_at(bank), 2, Action::Activate)
            };
            plan.offer(Plan {
                cycle: at.max(floor),
                key: (kind, sequence),
                bank,
                slot: choice.slot,
                action,
                write,
                starved: choice.starved,
            });
        }
        let floor = cycle.max(self.bus_free);
        let mut idle = self.banks.open & !(self.reads.pending | self.writes.pending | blocked);
        while idle != 0 {
            let bank = idle.trailing_zeros() as u8;
            idle &= idle - 1;
            let b = usize::from(bank);
            let at = (self.banks.last_use[b] + self.timing.page_idle).max(self.banks.precharge[b]).max(floor);
            let action = Action::PrechargeIdle;
            plan.offer(Plan { cycle: at, key: (4, u64::from(bank)), bank, action, ..Plan::SLEEP });
        }
        self.offer_refreshes(&mut plan, floor);
        self.plan = plan;
    }

    /// Decides which ranks get ready for a refresh, and gives their banks: they take no other command.
    fn decide_refresh(&mut self) -> u64 {
        let busy = self.reads.pending | self.writes.pending;
        let mut blocked = 0;
        for rank in 0..RANKS {
            if self.owed[rank] > 0 && self.wanted[rank].is_none() {
                let forced = self.owed[rank] >= self.timing.refresh_debt;
                if forced || busy & banks_of(rank) == 0 {
                    self.wanted[rank] = Some(forced);
                }
            }
            if self.wanted[rank].is_some() {
                blocked |= banks_of(rank);
            }
        }
        blocked
    }

    fn offer_refreshes(&self, plan: &mut Plan, floor: u64) {
        for rank in (0..RANKS).filter(|&rank| self.wanted[rank].is_some()) {
            let mut open = self.banks.open & banks_of(rank);
            let (mut at, action) =
                if open == 0 { (self.banks.refresh_at(rank), Action::Refresh) } else { (0, Action::PrechargeAll) };
            while open != 0 {
                at = at.max(self.banks.precharge[open.trailing_zeros() as usize]);
                open &= open - 1;
            }
            let bank = banks_of(rank).trailing_zeros() as u8;
            plan.offer(Plan { cycle: at.max(floor), key: (0, rank as u64), bank, action, ..Plan::SLEEP });
        }
    }

    pub(super) fn set_mode<S: SignalSink>(&mut self, write: bool, cycle: u64, account: &mut Account, sink: &mut S) {
        if write == self.write_mode {
            return;
        }
        let (tick, half) = (self.tick(cycle), self.half());
        let (socket, channel) = (self.socket, self.channel);
        let (from, to) = if write { (MODES[0], MODES[1]) } else { (MODES[1], MODES[0]) };
        account.leave(from, socket, channel, tick, sink);
        account.enter(to, socket, channel, tick, sink);
        account.deed(if write { TO_WRITE[half] } else { TO_READ[half] }, socket, channel, tick, sink);
        account.deed(if write { SWITCH_TO_WRITE[half] } else { SWITCH_TO_READ[half] }, socket, channel, tick, sink);
        self.write_mode = write;
    }

    pub(super) const fn half(&self) -> usize {
        self.pseudo as usize
    }

    pub(super) const fn tick(&self, cycle: u64) -> Tick {
        cycle * self.clock.ticks()
    }
}

pub(super) const RPQ: [u16; 2] = [level!("imc/RPQ_INSERTS.PCH0"), level!("imc/RPQ_INSERTS.PCH1")];
pub(super) const WPQ: [u16; 2] = [level!("imc/WPQ_INSERTS.PCH0"), level!("imc/WPQ_INSERTS.PCH1")];
pub(super) const BUFFER: [u16; 2] = [level!("imc/RDB_INSERTS.PCH0"), level!("imc/RDB_INSERTS.PCH1")];
const MODES: [u16; 2] = [level!("imc/MAJOR_MODES.PREF_RD"), level!("imc/MAJOR_MODES.PREF_WR")];
const CKE: [[u16; 2]; 2] = [
    [level!("imc/POWER_CKE_CYCLES.LOW_0"), level!("imc/POWER_CKE_CYCLES.LOW_1")],
    [level!("imc/POWER_CKE_CYCLES.LOW_2"), level!("imc/POWER_CKE_CYCLES.LOW_3")],
];
const RPQ_LOW: [u16; 2] = [deed!("imc/RPQ_PRIO.PCH0_LOW"), deed!("imc/RPQ_PRIO.PCH1_LOW")];
const WPQ_LOW: [u16; 2] = [deed!("imc/WPQ_PRIO.PCH0_LOW"), deed!("imc/WPQ_PRIO.PCH1_LOW")];
const READ_HIT: [u16; 2] = [deed!("imc/WPQ_READ_HIT.PCH0"), deed!("imc/WPQ_READ_HIT.PCH1")];
const WRITE_HIT: [u16; 2] = [deed!("imc/WPQ_WRITE_HIT.PCH0"), deed!("imc/WPQ_WRITE_HIT.PCH1")];
const TO_WRITE: [u16; 2] = [deed!("imc/MAJOR_MODE_CHANGE_PCH0.PR_TO_PW"), deed!("imc/MAJOR_MODE_CHANGE_PCH1.PR_TO_PW")];
const TO_READ: [u16; 2] = [deed!("imc/MAJOR_MODE_CHANGE_PCH0.PW_TO_PR"), deed!("imc/MAJOR_MODE_CHANGE_PCH1.PW_TO_PR")];
const SWITCH_TO_WRITE: [u16; 2] =
    [deed!("imc/PREEMPTION_MM_SWITCH.WMM_PCH0"), deed!("imc/PREEMPTION_MM_SWITCH.WMM_PCH1")];
const SWITCH_TO_READ: [u16; 2] =
    [deed!("imc/PREEMPTION_MM_SWITCH.RMM_PCH0"), deed!("imc/PREEMPTION_MM_SWITCH.RMM_PCH1")];
