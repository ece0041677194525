//! The link layer: flits out, flits in, buffers, credits that go back.
//!
//! A clock has room for two flits in each direction, and for one header. Packets are sent whole. Those that cannot go
//! at once wait in the transmit buffer. The way on to the ring stop takes two flits of one packet in a clock, so that a
//! line takes five; packets that find it taken wait in the receive buffer. A packet is out of it, with all flits that
//! have come and will come, as soon as it begins to go on.

use pericore_engine::{NEVER, Tick};

use super::packet::{Action, PacketId};
use super::port::{Carried, FlitPlace, Port};
use crate::e5_2600::Model;
use crate::e5_2600::event::Event;
use pericore_facts::e5_2600::{
    Class, E5Fact, E5Reader, Flit, Flits, LinkStall, LinkState, PacketRecord, PacketStation, UncoreUse,
};

/// Clocks by which a damaged packet is late: it is requested for and sent once more, a way there and back. The repeated
/// flits count nowhere.
const fn repetition(record: &PacketRecord, flight: u64) -> u64 {
    if record.damaged { 2 * flight + record.kind.flits() } else { 0 }
}

impl Model {
    /// Reports what holds from the start: links are idle, and have all their lanes.
    pub(in crate::e5_2600) fn start_links<R: E5Reader>(&mut self, reader: &mut R) {
        for index in 0..self.links.ports.len() {
            self.carries_nothing(index, reader);
            for state in [LinkState::SendFull, LinkState::ReceiveFull] {
                self.begins(UncoreUse::Link(index as u16, state), reader);
            }
        }
    }

    /// From now on an end of a link neither sends nor receives anything.
    pub(super) fn carries_nothing<R: E5Reader>(&mut self, index: usize, reader: &mut R) {
        for sends in [true, false] {
            self.carries(index, sends, [None; 2], reader);
        }
    }

    /// What an end of a link sends or receives in this clock: reported if it is not idle as before.
    pub(super) fn carries<R: E5Reader>(
        &mut self,
        index: usize,
        sends: bool,
        slots: [Option<FlitPlace>; 2],
        reader: &mut R,
    ) {
        let port = &mut self.links.ports[index];
        let room = port.power.room(sends);
        let idle = if slots[0].is_none() { Some(room) } else { None };
        let before = std::mem::replace(&mut port.idle[usize::from(sends)], idle);
        if idle.is_none() || before != idle {
            let flits = slots.map(|slot| self.flit(slot?, sends));
            reader.read(self.now, E5Fact::Flits(Flits { link: index as u16, sends, room, flits }));
        }
    }

    #[inline]
    fn flit(&mut self, (packet, number): FlitPlace, sends: bool) -> Option<Flit> {
        let record = &mut self.links.packets[packet].record;
        let buffered = if sends { record.transmit_in != NEVER } else { record.waits_to_be_taken() };
        record.received_flits += u8::from(buffered && !sends);
        Some(Flit {
            kind: record.kind,
            header: number < record.kind.header_flits(),
            passes_through: record.passes_through,
            buffered,
        })
    }

    /// Lets every link layer work whose time has come.
    #[inline(never)]
    pub(in crate::e5_2600) fn step_links<R: E5Reader>(&mut self, reader: &mut R) {
        for index in 0..self.links.ports.len() {
            if self.links.ports[index].power.next == self.now {
                self.step_link_power(index, reader);
            }
            if self.links.ports[index].send_next == self.now {
                self.send_flits(index, reader);
            }
            if self.links.ports[index].receive_next == self.now {
                self.receive_flits(index, reader);
            }
        }
        let next = |port: &Port| port.send_next.min(port.receive_next).min(port.power.next);
        self.links.next = self.links.ports.iter().map(next).fold(NEVER, Tick::min);
    }

    fn send_flits<R: E5Reader>(&mut self, index: usize, reader: &mut R) {
        let clock = self.clocks.qclk;
        let cycle = clock.cycles(self.now);
        if self.links.ports[index].power.off && !self.link_comes_back(index, reader) {
            return;
        }
        let port = &mut self.links.ports[index];
        let fresh = port.incoming.front().filter(|(at, _)| *at <= self.now).map(|&(_, packet)| packet);
        if let Some(packet) = fresh {
            port.incoming.pop_front();
            port.waiting.push_back(packet);
        }
        self.widen_if_needed(index, reader);
        self.links.ports[index].retry.release(cycle);
        self.note_retry_stall(index, reader);
        let (port, flight) = (&mut self.links.ports[index], self.links.flight);
        let half = port.power.half;
        let (mut slots, mut header, mut started) = ([None; 2], false, None);
        for (slot, place) in slots.iter_mut().enumerate().take(port.power.room(true).into()) {
            if port.sending.is_none()
                && !header
                && let Some(packet) = port.next_to_send(&self.links.packets)
            {
                let record = &mut self.links.packets[packet].record;
                (record.first_slot, record.half_width) = (2 * cycle + slot as u64, half);
                port.packets += 1;
                record.damaged = self.links.error_every > 0 && port.packets.is_multiple_of(self.links.error_every);
                let (flits, last) = (record.kind.flits(), record.slot_of(record.kind.flits() - 1) / 2);
                port.retry.hold(flits, last + flight + repetition(record, flight) + flight + 1);
                port.power.idle_since = NEVER;
                port.sending = Some((packet, 0));
                (header, started) = (true, Some(packet));
            }
            if let Some((packet, flit)) = port.sending {
                *place = Some((packet, flit));
                let last = u64::from(flit) + 1 == self.links.packets[packet].record.kind.flits();
                port.sending = (!last).then_some((packet, flit + 1));
            }
        }
        if let Some(packet) = started {
            if Some(packet) == fresh {
                self.report_packet(packet, PacketStation::PassesTransmit, reader);
            } else {
                self.links.packets[packet].record.transmit_out = self.now;
                self.report_packet(packet, PacketStation::LeavesTransmit, reader);
            }
        }
        if let Some(packet) = fresh.filter(|_| fresh != started) {
            self.links.packets[packet].record.transmit_in = self.now;
            self.report_packet(packet, PacketStation::EntersTransmit, reader);
        }
        let busy = slots[0].is_some();
        self.carries(index, true, slots, reader);
        let port = &mut self.links.ports[index];
        if busy {
            port.flying.push_back(Carried { cycle, slots });
        }
        let waits = port.incoming.front().map_or(NEVER, |&(at, _)| at.max(self.now + clock.ticks()));
        let goes_on = port.sending.is_some() || !port.waiting.is_empty() || busy;
        port.send_next = if goes_on { self.now + clock.ticks() } else { waits };
        let (peer, arrives) = (usize::from(port.peer), (cycle + self.links.flight) * clock.ticks());
        if !goes_on {
            self.begin_rest(index);
        }
        if busy {
            let peer = &mut self.links.ports[peer];
            peer.receive_next = peer.receive_next.min(arrives);
        }
        if started.is_some() {
            self.plan_forward(index as u16, self.now);
        }
    }

    /// Looks whether all packets that wait would find room in the retry buffer.
    fn note_retry_stall<R: E5Reader>(&mut self, index: usize, reader: &mut R) {
        let port = &mut self.links.ports[index];
        let waiting = port.waiting.iter().filter(|_| port.sending.is_none());
        let most = waiting.map(|&packet| self.links.packets[packet].record.kind.flits()).max().unwrap_or(0);
        let stall = match port.retry.room() {
            room if room >= most => None,
            0 => Some(LinkStall::RetryFull),
            _ => Some(LinkStall::RetryAlmostFull),
        };
        let before = std::mem::replace(&mut port.retry_stall, stall);
        if before != stall {
            before.into_iter().for_each(|stall| self.ends(UncoreUse::Stall(index as u16, stall), reader));
            stall.into_iter().for_each(|stall| self.begins(UncoreUse::Stall(index as u16, stall), reader));
        }
    }

    fn receive_flits<R: E5Reader>(&mut self, index: usize, reader: &mut R) {
        let clock = self.clocks.qclk;
        let cycle = clock.cycles(self.now);
        if self.links.ports[index].power.next_change() == self.now {
            self.observe_width(index, reader);
        }
        self.return_credits(index, cycle, reader);
        self.note_crossing_stalls(index, reader);
        let port = &self.links.ports[index];
        let goes = |&packet: &PacketId| self.links.packets[packet].record.kind.class();
        let next = port.received.iter().position(|packet| port.crossing[goes(packet) as usize] > 0);
        if self.links.ports[index].handing.is_none()
            && let Some(packet) = next.and_then(|place| self.links.ports[index].received.remove(place))
        {
            self.links.packets[packet].record.receive_out = self.now;
            self.report_packet(packet, PacketStation::LeavesReceive, reader);
            self.begin_to_hand(index, packet, cycle);
        }
        let peer = usize::from(self.links.ports[index].peer);
        let (mut busy, mut slots) = (false, [None; 2]);
        if let Some(carried) = self.links.ports[peer].flying.front().copied()
            && carried.cycle + self.links.flight == cycle
        {
            self.links.ports[peer].flying.pop_front();
            (busy, slots) = (true, carried.slots);
            for (packet, _) in carried.slots.into_iter().flatten().filter(|&(_, flit)| flit == 0) {
                self.report_packet(packet, PacketStation::Arrives, reader);
                self.take_in(index, packet, cycle, reader);
            }
        }
        self.carries(index, false, slots, reader);
        if let Some((packet, _)) = self.links.ports[index].handing.filter(|&(_, done)| done <= cycle) {
            self.links.ports[index].handing = None;
            self.hand_to_ring(index, packet, reader);
        }
        let flight = self.links.flight;
        let arrives = self.links.ports[peer].flying.front().map_or(NEVER, |next| (next.cycle + flight) * clock.ticks());
        let port = &mut self.links.ports[index];
        let handing = port.handing.is_some() || !port.received.is_empty();
        let goes_on = busy || handing || !port.returning.is_empty();
        let arrives = arrives.min(port.power.next_change());
        port.receive_next = if goes_on { self.now + clock.ticks() } else { arrives };
    }

    /// Looks which classes have packets for which the way to the ring stop is free, but no place behind it.
    fn note_crossing_stalls<R: E5Reader>(&mut self, index: usize, reader: &mut R) {
        let port = &self.links.ports[index];
        let mut stalls = 0;
        for &packet in port.received.iter().filter(|_| port.handing.is_none()) {
            let class = self.links.packets[packet].record.kind.class() as usize;
            stalls |= u8::from(port.crossing[class] == 0) << class;
        }
        let before = std::mem::replace(&mut self.links.ports[index].crossing_stalls, stalls);
        for class in Class::ALL.into_iter().filter(|&class| (before ^ stalls) >> class as u8 & 1 == 1) {
            let stall = UncoreUse::Stall(index as u16, LinkStall::Crossing(class));
            self.switch(stall, stalls >> class as u8 & 1 == 1, reader);
        }
    }

    /// A packet begins to arrive: it goes on to the ring stop at once, or into the receive buffer.
    fn take_in<R: E5Reader>(&mut self, index: usize, packet: PacketId, cycle: u64, reader: &mut R) {
        let class = self.links.packets[packet].record.kind.class();
        let port = &mut self.links.ports[index];
        if port.handing.is_none() && port.received.is_empty() && port.crossing[class as usize] > 0 {
            self.report_packet(packet, PacketStation::PassesReceive, reader);
            self.begin_to_hand(index, packet, cycle);
            return;
        }
        port.received.push_back(packet);
        self.links.packets[packet].record.receive_in = self.now;
        self.report_packet(packet, PacketStation::EntersReceive, reader);
    }

    /// A packet begins to go to the ring stop: two flits in a clock, and no sooner than they come.
    fn begin_to_hand(&mut self, index: usize, packet: PacketId, cycle: u64) {
        let record = &self.links.packets[packet].record;
        let flits = record.kind.flits();
        let again = repetition(record, self.links.flight);
        let last = record.slot_of(flits - 1) / 2 + self.links.flight + again;
        let done = (cycle + flits.div_ceil(2) - 1).max(last);
        self.links.ports[index].crossing[record.kind.class() as usize] -= 1;
        self.links.ports[index].handing = Some((packet, done));
    }

    /// A packet goes to the ring stop; the room that it had in the buffer is free.
    fn hand_to_ring<R: E5Reader>(&mut self, index: usize, packet: PacketId, reader: &mut R) {
        let Self { links, pool, parameters, .. } = self;
        let (request, action) = (links.packets[packet].request, links.packets[packet].action);
        let record = &mut links.packets[packet].record;
        record.handed = self.now;
        if record.kind.is_for_cache() && !record.passes_through {
            // As at the home agent: loads get their data straight, stores and what is not coherent by the slice.
            let loads = action != Action::Far && pool[request].record.kind.only_reads();
            record.direct = Some(loads && parameters.direct_to_core);
        }
        reader.read(self.now, E5Fact::Packet(PacketStation::Handed, record));
        let cycle = self.clocks.qclk.cycles(self.now);
        links.ports[index].returning.push_back((cycle, packet));
        self.wheel.schedule(self.now + self.links.crossing, Event::Delivered.of(packet));
    }

    /// The credits of the last clock go back to the sender, with the flits of the other direction.
    fn return_credits<R: E5Reader>(&mut self, index: usize, cycle: u64, reader: &mut R) {
        while let Some((_, packet)) = self.links.ports[index].returning.front().copied().filter(|&(at, _)| at < cycle) {
            self.links.ports[index].returning.pop_front();
            let record = &mut self.links.packets[packet].record;
            record.returned = self.now;
            reader.read(self.now, E5Fact::Packet(PacketStation::Returned, record));
            // The packet's record is done with when they arrive: after it has been delivered.
            let back = self.now + self.links.flight * self.clocks.qclk.ticks();
            let back = back.max(record.handed + self.links.crossing + self.latency.uclk);
            self.wheel.schedule(back, Event::CreditsBack.of(packet));
        }
    }
}
