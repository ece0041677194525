//! Virtual time goes on: what is due next happens, event by event.

use pericore_dram::Pending;
use pericore_engine::Tick;
use pericore_facts::e5_2600::{E5Fact, E5Reader, PacketStation, RequestStation, UncoreUse};
use pericore_facts::{ChannelFact, FactReader};
use pericore_parts::channel_facts::ChannelFacts;

use super::Model;
use super::event::Event;
use super::links::PacketId;
use super::request::RequestId;

/// Reports what happens in a memory channel as facts of the machine.
struct OfChannel<'a, R> {
    number: u16,
    reader: &'a mut R,
}

impl<R: E5Reader> FactReader<ChannelFact> for OfChannel<'_, R> {
    #[inline(always)]
    fn read(&mut self, at: Tick, fact: ChannelFact) {
        self.reader.read(at, E5Fact::Memory(self.number, fact));
    }
}

impl Model {
    /// Runs everything that happens before `until`; afterwards it is `until`.
    pub fn run_until<R: E5Reader>(&mut self, until: Tick, reader: &mut R) {
        if self.work.start() {
            self.start(reader);
        }
        loop {
            let (next, memory) = (self.wheel.next_tick(), self.memory_next);
            if next.min(memory) >= until {
                break;
            }
            if next <= memory {
                self.now = next;
                self.wheel.advance_to_next();
                while let Some(packed) = self.wheel.pop() {
                    self.dispatch(packed, reader);
                }
            } else {
                self.now = memory;
                self.wheel.advance(memory);
            }
            if self.memory_next == self.now {
                self.step_channels(reader);
            }
        }
        self.now = self.now.max(until);
        self.wheel.advance(self.now);
    }

    /// Reports what holds from the start, and begins the first phase.
    #[cold]
    fn start<R: E5Reader>(&mut self, reader: &mut R) {
        for index in 0..self.channels.len() {
            let reader = OfChannel { number: index as u16, reader: &mut *reader };
            self.channels[index].start(&mut ChannelFacts { clock: self.clocks.dclk, reader });
        }
        if !self.parameters.direct_to_core {
            (0..self.parameters.sockets).for_each(|home| self.begins(UncoreUse::DirectDisabled(home), reader));
        }
        self.start_links(reader);
        self.start_phases(reader);
    }

    fn step_channels<R: E5Reader>(&mut self, reader: &mut R) {
        while self.channel_next.tick() == self.now {
            let index = self.channel_next.unit();
            let channel = &mut self.channels[index];
            let of_channel = OfChannel { number: index as u16, reader: &mut *reader };
            let mut facts = ChannelFacts { clock: self.clocks.dclk, reader: of_channel };
            channel.step(&mut facts, &mut self.outcomes);
            self.channel_next.set(index, channel.next_tick());
            if !self.outcomes.is_empty() {
                self.take_outcomes(index, reader);
            }
        }
        if self.links.next == self.now {
            self.step_links(reader);
        }
        self.memory_next = self.channel_next.tick().min(self.links.next);
    }

    #[inline(always)]
    fn dispatch<R: E5Reader>(&mut self, packed: u32, reader: &mut R) {
        let (event, subject) = Event::unpack(packed);
        match event {
            Event::Issue => self.issue(subject, reader),
            Event::Arrive => self.arrive(subject, reader),
            Event::Pump => self.pump(subject, reader),
            Event::Egress => self.next_message(subject, reader),
            Event::Accept => self.accept(subject, reader),
            Event::Write => self.write(subject, reader),
            Event::Respond => self.respond(subject, reader),
            Event::Fill => self.fill(subject, reader),
            Event::Data => self.data(subject, reader),
            Event::Step => self.step(subject, reader),
            other => self.dispatch_other(other, subject, reader),
        }
    }

    /// Events that are none of a core's request to the memory of its own socket.
    ///
    /// They, and what other handlers do for such requests only, are kept apart: the ways that most requests go lie
    /// close together then, and stay in the host's cache of instructions.
    #[inline(never)]
    fn dispatch_other<R: E5Reader>(&mut self, event: Event, subject: u16, reader: &mut R) {
        match event {
            Event::SnoopArrive => self.snoop_arrives(subject, reader),
            Event::Post => self.post(subject, reader),
            Event::Forward => self.forward_again(subject, reader),
            Event::Delivered => self.delivered(subject, reader),
            Event::CreditsBack => self.credits_back(subject, reader),
            Event::SnoopResponse => self.take_snoop_response(subject, reader),
            Event::SnoopWrite => self.snoop_write(subject, reader),
            Event::Part => self.part(subject, reader),
            Event::HomeEgress => self.next_address(subject, reader),
            Event::ThrottleEnds => self.end_throttle(subject, reader),
            Event::HomeAcknowledge => self.next_acknowledgement(subject, reader),
            Event::Power => self.step_power(subject, reader),
            Event::Agent => self.step_agent(subject, reader),
            Event::Device => self.pump_device(subject, reader),
            Event::Phase => self.step_phase(reader),
            Event::Passage => self.passage_arrives(subject, reader),
            Event::Far => self.far_responds(subject, reader),
            Event::Walked => self.resume(subject as u8, reader),
            Event::Issue
            | Event::Arrive
            | Event::Pump
            | Event::Egress
            | Event::Accept
            | Event::Write
            | Event::Respond
            | Event::Fill
            | Event::Data
            | Event::Step => unreachable!("dispatched before"),
        }
    }

    /// One of a request's open steps is over; after the last one it has ended.
    #[inline]
    pub(in crate::e5_2600) fn end_step<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.pool[request];
        entry.open -= 1;
        if entry.open == 0 {
            self.close(request, reader);
        }
    }

    #[inline(never)]
    fn close<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        // The record stays in its slot until another request takes it.
        self.pool.remove(request);
        self.report(request, RequestStation::Ended, reader);
    }

    /// A request is at a station.
    #[inline(always)]
    pub(in crate::e5_2600) fn report<R: E5Reader>(&self, request: RequestId, station: RequestStation, reader: &mut R) {
        reader.read(self.now, E5Fact::Request(station, &self.pool[request].record));
    }

    /// A packet is at a station.
    #[inline(always)]
    pub(in crate::e5_2600) fn report_packet<R: E5Reader>(
        &self,
        packet: PacketId,
        station: PacketStation,
        reader: &mut R,
    ) {
        reader.read(self.now, E5Fact::Packet(station, &self.links.packets[packet].record));
    }

    /// An entry comes to something, or it begins to hold.
    #[inline(always)]
    pub(in crate::e5_2600) fn begins<R: E5Reader>(&self, what: UncoreUse, reader: &mut R) {
        reader.read(self.now, E5Fact::Begins(what));
    }

    /// An entry leaves it, or it no longer holds.
    #[inline(always)]
    pub(in crate::e5_2600) fn ends<R: E5Reader>(&self, what: UncoreUse, reader: &mut R) {
        reader.read(self.now, E5Fact::Ends(what));
    }

    /// One of the two.
    #[inline(always)]
    pub(in crate::e5_2600) fn switch<R: E5Reader>(&self, what: UncoreUse, on: bool, reader: &mut R) {
        if on { self.begins(what, reader) } else { self.ends(what, reader) }
    }

    /// Reports what is under way: the state of the moment.
    pub fn under_way<R: E5Reader>(&self, reader: &mut R) {
        let next = self.clocks.uclk.next_cycle(self.now);
        for record in self.pool.records() {
            reader.read(self.now, E5Fact::Request(RequestStation::UnderWay, &record.before(next)));
        }
        for packet in self.links.packets.iter() {
            reader.read(self.now, E5Fact::Packet(PacketStation::UnderWay, &packet.record));
        }
        for (index, channel) in self.channels.iter().enumerate() {
            for queue in [Pending::Reads, Pending::Writes] {
                for entered in channel.entries(queue) {
                    reader.read(self.now, E5Fact::Memory(index as u16, ChannelFact::Stays(queue, entered)));
                }
            }
        }
        self.power.iter().for_each(|unit| unit.under_way(self.now, reader));
    }

    /// Arrivals in slices' queues are reported at once where somebody wants to know of them.
    pub fn announce_arrivals(&mut self, wanted: impl Fn(usize) -> bool) {
        for index in 0..self.slices.len() {
            let before = std::mem::replace(&mut self.slices[index].announces, wanted(index));
            if !before && self.slices[index].announces {
                self.announce_arrivals_of(index);
            }
        }
    }
}
