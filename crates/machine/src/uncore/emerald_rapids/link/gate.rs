//! M3UPI, from the mesh to the link: messages wait by virtual network and class until one of each ring wins, and share flits.
//!
//! In each cycle both networks arbitrate: on either ring the first class in turn that can pay wins. One network's winners are slotted
//! into a header flit, a line's header before addresses; further addresses fill what is left of it. The other network's winners are
//! held for the next flit. A flit that the link layer has no room for holds up the next.

use std::collections::VecDeque;

use pericore_hardware::signal::{SignalSink, Tick};

use super::arbitration::{ADDRESS, Winner, by_network};
use super::{ADDRESS_CLASSES, CLASSES, ERROR_INTERVAL, Flit, OWN_CLASSES, Packet, Paid, RETRY, SLOTS_OF_A_LINE};
use super::{Lane, credits::Credits, place};
use crate::ledger::emerald_rapids::LinkMessage;
use crate::ledger::emerald_rapids::compiled::{deed, level};
use crate::uncore::emerald_rapids::Model;
use crate::uncore::emerald_rapids::event::Event;

/// Flit buffers of a receiver that all its classes share (assumption: what a link holds in the time from sending a flit to getting its
/// credits back, 51 ns at 35.8 GB/s, is 29 lines of four buffers).
const SHARED: u16 = 128;
/// Buffers of each class on each virtual network (assumption).
const OWN: u8 = 2;
/// Flits that the link layer takes before it sends them (assumption).
const UNSENT: usize = 2;
/// Messages of a class, flits and credits that a queue has room for from the start: more only wait in a jam.
const WAITING: usize = 64;
/// Levels of the shared credits that are watched (Table 2-400).
pub const MARKS: [u16; 4] = [1, 4, 5, 10];
/// Slots of a flit.
pub const SLOTS: usize = 3;

/// One link's way out.
#[derive(Debug)]
pub struct Gate {
    /// By virtual network and class.
    pub queues: [[VecDeque<u16>; CLASSES]; 2],
    waiting: u16,
    /// Credits of the peer that are left.
    pub shared: u16,
    pub own: [[u8; OWN_CLASSES]; 2],
    /// The network whose winners are slotted next.
    pub turn: usize,
    /// A look at the queues is under way.
    pumping: bool,
    /// Since when the link layer has had no room.
    blocked: Option<Tick>,
    unsent: VecDeque<Flit>,
    crossing: VecDeque<Flit>,
    pub returning: VecDeque<Credits>,
    /// When the link can send the next flit, and until when it sends a line.
    ready: Tick,
    line_until: Tick,
    /// Messages sent.
    pub sent: u64,
}

impl Gate {
    pub fn new() -> Self {
        Self {
            queues: std::array::from_fn(|_| std::array::from_fn(|_| VecDeque::with_capacity(WAITING))),
            waiting: 0,
            shared: SHARED,
            own: [[OWN; OWN_CLASSES]; 2],
            turn: 0,
            pumping: false,
            blocked: None,
            unsent: VecDeque::with_capacity(UNSENT),
            crossing: VecDeque::with_capacity(WAITING),
            returning: VecDeque::with_capacity(WAITING),
            ready: 0,
            line_until: 0,
            sent: 0,
        }
    }

    /// The flit that leaves.
    pub fn take_unsent(&mut self) -> Option<Flit> {
        self.unsent.pop_front()
    }

    /// A flit is on its way.
    pub fn cross(&mut self, flit: Flit) {
        self.crossing.push_back(flit);
    }

    /// The flit that has arrived.
    pub fn arrived(&mut self) -> Option<Flit> {
        self.crossing.pop_front()
    }

    /// Nothing is sent before a tick.
    pub fn hold_until(&mut self, tick: Tick) {
        self.ready = self.ready.max(tick);
    }
}

/// A place in a flit for a message, given those that are taken: lines first, completions only outside.
fn free_slot(taken: [bool; SLOTS], packet: &Packet) -> Option<u8> {
    let lane = packet.lane();
    let allowed = |slot| match lane {
        Lane::Address => true,
        Lane::Acknowledge => slot != 1,
        Lane::Block => slot == 0,
    };
    let fits = |&slot: &u8| !taken[usize::from(slot)] && allowed(slot);
    (0..SLOTS as u8).find(fits)
}

impl Model {
    /// A message comes off the mesh and waits for the link, or goes straight into a flit of its own if the link is idle.
    pub(in super::super) fn linked<S: SignalSink>(&mut self, id: u16, sink: &mut S) {
        let packet = self.links.packets[id];
        let number = u16::from(packet.from * super::LINKS + packet.link);
        let ((socket, link), now) = (place(number), self.now);
        let (network, class) = (usize::from(packet.network), packet.order());
        if packet.message == LinkMessage::ReadData {
            self.account.deed(deed!("m3upi/XPT_PFTCH.ARRIVED"), socket, link, now, sink);
            self.account.deed(deed!("m3upi/UPI_PREFETCH_SPAWN"), socket, link, now, sink);
        }
        let gate = &mut self.links.gates[usize::from(number)];
        let idle = gate.waiting == 0 && gate.unsent.is_empty() && gate.ready <= now;
        if idle && class < ADDRESS_CLASSES && gate.shared > 0 {
            self.account.deed(deed!("m3upi/RxC_BYPASSED.AD_S0_IDLE"), socket, link, now, sink);
            self.pay(number, id, Paid::Shared, sink);
            self.ship(number, Flit { ids: [id, 0, 0], count: 1, queued: false }, sink);
            return;
        }
        gate.queues[network][class].push_back(id);
        gate.waiting += 1;
        let blocked = gate.blocked.is_some();
        let pumps = !blocked && !std::mem::replace(&mut gate.pumping, true);
        let ingress = by_network(level!("m3upi/RxC_INSERTS_VN0.AD_REQ"), network, class);
        self.account.enter(ingress, socket, link, now, sink);
        if blocked {
            self.account.deed(deed!("m3upi/RxC_FLIT_GEN_HDR1.ACCUM_READ"), socket, link, now, sink);
        }
        if pumps {
            self.wheel.schedule(now + self.times.uclk, Event::LinkPump.of(number));
        }
    }

    /// The look at a gate's queues that was put off.
    pub(in super::super) fn link_pump<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
        self.links.gates[usize::from(number)].pumping = false;
        self.pump_link(number, sink);
    }

    /// Builds the next flit, if there is something to send and room for it.
    pub(super) fn pump_link<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
        let now = self.now;
        let gate = &mut self.links.gates[usize::from(number)];
        if gate.waiting == 0 || gate.pumping {
            return;
        }
        if gate.unsent.len() >= UNSENT {
            if gate.blocked.is_none() {
                gate.blocked = Some(now);
                self.note_no_progress(number, sink);
            }
            return;
        }
        if let Some(since) = gate.blocked.take() {
            self.note_blocked(number, since, sink);
        }
        let winners = self.arbitrate_networks(number, sink);
        let gate = &mut self.links.gates[usize::from(number)];
        let network = if winners[gate.turn] == [None; 2] { 1 - gate.turn } else { gate.turn };
        if winners[network] == [None; 2] {
            // Credits that come back start it again.
            return;
        }
        gate.turn = 1 - network;
        let flit = self.slot(number, network, winners, sink);
        self.note_missed(number, &flit, sink);
        self.ship(number, flit, sink);
        let gate = &mut self.links.gates[usize::from(number)];
        if gate.waiting > 0 {
            gate.pumping = true;
            self.wheel.schedule(now + self.times.uclk, Event::LinkPump.of(number));
        }
    }

    /// Slots a network's winners, and what else of its addresses fits and can pay, into a flit.
    fn slot<S: SignalSink>(&mut self, number: u16, network: usize, winners: [[Winner; 2]; 2], sink: &mut S) -> Flit {
        let ((socket, link), now) = (place(number), self.now);
        let [address, block] = winners[network];
        let held = deed!("m3upi/RxC_HELD.VN0");
        if winners[1 - network] != [None; 2] {
            self.account.deed(held + (1 - network) as u16, socket, link, now, sink);
        }
        let mut flit = Flit::default();
        let mut taken = [false; SLOTS];
        // What travels on a credit of its own travels alone.
        let alone = [block, address].into_iter().flatten().next().is_some_and(|(_, paid)| paid == Paid::Own);
        if let Some((class, paid)) = block {
            self.take(number, (network, class), paid, &mut flit, &mut taken, sink);
        }
        if let Some((class, paid)) = address.filter(|&(_, paid)| flit.count == 0 || !alone && paid == Paid::Shared) {
            self.take(number, (network, class), paid, &mut flit, &mut taken, sink);
        }
        if block.is_some() && address.is_some() {
            let attempt = deed!("m3upi/RxC_HELD.PARALLEL_ATTEMPT");
            self.account.deed(attempt, socket, link, now, sink);
            let succeeds = flit.count == 2;
            let outcome =
                if succeeds { deed!("m3upi/RxC_HELD.PARALLEL_SUCCESS") } else { deed!("m3upi/RxC_HELD.CANT_SLOT_AD") };
            self.account.deed(outcome, socket, link, now, sink);
        }
        while !alone && flit.count < SLOTS {
            let gate = &self.links.gates[usize::from(number)];
            let fits = |class: &usize| {
                let head = gate.queues[network][*class].front();
                head.is_some_and(|&id| free_slot(taken, &self.links.packets[id]).is_some())
            };
            let Some(class) = ADDRESS.filter(|_| gate.shared > 0).find(fits) else { break };
            self.take(number, (network, class), Paid::Shared, &mut flit, &mut taken, sink);
        }
        let sent = match (alone, flit.count) {
            (true, _) => deed!("m3upi/RxC_HDR_FLITS_SENT.1_MSG_VNX"),
            (false, count) => count as u16 - 1 + deed!("m3upi/RxC_HDR_FLITS_SENT.1_MSG"),
        };
        self.account.deed(sent, socket, link, now, sink);
        flit
    }

    /// Takes the first message of a class into a flit.
    fn take<S: SignalSink>(
        &mut self,
        number: u16,
        (network, class): (usize, usize),
        paid: Paid,
        flit: &mut Flit,
        taken: &mut [bool; SLOTS],
        sink: &mut S,
    ) {
        let (socket, link) = place(number);
        let gate = &mut self.links.gates[usize::from(number)];
        let Some(id) = gate.queues[network][class].pop_front() else { return };
        gate.waiting -= 1;
        let ingress = by_network(level!("m3upi/RxC_INSERTS_VN0.AD_REQ"), network, class);
        self.account.leave(ingress, socket, link, self.now, sink);
        let packet = &mut self.links.packets[id];
        // The first class of a flit always finds its slot; further ones were chosen for one.
        let slot = free_slot(*taken, packet).unwrap_or(0);
        packet.slot = slot;
        taken[usize::from(slot)] = true;
        flit.ids[flit.count] = id;
        flit.count += 1;
        self.pay(number, id, paid, sink);
    }

    /// A message takes its credit.
    fn pay<S: SignalSink>(&mut self, number: u16, id: u16, paid: Paid, sink: &mut S) {
        let ((socket, link), now) = (place(number), self.now);
        let packet = &mut self.links.packets[id];
        packet.paid = paid;
        let packet = *packet;
        let gate = &mut self.links.gates[usize::from(number)];
        let account = &mut self.account;
        match (paid, packet.own()) {
            (Paid::Own, Some(own)) => {
                let (network, offset) = (usize::from(packet.network), own as u16);
                let first = u16::from(packet.network) * OWN_CLASSES as u16 + offset;
                gate.own[network][own] -= 1;
                account.deed(deed!("m3upi/VN0_CREDITS_USED.REQ") + first, socket, link, now, sink);
                if gate.own[network][own] == 0 {
                    account.enter(level!("m3upi/VN0_NO_CREDITS.REQ") + first, socket, link, now, sink);
                }
            }
            _ => {
                let before = gate.shared;
                gate.shared -= packet.cost();
                let used = level!("m3upi/RxC_CRD_OCC.VNA_IN_USE");
                (0..packet.cost()).for_each(|_| account.enter(used, socket, link, now, sink));
                for (mark, &least) in (0..).zip(&MARKS) {
                    if before >= least && gate.shared < least {
                        account.enter(level!("m3upi/RxC_VNA_CRD.LT1") + mark, socket, link, now, sink);
                    }
                }
            }
        }
        if let Some(of) = packet.credit {
            self.give_credit(packet.from, packet.cha, of, sink);
        }
    }

    /// A flit goes to the link layer, which sends it when it has sent what came before.
    fn ship<S: SignalSink>(&mut self, number: u16, mut flit: Flit, sink: &mut S) {
        let ((socket, link), now, uclk) = (place(number), self.now, self.times.uclk);
        let wakes = self.wake_link(number, sink);
        let mut lines = 0;
        for &id in &flit.ids[..flit.count] {
            lines += Tick::from(self.links.packets[id].message.has_line());
        }
        let gate = &mut self.links.gates[usize::from(number)];
        let account = &mut self.account;
        if gate.line_until > now {
            account.deed(deed!("m3upi/RxC_FLIT_GEN_HDR2.PAR"), socket, link, now, sink);
            let messages = deed!("m3upi/RxC_FLIT_GEN_HDR2.PAR_MSG");
            account.deeds(messages, socket, link, now, flit.count as u32, sink);
        }
        if lines > 0 {
            account.deed(deed!("m3upi/RxC_FLITS_SLOT_BL.ALL"), socket, link, now, sink);
            if gate.line_until > now {
                account.deed(deed!("m3upi/RxC_FLITS_GEN_BL.P0_WAIT"), socket, link, now, sink);
            }
        }
        let mut leaves = now.max(gate.ready) + wakes;
        let before = gate.sent / ERROR_INTERVAL;
        gate.sent += flit.count as u64;
        if gate.sent / ERROR_INTERVAL > before {
            // The peer finds it damaged and asks for it again.
            let (receiver, _) = place(super::peer(number));
            account.deed(deed!("upi/RxL_CRC_ERRORS"), receiver, link, now, sink);
            account.deed(deed!("upi/RxL_CRC_LLR_REQ_TRANSMIT"), receiver, link, now, sink);
            leaves += RETRY * uclk;
        }
        gate.ready = leaves + (flit.count as Tick + lines * SLOTS_OF_A_LINE) * self.times.link_slot;
        if lines > 0 {
            gate.line_until = gate.ready;
        }
        let edge = now + uclk;
        flit.queued = leaves > edge;
        if flit.queued {
            account.enter(level!("upi/TxL_INSERTS"), socket, link, now, sink);
        } else {
            account.deed(deed!("upi/TxL_BYPASSED"), socket, link, now, sink);
        }
        account.enter(level!("m3upi/RxC_CRD_OCC.FLITS_IN_FIFO"), socket, link, now, sink);
        gate.unsent.push_back(flit);
        self.wheel.schedule(leaves.max(edge), Event::FlitOut.of(number));
    }
}
