//! Credits that go back over a link: what a receiver's buffers have room for again.
//!
//! A receiver gathers credits for a little while and puts them into slot 2 of a flit of the other direction: those of the virtual
//! networks first, the shared ones a cycle later.

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{LinkFact, LinkPacket, Readers, ReturnedCredits};

use super::{LINKS, Paid, peer};
use crate::uncore::emerald_rapids::Model;
use crate::uncore::emerald_rapids::event::Event;

/// Uncore cycles for which a receiver gathers credits (assumption).
const GATHERING: Tick = 16;
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

    /// Gathered credits go out.
    pub(in super::super) fn credit_out<R: Readers>(&mut self, number: u16, reader: &mut R) {
        let flow = &mut self.links.flows[usize::from(number)];
        let mut goes = ReturnedCredits::default();
        if flow.freed.are_own() {
            goes.own = std::mem::take(&mut flow.freed.own);
            flow.gathering = flow.freed.shared > 0;
            if flow.gathering {
                self.wheel.schedule(self.now + self.times.uclk, Event::CreditOut.of(number));
            }
        } else {
            goes.shared = std::mem::take(&mut flow.freed.shared);
            flow.gathering = false;
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
}
