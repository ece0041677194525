//! What a memory channel says of itself, as facts.

use pericore_dram::{MajorMode, MemoryState, Observer, Pending, Sent};
use pericore_engine::Period;
use pericore_facts::{ChannelFact, FactReader};

/// Observes a channel, and reports what happens with the tick at which it does.
#[derive(Debug)]
pub struct ChannelFacts<R> {
    /// The channel's clock.
    pub clock: Period,
    /// Who reads the facts.
    pub reader: R,
}

impl<R: FactReader<ChannelFact>> ChannelFacts<R> {
    #[inline(always)]
    fn happens(&mut self, fact: ChannelFact, cycle: u64) {
        self.reader.read(cycle * self.clock.ticks(), fact);
    }
}

impl<R: FactReader<ChannelFact>> Observer for ChannelFacts<R> {
    fn begins(&mut self, ranks: u8) {
        self.happens(ChannelFact::Starts(ranks), 0);
    }

    #[inline]
    fn command(&mut self, sent: &Sent) {
        self.happens(ChannelFact::Command(sent.record), sent.record.cycle);
    }

    #[inline]
    fn enters(&mut self, queue: Pending, _: bool, _: bool, cycle: u64) {
        self.happens(ChannelFact::Enters(queue), cycle);
    }

    #[inline]
    fn leaves(&mut self, queue: Pending, _: bool, entered: u64, cycle: u64) {
        self.happens(ChannelFact::Leaves(queue, entered), cycle);
    }

    fn forwards(&mut self, cycle: u64) {
        self.happens(ChannelFact::Forwards, cycle);
    }

    fn merges(&mut self, cycle: u64) {
        self.happens(ChannelFact::Merges, cycle);
    }

    fn changes_mode(&mut self, from: MajorMode, to: MajorMode, _: bool, cycle: u64) {
        self.happens(ChannelFact::Mode { from, to }, cycle);
    }

    fn preempts(&mut self, victim: Pending, cycle: u64) {
        self.happens(ChannelFact::Preempts(victim), cycle);
    }

    fn state(&mut self, state: MemoryState, on: bool, cycle: u64) {
        self.happens(ChannelFact::State(state, on), cycle);
    }

    fn corrects(&mut self, cycle: u64) {
        self.happens(ChannelFact::Corrects, cycle);
    }
}
