//! Between the home agent and its memory channels: credits for their queues, the turns of writes, and what channels give back.

use pericore_dram::{Arrival, Outcome, Pending};
use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::event::Event;
use super::home::CHANNELS;
use super::request::RequestId;
use crate::ledger::e5_2600::{HomeQueue, RequestKind};

impl Model {
    /// A request goes to its channel's queue, as soon as there is a credit for it.
    pub(super) fn go_to_memory<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        entry.place = self.map.place(entry.line);
        let (read, home) = (entry.record.kind.reads_memory(), entry.record.nid);
        let channel = usize::from(entry.place.channel) % CHANNELS;
        let (agent, wires) = (&mut self.homes[usize::from(home)], &self.wires.homes[usize::from(home)]);
        let (credits, queue, pending) = if read {
            (&mut agent.read_credits[channel], &mut agent.reads[channel], Pending::Reads)
        } else {
            (&mut agent.write_credits[channel], &mut agent.writes[channel], Pending::Writes)
        };
        if read {
            // No document says when the short way is open: with nothing else pending in the channel (assumption). It saves no time here.
            let idle = *credits == self.parameters.dram.reads;
            entry.record.bypass = Some(idle);
            let (wire, tags) = &wires.bypass;
            wire.say(tags[usize::from(idle)], self.now, sink);
        }
        if *credits == 0 {
            queue.push(request);
            return;
        }
        *credits -= 1;
        if *credits == 0 {
            let (wire, tags) = &wires.no_credits[pending as usize];
            wire.enter(tags[channel], self.now, sink);
        }
        self.ledger.home_enter(home, HomeQueue::Credits(pending, channel), self.now);
        if read {
            self.request_memory(request, self.now);
        } else {
            self.plan_write(request, self.now, sink);
        }
    }

    /// A credit that nothing waits for is free again.
    fn credit_free<S: SignalSink>(&mut self, home: usize, queue: Pending, channel: usize, sink: &mut S) {
        let agent = &mut self.homes[home];
        let credits = match queue {
            Pending::Reads => &mut agent.read_credits[channel],
            Pending::Writes => &mut agent.write_credits[channel],
        };
        if *credits == 0 {
            let (wire, tags) = &self.wires.homes[home].no_credits[queue as usize];
            wire.leave(tags[channel], self.now, sink);
        }
        *credits += 1;
        self.ledger.home_leave(home as u8, HomeQueue::Credits(queue, channel), self.now);
    }

    /// Gives a write its turn at or after an uncore edge.
    fn plan_write<S: SignalSink>(&mut self, request: RequestId, edge: Tick, sink: &mut S) {
        let home = &mut self.homes[usize::from(self.pool[request].record.nid)];
        let at = edge.max(home.write_free);
        home.write_free = at + self.latency.uclk;
        if at == self.now {
            self.write(request, sink);
        } else {
            self.wheel.schedule(at, Event::Write.of(request));
        }
    }

    /// The home agent hands write data to the memory controller.
    pub(super) fn write<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let record = &mut self.pool[request].record;
        record.written = self.wheel.cycle();
        let wires = &self.wires.homes[usize::from(record.nid)];
        let part = record.kind == RequestKind::StreamPart && !record.completed;
        let (wire, tag) = if part { &wires.written_part } else { &wires.written };
        wire.say(*tag, self.now, sink);
        self.request_memory(request, self.now);
    }

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
        channel.announce(Arrival { cycle, owner: request, line, bank, row, queue, partial });
        let tick = cycle * clock.ticks();
        self.channel_next.bring_forward(place.channel.into(), tick);
        self.memory_next = self.memory_next.min(tick);
    }

    /// What a channel has just told the home agent.
    pub(super) fn take_outcomes<S: SignalSink>(&mut self, channel: usize, sink: &mut S) {
        let (home, channel) = self.map.home_and_channel(channel);
        for index in 0..self.outcomes.len() {
            match self.outcomes[index] {
                Outcome::Data { owner, cycle } => {
                    self.memory_answers(owner, cycle * self.clocks.dclk.ticks(), sink);
                    match self.homes[home].reads[channel].pop() {
                        Some(next) => self.request_memory(next, self.now + self.latency.credit_return),
                        None => self.credit_free(home, Pending::Reads, channel, sink),
                    }
                }
                Outcome::Posted { owner } => self.plan_answer(owner, self.now),
                Outcome::WriteCredit => match self.homes[home].writes[channel].pop() {
                    Some(next) => {
                        let edge = self.clocks.uclk.align_up(self.now + self.latency.credit_return);
                        self.plan_write(next, edge, sink);
                    }
                    None => self.credit_free(home, Pending::Writes, channel, sink),
                },
            }
        }
        self.outcomes.clear();
    }
}
