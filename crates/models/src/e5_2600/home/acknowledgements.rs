//! The home agent's acknowledgements: one goes onto its ring where the slot that passes is empty, and else waits.
//!
//! A ring has a slot for each stop, in each direction; they move on by a stop in a cycle. A message that goes from one
//! stop to another fills its slot on the way, and who stands between them finds it full. That is modelled at the home
//! agent for the ring of acknowledgements, which cores, slices and devices send past it.

use pericore_engine::Tick;
use pericore_facts::e5_2600::{E5Reader, Message, RequestKind, RingKind};

use crate::e5_2600::Model;
use crate::e5_2600::event::Event;
use crate::e5_2600::request::RequestId;
use crate::e5_2600::ring::Direction;

impl Model {
    /// A slice's or core's ring stop is to send an acknowledgement, as [`Model::message`] does.
    pub(in crate::e5_2600) fn acknowledgement<R: E5Reader>(
        &mut self,
        stop: u16,
        message: Message,
        to: u8,
        reader: &mut R,
    ) -> Tick {
        let sent = self.message(stop, message, to, reader);
        self.fills_slot(self.map.socket(stop), (self.map.within(stop), to), sent);
        sent
    }

    /// An acknowledgement goes from one stop of a socket to another at a tick, soon: its slot may pass the home agent.
    #[inline]
    pub(in crate::e5_2600) fn fills_slot(&mut self, socket: u8, (from, to): (u8, u8), sent: Tick) {
        if let Some((direction, steps)) = self.rings.passes_home(from, to) {
            self.passes_home_after(socket, direction, steps, sent);
        }
    }

    /// Something goes over a ring of a socket from the stop of input-output.
    pub(in crate::e5_2600) fn leaves_io<R: E5Reader>(&mut self, socket: u8, ring: RingKind, to: u8, reader: &mut R) {
        let io = self.rings.io();
        self.travel(socket, ring, io, to, reader);
        if ring == RingKind::Acknowledge {
            self.fills_slot(socket, (io, to), self.now);
        }
    }

    /// A full slot of the ring of acknowledgements comes past the home agent some steps after a tick.
    #[inline(never)]
    pub(in crate::e5_2600) fn passes_home_after(&mut self, socket: u8, direction: Direction, steps: u8, sent: Tick) {
        let cycle = self.clocks.uclk.cycles(sent) + u64::from(steps) * self.parameters.ring_hop;
        self.homes[usize::from(socket)].acknowledgements.passes(direction, cycle, self.wheel.cycle());
    }

    /// The home agent acknowledges a request to its slice: at once, or when a slot for it is empty.
    #[inline]
    pub(in crate::e5_2600) fn acknowledge<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let record = &self.pool[request].record;
        let (home, direction) = (record.nid, self.rings.direction_home_to(self.map.within(record.slice)));
        let now = self.wheel.cycle();
        // Who waits goes first.
        if !self.homes[usize::from(home)].acknowledgements.waiting.is_empty() {
            self.next_acknowledgement(home.into(), reader);
        }
        let queue = &mut self.homes[usize::from(home)].acknowledgements;
        if queue.waiting.is_empty() && queue.can_send(direction, now) {
            self.acknowledge_now(home, request, reader);
        } else {
            self.acknowledge_later(home, request, reader);
        }
    }

    #[inline(never)]
    fn acknowledge_later<R: E5Reader>(&mut self, home: u8, request: RequestId, reader: &mut R) {
        let queue = &mut self.homes[usize::from(home)].acknowledgements;
        queue.waiting.push_back(request);
        if queue.waiting.len() == 1 {
            self.try_again(home);
        }
        self.home_queues(home, RingKind::Acknowledge, self.pool[request].line, true, reader);
    }

    fn try_again(&mut self, home: u8) {
        self.homes[usize::from(home)].acknowledgements.retry = self.wheel.cycle() + 1;
        self.wheel.schedule(self.now + self.latency.uclk, Event::HomeAcknowledge.of(home.into()));
    }

    /// The home agent tries again to send the oldest of the acknowledgements that wait, if it has not in this cycle.
    pub(in crate::e5_2600) fn next_acknowledgement<R: E5Reader>(&mut self, home: u16, reader: &mut R) {
        let (index, now) = (usize::from(home), self.wheel.cycle());
        let queue = &self.homes[index].acknowledgements;
        let Some(&request) = queue.waiting.front().filter(|_| queue.retry == now) else { return };
        let direction = self.rings.direction_home_to(self.map.within(self.pool[request].record.slice));
        let queue = &mut self.homes[index].acknowledgements;
        let goes = queue.can_send(direction, now);
        if goes {
            queue.waiting.pop_front();
        }
        if !queue.waiting.is_empty() {
            self.try_again(home as u8);
        }
        if goes {
            self.home_queues(home as u8, RingKind::Acknowledge, self.pool[request].line, false, reader);
            self.acknowledge_now(home as u8, request, reader);
        }
    }

    #[inline(always)]
    fn acknowledge_now<R: E5Reader>(&mut self, home: u8, request: RequestId, reader: &mut R) {
        self.homes[usize::from(home)].acknowledgements.free = self.wheel.cycle() + 1;
        let record = &self.pool[request].record;
        let next = match record.kind {
            kind if kind.is_read() && record.forwarded => Event::Part,
            kind if kind.is_read() => Event::Fill,
            RequestKind::IoWrite => Event::Fill,
            _ => Event::Step,
        };
        let slice = record.slice;
        self.wheel.schedule(self.now + self.latency.to_home(slice), next.of(request));
        self.travel(home, RingKind::Acknowledge, self.rings.home(), self.map.within(slice), reader);
    }
}
