//! The totals that records are folded into.

use super::busy::Busy;
use super::device::DeviceCells;
use super::links::LinkCells;
use super::packet::PacketRecord;
use super::power::{AgentCells, PowerCells};
use super::record::{
    Command, IO_THREAD, LineState, MajorMode, MemoryState, Pending, Record, Refusal, RequestKind, SliceState,
};
use super::ring::{MessageCells, RingCells};
use super::{HomeQueue, LinkQueue, Shape};
use crate::engine::{Clocks, NEVER, Period};
use crate::signal::Tick;

/// Thread IDs that cells tell apart.
pub const THREADS: usize = 17;

/// Where a thread ID's totals lie: devices come after the threads of cores.
const fn place_of(tid: u8) -> usize {
    if tid == IO_THREAD { THREADS - 1 } else { tid as usize % (THREADS - 1) }
}

/// The thread ID whose totals lie at a place.
pub const fn thread_at(place: usize) -> usize {
    if place == THREADS - 1 { IO_THREAD as usize } else { place }
}

/// Nodes that cells tell apart.
pub const NODES: usize = 4;

/// Entries of a structure: how many came, and the cycles that they stayed, added up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stay {
    /// Entries.
    pub entries: u64,
    /// Cycles in the unit's clock.
    pub cycles: u64,
}

impl Stay {
    #[inline]
    pub(super) fn add(&mut self, from: Tick, to: Tick, now: Tick, clock: Period) {
        if from != NEVER {
            self.entries += 1;
            self.cycles += clock.cycles_between(from, to.min(now));
        }
    }
}

/// Totals of one LLC slice.
#[derive(Debug, Clone)]
pub struct SliceCells {
    pub lookups: [[[[u64; THREADS]; NODES]; LineState::COUNT]; RequestKind::COUNT],
    /// By kind, hit or miss, node, thread.
    pub tor: [[[[Stay; THREADS]; NODES]; 2]; RequestKind::COUNT],
    /// Ways given up, by the node of the line that took the place and the state of the one that left.
    pub victims: [[u64; LineState::COUNT]; NODES],
    pub ingress: [Stay; THREADS],
    /// Snoops of other sockets in their queue.
    pub snoops: Stay,
    /// Snoops that took an unmodified copy away without data.
    pub dropped_silently: u64,
    /// Requests of devices in the request queue.
    pub ordered: Stay,
    /// Streaming stores that found their line modified.
    pub aliased: u64,
    /// Requests that were rejected, from then until they were taken.
    pub rejected: [Stay; THREADS],
    /// By queue and reason.
    pub refusals: [[u64; Refusal::COUNT]; 2],
    pub states: [Span; SliceState::COUNT],
    /// Messages that did not go out in the cycle in which they came.
    pub waited: u64,
    /// Messages that waited for long, by ring.
    pub starved: [u64; 4],
}

impl SliceCells {
    pub const fn new() -> Self {
        const NO_STAY: Stay = Stay { entries: 0, cycles: 0 };
        Self {
            lookups: [[[[0; THREADS]; NODES]; LineState::COUNT]; RequestKind::COUNT],
            tor: [[[[NO_STAY; THREADS]; NODES]; 2]; RequestKind::COUNT],
            victims: [[0; LineState::COUNT]; NODES],
            ingress: [NO_STAY; THREADS],
            snoops: NO_STAY,
            dropped_silently: 0,
            ordered: NO_STAY,
            aliased: 0,
            rejected: [NO_STAY; THREADS],
            refusals: [[0; Refusal::COUNT]; 2],
            states: [Span::new(); SliceState::COUNT],
            waited: 0,
            starved: [0; 4],
        }
    }
}

/// Totals of one home agent.
#[derive(Debug, Clone, Copy, Default)]
pub struct HomeCells {
    /// Of this socket, of others.
    pub reads: [u64; 2],
    pub writes: [u64; 2],
    /// Of the writes, modified lines that snoops found.
    pub snoop_writes: u64,
    /// Reads answered from another cache.
    pub forwards: u64,
    /// Requests that look up the memory's regions.
    pub regions: u64,
    pub tracker: Stay,
    /// Full lines handed to the memory controller.
    pub written: u64,
    /// Parts of lines handed to it.
    pub written_parts: u64,
    /// Reads answered with data straight to the core.
    pub to_core: u64,
    /// Reads answered with data to the slice.
    pub to_cache: u64,
    /// Reads answered with data to another socket.
    pub to_remote: u64,
    /// Completions without data, within the socket and to another one.
    pub completions: u64,
    pub completions_remote: u64,
    /// Snoops sent, to this socket's slices and to others.
    pub snoops: u64,
    /// Reads that found their channel idle, and those that did not.
    pub bypasses: [u64; 2],
    conflicts: Busy,
    links: [Busy; 4],
    /// Credits of the read and the write queues that are in use.
    credits: [[Busy; 4]; 2],
}

impl HomeCells {
    /// Adds what has happened before `now` to a request that came to the tracker.
    #[inline]
    fn fold(&mut self, record: &Record, now: Tick, uclk: Period) {
        let (kind, remote) = (record.kind, record.remote);
        self.tracker.add(record.tracker_in, record.tracker_out, now, uclk);
        self.regions += 1;
        if let Some(bypassed) = record.bypass {
            self.bypasses[usize::from(bypassed)] += 1;
        }
        let data = if kind.reads_memory() {
            self.reads[usize::from(remote)] += 1;
            // Data that a cache has forwarded is not sent again.
            !record.forwarded
        } else {
            self.writes[usize::from(remote)] += u64::from(kind.writes_memory());
            if record.written != NEVER {
                let partial = kind == RequestKind::StreamPart && !record.completed;
                *(if partial { &mut self.written_parts } else { &mut self.written }) += 1;
            }
            false
        };
        if record.tracker_out == NEVER {
            return;
        }
        self.forwards += u64::from(record.forwarded);
        match (data, remote) {
            (true, true) => self.to_remote += 1,
            (true, false) if record.direct_to_core => {
                self.to_core += 1;
                self.completions += 1;
            }
            (true, false) => self.to_cache += 1,
            (false, true) => {}
            (false, false) => self.completions += 1,
        }
    }

    #[inline]
    pub const fn queue(&mut self, queue: HomeQueue) -> &mut Busy {
        match queue {
            HomeQueue::Conflicts => &mut self.conflicts,
            HomeQueue::Links(index) => &mut self.links[index],
            HomeQueue::Credits(queue, channel) => &mut self.credits[queue as usize][channel],
        }
    }

    /// Cycles with a request that waits for another.
    pub const fn conflicts(&self) -> u64 {
        self.conflicts.some()
    }

    /// Cycles in which a message waited for a link.
    pub const fn no_link(&self, index: usize) -> u64 {
        self.links[index].some()
    }

    /// Cycles without a credit for a queue.
    pub const fn no_credits(&self, queue: Pending, channel: usize) -> u64 {
        self.credits[queue as usize][channel].all()
    }
}

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
    /// Ranks of the channel.
    pub ranks: u8,
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
            ranks,
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
            slices: vec![SliceCells::new(); slices],
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

    /// Adds what has happened to a request before `now`.
    #[inline]
    pub fn fold(&mut self, record: &Record, now: Tick, uclk: Period) {
        let tid = place_of(record.tid);
        let nid = usize::from(record.nid) % NODES;
        let kind = record.kind as usize;
        let slice = &mut self.slices[usize::from(record.slice)];
        slice.tor[kind][usize::from(record.miss)][nid][tid].add(record.tor_in, record.tor_out, now, uclk);
        if record.ingress_out != NEVER {
            slice.lookups[kind][record.state as usize][nid][tid] += 1;
        }
        if record.kind != RequestKind::Snoop {
            slice.ingress[tid].add(record.ingress_in, record.ingress_out, now, uclk);
        }
        if let Some(state) = record.victim {
            slice.victims[nid][state as usize] += 1;
        }
        if record.is_rare() {
            self.fold_rare(record, now, uclk);
        }
        if record.tracker_in != NEVER {
            self.homes[usize::from(record.nid)].fold(record, now, uclk);
        }
    }

    /// Adds what happens to few requests only.
    #[cold]
    fn fold_rare(&mut self, record: &Record, now: Tick, uclk: Period) {
        let slice = &mut self.slices[usize::from(record.slice)];
        if record.kind == RequestKind::Snoop {
            slice.snoops.add(record.ingress_in, record.ingress_out, now, uclk);
        }
        if record.kind.is_io() {
            slice.ordered.add(record.ingress_in, record.ingress_out, now, uclk);
        }
        slice.dropped_silently += u64::from(record.dropped_silently);
        slice.aliased += u64::from(record.aliased);
        slice.rejected[place_of(record.tid)].add(record.rejected, record.ingress_out, now, uclk);
        let home = &mut self.homes[usize::from(record.nid)];
        if record.snoop_write != NEVER {
            home.writes[usize::from(record.remote)] += 1;
            home.snoop_writes += 1;
            home.regions += 1;
            home.written += u64::from(record.written != NEVER);
        }
        home.snoops += u64::from(record.snooped_at != NEVER);
        home.completions_remote += u64::from(record.completed_at != NEVER);
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
            link.transmit_busy.settle(qclk, shared);
            link.receive_busy.settle(qclk, shared);
        }
        for home in &mut self.homes {
            home.conflicts.settle(uclk, u64::MAX);
            home.links.iter_mut().for_each(|busy| busy.settle(uclk, u64::MAX));
            for (credits, capacity) in home.credits.iter_mut().zip(capacities) {
                credits.iter_mut().for_each(|busy| busy.settle(uclk, capacity));
            }
        }
    }

    /// Brings the running sums of the channels up to the start of DRAM cycle `cycle`.
    pub fn settle_modes(&mut self, cycle: u64) {
        for channel in &mut self.channels {
            channel.enter_mode(channel.mode, cycle);
            channel.states.iter_mut().for_each(|state| state.settle(cycle));
        }
    }
}
