//! The ring stop of a link: message queues, credits, and what happens to packets that come out of the link.

use pericore_engine::NEVER;
use pericore_engine::Tick;
use pericore_facts::e5_2600::E5Reader;

use super::io_side::Waiting;
use super::packet::{Action, NewPacket, Origin, PORTS, Packet, PacketId};
use crate::e5_2600::Model;
use crate::e5_2600::event::Event;
use pericore_facts::e5_2600::{
    Class, Credit, E5Fact, IoClass, PacketKind, PacketRecord, PacketStation, RequestKind, RingKind, UncoreUse,
};

/// Shared credits for a packet with data: each stands for room for four flits at the far end (assumption: the event
/// that counts them grows by four a cycle at most, and a line takes nine flits).
const DATA_CREDITS: u8 = 3;

const fn shared_credits(kind: PacketKind) -> u8 {
    if kind.is_data() { DATA_CREDITS } else { 1 }
}

/// The ring by which the home agent's messages for other sockets go to the links.
const fn home_ring(data: bool) -> RingKind {
    if data { RingKind::Block } else { RingKind::Address }
}

impl Model {
    /// Sends a packet about a request's line to another socket; it reaches the link's ring stop at `at`, or later if
    /// others come by the same ring.
    pub(in crate::e5_2600) fn send_packet<R: E5Reader>(&mut self, new: NewPacket, at: Tick, reader: &mut R) {
        self.send_new_packet(new, self.pool[new.request].line, at, reader);
    }

    /// Sends a packet by one of the links that lead to its socket: `spread` decides where either would do.
    pub(in crate::e5_2600) fn send_new_packet<R: E5Reader>(
        &mut self,
        new: NewPacket,
        spread: u32,
        at: Tick,
        reader: &mut R,
    ) {
        let NewPacket { origin, way: (from, to), kind, requester, action, request } = new;
        let sender = self.links.way(from, to, spread);
        let port = &mut self.links.ports[usize::from(sender)];
        let record = PacketRecord::new(kind, sender, port.peer, to, requester);
        let class = kind.class() as usize;
        let packet = self.links.packets.add(Packet { record, request, action, from_home: origin != Origin::Other });
        if port.entries[class] == 0 {
            port.outside[class].push_back(packet);
            if origin != Origin::Other {
                self.no_link(sender, kind.is_data(), true, reader);
            }
            if origin == Origin::Home {
                self.home_queues(from, home_ring(kind.is_data()), self.pool[request].line, true, reader);
            }
        } else {
            port.entries[class] -= 1;
            if origin == Origin::HomeQueue {
                self.home_queues(from, home_ring(kind.is_data()), self.pool[request].line, false, reader);
            }
            self.come_by_ring(packet, at);
        }
    }

    /// A message with an entry in the ring stop's queues is on its way to it.
    fn come_by_ring(&mut self, packet: PacketId, at: Tick) {
        let record = &self.links.packets[packet].record;
        let port = &mut self.links.ports[usize::from(record.sender)];
        let (ring, cycles) = (usize::from(record.kind.by_data_ring()), 1 + u64::from(record.kind.is_data()));
        let at = self.clocks.uclk.align_up(at).max(port.ring_free[ring]);
        // A line takes two transfers of 32 bytes.
        port.ring_free[ring] = at + cycles * self.latency.uclk;
        self.wheel.schedule(at, Event::Post.of(packet));
    }

    /// A message has left the ring stop's queues: the next one that waits outside may come.
    fn entry_free<R: E5Reader>(&mut self, number: u16, class: Class, reader: &mut R) {
        let port = &mut self.links.ports[usize::from(number)];
        let Some(packet) = port.outside[class as usize].pop_front() else {
            port.entries[class as usize] += 1;
            return;
        };
        if self.links.packets[packet].from_home {
            let (data, line) = (class == Class::Data, self.pool[self.links.packets[packet].request].line);
            self.no_link(number, data, false, reader);
            self.home_queues((number / PORTS) as u8, home_ring(data), line, false, reader);
        }
        self.come_by_ring(packet, self.now + self.latency.stop_to_stop);
    }

    /// A message of the home agent begins or ends to wait for an entry.
    fn no_link<R: E5Reader>(&self, number: u16, data: bool, begins: bool, reader: &mut R) {
        let (home, side) = ((number / PORTS) as u8, (number % PORTS) as u8);
        self.switch(UncoreUse::NoLink(home, u8::from(data) * 2 + side), begins, reader);
    }

    /// A packet arrives from the ring.
    pub(in crate::e5_2600) fn post<R: E5Reader>(&mut self, packet: PacketId, reader: &mut R) {
        let record = &self.links.packets[packet].record;
        let (number, kind) = (record.sender, record.kind);
        let (index, class) = (usize::from(number), kind.class());
        let port = &mut self.links.ports[index];
        let at_once = port.nothing_queued()
            && port.has_room()
            && port.hand_free <= self.now
            && port.shared >= shared_credits(kind);
        // Only the address ring has a way past the queues.
        if at_once && !class.by_data_ring() {
            self.links.packets[packet].record.ring_bypass = self.now;
            self.report_packet(packet, PacketStation::PassesRing, reader);
            self.take_credits(packet, reader);
            self.hand_over(packet);
            self.entry_free(number, class, reader);
            return;
        }
        port.queues[class as usize].push_back(packet);
        self.links.packets[packet].record.ring_in = self.now;
        self.report_packet(packet, PacketStation::EntersRing, reader);
        self.forward(number, reader);
    }

    /// The event that a ring stop set for itself.
    pub(in crate::e5_2600) fn forward_again<R: E5Reader>(&mut self, number: u16, reader: &mut R) {
        self.links.ports[usize::from(number)].planned = NEVER;
        self.forward(number, reader);
    }

    /// Hands the next packet to the link layer if one can go, and sets the next event.
    fn forward<R: E5Reader>(&mut self, number: u16, reader: &mut R) {
        let index = usize::from(number);
        let port = &self.links.ports[index];
        if port.nothing_queued() || !port.has_room() {
            // The link layer wakes the ring stop when it has room.
            return;
        }
        if port.hand_free > self.now {
            self.plan_forward(number, port.hand_free);
            return;
        }
        let turn = port.turn;
        for step in 0..Class::COUNT {
            let class = Class::ALL[(turn + step) % Class::COUNT];
            let Some(&packet) = self.links.ports[index].queues[class as usize].front() else { continue };
            if !self.take_credits(packet, reader) {
                continue;
            }
            let port = &mut self.links.ports[index];
            port.queues[class as usize].pop_front();
            port.turn = class as usize + 1;
            self.links.packets[packet].record.ring_out = self.now;
            self.report_packet(packet, PacketStation::LeavesRing, reader);
            self.hand_over(packet);
            self.entry_free(number, class, reader);
            if !self.links.ports[index].nothing_queued() {
                self.plan_forward(number, self.now + self.latency.uclk);
            }
            return;
        }
        // Credits that come back wake the ring stop.
    }

    pub(in crate::e5_2600) fn plan_forward(&mut self, number: u16, at: Tick) {
        let port = &mut self.links.ports[usize::from(number)];
        if port.planned == NEVER && !port.nothing_queued() {
            port.planned = at;
            self.wheel.schedule(at, Event::Forward.of(number));
        }
    }

    /// Takes credits for the far end's buffer: shared ones, or else the one that is kept for the class.
    fn take_credits<R: E5Reader>(&mut self, packet: PacketId, reader: &mut R) -> bool {
        let record = &mut self.links.packets[packet].record;
        let (index, class) = (usize::from(record.sender), record.kind.class() as usize);
        let port = &mut self.links.ports[index];
        let wanted = shared_credits(record.kind);
        if port.shared >= wanted {
            port.shared -= wanted;
            record.credit = Credit::Shared(wanted);
        } else {
            // A class tries once in a cycle.
            let cycle = self.clocks.uclk.cycles(self.now);
            let tries = std::mem::replace(&mut port.tried_at[class], cycle) != cycle;
            if tries {
                reader.read(self.now, E5Fact::Packet(PacketStation::NoShared, record));
            }
            if !port.reserved[class] {
                if tries {
                    reader.read(self.now, E5Fact::Packet(PacketStation::NoReserved, record));
                }
                return false;
            }
            port.reserved[class] = false;
            record.credit = Credit::Reserved;
        }
        record.credit_at = self.now;
        reader.read(self.now, E5Fact::Packet(PacketStation::Credited, record));
        true
    }

    /// Gives a packet with its credits to the link layer.
    fn hand_over(&mut self, packet: PacketId) {
        let port = &mut self.links.ports[usize::from(self.links.packets[packet].record.sender)];
        port.hand_free = self.now + self.latency.uclk;
        let at = self.clocks.qclk.align_up(self.now + self.links.crossing);
        port.incoming.push_back((at, packet));
        port.send_next = port.send_next.min(at);
        self.links.next = self.links.next.min(at);
        self.memory_next = self.memory_next.min(at);
    }

    /// A packet's credits have come back to its sender: its time on this link is over.
    pub(in crate::e5_2600) fn credits_back<R: E5Reader>(&mut self, packet: PacketId, reader: &mut R) {
        let record = &self.links.packets[packet].record;
        let number = record.sender;
        let port = &mut self.links.ports[usize::from(number)];
        match record.credit {
            Credit::Shared(count) => port.shared += count,
            Credit::Reserved => port.reserved[record.kind.class() as usize] = true,
        }
        reader.read(self.now, E5Fact::Packet(PacketStation::Ended, record));
        self.links.packets.remove(packet);
        self.forward(number, reader);
    }

    /// A packet leaves the link for the ring.
    pub(in crate::e5_2600) fn delivered<R: E5Reader>(&mut self, packet: PacketId, reader: &mut R) {
        let packet = &self.links.packets[packet];
        let (request, action) = (packet.request, packet.action);
        let (kind, to, requester) = (packet.record.kind, packet.record.to, packet.record.requester);
        let link = packet.record.receiver;
        self.links.ports[usize::from(link)].crossing[kind.class() as usize] += 1;
        if action == Action::Far {
            self.far_delivered(request, kind, link, reader);
            return;
        }
        let here = (link / PORTS) as u8;
        if packet.record.passes_through {
            let at = self.now + self.latency.stop_to_stop;
            let new = NewPacket { origin: Origin::Other, way: (here, to), kind, requester, action, request };
            self.send_packet(new, at, reader);
            return;
        }
        let entry = &self.pool[request];
        let (requested, slice, core) = (entry.record.kind, entry.record.slice, entry.core);
        let to_slice = self.now + self.latency.to_home(slice);
        let to_home = self.now + self.latency.stop_to_stop;
        match action {
            Action::Announce | Action::Far => {}
            Action::Accept => self.reach_home(request, to_home, Event::Accept),
            Action::Write => self.reach_home(request, to_home, Event::SnoopWrite),
            Action::Respond => self.wheel.schedule(to_home, Event::SnoopResponse.of(request)),
            Action::Snoop => self.wheel.schedule(to_slice, Event::SnoopArrive.of(request)),
            Action::Complete if requested.is_read() => self.wheel.schedule(to_slice, Event::Part.of(request)),
            Action::Complete if requested == RequestKind::IoWrite => {
                self.wheel.schedule(to_slice, Event::Fill.of(request));
            }
            Action::Complete => self.wheel.schedule(to_slice, Event::Step.of(request)),
            Action::Data if requested == RequestKind::IoRead => {
                // The line goes straight to input-output; the slice hears that it has come.
                let waiting = Waiting::Device(self.pool[request].thread);
                self.wheel.schedule(to_slice, Event::Step.of(request));
                self.begin_passage(link, IoClass::Data, waiting, reader);
            }
            Action::Data => {
                if requested.only_reads() && self.parameters.direct_to_core {
                    let to_core = self.now + self.latency.to_home(core.into());
                    self.pool[request].record.direct_to_core = true;
                    self.wheel.schedule(to_core, Event::Data.of(request));
                }
                self.wheel.schedule(to_slice, Event::Part.of(request));
            }
        }
        // Its way over the ring, from the stop of the links.
        let ring = match kind.class() {
            Class::Home | Class::Snoop => RingKind::Address,
            Class::NoData => RingKind::Acknowledge,
            Class::Data | Class::Bypass | Class::Standard => RingKind::Block,
        };
        match action {
            Action::Announce | Action::Accept | Action::Write | Action::Respond => {
                self.leaves_io(here, ring, self.rings.home(), reader);
            }
            Action::Data if requested.only_reads() && self.parameters.direct_to_core => {
                self.leaves_io(here, ring, self.map.within(core.into()), reader);
                self.leaves_io(here, RingKind::Acknowledge, self.map.within(slice), reader);
            }
            Action::Data if requested == RequestKind::IoRead => {
                self.leaves_io(here, RingKind::Acknowledge, self.map.within(slice), reader);
            }
            Action::Far => {}
            Action::Snoop | Action::Data | Action::Complete => {
                self.leaves_io(here, ring, self.map.within(slice), reader);
            }
        }
    }
}
