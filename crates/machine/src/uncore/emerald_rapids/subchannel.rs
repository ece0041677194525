//! A DDR5 subchannel, which the guide calls a pseudo channel: a memory channel with a bus of its own, the buffer that its read data
//! comes into.

use std::sync::Arc;

use pericore_dram::{
    Arrival, Channel, Command, Conditions, MajorMode, MemoryState, Observer, Outcome, Pending, Sent, Timing,
};
use pericore_engine::{NEVER, Period, Ring, Tick};
use pericore_facts::emerald_rapids::{Fact, MemoryFact, Readers, SubchannelPlace};

/// One subchannel.
#[derive(Debug)]
pub struct Subchannel {
    place: SubchannelPlace,
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
    /// An idle subchannel with closed banks.
    pub fn new(place: SubchannelPlace, clock: Period, timing: &Arc<Timing>) -> Self {
        let of_banks = Channel::new(clock, timing);
        Self {
            next: of_banks.next_tick(),
            place,
            clock,
            channel: of_banks,
            latency: timing.cl + timing.burst,
            buffered: Ring::new(0),
            next_data: NEVER,
        }
    }

    /// Emits the levels that hold from the start.
    pub fn start<R: Readers>(&mut self, reader: &mut R) {
        let (channel, mut observer) = self.watched(reader);
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

    fn watched<'a, R>(&'a mut self, reader: &'a mut R) -> (&'a mut Channel, SubchannelObserver<'a, R>) {
        let Self { place, clock, ref mut channel, latency, ref mut buffered, .. } = *self;
        (channel, SubchannelObserver { place, clock, latency, buffered, reader })
    }

    /// Does what is due now, which must be the time of [`Subchannel::next_tick`].
    pub fn step<R: Readers>(&mut self, reader: &mut R, out: &mut Vec<Outcome>) {
        let now = self.next;
        while self.next_data <= now {
            self.buffered.pop();
            self.watch_data();
            reader.read(now, Fact::Memory(self.place, MemoryFact::Delivers));
        }
        if self.channel.next_tick() == now {
            let (channel, mut observer) = self.watched(reader);
            channel.step(&mut observer, out);
            if self.next_data == NEVER {
                self.watch_data();
            }
        }
        self.next = self.channel.next_tick().min(self.next_data);
    }
}

/// Passes on what a subchannel's channel says.
struct SubchannelObserver<'a, R> {
    place: SubchannelPlace,
    clock: Period,
    latency: u64,
    buffered: &'a mut Ring<u64, 32>,
    reader: &'a mut R,
}

impl<R: Readers> SubchannelObserver<'_, R> {
    #[inline]
    fn happens(&mut self, fact: MemoryFact, cycle: u64) {
        self.reader.read(cycle * self.clock.ticks(), Fact::Memory(self.place, fact));
    }
}

/// No unit counts what the memory of a CXL device does.
pub struct Unseen;

impl Observer for Unseen {
    fn begins(&mut self, _: u8) {}
    fn command(&mut self, _: &Sent) {}
    fn enters(&mut self, _: Pending, _: bool, _: bool, _: u64) {}
    fn leaves(&mut self, _: Pending, _: bool, _: u64, _: u64) {}
    fn forwards(&mut self, _: u64) {}
    fn merges(&mut self, _: u64) {}
    fn changes_mode(&mut self, _: MajorMode, _: MajorMode, _: bool, _: u64) {}
    fn preempts(&mut self, _: Pending, _: u64) {}
    fn state(&mut self, _: MemoryState, _: bool, _: u64) {}
    fn corrects(&mut self, _: u64) {}
}

impl<R: Readers> Observer for SubchannelObserver<'_, R> {
    fn begins(&mut self, _: u8) {
        self.happens(MemoryFact::Starts, 0);
    }

    fn command(&mut self, sent: &Sent) {
        if sent.record.command == Command::Read {
            self.buffered.push(sent.record.cycle + self.latency);
        }
        self.happens(MemoryFact::Command(*sent), sent.record.cycle);
    }

    fn enters(&mut self, queue: Pending, isochronous: bool, _: bool, cycle: u64) {
        self.happens(MemoryFact::Enters(queue, isochronous), cycle);
    }

    fn leaves(&mut self, queue: Pending, _: bool, _: u64, cycle: u64) {
        self.happens(MemoryFact::Leaves(queue), cycle);
    }

    fn forwards(&mut self, cycle: u64) {
        self.happens(MemoryFact::Forwards, cycle);
    }

    fn merges(&mut self, cycle: u64) {
        self.happens(MemoryFact::Merges, cycle);
    }

    fn changes_mode(&mut self, from: MajorMode, to: MajorMode, preempts: bool, cycle: u64) {
        self.happens(MemoryFact::Mode { from, to, preempts }, cycle);
    }

    fn state(&mut self, state: MemoryState, on: bool, cycle: u64) {
        self.happens(MemoryFact::State(state, on), cycle);
    }

    fn preempts(&mut self, victim: Pending, cycle: u64) {
        self.happens(MemoryFact::Preempts(victim), cycle);
    }

    fn corrects(&mut self, cycle: u64) {
        self.happens(MemoryFact::Corrects, cycle);
    }
}
