//! The memory controller: credits before the channels, and what the channels say.

use pericore_dram::{Arrival, MajorMode, MemoryState, Observer, Outcome, Pending, Sent};
use pericore_engine::{Period, Tick};

use super::Model;
use super::entrance::QueuedWrite;
use super::event::Event;
use super::request::RequestId;
use pericore_facts::nehalem::{CHANNELS, Kind, NehalemFact, NehalemReader as Facts, Station};

/// Makes facts of what a channel does: commands. The queues are known where requests come and go, by priority, which a
/// channel does not know.
struct ChannelFacts<'a, R> {
    home: u8,
    channel: u8,
    now: Tick,
    clock: Period,
    reader: &'a mut R,
}

impl<R: Facts> Observer for ChannelFacts<'_, R> {
    fn command(&mut self, sent: &Sent) {
        let (home, channel, record) = (self.home, self.channel, sent.record);
        self.reader.read(record.cycle * self.clock.ticks(), NehalemFact::Command { home, channel, record });
    }

    fn forwards(&mut self, _: u64) {
        self.reader.read(self.now, NehalemFact::Forwarded { home: self.home, channel: self.channel });
    }

    fn merges(&mut self, _: u64) {
        self.reader.read(self.now, NehalemFact::Merged { home: self.home, channel: self.channel });
    }

    fn enters(&mut self, _: Pending, _: bool, _: bool, _: u64) {}
    fn leaves(&mut self, _: Pending, _: bool, _: u64, _: u64) {}
    fn begins(&mut self, _: u8) {}
    fn changes_mode(&mut self, _: MajorMode, _: MajorMode, _: bool, _: u64) {}
    fn preempts(&mut self, _: Pending, _: u64) {}
    fn state(&mut self, _: MemoryState, _: bool, _: u64) {}
    fn corrects(&mut self, _: u64) {}
}

const fn queue(kind: Kind) -> Pending {
    if kind.reads() { Pending::Reads } else { Pending::Writes }
}

impl Model {
    /// Sends a request to its channel when there is room, at the earliest after `latency` ticks.
    #[inline]
    pub(super) fn send_to_memory(&mut self, request: RequestId, latency: Tick) {
        let record = &self.requests[request].record;
        let (index, queue) = (self.channel_of(record.home, record.channel), queue(record.kind));
        if record.is_isochronous() {
            let entrance = &mut self.entrances[index];
            if entrance.high[queue as usize] == 0 {
                entrance.waiting_high[queue as usize].push_back(request);
                return;
            }
            entrance.high[queue as usize] -= 1;
        }
        self.take_entry(request, index, queue, latency);
    }

    #[inline]
    fn take_entry(&mut self, request: RequestId, index: usize, queue: Pending, latency: Tick) {
        let entrance = &mut self.entrances[index];
        if entrance.credits[queue as usize] == 0 {
            entrance.waiting[queue as usize].push_back(request);
            return;
        }
        entrance.credits[queue as usize] -= 1;
        self.plan_memory(request, index, latency);
    }

    #[inline]
    fn plan_memory(&mut self, request: RequestId, index: usize, latency: Tick) {
        let dclk = self.clocks.dclk;
        let entrance = &mut self.entrances[index];
        // At a DRAM clock's edge after now.
        let cycle = (dclk.cycles(self.now + latency) + 1).max(entrance.last + 1);
        entrance.last = cycle;
        self.wheel.schedule(cycle * dclk.ticks(), Event::Memory.of(request));
    }

    /// A request reaches its channel.
    pub(super) fn at_memory<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.requests[request];
        entry.record.at_memory = self.now;
        let (kind, home, channel) = (entry.record.kind, entry.record.home, entry.record.channel);
        let line = entry.line;
        let place = self.place(line);
        self.report(request, Station::AtMemory, reader);
        let cycle = self.clocks.dclk.cycles(self.now);
        let index = self.channel_of(home, channel);
        if !kind.reads() {
            let isochronous = self.requests[request].record.isochronous_write;
            self.entrances[index].writes.push(QueuedWrite { line, since: self.now, isochronous });
        }
        let (bank, row) = (place.bank, place.row);
        // Partial writes take no read of the rest of their line here: the documents name none.
        // Here a high priority is one of entries in the queues only.
        let (partial, isochronous) = (false, false);
        self.channels[index].announce(Arrival {
            cycle,
            owner: request,
            line,
            bank,
            row,
            queue: queue(kind),
            partial,
            isochronous,
        });
        self.channel_next[index] = self.channel_next[index].min(self.now);
        self.memory_next = self.memory_next.min(self.now);
    }

    /// Lets the channels do what is due now.
    pub(super) fn step_channels<R: Facts>(&mut self, reader: &mut R) {
        for index in 0..self.channels.len() {
            if self.channel_next[index] != self.now {
                continue;
            }
            let (home, channel) = ((index / CHANNELS) as u8, (index % CHANNELS) as u8);
            let (now, clock) = (self.now, self.clocks.dclk);
            let mut observer = ChannelFacts { home, channel, now, clock, reader: &mut *reader };
            self.channels[index].step(&mut observer, &mut self.outcomes);
            self.channel_next[index] = self.channels[index].next_tick();
            if !self.outcomes.is_empty() {
                self.take_outcomes(index, reader);
            }
        }
        self.memory_next = self.channel_next.iter().fold(Tick::MAX, |least, &next| least.min(next));
    }

    fn take_outcomes<R: Facts>(&mut self, index: usize, reader: &mut R) {
        for outcome in 0..self.outcomes.len() {
            match self.outcomes[outcome] {
                Outcome::Data { owner, cycle } => {
                    self.requests[owner].record.served = self.now;
                    self.report(owner, Station::Served, reader);
                    self.give_back(index, Pending::Reads);
                    if self.requests[owner].record.is_isochronous() {
                        self.give_back_high(index, Pending::Reads);
                    }
                    let ready = cycle * self.clocks.dclk.ticks() + self.times.memory_to_home;
                    self.wheel.schedule(ready, Event::Read.of(owner));
                }
                Outcome::Posted { owner } => {
                    self.wheel.schedule(self.now + self.times.memory_to_home, Event::Posted.of(owner));
                }
                Outcome::WriteCredit { line, .. } => {
                    let QueuedWrite { since, isochronous, .. } = self.entrances[index].take_write(line, self.now);
                    let (home, channel) = ((index / CHANNELS) as u8, (index % CHANNELS) as u8);
                    reader.read(self.now, NehalemFact::Written { home, channel, since, isochronous });
                    self.give_back(index, Pending::Writes);
                    if isochronous {
                        self.give_back_high(index, Pending::Writes);
                    }
                }
            }
        }
        self.outcomes.clear();
    }

    /// An entry of a channel's queue is free: the next request may come.
    #[inline]
    fn give_back(&mut self, index: usize, queue: Pending) {
        let entrance = &mut self.entrances[index];
        match entrance.waiting[queue as usize].pop_front() {
            Some(next) => self.plan_memory(next, index, self.times.home_to_memory),
            None => entrance.credits[queue as usize] += 1,
        }
    }

    /// One that an isochronous request had: the next of these may come.
    fn give_back_high(&mut self, index: usize, queue: Pending) {
        match self.entrances[index].waiting_high[queue as usize].pop_front() {
            Some(next) => self.take_entry(next, index, queue, self.times.home_to_memory),
            None => self.entrances[index].high[queue as usize] += 1,
        }
    }

    /// Number of a socket's channel over the machine.
    #[inline]
    const fn channel_of(&self, socket: u8, channel: u8) -> usize {
        socket as usize * CHANNELS + channel as usize
    }
}
