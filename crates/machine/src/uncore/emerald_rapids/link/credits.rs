//! Credits that go back over a link: what a receiver's buffers have room for again.
//!
//! A receiver gathers credits for a little while, and its link layer asks for slot 2 of a flit of the other
//! direction: for those of the virtual networks first, then for the shared ones. The next flit with room there takes
//! them; if none comes soon, one keeps room for them. A direction without anything to send has flits enough of its
//! own.

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{LinkFact, LinkPacket, Readers, ReturnedCredits, SlotRequest};

use super::{LINKS, Paid, peer};
use crate::uncore::emerald_rapids::Model;
use crate::uncore::emerald_rapids::event::Event;

/// Uncore cycles for which a receiver gathers credits (assumption).
const GATHERING: Tick = 16;
/// Uncore cycles for which the link layer waits for a flit that has room (assumption).
const HOLDING_OFF: Tick = 8;
/// Uncore cycles that they need to the other socket (assumption: less than a message, which also goes through buffers).
const RETURNING: Tick = 50;

impl Model {
    /// A message has left the link layer's buffers: its credits are free.
    pub(super) fn free_credits(&mut self, number: u16, packet: &LinkPacket) {
        let flow = &mut self.links.flows[usize::from(number)];
        match (packet.paid, packet.own()) {
            (Paid::Own, Some(own)) => flow.freed.own[usize::from(packet.network)][own] += 1,
            _ => flow.freed.shared += packet.cost(),
        }
        if !std::mem::replace(&mut flow.gathering, true) {
            self.wheel.schedule(self.now + GATHERING * self.times.uclk, Event::CreditOut.of(number));
        }
    }

    /// The link layer asks for a slot for gathered credits, or has waited for long enough.
    pub(in super::super) fn credit_out<R: Readers>(&mut self, number: u16, reader: &mut R) {
        let gate = &mut self.links.gates[usize::from(number)];
        let is_new = !std::mem::replace(&mut gate.slot_wanted, true);
        let idle = gate.is_idle(self.now);
        gate.slot_forced = !is_new && !idle;
        if is_new {
            self.at_link(number, LinkFact::SlotRequest(SlotRequest::Comes), reader);
        }
        if idle {
            self.fill_slot(number, SlotRequest::Withdrawn, reader);
        } else {
            // Looked at again: the direction may have nothing to send then.
            let gate = &mut self.links.gates[usize::from(number)];
            gate.slot_due = self.now + HOLDING_OFF * self.times.uclk;
            self.wheel.schedule(gate.slot_due, Event::SlotDue.of(number));
        }
    }

    /// The link layer has waited for a slot, if it still waits.
    pub(in super::super) fn slot_due<R: Readers>(&mut self, number: u16, reader: &mut R) {
        let gate = &self.links.gates[usize::from(number)];
        if gate.slot_wanted && gate.slot_due == self.now {
            self.credit_out(number, reader);
        }
    }

    /// Credits go out in a slot.
    pub(super) fn fill_slot<R: Readers>(&mut self, number: u16, how: SlotRequest, reader: &mut R) {
        let gate = &mut self.links.gates[usize::from(number)];
        (gate.slot_wanted, gate.slot_forced) = (false, false);
        self.at_link(number, LinkFact::SlotRequest(how), reader);
        let flow = &mut self.links.flows[usize::from(number)];
        let mut goes = ReturnedCredits::default();
        if flow.freed.are_own() {
            goes.own = std::mem::take(&mut flow.freed.own);
        } else {
            goes.shared = std::mem::take(&mut flow.freed.shared);
        }
        flow.gathering = flow.freed.are_own() || flow.freed.shared > 0;
        if flow.gathering {
            self.wheel.schedule(self.now + self.times.uclk, Event::CreditOut.of(number));
        }
        self.at_link(number, LinkFact::GivesCredits(goes), reader);
        self.links.gates[usize::from(peer(number))].returning.push_back(goes);
        self.wheel.schedule(self.now + RETURNING * self.times.uclk, Event::CreditIn.of(peer(number)));
    }

    /// Credits come back to a gate.
    pub(in super::super) fn credit_in<R: Readers>(&mut self, number: u16, reader: &mut R) {
        let gate = &mut self.links.gates[usize::from(number)];
        let Some(credits) = gate.returning.pop_front() else { return };
        gate.shared += credits.shared;
        for (left, count) in gate.own.as_flattened_mut().iter_mut().zip(credits.own.as_flattened()) {
            *left += count;
        }
        self.at_link(number, LinkFact::GetsCredits(credits), reader);
        self.pump_link(number, reader);
    }

    /// A taker has taken a message of a link: the link's credit for it is back. `subject` is the flow's number and the
    /// credit's kind.
    pub(in super::super) fn agent_credit<R: Readers>(&mut self, subject: u16, reader: &mut R) {
        let links = 2 * u16::from(LINKS);
        let (number, kind) = (subject % links, subject / links);
        self.links.flows[usize::from(number)].takers[usize::from(kind)] += 1;
        self.at_link(number, LinkFact::TakerReady(kind as u8), reader);
        self.wake_flow(number);
    }

    /// Shared credits that messages have not needed are back.
    pub(in super::super) fn correct_credits<R: Readers>(&mut self, number: u16, reader: &mut R) {
        let gate = &mut self.links.gates[usize::from(number)];
        let unneeded = std::mem::take(&mut gate.unneeded);
        gate.shared += unneeded;
        if unneeded > 0 {
            self.at_link(number, LinkFact::Corrects(unneeded), reader);
            self.pump_link(number, reader);
        }
    }
}
