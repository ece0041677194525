//! A DDR5 subchannel, which the guide calls a pseudo channel: a memory channel with a bus of its own, the buffer that its read data
//! comes into, and what this family tells of both.

use std::sync::Arc;

use pericore_dram::{
    Arrival, Channel, Command, Conditions, MajorMode, MemoryState, Observer, Outcome, Pending, Sent, Timing,
};
use pericore_engine::{NEVER, Period, Ring};
use pericore_hardware::signal::{SignalSink, Tick};

use super::account::Account;
use super::address;
use crate::ledger::emerald_rapids::compiled::{deed, level};
use crate::ledger::emerald_rapids::{Ledger, Spot};

/// Where a subchannel is.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Its channel.
    spot: Spot,
    /// Which one of its channel.
    half: usize,
    /// Over all sockets, for the log of commands.
    number: u16,
}

/// One subchannel.
#[derive(Debug)]
pub struct Subchannel {
    place: Place,
    clock: Period,
    channel: Channel,
    /// DRAM cycles from a read command to the end of its data.
    latency: u64,
    /// When the data that is on its way will have come in.
    buffered: Ring<u64, 32>,
    /// The tick at which that is so of the oldest.
    next_data: Tick,
    /// The tick of the next action.
    next: Tick,
}

impl Subchannel {
    /// An idle subchannel with closed banks: number `half` of a channel.
    pub fn new(ledger: &Ledger, (socket, channel, half): (u16, u16, u16), clock: Period, timing: &Arc<Timing>) -> Self {
        let spot = ledger.spot(CORRECTED, socket, channel);
        let number = socket * address::SUBCHANNELS as u16 + 2 * channel + half;
        let of_banks = Channel::new(clock, timing);
        Self {
            next: of_banks.next_tick(),
            place: Place { spot, half: half.into(), number },
            clock,
            channel: of_banks,
            latency: timing.cl + timing.burst,
            buffered: Ring::new(0),
            next_data: NEVER,
        }
    }

    /// Emits the levels that hold from the start.
    pub fn start<S: SignalSink>(&mut self, account: &mut Account, sink: &mut S) {
        let (channel, mut observer) = self.watched(account, sink);
        channel.start(&mut observer);
    }

    /// The tick of the next action.
    pub const fn next_tick(&self) -> Tick {
        self.next
    }

    /// Looks when the oldest data in the buffer will have come in.
    #[inline]
    fn watch_data(&mut self) {
        self.next_data = self.buffered.front().map_or(NEVER, |done| done * self.clock.ticks());
    }

    /// The last cycle for which an arrival has been announced; the next must come later.
    pub fn last_arrival(&self) -> Option<u64> {
        self.channel.last_arrival()
    }

    /// Announces a request. Arrivals come in order, at most one in a cycle, and not in the past.
    pub fn announce(&mut self, arrival: Arrival) {
        self.channel.announce(arrival);
        self.next = self.next.min(self.channel.next_tick());
    }

    /// New conditions hold from a DRAM cycle on, which must not lie in the past.
    pub fn set_conditions(&mut self, conditions: Conditions, cycle: u64) {
        self.channel.set_conditions(conditions, cycle);
        self.next = self.next.min(self.channel.next_tick());
    }

    /// True if nothing is pending or on its way.
    pub fn is_idle(&self) -> bool {
        self.channel.is_idle() && self.buffered.is_empty()
    }

    /// True if all ranks are powered down.
    #[inline]
    pub const fn is_down(&self) -> bool {
        self.channel.is_down()
    }

    fn watched<'a, S>(
        &'a mut self,
        account: &'a mut Account,
        sink: &'a mut S,
    ) -> (&'a mut Channel, SubchannelObserver<'a, S>) {
        let Self { place, clock, ref mut channel, latency, ref mut buffered, .. } = *self;
        (channel, SubchannelObserver { place, clock, latency, buffered, account, sink })
    }

    /// Does what is due now, which must be the time of [`Subchannel::next_tick`].
    pub fn step<S: SignalSink>(&mut self, account: &mut Account, sink: &mut S, out: &mut Vec<Outcome>) {
        let now = self.next;
        let Place { spot, half, .. } = self.place;
        while self.next_data <= now {
            self.buffered.pop();
            self.watch_data();
            account.leave(BUFFER[half], spot.socket, spot.index, now, sink);
        }
        if self.channel.next_tick() == now {
            let (channel, mut observer) = self.watched(account, sink);
            channel.step(&mut observer, out);
            if self.next_data == NEVER {
                self.watch_data();
            }
        }
        self.next = self.channel.next_tick().min(self.next_data);
    }
}

/// Passes on what a subchannel's channel says.
struct SubchannelObserver<'a, S> {
    place: Place,
    clock: Period,
    latency: u64,
    buffered: &'a mut Ring<u64, 32>,
    account: &'a mut Account,
    sink: &'a mut S,
}

impl<S: SignalSink> SubchannelObserver<'_, S> {
    fn deed(&mut self, deeds: Halves, cycle: u64) {
        let Place { spot, half, .. } = self.place;
        self.account.together_at([deeds[half]], spot, cycle * self.clock.ticks(), self.sink);
    }

    fn level(&mut self, level: u16, on: bool, cycle: u64) {
        let Spot { socket, index, .. } = self.place.spot;
        let tick = cycle * self.clock.ticks();
        if on {
            self.account.enter(level, socket, index, tick, self.sink);
        } else {
            self.account.leave(level, socket, index, tick, self.sink);
        }
    }

    /// A column command of a kind as the signal numbers them.
    fn column(&mut self, kind: u8, sent: &Sent, by_mode: [Halves; 2], by_age: [Halves; 2]) {
        let Place { spot, half, .. } = self.place;
        let tick = sent.record.cycle * self.clock.ticks();
        let deeds = [by_mode[usize::from(prefers_writes(sent.mode))][half], by_age[usize::from(sent.starved)][half]];
        self.account.column(spot, half as u8, (kind, deeds), tick, self.sink);
    }
}

/// No unit counts what the memory of a CXL device does.
pub struct Unseen;

impl Observer for Unseen {
    fn begins(&mut self, _: u8) {}
    fn command(&mut self, _: &Sent) {}
    fn enters(&mut self, _: Pending, _: bool, _: u64) {}
    fn leaves(&mut self, _: Pending, _: bool, _: u64, _: u64) {}
    fn forwards(&mut self, _: u64) {}
    fn merges(&mut self, _: u64) {}
    fn changes_mode(&mut self, _: MajorMode, _: MajorMode, _: u64) {}
    fn preempts(&mut self, _: Pending, _: u64) {}
    fn state(&mut self, _: MemoryState, _: bool, _: u64) {}
    fn corrects(&mut self, _: u64) {}
}

/// Reads that complete a line to be written belong to the writes.
const fn prefers_writes(mode: MajorMode) -> bool {
    !matches!(mode, MajorMode::Read)
}

impl<S: SignalSink> Observer for SubchannelObserver<'_, S> {
    fn begins(&mut self, _: u8) {
        self.level(MODES[0], true, 0);
    }

    fn command(&mut self, sent: &Sent) {
        let Place { spot, half, number } = self.place;
        let cycle = sent.record.cycle;
        match sent.record.command {
            Command::Activate => {
                let what = (activate(sent), ACTIVATES[sent.lane as usize][half]);
                self.account.activate(spot, half as u8, what, cycle * self.clock.ticks(), self.sink);
            }
            Command::PrechargeMiss => self.deed(PRECHARGES[sent.lane as usize], cycle),
            Command::PrechargeIdle => self.deed(PAGE_TABLE, cycle),
            Command::PrechargeAll => self.deed(ALL_ROWS, cycle),
            Command::Read => {
                self.column(REGULAR, sent, READS_IN, READ_AGES);
                self.buffered.push(cycle + self.latency);
                self.level(BUFFER[half], true, cycle);
            }
            Command::Underfill => self.column(UNDERFILL, sent, READS_IN, READ_AGES),
            Command::WriteMajor | Command::WriteOpportunistic => {
                self.column(PLAIN_WRITE, sent, WRITES_IN, WRITE_AGES);
            }
            Command::RefreshIdle => self.deed(TIMELY, cycle),
            Command::RefreshForced => self.deed(FORCED, cycle),
        }
        self.account.ledger.command(number, sent.record);
    }

    fn enters(&mut self, queue: Pending, _: bool, cycle: u64) {
        self.level(QUEUES[queue as usize][self.place.half], true, cycle);
        self.deed(LOW[queue as usize], cycle);
    }

    fn leaves(&mut self, queue: Pending, _: bool, _: u64, cycle: u64) {
        self.level(QUEUES[queue as usize][self.place.half], false, cycle);
    }

    fn forwards(&mut self, cycle: u64) {
        self.deed(READ_HIT, cycle);
    }

    fn merges(&mut self, cycle: u64) {
        self.deed(WRITE_HIT, cycle);
    }

    fn changes_mode(&mut self, from: MajorMode, to: MajorMode, cycle: u64) {
        let (from, to) = (usize::from(prefers_writes(from)), usize::from(prefers_writes(to)));
        if from != to {
            self.level(MODES[from], false, cycle);
            self.level(MODES[to], true, cycle);
            self.deed(CHANGES[to], cycle);
            self.deed(SWITCHES[to], cycle);
        }
    }

    fn state(&mut self, state: MemoryState, on: bool, cycle: u64) {
        match state {
            MemoryState::ClockOn(rank) => self.level(CKE[self.place.half][usize::from(rank) % 2], !on, cycle),
            MemoryState::Throttled(rank) => self.level(THROTTLED[usize::from(rank) % 2], on, cycle),
            MemoryState::Critical => self.level(CRITICAL, on, cycle),
            MemoryState::SelfRefresh => self.level(REFRESHING, on, cycle),
            // The model tells of the channel as a whole.
            MemoryState::PoweredDown | MemoryState::DllOff => {}
        }
    }

    fn preempts(&mut self, victim: Pending, cycle: u64) {
        self.deed(PREEMPTED[victim as usize], cycle);
    }

    fn corrects(&mut self, cycle: u64) {
        self.account.together_at([CORRECTED], self.place.spot, cycle * self.clock.ticks(), self.sink);
    }
}

/// The kind of an activate, as the signal numbers them.
const fn activate(sent: &Sent) -> u8 {
    let for_writes = if sent.lane as usize == 0 { 0 } else { 3 };
    for_writes + if sent.starved { 2 } else { 0 }
}

/// Kinds of column commands, as the signal numbers them.
const REGULAR: u8 = 0;
const UNDERFILL: u8 = 2;
const PLAIN_WRITE: u8 = 4;
/// The kinds of column commands, and of activates (see [`activate`]), that there are.
pub const COLUMNS: [u8; 3] = [REGULAR, UNDERFILL, PLAIN_WRITE];
pub const ACTIVATE_KINDS: [u8; 4] = [0, 2, 3, 5];

type Halves = [u16; 2];
/// Reads, writes.
const QUEUES: [Halves; 2] = [
    [level!("imc/RPQ_INSERTS.PCH0"), level!("imc/RPQ_INSERTS.PCH1")],
    [level!("imc/WPQ_INSERTS.PCH0"), level!("imc/WPQ_INSERTS.PCH1")],
];
const LOW: [Halves; 2] = [
    [deed!("imc/RPQ_PRIO.PCH0_LOW"), deed!("imc/RPQ_PRIO.PCH1_LOW")],
    [deed!("imc/WPQ_PRIO.PCH0_LOW"), deed!("imc/WPQ_PRIO.PCH1_LOW")],
];
const BUFFER: Halves = [level!("imc/RDB_INSERTS.PCH0"), level!("imc/RDB_INSERTS.PCH1")];
const CKE: [Halves; 2] = [
    [level!("imc/POWER_CKE_CYCLES.LOW_0"), level!("imc/POWER_CKE_CYCLES.LOW_1")],
    [level!("imc/POWER_CKE_CYCLES.LOW_2"), level!("imc/POWER_CKE_CYCLES.LOW_3")],
];
/// By rank: its requests wait in either subchannel.
const THROTTLED: [u16; 2] = [level!("imc/POWER_THROTTLE_CYCLES.SLOT0"), level!("imc/POWER_THROTTLE_CYCLES.SLOT1")];
const CRITICAL: u16 = level!("imc/POWER_CRIT_THROTTLE_CYCLES.SLOT0");
const REFRESHING: u16 = level!("imc/POWER_SELF_REFRESH");
const CORRECTED: u16 = deed!("imc/ECC_CORRECTABLE_ERRORS");
/// By whose row is closed: reads, writes.
const PREEMPTED: [Halves; 2] = [
    [deed!("imc/PREEMPTION.RD_PCH0"), deed!("imc/PREEMPTION.RD_PCH1")],
    [deed!("imc/PREEMPTION.WR_PCH0"), deed!("imc/PREEMPTION.WR_PCH1")],
];
const READ_HIT: Halves = [deed!("imc/WPQ_READ_HIT.PCH0"), deed!("imc/WPQ_READ_HIT.PCH1")];
const WRITE_HIT: Halves = [deed!("imc/WPQ_WRITE_HIT.PCH0"), deed!("imc/WPQ_WRITE_HIT.PCH1")];
/// By what is preferred from now on: reads, writes.
const MODES: [u16; 2] = [level!("imc/MAJOR_MODES.PREF_RD"), level!("imc/MAJOR_MODES.PREF_WR")];
const CHANGES: [Halves; 2] = [
    [deed!("imc/MAJOR_MODE_CHANGE_PCH0.PW_TO_PR"), deed!("imc/MAJOR_MODE_CHANGE_PCH1.PW_TO_PR")],
    [deed!("imc/MAJOR_MODE_CHANGE_PCH0.PR_TO_PW"), deed!("imc/MAJOR_MODE_CHANGE_PCH1.PR_TO_PW")],
];
const SWITCHES: [Halves; 2] = [
    [deed!("imc/PREEMPTION_MM_SWITCH.RMM_PCH0"), deed!("imc/PREEMPTION_MM_SWITCH.RMM_PCH1")],
    [deed!("imc/PREEMPTION_MM_SWITCH.WMM_PCH0"), deed!("imc/PREEMPTION_MM_SWITCH.WMM_PCH1")],
];
/// By lane: reads, writes, underfills.
const ACTIVATES: [Halves; 3] = [
    [deed!("imc/ACT_COUNT.RD_PCH0"), deed!("imc/ACT_COUNT.RD_PCH1")],
    [deed!("imc/ACT_COUNT.WR_PCH0"), deed!("imc/ACT_COUNT.WR_PCH1")],
    [deed!("imc/ACT_COUNT.UFILL_PCH0"), deed!("imc/ACT_COUNT.UFILL_PCH1")],
];
const PRECHARGES: [Halves; 3] = [
    [deed!("imc/PRE_COUNT.RD_PCH0"), deed!("imc/PRE_COUNT.RD_PCH1")],
    [deed!("imc/PRE_COUNT.WR_PCH0"), deed!("imc/PRE_COUNT.WR_PCH1")],
    [deed!("imc/PRE_COUNT.UFILL_PCH0"), deed!("imc/PRE_COUNT.UFILL_PCH1")],
];
const PAGE_TABLE: Halves = [deed!("imc/PRE_COUNT.PGT_PCH0"), deed!("imc/PRE_COUNT.PGT_PCH1")];
const ALL_ROWS: Halves = [deed!("imc/DRAM_PRE_ALL.PCH0"), deed!("imc/DRAM_PRE_ALL.PCH1")];
const FORCED: Halves = [deed!("imc/DRAM_REFRESH.PANIC_PCH0"), deed!("imc/DRAM_REFRESH.PANIC_PCH1")];
const TIMELY: Halves = [deed!("imc/DRAM_REFRESH.HIGH_PCH0"), deed!("imc/DRAM_REFRESH.HIGH_PCH1")];
/// By what is preferred: reads, writes.
const READS_IN: [Halves; 2] = [
    [deed!("imc/CAS_MM.RD_RMM_PCH0"), deed!("imc/CAS_MM.RD_RMM_PCH1")],
    [deed!("imc/CAS_MM.RD_WMM_PCH0"), deed!("imc/CAS_MM.RD_WMM_PCH1")],
];
const WRITES_IN: [Halves; 2] = [
    [deed!("imc/CAS_MM.WR_RMM_PCH0"), deed!("imc/CAS_MM.WR_RMM_PCH1")],
    [deed!("imc/CAS_MM.WR_WMM_PCH0"), deed!("imc/CAS_MM.WR_WMM_PCH1")],
];
/// In their turn, or starved.
const READ_AGES: [Halves; 2] = [
    [deed!("imc/RD_CAS_PRIO.NORMAL_PCH0"), deed!("imc/RD_CAS_PRIO.NORMAL_PCH1")],
    [deed!("imc/RD_CAS_PRIO.STARVED_PCH0"), deed!("imc/RD_CAS_PRIO.STARVED_PCH1")],
];
const WRITE_AGES: [Halves; 2] = [
    [deed!("imc/WR_CAS_PRIO.NORMAL_PCH0"), deed!("imc/WR_CAS_PRIO.NORMAL_PCH1")],
    [deed!("imc/WR_CAS_PRIO.STARVED_PCH0"), deed!("imc/WR_CAS_PRIO.STARVED_PCH1")],
];
