//! The link layer: flits out, flits in, buffers, credits that go back.
//!
//! A clock has room for two flits in each direction, and for one header. Packets are sent whole. Those that cannot go at once wait in
//! the transmit buffer. The way on to the ring stop takes two flits of one packet in a clock, so that a line takes five; packets that
//! find it taken wait in the receive buffer. A buffer's entries are packets.

use pericore_engine::NEVER;
use pericore_hardware::signal::{SignalSink, Tick, Wire};

use super::port::{Carried, Flit, IDLE, Levels};
use super::wires::FlitWires;
use super::{Action, PacketId};
use crate::ledger::e5_2600::{Class, Credit, LinkQueue, LinkState};
use crate::uncore::e5_2600::Model;
use crate::uncore::e5_2600::event::Event;

/// Brings the levels of a direction to what it carries now.
pub(super) fn show<S: SignalSink>(
    old: &mut Levels,
    new: Levels,
    (wire, tags): (Wire, [u64; 3]),
    now: Tick,
    sink: &mut S,
) {
    for ((old, new), tag) in old.iter_mut().zip(new).zip(tags) {
        while *old < new {
            *old += 1;
            sink.enter(wire, tag, now);
        }
        while *old > new {
            *old -= 1;
            sink.leave(wire, tag, now);
        }
    }
}

impl Model {
    /// Emits the levels that hold from the start.
    pub(in crate::uncore::e5_2600) fn start_links<S: SignalSink>(&self, sink: &mut S) {
        for wires in &self.links.wires {
            for (wire, tags) in [wires.sent.all, wires.received.all] {
                (0..IDLE[0]).for_each(|_| sink.enter(wire, tags[0], 0));
            }
            for state in [LinkState::SendFull, LinkState::ReceiveFull] {
                sink.enter(wires.power[state as usize], 0, 0);
            }
        }
    }

    /// Lets every link layer work whose time has come.
    #[inline(never)]
    pub(in crate::uncore::e5_2600) fn step_links<S: SignalSink>(&mut self, sink: &mut S) {
        for index in 0..self.links.ports.len() {
            if self.links.ports[index].power.next == self.now {
                self.step_link_power(index, sink);
            }
            if self.links.ports[index].send_next == self.now {
                self.send_flits(index, sink);
            }
            if self.links.ports[index].receive_next == self.now {
                self.receive_flits(index, sink);
            }
        }
        let next = |port: &super::Port| port.send_next.min(port.receive_next).min(port.power.next);
        self.links.next = self.links.ports.iter().map(next).fold(NEVER, Tick::min);
    }

    fn send_flits<S: SignalSink>(&mut self, index: usize, sink: &mut S) {
        let clock = self.clocks.qclk;
        let cycle = clock.cycles(self.now);
        if self.links.ports[index].power.off && !self.link_comes_back(index, sink) {
            return;
        }
        let port = &mut self.links.ports[index];
        let fresh = port.incoming.front().filter(|(at, _)| *at <= self.now).map(|&(_, packet)| packet);
        if let Some(packet) = fresh {
            port.incoming.pop_front();
            port.waiting.push_back(packet);
        }
        self.widen_if_needed(index, sink);
        let port = &mut self.links.ports[index];
        let half = port.power.half;
        let (mut slots, mut header, mut started) = ([None; 2], false, None);
        for (slot, place) in slots.iter_mut().enumerate().take(port.power.slots()) {
            if port.sending.is_none()
                && !header
                && let Some(packet) = port.waiting.pop_front()
            {
                let record = &mut self.links.packets[packet].record;
                (record.first_slot, record.half_width) = (2 * cycle + slot as u64, half);
                port.packets += 1;
                record.damaged = self.links.error_every > 0 && port.packets.is_multiple_of(self.links.error_every);
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
        let wires = &self.links.wires[index];
        if let Some(packet) = started {
            if Some(packet) == fresh {
                sink.pulse(wires.transmit_bypassed, 0, self.now, 1);
            } else {
                self.links.packets[packet].record.transmit_out = self.now;
                sink.leave(wires.transmit, 0, self.now);
                self.ledger.link_leave(index as u16, LinkQueue::Transmit, self.now, 1);
            }
        }
        if let Some(packet) = fresh.filter(|_| fresh != started) {
            self.links.packets[packet].record.transmit_in = self.now;
            sink.enter(wires.transmit, 0, self.now);
            self.ledger.link_enter(index as u16, LinkQueue::Transmit, self.now, 1);
        }
        let busy = slots[0].is_some();
        let levels = self.show_flits(&slots, self.links.ports[index].power.idle(), &wires.sent, sink);
        let port = &mut self.links.ports[index];
        show(&mut port.sent, levels, self.links.wires[index].sent.all, self.now, sink);
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

    /// Emits the flits of a clock by class, and gives how many there are of each sort.
    fn show_flits<S: SignalSink>(
        &self,
        slots: &[Option<Flit>; 2],
        idle: Levels,
        wires: &FlitWires,
        sink: &mut S,
    ) -> Levels {
        let mut levels = idle;
        let mut seen: [Option<(Wire, u64)>; 2] = [None; 2];
        for ((packet, flit), seen) in slots.iter().flatten().zip(&mut seen) {
            let record = &self.links.packets[*packet].record;
            levels[0] -= 1;
            levels[if *flit == 0 { 2 } else { 1 }] += 1;
            let (one, two) = (wires.classes_1, wires.classes_2);
            *seen = Some(match record.kind.class() {
                Class::Snoop => (one.0, one.1[0]),
                Class::Home => (one.0, one.1[if record.kind.is_request() { 1 } else { 2 }]),
                Class::Data => (one.0, one.1[if *flit == 0 { 4 } else { 3 }]),
                Class::NoData => (two.0, two.1[usize::from(!record.passes_through)]),
                Class::Bypass => (two.0, two.1[if *flit == 0 { 3 } else { 2 }]),
                Class::Standard => (two.0, two.1[4]),
            });
        }
        match seen {
            [Some((wire, tag)), second] if second == Some((wire, tag)) => sink.pulse(wire, tag, self.now, 2),
            _ => seen.iter().flatten().for_each(|&(wire, tag)| sink.pulse(wire, tag, self.now, 1)),
        }
        levels
    }

    fn receive_flits<S: SignalSink>(&mut self, index: usize, sink: &mut S) {
        let clock = self.clocks.qclk;
        let cycle = clock.cycles(self.now);
        if self.links.ports[index].power.next_change() == self.now {
            self.hear_width(index, sink);
        }
        self.return_credits(index, cycle, sink);
        if self.links.ports[index].handing.is_none()
            && let Some(packet) = self.links.ports[index].received.pop_front()
        {
            let record = &mut self.links.packets[packet].record;
            record.receive_out = self.now;
            let wires = &self.links.wires[index];
            sink.leave(wires.receive, 0, self.now);
            sink.leave(wires.receive_occupancy[record.kind.class() as usize], 0, self.now);
            self.ledger.link_leave(index as u16, LinkQueue::Receive, self.now, 1);
            self.begin_to_hand(index, packet, cycle);
        }
        let peer = usize::from(self.links.ports[index].peer);
        let (idle, mut busy) = (self.links.ports[index].power.idle_received(), false);
        let mut levels = idle;
        if let Some(carried) = self.links.ports[peer].flying.front().copied()
            && carried.cycle + self.links.flight == cycle
        {
            self.links.ports[peer].flying.pop_front();
            busy = true;
            levels = self.show_flits(&carried.slots, idle, &self.links.wires[index].received, sink);
            for (packet, _) in carried.slots.into_iter().flatten().filter(|&(_, flit)| flit == 0) {
                self.header(index, packet, sink);
                self.take_in(index, packet, cycle, sink);
            }
        }
        if let Some((packet, _)) = self.links.ports[index].handing.filter(|&(_, done)| done <= cycle) {
            self.links.ports[index].handing = None;
            self.hand_to_ring(index, packet, sink);
        }
        let flight = self.links.flight;
        let arrives = self.links.ports[peer].flying.front().map_or(NEVER, |next| (next.cycle + flight) * clock.ticks());
        let port = &mut self.links.ports[index];
        show(&mut port.receiving, levels, self.links.wires[index].received.all, self.now, sink);
        let handing = port.handing.is_some() || !port.received.is_empty();
        let goes_on = busy || handing || !port.returning.is_empty();
        let arrives = arrives.min(port.power.next_change());
        port.receive_next = if goes_on { self.now + clock.ticks() } else { arrives };
    }

    /// A packet begins to arrive: it goes on to the ring stop at once, or into the receive buffer.
    fn take_in<S: SignalSink>(&mut self, index: usize, packet: PacketId, cycle: u64, sink: &mut S) {
        let wires = &self.links.wires[index];
        let port = &mut self.links.ports[index];
        if port.handing.is_none() && port.received.is_empty() {
            sink.pulse(wires.receive_bypassed, 0, self.now, 1);
            self.begin_to_hand(index, packet, cycle);
            return;
        }
        let record = &mut self.links.packets[packet].record;
        let class = record.kind.class() as usize;
        record.receive_in = self.now;
        sink.enter(wires.receive, 0, self.now);
        sink.pulse(wires.receive_inserts[class], 0, self.now, 1);
        sink.enter(wires.receive_occupancy[class], 0, self.now);
        port.received.push_back(packet);
        self.ledger.link_enter(index as u16, LinkQueue::Receive, self.now, 1);
    }

    /// A packet begins to go to the ring stop: two flits in a clock, and no sooner than they come.
    fn begin_to_hand(&mut self, index: usize, packet: PacketId, cycle: u64) {
        let record = &self.links.packets[packet].record;
        let flits = record.kind.flits();
        // What is damaged is asked for and sent once more, a way there and back. The repeated flits count nowhere.
        let again = if record.damaged { 2 * self.links.flight + flits } else { 0 };
        let last = record.slot_of(flits - 1) / 2 + self.links.flight + again;
        let done = (cycle + flits.div_ceil(2) - 1).max(last);
        self.links.ports[index].handing = Some((packet, done));
    }

    /// A packet's header arrives.
    fn header<S: SignalSink>(&self, index: usize, packet: PacketId, sink: &mut S) {
        let (record, wires) = (&self.links.packets[packet].record, &self.links.wires[index]);
        sink.pulse(wires.packets, wires.header.tag(record), self.now, 1);
        if record.damaged {
            sink.pulse(wires.errors.0, wires.errors.1, self.now, 1);
        }
        match record.credit {
            Credit::Shared(_) => sink.pulse(wires.shared_consumed, 0, self.now, 1),
            Credit::Reserved => {
                let (wire, tags) = wires.reserved_consumed;
                sink.pulse(wire, tags[record.kind.class() as usize], self.now, 1);
            }
        }
    }

    /// A packet goes to the ring stop; the room that it had in the buffer is free.
    fn hand_to_ring<S: SignalSink>(&mut self, index: usize, packet: PacketId, sink: &mut S) {
        let Self { links, pool, .. } = self;
        let (request, action) = (links.packets[packet].request, links.packets[packet].action);
        let (record, wires) = (&mut links.packets[packet].record, &links.wires[index]);
        record.handed = self.now;
        if record.kind.is_for_cache() && !record.passes_through {
            // As at the home agent: loads get their data straight, stores and what is not coherent by the slice.
            let direct = action != Action::Far && pool[request].record.kind.only_reads();
            record.direct = Some(direct);
            let (wire, tags) = wires.direct;
            sink.pulse(wire, tags[usize::from(direct)], self.now, 1);
        }
        if let Credit::Shared(count) = record.credit {
            (0..count).for_each(|_| sink.enter(wires.returning, 0, self.now));
        }
        let cycle = self.clocks.qclk.cycles(self.now);
        links.ports[index].returning.push_back((cycle, packet));
        self.wheel.schedule(self.now + self.links.crossing, Event::Delivered.of(packet));
    }

    /// The credits of the last clock go back to the sender, with the flits of the other direction.
    fn return_credits<S: SignalSink>(&mut self, index: usize, cycle: u64, sink: &mut S) {
        while let Some((_, packet)) = self.links.ports[index].returning.front().copied().filter(|&(at, _)| at < cycle) {
            self.links.ports[index].returning.pop_front();
            let (record, wires) = (&mut self.links.packets[packet].record, &self.links.wires[index]);
            record.returned = self.now;
            if let Credit::Shared(count) = record.credit {
                (0..count).for_each(|_| sink.leave(wires.returning, 0, self.now));
                sink.pulse(wires.returned, 0, self.now, count.into());
            }
            // The packet's record is done with when they arrive: after it has been delivered.
            let back = self.now + self.links.flight * self.clocks.qclk.ticks();
            let back = back.max(record.handed + self.links.crossing + self.latency.uclk);
            self.wheel.schedule(back, Event::CreditsBack.of(packet));
        }
    }
}
