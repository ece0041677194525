//! Credits that go back over a link: what a receiver's buffers have room for again.
//!
//! A receiver gathers credits for a little while and puts them into slot 2 of a flit of the other direction: those of the virtual
//! networks first, the shared ones a cycle later.

use pericore_hardware::signal::{SignalSink, Tick};

use super::{LINKS, OWN_CLASSES, Paid, peer, place};
use super::{Packet, gate::MARKS};
use crate::ledger::emerald_rapids::compiled::{deed, level};
use crate::uncore::emerald_rapids::Model;
use crate::uncore::emerald_rapids::event::Event;

/// Uncore cycles for which a receiver gathers credits (assumption).
const GATHERING: Tick = 16;
/// Uncore cycles that they need to the other socket.
const RETURNING: Tick = 60;

/// Credits on their way, or about to go.
#[derive(Debug, Clone, Copy, Default)]
pub struct Credits {
    pub shared: u16,
    pub own: [[u8; OWN_CLASSES]; 2],
}

impl Credits {
    fn of_networks(&self) -> bool {
        self.own.iter().flatten().any(|&count| count > 0)
    }
}

impl Model {
    /// A message has left the link layer's buffers: its credits are free.
    pub(super) fn free_credits<S: SignalSink>(&mut self, number: u16, packet: &Packet, sink: &mut S) {
        let ((socket, link), now) = (place(number), self.now);
        let flow = &mut self.links.flows[usize::from(number)];
        match (packet.paid, packet.own()) {
            (Paid::Own, Some(own)) => flow.freed.own[usize::from(packet.network)][own] += 1,
            _ => {
                flow.freed.shared += packet.cost();
                let waits = level!("upi/VNA_CREDIT_RETURN_OCCUPANCY");
                (0..packet.cost()).for_each(|_| self.account.enter(waits, socket, link, now, sink));
            }
        }
        if !std::mem::replace(&mut self.links.flows[usize::from(number)].gathering, true) {
            self.wheel.schedule(now + GATHERING * self.times.uclk, Event::CreditOut.of(number));
        }
    }

    /// Gathered credits go out.
    pub(in super::super) fn credit_out<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
        let ((socket, link), now) = (place(number), self.now);
        let flow = &mut self.links.flows[usize::from(number)];
        let mut goes = Credits::default();
        if flow.freed.of_networks() {
            goes.own = std::mem::take(&mut flow.freed.own);
            flow.gathering = flow.freed.shared > 0;
            if flow.gathering {
                let blocked = deed!("upi/VNA_CREDIT_RETURN_BLOCKED_VN01");
                self.account.deed(blocked, socket, link, now, sink);
                self.wheel.schedule(now + self.times.uclk, Event::CreditOut.of(number));
            }
            for network in 0..2 {
                if goes.own[usize::from(network)].iter().any(|&count| count > 0) {
                    let asks = deed!("upi/REQ_SLOT2_FROM_M3.VN0") + network;
                    self.account.deed(asks, socket, link, now, sink);
                }
            }
        } else {
            goes.shared = std::mem::take(&mut flow.freed.shared);
            flow.gathering = false;
            let waits = level!("upi/VNA_CREDIT_RETURN_OCCUPANCY");
            (0..goes.shared).for_each(|_| self.account.leave(waits, socket, link, now, sink));
            self.account.deed(deed!("upi/REQ_SLOT2_FROM_M3.VNA"), socket, link, now, sink);
        }
        self.account.deed(deed!("m3upi/RxC_FLITS_MISC.S2REQ_RECEIVED"), socket, link, now, sink);
        self.account.credit_slot(socket, link, false, now, sink);
        self.account.deed(deed!("upi/TxL_ANY_FLITS.LLCRD"), socket, link, now, sink);
        self.links.gates[usize::from(peer(number))].returning.push_back(goes);
        self.wheel.schedule(now + RETURNING * self.times.uclk, Event::CreditIn.of(peer(number)));
    }

    /// Credits come back to a gate.
    pub(in super::super) fn credit_in<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
        let ((socket, link), now) = (place(number), self.now);
        let gate = &mut self.links.gates[usize::from(number)];
        let Some(credits) = gate.returning.pop_front() else { return };
        let account = &mut self.account;
        account.credit_slot(socket, link, true, now, sink);
        account.deed(deed!("upi/RxL_ANY_FLITS.LLCRD"), socket, link, now, sink);
        let before = gate.shared;
        gate.shared += credits.shared;
        let used = level!("m3upi/RxC_CRD_OCC.VNA_IN_USE");
        (0..credits.shared).for_each(|_| account.leave(used, socket, link, now, sink));
        for (mark, &least) in (0..).zip(&MARKS) {
            if before < least && gate.shared >= least {
                account.leave(level!("m3upi/RxC_VNA_CRD.LT1") + mark, socket, link, now, sink);
            }
        }
        for (network, counts) in (0..).zip(credits.own) {
            for (own, count) in (0..).zip(counts).filter(|&(_, count)| count > 0) {
                let left = &mut gate.own[usize::from(network)][usize::from(own)];
                if *left == 0 {
                    let none = level!("m3upi/VN0_NO_CREDITS.REQ") + network * OWN_CLASSES as u16 + own;
                    account.leave(none, socket, link, now, sink);
                }
                *left += count;
            }
        }
        self.pump_link(number, sink);
    }

    /// An agent has taken a message of a link: the link's credit for it is back. `subject` is the flow's number and the credit's kind.
    pub(in super::super) fn agent_credit<S: SignalSink>(&mut self, subject: u16, sink: &mut S) {
        let links = 2 * u16::from(LINKS);
        let (number, kind) = (subject % links, subject / links);
        let (socket, link) = place(number);
        let left = &mut self.links.flows[usize::from(number)].agents[usize::from(kind)];
        *left += 1;
        if *left == 1 {
            let none = level!("m3upi/CHA_AD_CREDITS_EMPTY.REQ") + kind;
            self.account.leave(none, socket, link, self.now, sink);
        }
        self.wake_flow(number);
    }
}
