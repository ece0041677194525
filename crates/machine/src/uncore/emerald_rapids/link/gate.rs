//! M3UPI, from the mesh to the link: messages wait by virtual network and class until one of each ring wins, and share flits.
//!
//! In each cycle both networks arbitrate: on either ring the first class in turn that can pay wins. One network's winners are slotted
//! into a header flit, a line's header before addresses; further addresses fill what is left of it. The other network's winners are
//! held for the next flit. A flit that the link layer has no room for holds up the next.

use std::collections::VecDeque;

use pericore_engine::Tick;

use super::arbitration::{ADDRESS, Winner};
use super::{ADDRESS_CLASSES, CLASSES, Flit, FlowRing, OWN_CLASSES, Paid, RETRY, SLOTS_OF_A_LINE};
use crate::uncore::emerald_rapids::Model;
use crate::uncore::emerald_rapids::event::Event;
use pericore_facts::emerald_rapids::{
    Arbitration, LinkFact, LinkPacket, OWN_CREDITS as OWN, Readers, ReturnedCredits, SHARED_CREDITS as SHARED,
};

/// Flits that the link layer takes before it sends them (assumption).
const UNSENT: usize = 2;
/// Messages of a class, flits and credits that a queue has room for from the start: more only wait in a jam.
const WAITING: usize = 64;
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
    /// The same of those that wait for it, by network and ring.
    stuck: [[Option<Tick>; 2]; 2],
    /// The arbitration that nobody has won, and when it was made.
    unanswered: Option<(Tick, Arbitration)>,
    unsent: VecDeque<Flit>,
    crossing: VecDeque<Flit>,
    pub returning: VecDeque<ReturnedCredits>,
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
            stuck: [[None; 2]; 2],
            unanswered: None,
            unsent: VecDeque::with_capacity(UNSENT),
            crossing: VecDeque::with_capacity(WAITING),
            returning: VecDeque::with_capacity(WAITING),
            ready: 0,
            line_until: 0,
            sent: 0,
        }
    }

    /// What waits now makes no progress from here on, if it has made some.
    fn stick(&mut self, now: Tick) {
        for (queues, stuck) in self.queues.iter().zip(&mut self.stuck) {
            let (addresses, blocks) = queues.split_at(ADDRESS_CLASSES);
            for (classes, since) in [addresses, blocks].into_iter().zip(stuck) {
                if classes.iter().any(|class| !class.is_empty()) {
                    since.get_or_insert(now);
                }
            }
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
fn free_slot(taken: [bool; SLOTS], packet: &LinkPacket) -> Option<u8> {
    let lane = packet.lane();
    let allowed = |slot| match lane {
        FlowRing::Address => true,
        FlowRing::Acknowledge => slot != 1,
        FlowRing::Block => slot == 0,
    };
    let fits = |&slot: &u8| !taken[usize::from(slot)] && allowed(slot);
    (0..SLOTS as u8).find(fits)
}

impl Model {
    /// A message comes off the mesh and waits for the link, or goes straight into a flit of its own if the link is idle.
    pub(in super::super) fn linked<R: Readers>(&mut self, id: u16, reader: &mut R) {
        let super::Packet { sent: packet, from, link, .. } = self.links.packets[id];
        let number = u16::from(from * super::LINKS + link);
        let (now, class) = (self.now, packet.class());
        let gate = &mut self.links.gates[usize::from(number)];
        let idle = gate.waiting == 0 && gate.unsent.is_empty() && gate.ready <= now;
        if idle && class < ADDRESS_CLASSES && gate.shared > 0 {
            self.at_link(number, LinkFact::PassesGate(packet), reader);
            self.pay(number, id, Paid::Shared, reader);
            self.ship(number, Flit { ids: [id, 0, 0], count: 1, queued: false }, reader);
            return;
        }
        gate.queues[usize::from(packet.network)][class].push_back(id);
        gate.waiting += 1;
        let blocked = gate.blocked.is_some();
        if blocked {
            gate.stick(now);
        }
        let pumps = !blocked && !std::mem::replace(&mut gate.pumping, true);
        self.at_link(number, LinkFact::WaitsAtGate(packet), reader);
        if pumps {
            self.wheel.schedule(now + self.times.uclk, Event::LinkPump.of(number));
        }
    }

    /// The look at a gate's queues that was put off.
    pub(in super::super) fn link_pump<R: Readers>(&mut self, number: u16, reader: &mut R) {
        self.links.gates[usize::from(number)].pumping = false;
        self.pump_link(number, reader);
    }

    /// Builds the next flit, if there is something to send and room for it.
    pub(super) fn pump_link<R: Readers>(&mut self, number: u16, reader: &mut R) {
        let now = self.now;
        let gate = &mut self.links.gates[usize::from(number)];
        if gate.waiting == 0 || gate.pumping {
            return;
        }
        if gate.unsent.len() >= UNSENT {
            if gate.blocked.is_none() {
                gate.blocked = Some(now);
                gate.stick(now);
            }
            return;
        }
        if let Some(since) = gate.blocked.take() {
            let cycles = |since: Tick| ((now - since) / self.times.uclk) as u32;
            let stuck = std::mem::take(&mut gate.stuck);
            let lines = stuck.iter().filter_map(|rings| rings[1]).map(cycles).max().unwrap_or(0);
            for (network, stuck) in (0..).zip(stuck) {
                for (ring, since) in (0..).zip(stuck) {
                    let Some(cycles) = since.map(cycles).filter(|&cycles| cycles > 0) else { continue };
                    self.at_link(number, LinkFact::MadeNoProgress { network, ring, cycles }, reader);
                }
            }
            self.at_link(number, LinkFact::Resumes { cycles: cycles(since), lines }, reader);
        }
        let gate = &mut self.links.gates[usize::from(number)];
        if let Some((since, mut unanswered)) = gate.unanswered.take() {
            unanswered.times = ((now - since) / self.times.uclk) as u32;
            if unanswered.times > 0 {
                self.at_link(number, LinkFact::Arbitrates(unanswered), reader);
            }
        }
        let gate = &mut self.links.gates[usize::from(number)];
        let (winners, mut arbitration) = gate.arbitrate();
        let network = if winners[gate.turn] == [None; 2] { 1 - gate.turn } else { gate.turn };
        if winners[network] == [None; 2] {
            // Until credits come back, or another message, each cycle is like this one.
            gate.unanswered = Some((now, arbitration));
            return;
        }
        gate.turn = 1 - network;
        let (flit, taken) = self.slot(number, network, winners[network], reader);
        arbitration.flit = Some((network as u8, flit.count as u8));
        let packets = &self.links.packets;
        let fits = |id: u16| free_slot(taken, &packets[id].sent).is_some();
        arbitration.left_over = self.links.gates[usize::from(number)].left_over(fits);
        self.at_link(number, LinkFact::Arbitrates(arbitration), reader);
        self.ship(number, flit, reader);
        let gate = &mut self.links.gates[usize::from(number)];
        if gate.waiting > 0 {
            gate.pumping = true;
            self.wheel.schedule(now + self.times.uclk, Event::LinkPump.of(number));
        }
    }

    /// Slots a network's winners, and what else of its addresses fits and can pay, into a flit. Its slots that are
    /// taken: all of them if a message travels alone.
    fn slot<R: Readers>(
        &mut self,
        number: u16,
        network: usize,
        [address, block]: [Winner; 2],
        reader: &mut R,
    ) -> (Flit, [bool; SLOTS]) {
        let mut flit = Flit::default();
        let mut taken = [false; SLOTS];
        // What travels on a credit of its own travels alone.
        let alone = [block, address].into_iter().flatten().next().is_some_and(|(_, paid)| paid == Paid::Own);
        if let Some((class, paid)) = block {
            self.take(number, (network, class), paid, &mut flit, &mut taken, reader);
        }
        if let Some((class, paid)) = address.filter(|&(_, paid)| flit.count == 0 || !alone && paid == Paid::Shared) {
            self.take(number, (network, class), paid, &mut flit, &mut taken, reader);
        }
        while !alone && flit.count < SLOTS {
            let gate = &self.links.gates[usize::from(number)];
            let fits = |class: &usize| {
                let head = gate.queues[network][*class].front();
                head.is_some_and(|&id| free_slot(taken, &self.links.packets[id].sent).is_some())
            };
            let Some(class) = ADDRESS.filter(|_| gate.shared > 0).find(fits) else { break };
            self.take(number, (network, class), Paid::Shared, &mut flit, &mut taken, reader);
        }
        (flit, if alone { [true; SLOTS] } else { taken })
    }

    /// Takes the first message of a class into a flit.
    fn take<R: Readers>(
        &mut self,
        number: u16,
        (network, class): (usize, usize),
        paid: Paid,
        flit: &mut Flit,
        taken: &mut [bool; SLOTS],
        reader: &mut R,
    ) {
        let gate = &mut self.links.gates[usize::from(number)];
        let Some(id) = gate.queues[network][class].pop_front() else { return };
        gate.waiting -= 1;
        let packet = &mut self.links.packets[id].sent;
        // The first class of a flit always finds its slot; further ones were chosen for one.
        let slot = free_slot(*taken, packet).unwrap_or(0);
        packet.slot = slot;
        let packet = *packet;
        self.at_link(number, LinkFact::LeavesGate(packet), reader);
        taken[usize::from(slot)] = true;
        flit.ids[flit.count] = id;
        flit.count += 1;
        self.pay(number, id, paid, reader);
    }

    /// A message takes its credit.
    fn pay<R: Readers>(&mut self, number: u16, id: u16, paid: Paid, reader: &mut R) {
        self.links.packets[id].sent.paid = paid;
        let super::Packet { sent: packet, from, cha, credit, .. } = self.links.packets[id];
        let gate = &mut self.links.gates[usize::from(number)];
        match (paid, packet.own()) {
            (Paid::Own, Some(own)) => gate.own[usize::from(packet.network)][own] -= 1,
            _ => gate.shared -= packet.cost(),
        }
        self.at_link(number, LinkFact::Pays(packet), reader);
        if let Some(of) = credit {
            self.give_credit(from, cha, of, reader);
        }
    }

    /// A flit goes to the link layer, which sends it when it has sent what came before.
    fn ship<R: Readers>(&mut self, number: u16, mut flit: Flit, reader: &mut R) {
        let (now, uclk) = (self.now, self.times.uclk);
        let wakes = self.wake_link(number, reader);
        let mut lines = 0;
        for &id in &flit.ids[..flit.count] {
            lines += Tick::from(self.links.packets[id].sent.message.has_line());
        }
        let gate = &mut self.links.gates[usize::from(number)];
        let beside_line = gate.line_until > now;
        let mut leaves = now.max(gate.ready) + wakes;
        let damaged = |sent: u64| sent.checked_div(self.links.error_every).unwrap_or(0);
        let before = damaged(gate.sent);
        gate.sent += flit.count as u64;
        let is_damaged = damaged(gate.sent) > before;
        if is_damaged {
            // The peer finds it damaged and asks for it again.
            leaves += RETRY * uclk;
        }
        gate.ready = leaves + (flit.count as Tick + lines * SLOTS_OF_A_LINE) * self.times.link_slot;
        if lines > 0 {
            gate.line_until = gate.ready;
        }
        let edge = now + uclk;
        flit.queued = leaves > edge;
        gate.unsent.push_back(flit);
        if is_damaged {
            self.at_link(super::peer(number), LinkFact::Damaged, reader);
        }
        let (messages, queued) = (flit.count as u8, flit.queued);
        self.at_link(number, LinkFact::Ships { messages, lines: lines > 0, beside_line, queued }, reader);
        self.wheel.schedule(leaves.max(edge), Event::FlitOut.of(number));
    }
}
