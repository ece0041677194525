//! What a memory channel of this family tells: its signals and, on another path, the ledger.

use pericore_dram::{Command, Layout, MajorMode, MemoryState, Observer, Pending, Sent};
use pericore_engine::Period;
use pericore_hardware::signal::{SignalSink, Wire};

use super::pulses::Pulses;
use super::wires::Tagged;
use crate::ledger::e5_2600::Ledger;
use crate::uncore::levels::Levels;

/// Wires of one memory channel.
#[derive(Debug, Clone, Copy)]
pub struct ChannelWires {
    /// By command.
    pub(super) commands: [(Pulses, u64); Command::COUNT],
    /// Pending reads, pending writes.
    pub(super) queue: [Levels; 2],
    /// The same queues, while they are full.
    pub(super) full: [Levels; 2],
    /// Reads answered from a pending write.
    pub read_hit: Wire,
    /// Writes that replace a pending write.
    pub write_hit: Wire,
    /// Major mode, with the tags of read, write and partial.
    pub(super) mode: (Levels, [u64; 3]),
    /// Reads that close a row in use, with the tags of a read's and a write's row.
    pub preemption: (Wire, [u64; 2]),
    /// Clock enabled, with the tag of each rank.
    pub clock: (Wire, [u64; Layout::RANKS]),
    /// Throttled, with the tag of each rank.
    pub throttle: (Wire, [u64; Layout::RANKS]),
    /// All traffic stopped.
    pub critical: Wire,
    /// Self-refresh.
    pub self_refresh: Wire,
    /// All ranks powered down, fast exit and slow exit.
    pub all_down: [Wire; 2],
    /// Corrected errors.
    pub corrected: Wire,
}

impl ChannelWires {
    /// Everything on one wire, without tags.
    pub const fn on(wire: Wire) -> Self {
        Self {
            commands: [(Pulses::new(wire), 0); Command::COUNT],
            queue: [Levels::new(wire); 2],
            full: [Levels::new(wire); 2],
            read_hit: wire,
            write_hit: wire,
            mode: (Levels::new(wire), [0; 3]),
            preemption: (wire, [0; 2]),
            clock: (wire, [0; Layout::RANKS]),
            throttle: (wire, [0; Layout::RANKS]),
            critical: wire,
            self_refresh: wire,
            all_down: [wire; 2],
            corrected: wire,
        }
    }

    /// The instance that they belong to.
    pub(super) const fn instance(&self) -> u16 {
        self.mode.0.instance()
    }

    /// Asks who listens. True if what stands must be said.
    pub fn listen<S: SignalSink>(&mut self, sink: &S) -> bool {
        self.commands.iter_mut().for_each(|(wire, _)| wire.listen(sink));
        let levels = self.queue.iter_mut().chain(&mut self.full).chain([&mut self.mode.0]);
        levels.fold(false, |new, wire| wire.listen(sink) | new)
    }

    fn of_state(&self, state: MemoryState) -> Tagged {
        match state {
            MemoryState::ClockOn(rank) => (self.clock.0, self.clock.1[usize::from(rank)]),
            MemoryState::Throttled(rank) => (self.throttle.0, self.throttle.1[usize::from(rank)]),
            MemoryState::Critical => (self.critical, 0),
            MemoryState::SelfRefresh => (self.self_refresh, 0),
            MemoryState::PoweredDown => (self.all_down[0], 0),
            MemoryState::DllOff => (self.all_down[1], 0),
        }
    }
}

/// Passes on what a channel says.
#[derive(Debug)]
pub struct ChannelWitness<'a, S> {
    /// The channel's number in the ledger.
    pub number: u16,
    /// The channel's clock.
    pub clock: Period,
    /// Its wires.
    pub wires: &'a ChannelWires,
    /// Where signals go.
    pub sink: &'a mut S,
    /// The truth.
    pub ledger: &'a mut Ledger,
}

impl<S: SignalSink> ChannelWitness<'_, S> {
    fn switch(&mut self, (wire, tag): Tagged, on: bool, cycle: u64) {
        let tick = cycle * self.clock.ticks();
        if on { self.sink.enter(wire, tag, tick) } else { self.sink.leave(wire, tag, tick) }
    }

    fn pulse(&mut self, (wire, tag): Tagged, cycle: u64) {
        self.sink.pulse(wire, tag, cycle * self.clock.ticks(), 1);
    }
}

impl<S: SignalSink> Observer for ChannelWitness<'_, S> {
    fn begins(&mut self, ranks: u8) {
        let (wire, tags) = &self.wires.mode;
        wire.enter(tags[MajorMode::Read as usize], 0, self.sink);
        (0..ranks).for_each(|rank| self.state(MemoryState::ClockOn(rank), true, 0));
    }

    #[inline]
    fn command(&mut self, sent: &Sent) {
        let (wire, tag) = &self.wires.commands[sent.record.command as usize];
        wire.say(*tag, sent.record.cycle * self.clock.ticks(), self.sink);
        self.ledger.command(self.number, sent.record);
    }

    #[inline]
    fn enters(&mut self, queue: Pending, full: bool, cycle: u64) {
        let tick = cycle * self.clock.ticks();
        self.wires.queue[queue as usize].enter(0, tick, self.sink);
        if full {
            self.wires.full[queue as usize].enter(0, tick, self.sink);
        }
        self.ledger.queued(self.number, queue, cycle);
    }

    #[inline]
    fn leaves(&mut self, queue: Pending, was_full: bool, entered: u64, cycle: u64) {
        let tick = cycle * self.clock.ticks();
        self.wires.queue[queue as usize].leave(0, tick, self.sink);
        if was_full {
            self.wires.full[queue as usize].leave(0, tick, self.sink);
        }
        self.ledger.unqueued(self.number, queue, entered, cycle);
    }

    fn forwards(&mut self, cycle: u64) {
        self.pulse((self.wires.read_hit, 0), cycle);
        self.ledger.forwarded(self.number);
    }

    fn merges(&mut self, cycle: u64) {
        self.pulse((self.wires.write_hit, 0), cycle);
        self.ledger.merged(self.number);
    }

    fn changes_mode(&mut self, from: MajorMode, to: MajorMode, cycle: u64) {
        let ((wire, tags), tick) = (&self.wires.mode, cycle * self.clock.ticks());
        wire.leave(tags[from as usize], tick, self.sink);
        wire.enter(tags[to as usize], tick, self.sink);
        self.ledger.mode(self.number, to, cycle);
    }

    fn preempts(&mut self, victim: Pending, cycle: u64) {
        let (wire, tags) = self.wires.preemption;
        self.pulse((wire, tags[victim as usize]), cycle);
        self.ledger.preempted(self.number, victim);
    }

    fn state(&mut self, state: MemoryState, on: bool, cycle: u64) {
        self.switch(self.wires.of_state(state), on, cycle);
        self.ledger.memory_state(self.number, state, on, cycle);
    }

    fn corrects(&mut self, cycle: u64) {
        self.pulse((self.wires.corrected, 0), cycle);
        self.ledger.corrected(self.number);
    }
}
