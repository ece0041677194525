//! The totals that records are folded into.

use pericore_dram::{Command, MajorMode, MemoryState, Pending};
use pericore_engine::{Clocks, NEVER, Tick};

use super::busy::Busy;
use super::device::DeviceCells;
use super::home::HomeCells;
use super::links::LinkCells;
use super::packet::PacketRecord;
use super::power::{AgentCells, PowerCells};
use super::record::{Rare, Record, RequestKind};
use super::ring::{MessageCells, RingCells};
use super::slice::{SliceCells, Stay};
use super::{LinkQueue, Shape};

/// One pending queue of a memory channel.
#[derive(Debug, Clone, Copy, Default)]
pub struct QueueCells {
    pub stay: Stay,
    pub nonempty: u64,
    pub full: u64,
    live: u64,
    nonempty_since: u64,
    full_since: u64,
}

impl QueueCells {
    #[inline]
    pub const fn enter(&mut self, cycle: u64, capacity: u64) {
        self.stay.entries += 1;
        self.live += 1;
        if self.live == 1 {
            self.nonempty_since = cycle;
        }
        if self.live == capacity {
            self.full_since = cycle;
        }
    }

    #[inline]
    pub const fn leave(&mut self, entered: u64, cycle: u64, capacity: u64) {
        self.stay.cycles += cycle - entered;
        if self.live == capacity {
            self.full += cycle - self.full_since;
        }
        self.live -= 1;
        if self.live == 0 {
            self.nonempty += cycle - self.nonempty_since;
        }
    }

    /// Adds the part so far of what is still there: entries that came at `entered`, up to the start of `cycle`.
    pub fn settle(&mut self, entered: impl Iterator<Item = u64>, cycle: u64, capacity: u64) {
        self.stay.cycles += entered.map(|entered| cycle - entered).sum::<u64>();
        if self.live > 0 {
            self.nonempty += cycle - self.nonempty_since;
        }
        if self.live == capacity {
            self.full += cycle - self.full_since;
        }
    }
}

/// Counts in a row, on the heap; `N` is a power of two.
#[derive(Debug, Clone)]
pub struct Grid<const N: usize>(Box<[u64; N]>);

impl<const N: usize> Grid<N> {
    /// All zero.
    pub fn new() -> Self {
        const { assert!(N.is_power_of_two()) };
        let cells = vec![0; N].into_boxed_slice();
        Self(cells.try_into().unwrap_or_else(|_| unreachable!("the slice is as long")))
    }

    /// Counts one.
    #[inline]
    pub fn add(&mut self, index: usize) {
        self.0[index % N] += 1;
    }

    /// A count.
    pub fn get(&self, index: usize) -> u64 {
        self.0[index % N]
    }
}

/// A state that holds at times.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// Cycles in which it held.
    pub cycles: u64,
    since: Option<u64>,
}

impl Span {
    /// It does not hold yet.
    pub const fn new() -> Self {
        Self { cycles: 0, since: None }
    }

    /// It holds from `cycle` on, or no longer.
    #[inline]
    pub const fn switch(&mut self, on: bool, cycle: u64) {
        if let Some(since) = self.since.take() {
            self.cycles += cycle - since;
        }
        if on {
            self.since = Some(cycle);
        }
    }

    /// Adds the part so far.
    pub const fn settle(&mut self, cycle: u64) {
        if self.since.is_some() {
            self.switch(true, cycle);
        }
    }
}

/// Totals of one memory channel.
#[derive(Debug, Clone, Copy)]
pub struct ChannelCells {
    pub commands: [u64; Command::COUNT],
    pub queues: [QueueCells; 2],
    /// Reads answered from a pending write.
    pub forwards: u64,
    /// Writes that replaced a pending write.
    pub merges: u64,
    /// By the kind of request whose row was closed.
    pub preemptions: [u64; 2],
    /// Corrected errors.
    pub corrected: u64,
    /// By [`MemoryState::index`].
    pub states: [Span; MemoryState::COUNT],
    pub modes: [u64; MajorMode::COUNT],
    mode: MajorMode,
    mode_since: u64,
}

impl ChannelCells {
    pub fn new(ranks: u8) -> Self {
        let mut states = [Span::default(); MemoryState::COUNT];
        // Clocks run from the start.
        (0..ranks).for_each(|rank| states[MemoryState::ClockOn(rank).index()].switch(true, 0));
        Self {
            commands: [0; Command::COUNT],
            queues: [QueueCells::default(); 2],
            forwards: 0,
            merges: 0,
            preemptions: [0; 2],
            corrected: 0,
            states,
            modes: [0; MajorMode::COUNT],
            mode: MajorMode::Read,
            mode_since: 0,
        }
    }

    pub const fn queue(&self, queue: Pending) -> &QueueCells {
        &self.queues[queue as usize]
    }

    pub const fn command(&self, command: Command) -> u64 {
        self.commands[command as usize]
    }

    pub const fn enter_mode(&mut self, mode: MajorMode, cycle: u64) {
        self.modes[self.mode as usize] += cycle - self.mode_since;
        self.mode = mode;
        self.mode_since = cycle;
    }
}

/// All totals of a machine.
#[derive(Debug, Clone)]
pub struct Cells {
    pub slices: Vec<SliceCells>,
    pub homes: Vec<HomeCells>,
    pub channels: Vec<ChannelCells>,
    pub links: Vec<LinkCells>,
    /// By socket.
    pub power: Vec<PowerCells>,
    pub agents: Vec<AgentCells>,
    pub rings: Vec<RingCells>,
    pub messages: MessageCells,
    pub devices: Vec<DeviceCells>,
}

impl Cells {
    pub fn new(shape: &Shape) -> Self {
        let Shape { slices, homes, channels, ranks, .. } = *shape;
        Self {
            slices: vec![SliceCells::new(homes); slices],
            homes: vec![HomeCells::default(); homes],
            channels: vec![ChannelCells::new(ranks); channels],
            links: Vec::new(),
            power: vec![PowerCells::new(); homes],
            agents: vec![AgentCells::default(); homes],
            devices: vec![DeviceCells::default(); homes],
            rings: (0..homes).map(|home| RingCells::new(slices / homes * home..slices / homes * (home + 1))).collect(),
            messages: MessageCells::new(),
        }
    }

    /// Adds what has happened to a request before the cycle `now`.
    pub fn fold(&mut self, record: &Record, now: u64) {
        self.fold_stay(record, now);
        self.fold_more(record, now);
    }

    /// Adds its stay in its slice.
    // Its hot caller says that nothing is under way: inlined, most comparisons go.
    #[inline(always)]
    pub fn fold_stay(&mut self, record: &Record, now: u64) {
        self.slices[usize::from(record.slice)].fold(record, now);
    }

    /// Adds what happens to some requests only: see [`Record::has_more`].
    #[inline(always)]
    pub fn fold_more(&mut self, record: &Record, now: u64) {
        if let Some(state) = record.victim {
            self.slices[usize::from(record.slice)].fold_victim(record.nid, state);
        }
        if record.is_rare() {
            self.fold_rare(record, now);
        }
        if record.tracker_in != NEVER {
            self.homes[usize::from(record.nid)].fold(record, now);
        }
    }

    /// Adds what happens to few requests only.
    #[cold]
    fn fold_rare(&mut self, record: &Record, now: u64) {
        self.slices[usize::from(record.slice)].fold_rare(record, now);
        let home = &mut self.homes[usize::from(record.nid)];
        if record.has(Rare::SnoopWritten) {
            home.writes[usize::from(record.remote)] += 1;
            home.snoop_writes += 1;
            home.regions[usize::from(record.region)] += 1;
            home.written += u64::from(record.written != NEVER);
        }
        if let Some(bit) = record.directory {
            if record.kind == RequestKind::DirectoryWrite {
                home.directory_updates[usize::from(bit)] += 1;
                home.written += u64::from(record.written != NEVER);
            } else {
                home.directory_lookups[usize::from(bit)] += 1;
            }
        }
        home.snoops += u64::from(record.has(Rare::Snooped));
        home.completions_remote += u64::from(record.has(Rare::CompletedElsewhere));
    }

    /// Adds what a packet has done before `now`.
    pub fn fold_packet(&mut self, record: &PacketRecord, now: Tick, clocks: &Clocks, flight: u64) {
        self.links[usize::from(record.sender)].fold_sender(record, now, clocks);
        self.links[usize::from(record.receiver)].fold_receiver(record, now, clocks, flight);
    }

    pub fn link_queue(&mut self, link: u16, queue: LinkQueue) -> &mut Busy {
        let link = &mut self.links[usize::from(link)];
        match queue {
            LinkQueue::Ring(class) => &mut link.ring_busy[class as usize],
            LinkQueue::Transmit => &mut link.transmit_busy,
            LinkQueue::Receive => &mut link.receive_busy,
            LinkQueue::Shared => &mut link.shared_busy,
        }
    }

    /// Brings the running sums of links and home agents up to `now`.
    pub fn settle_busy(&mut self, now: Tick, clocks: &Clocks, shared: u64, capacities: [u64; 2]) {
        let (uclk, qclk) = (clocks.uclk.cycles(now), clocks.qclk.cycles(now));
        for link in &mut self.links {
            link.ring_busy.iter_mut().for_each(|busy| busy.settle(uclk, shared));
            link.shared_busy.settle(uclk, shared);
            link.io_busy.iter_mut().for_each(|busy| busy.settle(uclk, u64::MAX));
            link.transmit_busy.settle(qclk, shared);
            link.power.iter_mut().for_each(|state| state.settle(qclk));
            link.receive_busy.settle(qclk, shared);
        }
        self.homes.iter_mut().for_each(|home| home.settle_busy(uclk, capacities));
    }

    /// Brings the running sums of the channels up to the start of DRAM cycle `cycle`.
    pub fn settle_modes(&mut self, cycle: u64) {
        for channel in &mut self.channels {
            channel.enter_mode(channel.mode, cycle);
            channel.states.iter_mut().for_each(|state| state.settle(cycle));
        }
    }
}
