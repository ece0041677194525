//! What a ring stop sends: a message goes out at once, or waits for those before it. A stop sends one in a cycle (Table
//! 2-14).

use pericore_engine::Tick;
use pericore_facts::e5_2600::E5Reader;

use crate::e5_2600::Model;
use crate::e5_2600::event::Event;
use pericore_facts::e5_2600::{E5Fact, Message, RingKind, Route, Sending};

impl Model {
    /// A slice's or core's ring stop is to send a message to another stop of its socket: at once, or when those before
    /// it are gone. Gives the tick at which it goes.
    // Once for all who call it: copies would crowd the host's cache of instructions.
    #[inline(never)]
    pub(in crate::e5_2600) fn message<R: E5Reader>(
        &mut self,
        stop: u16,
        message: Message,
        to: u8,
        reader: &mut R,
    ) -> Tick {
        let slice = &mut self.slices[usize::from(stop)];
        if slice.egress_free > self.now {
            return self.put_in_egress(stop, message, to);
        }
        slice.egress_free = self.now + self.latency.uclk;
        let sending = Sending { stop, message, to, odd: self.is_odd(), waited: 0 };
        reader.read(self.now, E5Fact::Sends(sending));
        self.now
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
    pub(in crate::e5_2600) fn next_message<R: E5Reader>(&mut self, stop: u16, reader: &mut R) {
        let slice = &mut self.slices[usize::from(stop)];
        let Some((message, to, since)) = slice.egress.pop_front() else { return };
        let (last, room) = (slice.egress.is_empty(), slice.egress_has_room_again());
        if !last {
            self.wheel.schedule(self.now + self.latency.uclk, Event::Egress.of(stop));
        }
        let waited = self.clocks.uclk.cycles(self.now - since);
        reader.read(self.now, E5Fact::Sends(Sending { stop, message, to, odd: self.is_odd(), waited }));
        if room {
            // What found none may find it now.
            self.wake(stop, reader);
        }
    }

    /// Something else than a slice's or core's message goes over a ring of a socket.
    #[inline]
    pub(in crate::e5_2600) fn travel<R: E5Reader>(&self, socket: u8, kind: RingKind, from: u8, to: u8, reader: &mut R) {
        reader.read(self.now, E5Fact::Travels(socket, self.route(kind, from, to)));
    }

    /// The way of what is sent now.
    pub(in crate::e5_2600) const fn route(&self, kind: RingKind, from: u8, to: u8) -> Route {
        Route { kind, from, to, odd: self.is_odd() }
    }

    /// The uncore's cycle has an odd number.
    #[inline]
    const fn is_odd(&self) -> bool {
        self.wheel.cycle() % 2 == 1
    }
}
