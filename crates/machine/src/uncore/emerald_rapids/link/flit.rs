//! Header flits: what goes into them, and how they come to the link layer.

use pericore_engine::Tick;

use super::arbitration::{ADDRESS, Winner};
use super::building::{Ahead, Building, HeaderFlit, SLOTS, fit};
use super::{ADDRESS_CLASSES, Paid, RETRY, SLOTS_OF_A_LINE};
use crate::uncore::emerald_rapids::Model;
use crate::uncore::emerald_rapids::event::Event;
use pericore_facts::emerald_rapids::{LinkFact, LinkPacket, Readers, RunAhead, SlotRequest};

impl Model {
    /// Slots a network's winners, and what else of its addresses fits and can pay, into a flit. All of its slots are
    /// taken if a message travels alone.
    pub(super) fn slot<R: Readers>(
        &mut self,
        number: u16,
        network: usize,
        [address, block]: [Winner; 2],
        reader: &mut R,
    ) -> Building {
        let mut building = self.begin_flit(number, network);
        // What travels on a credit of its own travels alone.
        let alone = [block, address].into_iter().flatten().next().is_some_and(|(_, paid)| paid == Paid::Own);
        if let Some((class, paid)) = block {
            self.take(number, class, paid, &mut building, reader);
        }
        if let Some((class, paid)) =
            address.filter(|&(_, paid)| building.flit.count == 0 || !alone && paid == Paid::Shared)
        {
            self.take(number, class, paid, &mut building, reader);
        }
        if alone {
            (building.flit.alone, building.taken) = (true, [true; SLOTS]);
        } else {
            self.fill(number, &mut building, reader);
        }
        building.full = (building.taken == [true; SLOTS]).then_some(self.now);
        building
    }

    fn begin_flit(&mut self, number: u16, network: usize) -> Building {
        let gate = &self.links.gates[usize::from(number)];
        // A slot that the link layer waits for stays free.
        let taken = [false, false, gate.slot_forced];
        let flit = HeaderFlit { keeps_slot: gate.slot_forced, ..HeaderFlit::default() };
        let (since, full) = (self.now, None);
        Building { flit, taken, network, since, full, joined: 0, is_ahead: false, paid_off: false }
    }

    /// Addresses of its network fill a flit; true if there was one.
    fn fill<R: Readers>(&mut self, number: u16, building: &mut Building, reader: &mut R) -> bool {
        let before = building.flit.count;
        while building.flit.count < SLOTS {
            let gate = &self.links.gates[usize::from(number)];
            let fits = |class: &usize| {
                let head = gate.queues[building.network][*class].front();
                head.is_some_and(|&id| fit(building.taken, &self.links.packets[id].sent).is_some())
            };
            let Some(class) = ADDRESS.filter(|_| gate.shared > 0).find(fits) else { break };
            self.take(number, class, Paid::Shared, building, reader);
        }
        building.flit.count > before
    }

    /// What has come meanwhile joins a flit that waits; true if there was something.
    pub(super) fn join<R: Readers>(&mut self, number: u16, reader: &mut R) -> bool {
        let Some(mut building) = self.links.gates[usize::from(number)].building.take() else { return false };
        let joined = building.full.is_none() && self.fill(number, &mut building, reader);
        building.joined += u32::from(joined);
        if building.taken == [true; SLOTS] {
            building.full.get_or_insert(self.now);
        }
        self.links.gates[usize::from(number)].building = Some(building);
        joined
    }

    /// The next flit is begun while the one before is complete: one message goes in.
    pub(super) fn begin_ahead<R: Readers>(&mut self, number: u16, reader: &mut R) {
        let gate = &mut self.links.gates[usize::from(number)];
        if gate.ahead.has_message() {
            return;
        }
        if gate.ahead != Ahead::Empty {
            gate.ahead = Ahead::Empty;
            self.at_link(number, LinkFact::RunsAhead(RunAhead::Begins), reader);
        }
        let Some((network, [address, block])) = self.arbitrate(number, true, reader) else { return };
        let Some((class, paid)) = block.or(address) else { return };
        let mut building = self.begin_flit(number, network);
        self.take(number, class, paid, &mut building, reader);
        if paid == Paid::Own {
            (building.flit.alone, building.taken) = (true, [true; SLOTS]);
            building.full = Some(self.now);
        }
        self.links.gates[usize::from(number)].ahead = Ahead::Begun(building);
        self.at_link(number, LinkFact::RunsAhead(RunAhead::First), reader);
    }

    /// Takes the first message of a class into a flit.
    fn take<R: Readers>(&mut self, number: u16, class: usize, paid: Paid, building: &mut Building, reader: &mut R) {
        let gate = &mut self.links.gates[usize::from(number)];
        let Some(id) = gate.next_of(building.network, class) else { return };
        let packet = &mut self.links.packets[id].sent;
        // The first class of a flit always finds its slot; further ones were chosen for one.
        let slot = fit(building.taken, packet).unwrap_or(0);
        packet.slot = slot;
        let packet = *packet;
        self.at_link(number, LinkFact::LeavesGate(packet), reader);
        building.taken[usize::from(slot)] = true;
        building.flit.add(id);
        building.flit.lines += u32::from(packet.message.has_line());
        if class >= ADDRESS_CLASSES {
            building.flit.block = true;
            building.flit.whole = building.flit.whole.max(self.slot_block(number, id, reader));
            self.notify_memory(number, id, reader);
        }
        self.pay(number, id, paid, reader);
    }

    /// A message takes its credit.
    pub(super) fn pay<R: Readers>(&mut self, number: u16, id: u16, paid: Paid, reader: &mut R) {
        self.links.packets[id].sent.paid = paid;
        let super::Packet { sent: packet, from, cha, credit, .. } = self.links.packets[id];
        let gate = &mut self.links.gates[usize::from(number)];
        match (paid, packet.own()) {
            (Paid::Own, Some(own)) => gate.own[usize::from(packet.network)][own] -= 1,
            _ => gate.shared -= packet.allotted(),
        }
        self.at_link(number, LinkFact::Pays(packet), reader);
        self.correct_later(number, &packet);
        if let Some(of) = credit {
            self.give_credit(from, cha, of, reader);
        }
    }

    /// What a message was given and does not need is back in the next cycle.
    fn correct_later(&mut self, number: u16, packet: &LinkPacket) {
        let unneeded = packet.allotted() - packet.cost();
        if packet.paid == Paid::Shared && unneeded > 0 {
            self.links.gates[usize::from(number)].unneeded += unneeded;
            self.wheel.schedule(self.now + self.times.uclk, Event::CreditCorrected.of(number));
        }
    }

    /// A flit goes to the link layer, which sends it when it has sent what came before.
    pub(super) fn ship<R: Readers>(
        &mut self,
        number: u16,
        mut flit: HeaderFlit,
        (network, taken): (usize, [bool; SLOTS]),
        reader: &mut R,
    ) {
        let (now, uclk) = (self.now, self.times.uclk);
        let wakes = self.wake_link(number, reader);
        let gate = &mut self.links.gates[usize::from(number)];
        flit.beside_line = gate.line_until > now;
        let mut leaves = now.max(gate.ready).max(flit.whole) + wakes;
        let damaged = |sent: u64| sent.checked_div(self.links.error_every).unwrap_or(0);
        let before = damaged(gate.sent);
        gate.sent += flit.count as u64;
        let is_damaged = damaged(gate.sent) > before;
        if is_damaged {
            // The peer finds it damaged and asks for it again.
            leaves += RETRY * uclk;
        }
        self.report_idle(number, leaves, reader);
        let gate = &mut self.links.gates[usize::from(number)];
        let slots = flit.count as Tick + Tick::from(flit.lines) * SLOTS_OF_A_LINE;
        gate.ready = leaves + slots * self.times.link_slot;
        gate.slots += slots;
        if flit.lines > 0 {
            gate.line_until = gate.ready;
        }
        let edge = now + uclk;
        flit.queued = leaves > edge;
        gate.last = Some((now, network, taken));
        let has_slot = gate.slot_wanted && (flit.keeps_slot || !taken[2]);
        gate.unsent.push_back(flit);
        if is_damaged {
            self.at_link(super::peer(number), LinkFact::Damaged, reader);
        }
        let HeaderFlit { queued, lines, beside_line, .. } = flit;
        self.at_link(number, LinkFact::Ships { lines: lines > 0, beside_line, queued }, reader);
        self.wheel.schedule(leaves.max(edge), Event::FlitOut.of(number));
        if has_slot {
            let how = if flit.keeps_slot { SlotRequest::Forced } else { SlotRequest::Natural };
            self.fill_slot(number, how, reader);
        }
    }
}
