//! M3UPI, from the mesh to the link: messages wait by virtual network and class until one of each ring wins, and
//! share flits.
//!
//! In each cycle both networks arbitrate: on either ring the first class in turn that can pay wins. One network's
//! winners are slotted into a header flit, a line's header before addresses; further addresses fill what is left of
//! it ([`super::flit`]). The other network's winners are held for the next flit. A flit that the link layer has no
//! room for takes in what comes meanwhile; when it is full, the next one is begun.

use std::collections::VecDeque;

use pericore_engine::Tick;

use super::arbitration::Winner;
use super::building::{Ahead, Building, HeaderFlit, SLOTS, fit};
use super::{ADDRESS_CLASSES, CLASSES, OWN_CLASSES, Paid};
use crate::uncore::emerald_rapids::Model;
use crate::uncore::emerald_rapids::event::Event;
use pericore_facts::emerald_rapids::{
    Arbitration, Bypass, COMPLETIONS, LinkFact, LinkPacket, OWN_CREDITS as OWN, Readers, ReturnedCredits, RunAhead,
    SHARED_CREDITS as SHARED,
};

/// Flits that the link layer takes before it sends them (assumption).
const UNSENT: usize = 2;
/// Messages of a class, flits and credits that a queue has room for from the start: more only wait in a jam.
const WAITING: usize = 64;

/// One link's way out.
#[derive(Debug)]
pub struct Gate {
    /// By virtual network and class.
    pub queues: [[VecDeque<u16>; CLASSES]; 2],
    waiting: u16,
    /// Credits of the peer that are left, and what was given to messages that need less.
    pub shared: u16,
    pub own: [[u8; OWN_CLASSES]; 2],
    pub unneeded: u16,
    /// Credits for completions to memory.
    pub completions: u8,
    /// The network whose winners are slotted next.
    pub turn: usize,
    /// A look at the queues is under way.
    pub pumping: bool,
    /// The flit that the link layer has no room for, and what is built while it is complete.
    pub building: Option<Building>,
    pub ahead: Ahead,
    /// Since when messages make no progress behind it, by network and ring.
    stuck: [[Option<Tick>; 2]; 2],
    /// The arbitration that nobody has won, and when it was made.
    unanswered: Option<(Tick, Arbitration)>,
    pub unsent: VecDeque<HeaderFlit>,
    crossing: VecDeque<HeaderFlit>,
    pub returning: VecDeque<ReturnedCredits>,
    /// The flit that was sent last: when it was slotted, its network, its slots that are taken.
    pub last: Option<(Tick, usize, [bool; SLOTS])>,
    /// When the port of the mesh can bring the next half of a message, and when the last of those in limbo ends.
    pub port: Tick,
    pub limbo: Tick,
    /// The link layer asks for slot 2, and does not wait any longer for a flit that has room there.
    pub slot_wanted: bool,
    pub slot_forced: bool,
    pub slot_due: Tick,
    /// When the link can send the next flit, and until when it sends a line.
    pub ready: Tick,
    pub line_until: Tick,
    /// Up to when what the link sends is told, and slots since it last was idle.
    pub reported: Tick,
    pub slots: u64,
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
            unneeded: 0,
            completions: COMPLETIONS,
            turn: 0,
            pumping: false,
            building: None,
            ahead: Ahead::No,
            stuck: [[None; 2]; 2],
            unanswered: None,
            unsent: VecDeque::with_capacity(UNSENT),
            crossing: VecDeque::with_capacity(WAITING),
            returning: VecDeque::with_capacity(WAITING),
            last: None,
            port: 0,
            limbo: 0,
            slot_wanted: false,
            slot_forced: false,
            slot_due: 0,
            ready: 0,
            line_until: 0,
            reported: 0,
            slots: 0,
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

    /// The first message of a class goes.
    pub fn next_of(&mut self, network: usize, class: usize) -> Option<u16> {
        let id = self.queues[network][class].pop_front()?;
        self.waiting -= 1;
        Some(id)
    }

    /// The flit that leaves.
    pub fn take_unsent(&mut self) -> Option<HeaderFlit> {
        self.unsent.pop_front()
    }

    /// A flit is on its way.
    pub fn cross(&mut self, flit: HeaderFlit) {
        self.crossing.push_back(flit);
    }

    /// The flit that has arrived.
    pub fn arrived(&mut self) -> Option<HeaderFlit> {
        self.crossing.pop_front()
    }

    /// Nothing is sent before a tick.
    pub fn hold_until(&mut self, tick: Tick) {
        self.ready = self.ready.max(tick);
    }

    pub fn has_room(&self) -> bool {
        self.unsent.len() < UNSENT
    }

    /// Nothing is to be sent, and nothing is being sent.
    pub fn is_idle(&self, now: Tick) -> bool {
        self.waiting == 0 && self.can_send_at_once(now)
    }

    fn can_send_at_once(&self, now: Tick) -> bool {
        self.building.is_none() && self.unsent.is_empty() && self.ready <= now
    }

    fn has_addresses(&self, network: usize) -> bool {
        self.queues[network][..ADDRESS_CLASSES].iter().any(|class| !class.is_empty())
    }

    /// How an address that comes off the mesh now goes past the queues, if it may, and its slot.
    fn bypass(&self, packet: &LinkPacket, now: Tick) -> Option<(Bypass, u8)> {
        if self.shared == 0 || [0, 1].iter().any(|&network| self.has_addresses(network)) {
            return None;
        }
        if self.can_send_at_once(now) {
            return Some((if self.waiting == 0 { Bypass::Idle } else { Bypass::Arbitrating }, 0));
        }
        let (at, of, taken) = self.last?;
        let joins = at == now && of == usize::from(packet.network) && self.building.is_none();
        let joins = joins && self.unsent.back().is_some_and(|flit| flit.block);
        let slot = fit(taken, packet).filter(|_| joins)?;
        Some((Bypass::Slotted, slot))
    }
}

impl Model {
    /// A message comes off the mesh and waits for the link, or goes straight into a flit if the link is idle.
    pub(in super::super) fn linked<R: Readers>(&mut self, id: u16, reader: &mut R) {
        let super::Packet { sent: packet, from, link, .. } = self.links.packets[id];
        let number = u16::from(from * super::LINKS + link);
        let (now, class, uclk) = (self.now, packet.class(), self.times.uclk);
        let gate = &mut self.links.gates[usize::from(number)];
        if class < ADDRESS_CLASSES {
            if let Some((how, slot)) = gate.bypass(&packet, now) {
                self.pass_gate(number, id, how, slot, reader);
                return;
            }
        } else {
            // Two halves, one after the other.
            let first = gate.port.max(now);
            gate.port = first + 2 * uclk;
            self.links.packets[id].halves = [first, first + uclk];
        }
        let gate = &mut self.links.gates[usize::from(number)];
        gate.queues[usize::from(packet.network)][class].push_back(id);
        gate.waiting += 1;
        let blocked = gate.building.is_some();
        if blocked {
            gate.stick(now);
        }
        // Behind a flit that was begun ahead of time it can only wait.
        let waits = blocked && gate.ahead.has_message();
        let pumps = !waits && !std::mem::replace(&mut gate.pumping, true);
        self.at_link(number, LinkFact::WaitsAtGate(packet), reader);
        if pumps {
            self.wheel.schedule(now + uclk, Event::LinkPump.of(number));
        }
    }

    /// An address goes past the queues.
    fn pass_gate<R: Readers>(&mut self, number: u16, id: u16, how: Bypass, slot: u8, reader: &mut R) {
        let packet = &mut self.links.packets[id].sent;
        packet.slot = slot;
        let packet = *packet;
        self.at_link(number, LinkFact::PassesGate(packet, how), reader);
        self.pay(number, id, Paid::Shared, reader);
        if how == Bypass::Slotted {
            let link_slot = self.times.link_slot;
            let gate = &mut self.links.gates[usize::from(number)];
            if let Some((.., taken)) = &mut gate.last {
                taken[usize::from(slot)] = true;
            }
            if let Some(flit) = gate.unsent.back_mut() {
                flit.add(id);
            }
            gate.sent += 1;
            gate.ready += link_slot;
            gate.slots += 1;
        } else {
            let mut flit = HeaderFlit::default();
            flit.add(id);
            // Nothing joins it any more.
            self.ship(number, flit, (usize::from(packet.network), [true; SLOTS]), reader);
        }
    }

    /// The look at a gate's queues that was put off.
    pub(in super::super) fn link_pump<R: Readers>(&mut self, number: u16, reader: &mut R) {
        self.links.gates[usize::from(number)].pumping = false;
        self.pump_link(number, reader);
    }

    /// Goes on with the flit that is being built, or builds the next one, if there is something to send.
    pub(super) fn pump_link<R: Readers>(&mut self, number: u16, reader: &mut R) {
        let gate = &self.links.gates[usize::from(number)];
        if gate.pumping {
            return;
        }
        if gate.building.is_some() {
            self.go_on_building(number, reader);
        } else if gate.waiting > 0 {
            self.build(number, reader);
        }
        let gate = &mut self.links.gates[usize::from(number)];
        let goes_on = match &gate.building {
            None => gate.waiting > 0 && gate.unanswered.is_none(),
            // A flit that was built ahead and may go; one that others may join, or that another follows.
            Some(building) => gate.has_room() || building.since == self.now && gate.waiting > 0,
        };
        if goes_on && !std::mem::replace(&mut gate.pumping, true) {
            self.wheel.schedule(self.now + self.times.uclk, Event::LinkPump.of(number));
        }
    }

    /// The networks arbitrate: whose winners are slotted, if somebody wins.
    pub(super) fn arbitrate<R: Readers>(
        &mut self,
        number: u16,
        ahead: bool,
        reader: &mut R,
    ) -> Option<(usize, [Winner; 2])> {
        let now = self.now;
        let gate = &mut self.links.gates[usize::from(number)];
        if let Some((since, mut unanswered)) = gate.unanswered.take() {
            unanswered.times = ((now - since) / self.times.uclk) as u32;
            if unanswered.times > 0 {
                self.at_link(number, LinkFact::Arbitrates(unanswered), reader);
            }
        }
        let packets = &self.links.packets;
        let gate = &self.links.gates[usize::from(number)];
        let (winners, mut arbitration) = gate.arbitrate(|id| packets[id].memory.is_some());
        let network = if winners[gate.turn] == [None; 2] { 1 - gate.turn } else { gate.turn };
        let gate = &mut self.links.gates[usize::from(number)];
        if winners[network] == [None; 2] {
            // Until credits come back, or another message, each cycle is like this one.
            gate.unanswered = Some((now, arbitration));
            return None;
        }
        gate.turn = 1 - network;
        (arbitration.flit, arbitration.ahead) = (Some(network as u8), ahead);
        self.at_link(number, LinkFact::Arbitrates(arbitration), reader);
        Some((network, winners[network]))
    }

    /// Builds a flit, which the link layer takes if it has room.
    fn build<R: Readers>(&mut self, number: u16, reader: &mut R) {
        let Some((network, winners)) = self.arbitrate(number, false, reader) else { return };
        let building = self.slot(number, network, winners, reader);
        let gate = &mut self.links.gates[usize::from(number)];
        if std::mem::take(&mut gate.ahead) == Ahead::TooLate {
            self.at_link(number, LinkFact::RunsAhead(RunAhead::TooLate), reader);
        }
        let gate = &mut self.links.gates[usize::from(number)];
        if gate.has_room() {
            self.send(number, building, reader);
        } else {
            gate.building = Some(building);
            gate.stick(self.now);
        }
    }

    /// More messages join the flit that the link layer had no room for. It goes if there is room now; else, when it is
    /// full, the next one is begun.
    fn go_on_building<R: Readers>(&mut self, number: u16, reader: &mut R) {
        let now = self.now;
        let joined = self.join(number, reader);
        let gate = &mut self.links.gates[usize::from(number)];
        let Some(building) = &mut gate.building else { return };
        if joined && building.is_ahead {
            building.is_ahead = false;
            building.paid_off = true;
            self.at_link(number, LinkFact::RunsAhead(RunAhead::Second), reader);
        } else {
            // Only what comes at once is won.
            building.is_ahead = false;
        }
        let gate = &mut self.links.gates[usize::from(number)];
        if !gate.has_room() {
            if gate.building.as_ref().is_some_and(|building| building.full.is_some()) && gate.waiting > 0 {
                self.begin_ahead(number, reader);
            }
            return;
        }
        let Some(building) = gate.building.take() else { return };
        let paid_off = building.paid_off;
        self.report_wait(number, &building, reader);
        self.send(number, building, reader);
        if paid_off {
            self.at_link(number, LinkFact::RunsAhead(RunAhead::Pays), reader);
        }
        let gate = &mut self.links.gates[usize::from(number)];
        match std::mem::take(&mut gate.ahead) {
            Ahead::Begun(mut next) => {
                // With room it goes in the next cycle, and has not waited then.
                next.since = if gate.has_room() { now + self.times.uclk } else { now };
                next.full = next.full.map(|_| next.since);
                next.is_ahead = true;
                gate.building = Some(next);
                gate.stick(now);
            }
            Ahead::Empty => gate.ahead = Ahead::TooLate,
            Ahead::No | Ahead::TooLate => {}
        }
    }

    /// Says what a flit, and what waited behind it, has waited for.
    fn report_wait<R: Readers>(&mut self, number: u16, building: &Building, reader: &mut R) {
        let (now, uclk, upiclk) = (self.now, self.times.uclk, self.clocks.upiclk.ticks());
        let cycles = |since: Tick| (now.saturating_sub(since) / uclk) as u32;
        let stuck = std::mem::take(&mut self.links.gates[usize::from(number)].stuck);
        let mut lines = stuck.iter().filter_map(|rings| rings[1]).min();
        if building.flit.lines > 0 {
            lines = Some(building.since);
        }
        for (network, stuck) in (0..).zip(stuck) {
            for (ring, since) in (0..).zip(stuck) {
                let Some(cycles) = since.map(cycles).filter(|&cycles| cycles > 0) else { continue };
                self.at_link(number, LinkFact::MadeNoProgress { network, ring, cycles }, reader);
            }
        }
        let all = cycles(building.since);
        if all == 0 {
            return;
        }
        let of_lines = lines.map_or(0, cycles).min(all);
        // Where the link's clock is the slower one, not every cycle of the mesh begins one of the link's.
        let valid = [all, of_lines].map(|cycles| cycles.min((Tick::from(cycles) * uclk / upiclk) as u32));
        let until = building.full.unwrap_or(now);
        let accumulating = (until.saturating_sub(building.since) / uclk) as u32;
        let joined = building.joined.min(all);
        self.at_link(number, LinkFact::Resumes { cycles: all, lines: of_lines, valid, accumulating, joined }, reader);
    }

    /// A flit goes to the link layer without what it could have taken.
    fn send<R: Readers>(&mut self, number: u16, building: Building, reader: &mut R) {
        let Building { flit, taken, network, .. } = building;
        let packets = &self.links.packets;
        let fits = |id: u16| fit(taken, &packets[id].sent).is_some();
        let missed = self.links.gates[usize::from(number)].left_over(fits);
        if missed.as_flattened().contains(&true) {
            self.at_link(number, LinkFact::Misses(missed), reader);
        }
        self.ship(number, flit, (network, taken), reader);
    }
}
