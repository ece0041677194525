//! Virtual time goes on: what is due next happens, event by event.

use pericore_dram::{Channel, Outcome};
use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::channel::ChannelWitness;
use super::event::Event;
use super::request::RequestId;

impl Model {
    /// Runs everything that happens before `until`; afterwards it is `until`.
    pub fn run_until<S: SignalSink>(&mut self, until: Tick, sink: &mut S) {
        if self.work.start() {
            self.start(sink);
        }
        self.listen(sink);
        loop {
            let (next, memory) = (self.wheel.next_tick(), self.memory_next);
            if next.min(memory) >= until {
                break;
            }
            if next <= memory {
                self.now = next;
                self.wheel.advance_to_next();
                while let Some(packed) = self.wheel.pop() {
                    self.dispatch(packed, sink);
                }
            } else {
                self.now = memory;
                self.wheel.advance(memory);
            }
            if self.memory_next == self.now {
                self.step_channels(sink);
            }
        }
        self.now = self.now.max(until);
        self.wheel.advance(self.now);
    }

    /// Says what holds from the start, and begins the first phase.
    #[cold]
    fn start<S: SignalSink>(&mut self, sink: &mut S) {
        for index in 0..self.channels.len() {
            let (channel, mut witness, _) = self.watched(index, sink);
            channel.start(&mut witness);
        }
        self.start_links(sink);
        for wires in &self.wires.homes {
            sink.enter(wires.conflicts.0, wires.conflicts.1[0], 0);
        }
        self.start_phases(sink);
    }

    /// A channel, what passes on what it says, and where it leaves what it has done.
    #[inline(always)]
    fn watched<'a, S>(
        &'a mut self,
        index: usize,
        sink: &'a mut S,
    ) -> (&'a mut Channel, ChannelWitness<'a, S>, &'a mut Vec<Outcome>) {
        let (wires, ledger) = (&self.wires.channels[index], &mut self.ledger);
        let witness = ChannelWitness { number: index as u16, clock: self.clocks.dclk, wires, sink, ledger };
        (&mut self.channels[index], witness, &mut self.outcomes)
    }

    fn step_channels<S: SignalSink>(&mut self, sink: &mut S) {
        while self.channel_next.tick() == self.now {
            let index = self.channel_next.unit();
            let (channel, mut witness, outcomes) = self.watched(index, sink);
            channel.step(&mut witness, outcomes);
            let (next, done_nothing) = (channel.next_tick(), outcomes.is_empty());
            self.channel_next.set(index, next);
            if !done_nothing {
                self.take_outcomes(index, sink);
            }
        }
        if self.links.next == self.now {
            self.step_links(sink);
        }
        self.memory_next = self.channel_next.tick().min(self.links.next);
    }

    #[inline(always)]
    fn dispatch<S: SignalSink>(&mut self, packed: u32, sink: &mut S) {
        let (event, subject) = Event::unpack(packed);
        match event {
            Event::Issue => self.issue(subject, sink),
            Event::Arrive => self.arrive(subject, sink),
            Event::Pump => self.pump(subject, sink),
            Event::Egress => self.next_message(subject, sink),
            Event::Accept => self.accept(subject, sink),
            Event::Write => self.write(subject, sink),
            Event::Answer => self.answer(subject, sink),
            Event::Fill => self.fill(subject, sink),
            Event::Data => self.data(subject, sink),
            Event::Step => self.step(subject, sink),
            other => self.dispatch_other(other, subject, sink),
        }
    }

    /// Events that are none of a core's request to the memory of its own socket.
    ///
    /// They, and what other handlers do for such requests only, are kept apart: the ways that most requests go lie close together then,
    /// and stay in the host's cache of instructions.
    #[inline(never)]
    fn dispatch_other<S: SignalSink>(&mut self, event: Event, subject: u16, sink: &mut S) {
        match event {
            Event::SnoopArrive => self.snoop_arrives(subject, sink),
            Event::Post => self.post(subject, sink),
            Event::Forward => self.forward_again(subject, sink),
            Event::Delivered => self.delivered(subject, sink),
            Event::CreditsBack => self.credits_back(subject, sink),
            Event::SnoopAnswer => self.take_snoop_answer(subject),
            Event::SnoopWrite => self.snoop_write(subject, sink),
            Event::Part => self.part(subject, sink),
            Event::HomeEgress => self.next_address(subject, sink),
            Event::Power => self.step_power(subject, sink),
            Event::Agent => self.step_agent(subject, sink),
            Event::Device => self.pump_device(subject, sink),
            Event::Phase => self.step_phase(sink),
            Event::Passage => self.passage_arrives(subject, sink),
            Event::Far => self.far_answers(subject, sink),
            Event::Issue
            | Event::Arrive
            | Event::Pump
            | Event::Egress
            | Event::Accept
            | Event::Write
            | Event::Answer
            | Event::Fill
            | Event::Data
            | Event::Step => unreachable!("dispatched before"),
        }
    }

    /// One of a request's open steps is over; after the last one its record is closed.
    #[inline]
    pub(super) fn end_step(&mut self, request: RequestId) {
        let entry = &mut self.pool[request];
        entry.open -= 1;
        if entry.open == 0 {
            self.close(request);
        }
    }

    fn close(&mut self, request: RequestId) {
        // The record stays in its slot until another request takes it.
        self.pool.remove(request);
        self.ledger.close(&self.pool[request].record);
    }
}
