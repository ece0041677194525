//! The ring stop of a link: message queues, credits, and what happens to packets that come out of the link.

use pericore_engine::NEVER;
use pericore_hardware::signal::{SignalSink, Tick};

use super::{Action, Packet, PacketId, Waiting};
use crate::ledger::e5_2600::{
    Class, Credit, HomeQueue, IoClass, LinkQueue, PacketKind, PacketRecord, RequestKind, RingKind,
};
use crate::uncore::e5_2600::Model;
use crate::uncore::e5_2600::event::Event;
use crate::uncore::e5_2600::request::RequestId;

/// Shared credits for a packet with data: each stands for room for four flits at the far end (assumption: the event that counts them
/// grows by four a cycle at most, and a line takes nine flits).
const DATA_CREDITS: u8 = 3;

/// Where a message comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The socket's home agent.
    Home,
    /// A slice, or another link.
    Other,
}

/// A message for another socket.
#[derive(Debug, Clone, Copy)]
pub struct Letter {
    pub origin: Origin,
    /// From one socket to another.
    pub way: (u8, u8),
    pub kind: PacketKind,
    /// The socket whose request it belongs to.
    pub requester: u8,
    pub action: Action,
    pub request: RequestId,
}

const fn shared_credits(kind: PacketKind) -> u8 {
    if kind.is_data() { DATA_CREDITS } else { 1 }
}

impl Model {
    /// Sends a packet about a request's line to another socket; it reaches the link's ring stop at `at`, or later if others come by
    /// the same ring.
    pub(in crate::uncore::e5_2600) fn send_packet<S: SignalSink>(&mut self, letter: Letter, at: Tick, sink: &mut S) {
        self.send_letter(letter, self.pool[letter.request].line, at, sink);
    }

    /// Sends a packet by one of the links that lead to its socket: `spread` decides where either would do.
    pub(super) fn send_letter<S: SignalSink>(&mut self, letter: Letter, spread: u32, at: Tick, sink: &mut S) {
        let Letter { origin, way: (from, to), kind, requester, action, request } = letter;
        let sender = self.links.way(from, to, spread);
        let port = &mut self.links.ports[usize::from(sender)];
        let record = PacketRecord::new(kind, sender, port.peer, to, requester);
        let class = kind.class() as usize;
        let packet = self.links.packets.add(Packet { record, request, action, from_home: origin == Origin::Home });
        if port.entries[class] == 0 {
            port.outside[class].push_back(packet);
            if origin == Origin::Home {
                self.home_waits(sender, kind.is_data(), request, true, sink);
            }
        } else {
            port.entries[class] -= 1;
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
    fn entry_free<S: SignalSink>(&mut self, number: u16, class: Class, sink: &mut S) {
        let port = &mut self.links.ports[usize::from(number)];
        let Some(packet) = port.outside[class as usize].pop_front() else {
            port.entries[class as usize] += 1;
            return;
        };
        if self.links.packets[packet].from_home {
            self.home_waits(number, class == Class::Data, self.links.packets[packet].request, false, sink);
        }
        self.come_by_ring(packet, self.now + self.latency.stop_to_stop);
    }

    /// A message of the home agent begins or ends to wait for an entry.
    fn home_waits<S: SignalSink>(&mut self, number: u16, data: bool, request: RequestId, begins: bool, sink: &mut S) {
        let (home, side) = ((number / super::PORTS) as u8, number % super::PORTS);
        let index = usize::from(data) * 2 + usize::from(side);
        let waiting = &mut self.homes[usize::from(home)].waiting_for_links[index];
        let (wire, tags) = self.wires.homes[usize::from(home)].no_link;
        let (queue, line) = (HomeQueue::Links(index), self.pool[request].line);
        if begins {
            *waiting += 1;
            if *waiting == 1 {
                sink.enter(wire, tags[index], self.now);
            }
            self.ledger.home_enter(home, queue, self.now);
        } else {
            *waiting -= 1;
            if *waiting == 0 {
                sink.leave(wire, tags[index], self.now);
            }
            self.ledger.home_leave(home, queue, self.now);
        }
        self.home_queues(home, data, line, begins, sink);
    }

    /// A packet arrives from the ring.
    pub(in crate::uncore::e5_2600) fn post<S: SignalSink>(&mut self, packet: PacketId, sink: &mut S) {
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
            let (wire, tag) = self.links.wires[index].ring_bypassed;
            sink.pulse(wire, tag, self.now, 1);
            self.take_credits(packet, sink);
            self.hand_over(packet);
            self.entry_free(number, class, sink);
            return;
        }
        port.queues[class as usize].push_back(packet);
        self.links.packets[packet].record.ring_in = self.now;
        let (wire, tag) = self.links.wires[index].ring[class as usize];
        sink.enter(wire, tag, self.now);
        self.ledger.link_enter(number, LinkQueue::Ring(class), self.now, 1);
        self.forward(number, sink);
    }

    /// The event that a ring stop set for itself.
    pub(in crate::uncore::e5_2600) fn forward_again<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
        self.links.ports[usize::from(number)].planned = NEVER;
        self.forward(number, sink);
    }

    /// Hands the next packet to the link layer if one can go, and sets the next event.
    fn forward<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
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
            if !self.take_credits(packet, sink) {
                continue;
            }
            let port = &mut self.links.ports[index];
            port.queues[class as usize].pop_front();
            port.turn = class as usize + 1;
            self.links.packets[packet].record.ring_out = self.now;
            let (wire, tag) = self.links.wires[index].ring[class as usize];
            sink.leave(wire, tag, self.now);
            self.ledger.link_leave(number, LinkQueue::Ring(class), self.now, 1);
            self.hand_over(packet);
            self.entry_free(number, class, sink);
            if !self.links.ports[index].nothing_queued() {
                self.plan_forward(number, self.now + self.latency.uclk);
            }
            return;
        }
        // Credits that come back wake the ring stop.
    }

    pub(super) fn plan_forward(&mut self, number: u16, at: Tick) {
        let port = &mut self.links.ports[usize::from(number)];
        if port.planned == NEVER && !port.nothing_queued() {
            port.planned = at;
            self.wheel.schedule(at, Event::Forward.of(number));
        }
    }

    /// Takes credits for the far end's buffer: shared ones, or else the one that is kept for the class.
    fn take_credits<S: SignalSink>(&mut self, packet: PacketId, sink: &mut S) -> bool {
        let record = &mut self.links.packets[packet].record;
        let (index, class) = (usize::from(record.sender), record.kind.class() as usize);
        let (port, wires) = (&mut self.links.ports[index], &self.links.wires[index]);
        let wanted = shared_credits(record.kind);
        if port.shared >= wanted {
            if port.shared == port.all_shared {
                sink.enter(wires.shared_used, 0, self.now);
            }
            port.shared -= wanted;
            if port.shared == 0 {
                sink.enter(wires.shared_out, 0, self.now);
            }
            sink.pulse(wires.shared_acquired, 0, self.now, wanted.into());
            self.ledger.link_enter(record.sender, LinkQueue::Shared, self.now, wanted.into());
            record.credit = Credit::Shared(wanted);
        } else {
            if record.shared_refused == NEVER {
                record.shared_refused = self.now;
                let (wire, tags) = wires.shared_refused;
                sink.pulse(wire, tags[class], self.now, 1);
            }
            if !port.reserved[class] {
                if record.reserved_refused == NEVER {
                    record.reserved_refused = self.now;
                    let (wire, tags) = wires.reserved_refused;
                    sink.pulse(wire, tags[class], self.now, 1);
                }
                return false;
            }
            port.reserved[class] = false;
            let (wire, tags) = wires.reserved_used;
            sink.pulse(wire, tags[class], self.now, 1);
            record.credit = Credit::Reserved;
        }
        record.credit_at = self.now;
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
    pub(in crate::uncore::e5_2600) fn credits_back<S: SignalSink>(&mut self, packet: PacketId, sink: &mut S) {
        let record = &self.links.packets[packet].record;
        let number = record.sender;
        let index = usize::from(number);
        let (port, wires) = (&mut self.links.ports[index], &self.links.wires[index]);
        match record.credit {
            Credit::Shared(count) => {
                if port.shared == 0 {
                    sink.leave(wires.shared_out, 0, self.now);
                }
                port.shared += count;
                if port.shared == port.all_shared {
                    sink.leave(wires.shared_used, 0, self.now);
                }
                self.ledger.link_leave(number, LinkQueue::Shared, self.now, count.into());
            }
            Credit::Reserved => port.reserved[record.kind.class() as usize] = true,
        }
        self.ledger.close_packet(record);
        self.links.packets.remove(packet);
        self.forward(number, sink);
    }

    /// A packet leaves the link for the ring.
    pub(in crate::uncore::e5_2600) fn delivered<S: SignalSink>(&mut self, packet: PacketId, sink: &mut S) {
        let packet = &self.links.packets[packet];
        let (request, action) = (packet.request, packet.action);
        let (kind, to, requester) = (packet.record.kind, packet.record.to, packet.record.requester);
        let link = packet.record.receiver;
        if action == Action::Far {
            self.far_delivered(request, kind, link, sink);
            return;
        }
        let here = (link / super::PORTS) as u8;
        if packet.record.passes_through {
            let at = self.now + self.latency.stop_to_stop;
            let letter = Letter { origin: Origin::Other, way: (here, to), kind, requester, action, request };
            self.send_packet(letter, at, sink);
            return;
        }
        let entry = &self.pool[request];
        let (asked, slice, core) = (entry.record.kind, entry.record.slice, entry.core);
        let to_slice = self.now + self.latency.to_home(slice);
        let to_home = self.now + self.latency.stop_to_stop;
        match action {
            Action::Announce | Action::Far => {}
            Action::Accept => self.reach_home(request, to_home, Event::Accept),
            Action::Write => self.reach_home(request, to_home, Event::SnoopWrite),
            Action::Answer => self.wheel.schedule(to_home, Event::SnoopAnswer.of(request)),
            Action::Snoop => self.wheel.schedule(to_slice, Event::SnoopArrive.of(request)),
            Action::Complete if asked.is_read() => self.wheel.schedule(to_slice, Event::Part.of(request)),
            Action::Complete if asked == RequestKind::IoWrite => {
                self.wheel.schedule(to_slice, Event::Fill.of(request));
            }
            Action::Complete => self.wheel.schedule(to_slice, Event::Step.of(request)),
            Action::Data if asked == RequestKind::IoRead => {
                // The line goes straight to input-output; the slice hears that it has come.
                let waiting = Waiting::Device(self.pool[request].thread);
                self.wheel.schedule(to_slice, Event::Step.of(request));
                self.begin_passage(link, IoClass::Data, waiting, sink);
            }
            Action::Data => {
                if asked.only_reads() {
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
        let io = self.rings.io();
        match action {
            Action::Announce | Action::Accept | Action::Write | Action::Answer => {
                self.travel(here, ring, io, self.rings.home(), sink);
            }
            Action::Data if asked.only_reads() => {
                self.travel(here, ring, io, self.map.within(core.into()), sink);
                self.travel(here, RingKind::Acknowledge, io, self.map.within(slice), sink);
            }
            Action::Data if asked == RequestKind::IoRead => {
                self.travel(here, RingKind::Acknowledge, io, self.map.within(slice), sink);
            }
            Action::Far => {}
            Action::Snoop | Action::Data | Action::Complete => {
                self.travel(here, ring, io, self.map.within(slice), sink);
            }
        }
    }
}
