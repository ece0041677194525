//! Between the home agent and its memory channels: credits for their queues, the turns of writes, and what channels
//! give back.

use pericore_dram::{Arrival, Outcome, Pending};
use pericore_engine::Tick;
use pericore_facts::e5_2600::E5Reader;

use crate::e5_2600::Model;
use crate::e5_2600::event::Event;
use crate::e5_2600::home::{CHANNELS, QueueCredits};
use crate::e5_2600::request::RequestId;
use pericore_facts::e5_2600::{E5Fact, RequestKind, RequestStation, UncoreUse};

const fn credit_in_use(home: u8, queue: Pending, channel: usize, special: bool) -> UncoreUse {
    if special {
        UncoreUse::SpecialCredit(home, queue, channel as u8)
    } else {
        UncoreUse::Credit(home, queue, channel as u8)
    }
}

impl Model {
    /// A request goes to its channel's queue, as soon as there is a credit for it.
    pub(in crate::e5_2600) fn go_to_memory<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.pool[request];
        entry.place = self.map.place(entry.line);
        let (read, home) = (entry.record.kind.reads_memory(), entry.record.nid);
        let channel = usize::from(entry.place.channel) % CHANNELS;
        let agent = &self.homes[usize::from(home)];
        let pending = if read { Pending::Reads } else { Pending::Writes };
        if read {
            // No document says when the short way is open: with nothing else pending in the channel (assumption). It
            // saves no time here.
            let free = agent.credits.free(pending, channel) + agent.special_credits.free(pending, channel);
            let idle = free == self.parameters.dram.reads;
            entry.record.bypass = Some(idle);
            reader.read(self.now, E5Fact::Request(RequestStation::Routed, &entry.record));
        }
        let special = entry.record.isochronous;
        if !self.credits(home.into(), special).take(pending, channel, request) {
            return;
        }
        self.begins(credit_in_use(home, pending, channel, special), reader);
        if read {
            self.request_memory(request, self.now);
        } else {
            self.plan_write(request, self.now, reader);
        }
    }

    /// The credits for channels' queues, regular or for isochronous requests.
    #[inline]
    fn credits(&mut self, home: usize, special: bool) -> &mut QueueCredits {
        let agent = &mut self.homes[home];
        if special { &mut agent.special_credits } else { &mut agent.credits }
    }

    /// A credit is free again: the next request that waits for one, if there is any.
    fn credit_free<R: E5Reader>(
        &mut self,
        home: usize,
        queue: Pending,
        channel: usize,
        special: bool,
        reader: &mut R,
    ) -> Option<RequestId> {
        let next = self.credits(home, special).give(queue, channel);
        if next.is_none() {
            self.ends(credit_in_use(home as u8, queue, channel, special), reader);
        }
        next
    }

    /// Gives a write its turn at or after an uncore edge.
    fn plan_write<R: E5Reader>(&mut self, request: RequestId, edge: Tick, reader: &mut R) {
        let home = &mut self.homes[usize::from(self.pool[request].record.nid)];
        let at = edge.max(home.write_free);
        home.write_free = at + self.latency.uclk;
        if at == self.now {
            self.write(request, reader);
        } else {
            self.wheel.schedule(at, Event::Write.of(request));
        }
    }

    /// The home agent hands write data to the memory controller.
    pub(in crate::e5_2600) fn write<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let record = &mut self.pool[request].record;
        record.written = self.wheel.cycle();
        self.report(request, RequestStation::Written, reader);
        self.request_memory(request, self.now);
    }

    #[inline]
    fn request_memory(&mut self, request: RequestId, from: Tick) {
        let entry = &self.pool[request];
        let place = entry.place;
        let queue = if entry.record.kind.reads_memory() { Pending::Reads } else { Pending::Writes };
        let clock = self.clocks.dclk;
        let channel = &mut self.channels[usize::from(place.channel)];
        let earliest = clock.next_cycle(from + self.latency.home_to_memory);
        let cycle = channel.last_arrival().map_or(earliest, |last| earliest.max(last + 1));
        let (line, bank, row) = (entry.line, place.bank, place.row);
        let partial = entry.record.kind == RequestKind::StreamPart && !entry.record.completed;
        let isochronous = entry.record.isochronous;
        channel.announce(Arrival { cycle, owner: request, line, bank, row, queue, partial, isochronous });
        let tick = cycle * clock.ticks();
        self.channel_next.bring_forward(place.channel.into(), tick);
        self.memory_next = self.memory_next.min(tick);
    }

    /// What a channel has just told the home agent.
    pub(in crate::e5_2600) fn take_outcomes<R: E5Reader>(&mut self, channel: usize, reader: &mut R) {
        let (home, channel) = self.map.home_and_channel(channel);
        let lines = self.outcomes.iter().filter(|outcome| !matches!(outcome, Outcome::Posted { .. })).count();
        self.lines_moved[home] += lines as u64;
        for index in 0..self.outcomes.len() {
            match self.outcomes[index] {
                Outcome::Data { owner, cycle } => {
                    let special = self.pool[owner].record.isochronous;
                    self.memory_responds(owner, cycle * self.clocks.dclk.ticks(), reader);
                    if let Some(next) = self.credit_free(home, Pending::Reads, channel, special, reader) {
                        self.request_memory(next, self.now + self.latency.credit_return);
                    }
                }
                Outcome::Posted { owner } => self.plan_response(owner, self.now),
                Outcome::WriteCredit { isochronous, .. } => {
                    if let Some(next) = self.credit_free(home, Pending::Writes, channel, isochronous, reader) {
                        let edge = self.clocks.uclk.align_up(self.now + self.latency.credit_return);
                        self.plan_write(next, edge, reader);
                    }
                }
            }
        }
        self.outcomes.clear();
    }
}
