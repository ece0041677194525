//! What a ring stop sends: a message goes out at once, or waits for those before it. A stop sends one in a cycle (Table 2-14).

use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::event::Event;
use crate::ledger::e5_2600::{Journey, Message, RingKind};

/// Cycles that a message waits for its ring until the stop counts as starved (assumption).
const STARVES: u64 = 3;

impl Model {
    /// A slice's or core's ring stop is to send a message to another stop of its socket: at once, or when those before it are gone.
    /// Gives the tick at which it goes.
    // Once for all who call it: copies would crowd the host's cache of instructions.
    #[inline(never)]
    pub(super) fn message<S: SignalSink>(&mut self, stop: u16, message: Message, to: u8, sink: &mut S) -> Tick {
        let slice = &mut self.slices[usize::from(stop)];
        if slice.egress_free > self.now {
            return self.put_in_egress(stop, message, to);
        }
        slice.egress_free = self.now + self.latency.uclk;
        let heard = slice.egress_heard;
        self.ledger.message(stop, message, to, self.is_odd());
        if heard { self.tell_bypass(stop, message, to, sink) } else { self.now }
    }

    #[inline(never)]
    fn put_in_egress(&mut self, stop: u16, message: Message, to: u8) -> Tick {
        let slice = &mut self.slices[usize::from(stop)];
        let goes = slice.egress_free;
        slice.egress_free = goes + self.latency.uclk;
        let first = slice.egress.is_empty();
        slice.egress.push_back((message, to, self.now));
        if first {
            self.wheel.schedule(goes, Event::Egress.of(stop));
        }
        goes
    }

    /// A ring stop sends the oldest of the messages that wait.
    pub(super) fn next_message<S: SignalSink>(&mut self, stop: u16, sink: &mut S) {
        let slice = &mut self.slices[usize::from(stop)];
        let Some((message, to, since)) = slice.egress.pop_front() else { return };
        let (last, room) = (slice.egress.is_empty(), slice.egress_has_room_again());
        let heard = slice.egress_heard;
        if !last {
            self.wheel.schedule(self.now + self.latency.uclk, Event::Egress.of(stop));
        }
        self.note_wait(stop, message.ring(), self.now - since, sink);
        self.ledger.message(stop, message, to, self.is_odd());
        if heard {
            self.tell_message(stop, message, to, sink);
        }
        if room {
            // What found none may find it now.
            self.wake(stop, sink);
        }
    }

    /// A message has gone past the empty queue of its stop. Gives the tick.
    #[cold]
    fn tell_bypass<S: SignalSink>(&mut self, stop: u16, message: Message, to: u8, sink: &mut S) -> Tick {
        self.slices[usize::from(stop)].wires.pressure.bypass.say(0, self.now, sink);
        self.tell_message(stop, message, to, sink);
        self.now
    }

    #[cold]
    fn tell_message<S: SignalSink>(&self, stop: u16, message: Message, to: u8, sink: &mut S) {
        let (wire, tag) = self.slices[usize::from(stop)].wires.messages[message as usize];
        sink.pulse(wire, tag, self.now, 1);
        let (socket, from, odd) = (self.map.socket(stop), self.map.within(stop), self.is_odd());
        self.rings.travel(socket, Journey { kind: message.ring(), from, to, odd }, self.now, sink);
    }

    /// Something else than a slice's or core's message goes over a ring of a socket.
    #[inline]
    pub(super) fn travel<S: SignalSink>(&mut self, socket: u8, kind: RingKind, from: u8, to: u8, sink: &mut S) {
        let journey = Journey { kind, from, to, odd: self.is_odd() };
        self.ledger.travel(socket, journey);
        self.rings.travel(socket, journey, self.now, sink);
    }

    /// The uncore's cycle has an odd number.
    const fn is_odd(&self) -> bool {
        self.wheel.cycle() % 2 == 1
    }

    /// A message that waited goes out.
    fn note_wait<S: SignalSink>(&mut self, stop: u16, ring: RingKind, ticks: Tick, sink: &mut S) {
        let wires = &self.slices[usize::from(stop)].wires.pressure;
        let cycles = self.clocks.uclk.cycles(ticks);
        let starved = match ring {
            RingKind::Acknowledge => Some(wires.starved[0]),
            RingKind::Block => Some(wires.starved[1]),
            RingKind::Address | RingKind::Snoop => None,
        };
        if let Some((wire, tag)) = starved.filter(|_| cycles >= STARVES) {
            sink.pulse(wire, tag, self.now, 1);
        }
        self.ledger.waited(stop, ring, cycles);
    }
}
