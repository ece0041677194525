//! From the link to the mesh: the link layer's receive queues (UPI), the flow queues and their credits towards agents
//! (M3UPI).
//!
//! What comes in goes past its slot's receive queue if nothing waits there and the flow queue has room for all that a
//! flit may bring. Of each ring one message a cycle goes onto the mesh; an address goes past its flow queue if that
//! is empty. A writeback waits here until its home, which hears of it by a message of its own, has fetched it.

use std::collections::VecDeque;

use pericore_engine::Tick;

use super::FlowRing;
use crate::uncore::emerald_rapids::Model;
use crate::uncore::emerald_rapids::event::Event;
use pericore_facts::emerald_rapids::{
    FLOW_LEAST as LEAST, FLOW_ROOM as ROOM, LinkFact, LinkPacket, Readers, ReturnedCredits, Ring, TAKER_CREDITS,
    TAKERS, UNFETCHED,
};

/// Messages that wait in front of the flow queues, by slot: there is room from the start for what the peer's credits
/// let through where there is no jam.
const RECEIVED: usize = 64;
/// Places of each ring that must be left for what comes out of the receive queues, which are read ahead of time: more
/// than for what goes past them (assumption).
const TO_GO_ON: [u8; 3] = [4, 1, 3];

/// One link's way in.
#[derive(Debug)]
pub struct Flow {
    /// By slot of the flit.
    received: [VecDeque<u16>; 3],
    /// Places left in the flow queues, by ring.
    room: [u8; 3],
    /// The same for writebacks.
    unfetched: u8,
    /// By ring and virtual network. Among addresses there is word of writebacks, and the block ring has those that were
    /// fetched.
    queues: [[VecDeque<u16>; 2]; 3],
    /// The network that goes first, by ring.
    turns: [u8; 3],
    /// When an address last left.
    left: Tick,
    /// Credits towards those who take messages.
    pub takers: [u8; TAKERS],
    pumping: bool,
    /// Credits that the sender gets back, and whether they are being gathered.
    pub freed: ReturnedCredits,
    pub gathering: bool,
}

impl Flow {
    pub fn new() -> Self {
        Self {
            received: std::array::from_fn(|_| VecDeque::with_capacity(RECEIVED)),
            room: ROOM,
            unfetched: UNFETCHED,
            queues: ROOM.map(|room| std::array::from_fn(|_| VecDeque::with_capacity(room.into()))),
            turns: [0; 3],
            left: Tick::MAX,
            takers: TAKER_CREDITS,
            pumping: false,
            freed: ReturnedCredits::default(),
            gathering: false,
        }
    }

    /// Rings whose queues have room for what a flit brings.
    pub fn has_room(&self) -> [bool; 3] {
        std::array::from_fn(|lane| self.room[lane] > LEAST[lane])
    }

    /// The ring that a message lacks room on, if there is one, when these have some.
    fn lacks(&self, packet: &LinkPacket, room: [bool; 3]) -> Option<FlowRing> {
        let lacks = |lane: FlowRing| !room[lane as usize] || self.room[lane as usize] == 0;
        if packet.is_fetched() {
            let word = Some(FlowRing::Address).filter(|&lane| lacks(lane));
            return word.or_else(|| Some(FlowRing::Block).filter(|_| self.unfetched == 0));
        }
        Some(packet.lane()).filter(|&lane| lacks(lane))
    }

    fn can_send(&self, packet: &LinkPacket) -> bool {
        packet.taker_credit().is_none_or(|kind| self.takers[kind] > 0)
    }
}

impl Model {
    /// A message of a flit arrives at the link layer.
    pub(super) fn receive<R: Readers>(&mut self, number: u16, id: u16, room: [bool; 3], reader: &mut R) {
        let packet = self.links.packets[id].sent;
        let slot = usize::from(packet.slot);
        let flow = &mut self.links.flows[usize::from(number)];
        let waiting = [0, 1, 2].map(|slot: usize| !flow.received[slot].is_empty());
        let lacks = flow.lacks(&packet, room);
        if !waiting[slot] && lacks.is_none() {
            self.at_link(number, LinkFact::PassesReceiver(packet, waiting), reader);
            self.fill_flow(number, id, reader);
        } else {
            flow.received[slot].push_back(id);
            let lane = lacks.unwrap_or(packet.lane());
            self.at_link(number, LinkFact::WaitsAtReceiver(packet, waiting, lane), reader);
        }
    }

    /// A message leaves the link layer for its flow queue, or goes past it.
    fn fill_flow<R: Readers>(&mut self, number: u16, id: u16, reader: &mut R) {
        let packet = self.links.packets[id].sent;
        let lane = packet.lane();
        self.free_credits(number, &packet);
        let flow = &mut self.links.flows[usize::from(number)];
        if packet.is_fetched() {
            flow.unfetched -= 1;
            flow.room[FlowRing::Address as usize] -= 1;
            flow.queues[FlowRing::Address as usize][usize::from(packet.network)].push_back(id);
            self.at_link(number, LinkFact::EntersFlow(packet), reader);
            self.at_link(number, LinkFact::WordEnters(packet), reader);
            self.wake_flow(number);
            return;
        }
        let queues = &flow.queues[lane as usize];
        let empty = queues[0].is_empty() && queues[1].is_empty();
        if lane == FlowRing::Address && empty && flow.left != self.now && flow.can_send(&packet) {
            flow.left = self.now;
            self.at_link(number, LinkFact::PassesFlow(packet), reader);
            self.onto_other_mesh(number, id, reader);
            return;
        }
        flow.room[lane as usize] -= 1;
        flow.queues[lane as usize][usize::from(packet.network)].push_back(id);
        self.at_link(number, LinkFact::EntersFlow(packet), reader);
        self.wake_flow(number);
    }

    /// Looks at the flow queues in the next cycle, if there is anything in them.
    pub(super) fn wake_flow(&mut self, number: u16) {
        let flow = &mut self.links.flows[usize::from(number)];
        let empty = flow.queues.iter().flatten().all(VecDeque::is_empty);
        if !empty && !std::mem::replace(&mut flow.pumping, true) {
            self.wheel.schedule(self.now + self.times.uclk, Event::FlowPump.of(number));
        }
    }

    /// Of each ring one message goes onto the mesh.
    pub(in super::super) fn flow_pump<R: Readers>(&mut self, number: u16, reader: &mut R) {
        self.links.flows[usize::from(number)].pumping = false;
        let mut moved = false;
        for lane in [FlowRing::Address, FlowRing::Block, FlowRing::Acknowledge] {
            let first = self.links.flows[usize::from(number)].turns[lane as usize];
            let mut sent = false;
            for network in [first, 1 - first] {
                let flow = &mut self.links.flows[usize::from(number)];
                let Some(&id) = flow.queues[lane as usize][usize::from(network)].front() else { continue };
                let packet = self.links.packets[id].sent;
                // Word of a writeback goes to its home; what was fetched goes after it.
                let is_word = packet.is_fetched() && lane == FlowRing::Address;
                let was_fetched = packet.is_fetched() && !is_word;
                let can_go = was_fetched || flow.can_send(&packet);
                if sent || !can_go {
                    // What lacks a credit does not ask to go.
                    if can_go {
                        let stays = if is_word { LinkFact::WordStays(packet) } else { LinkFact::StaysInFlow(packet) };
                        self.at_link(number, stays, reader);
                    }
                    continue;
                }
                sent = true;
                flow.queues[lane as usize][usize::from(network)].pop_front();
                if was_fetched {
                    flow.unfetched += 1;
                } else {
                    flow.room[lane as usize] += 1;
                }
                flow.turns[lane as usize] = 1 - network;
                if lane == FlowRing::Address {
                    flow.left = self.now;
                }
                if is_word {
                    self.at_link(number, LinkFact::WordLeaves(packet), reader);
                    self.notify_home(number, id, reader);
                } else {
                    self.at_link(number, LinkFact::LeavesFlow(packet), reader);
                    self.onto_other_mesh(number, id, reader);
                }
            }
            moved |= sent;
        }
        if moved {
            self.drain_received(number, reader);
            self.wake_flow(number);
        }
    }

    /// What waits in the receive queues goes on, where there is room again.
    fn drain_received<R: Readers>(&mut self, number: u16, reader: &mut R) {
        for slot in 0..3 {
            while let Some(&id) = self.links.flows[usize::from(number)].received[slot].front() {
                let packet = self.links.packets[id].sent;
                let flow = &mut self.links.flows[usize::from(number)];
                let room = std::array::from_fn(|lane| flow.room[lane] > TO_GO_ON[lane]);
                if let Some(lane) = flow.lacks(&packet, room) {
                    let all_wait = packet.is_fetched() && lane == FlowRing::Block;
                    let little = !all_wait && flow.room[lane as usize] > LEAST[lane as usize];
                    self.at_link(number, LinkFact::FindsNoRoom(lane, little), reader);
                    break;
                }
                flow.received[slot].pop_front();
                self.at_link(number, LinkFact::LeavesReceiver(packet), reader);
                self.fill_flow(number, id, reader);
            }
        }
    }

    /// Word of a writeback goes to its home.
    fn notify_home<R: Readers>(&mut self, number: u16, id: u16, reader: &mut R) {
        let ((socket, link), packet) = (super::place(number), self.links.packets[id]);
        self.at_link(number, LinkFact::GoesOn(packet.sent), reader);
        let gate = self.places.m3upi[usize::from(link)];
        let arrives = self.mesh_send(socket as u8, Ring::Address, packet.to % 2, gate, packet.to, reader);
        self.wheel.schedule(arrives, Event::WritePull.of(id));
        self.take_agent_credit(number, &packet.sent, arrives);
    }

    /// The home fetches a writeback that it hears of.
    pub(in super::super) fn fetch_writeback<R: Readers>(&mut self, id: u16, reader: &mut R) {
        let packet = self.links.packets[id];
        let gate = self.places.m3upi[usize::from(packet.link)];
        let back = self.mesh_send(1 - packet.from, Ring::Acknowledge, 0, packet.to, gate, reader);
        self.wheel.schedule(back, Event::Fetched.of(id));
    }

    /// A writeback may go.
    pub(in super::super) fn writeback_fetched<R: Readers>(&mut self, id: u16, reader: &mut R) {
        let packet = self.links.packets[id];
        let number = super::peer(u16::from(packet.from * super::LINKS + packet.link));
        self.at_link(number, LinkFact::Fetched(packet.sent), reader);
        let queues = &mut self.links.flows[usize::from(number)].queues[FlowRing::Block as usize];
        queues[usize::from(packet.sent.network)].push_back(id);
        self.wake_flow(number);
    }

    /// A message goes from the link over this socket's mesh.
    fn onto_other_mesh<R: Readers>(&mut self, number: u16, id: u16, reader: &mut R) {
        let ((socket, link), packet) = (super::place(number), self.links.packets[id]);
        let gate = self.places.m3upi[usize::from(link)];
        if !packet.sent.is_fetched() {
            self.at_link(number, LinkFact::GoesOn(packet.sent), reader);
        }
        // The link deals out what comes to its two ports.
        let arrives = self.mesh_send(socket as u8, packet.far_ring(), packet.to % 2, gate, packet.to, reader);
        self.wheel.schedule(arrives, packet.then);
        if !packet.sent.is_fetched() {
            self.take_agent_credit(number, &packet.sent, arrives);
        }
        self.links.packets.remove(id);
    }

    /// A message, or word of it, takes a credit of its taker, which takes as long to come back.
    fn take_agent_credit(&mut self, number: u16, packet: &LinkPacket, arrives: Tick) {
        let Some(kind) = packet.taker_credit() else { return };
        self.links.flows[usize::from(number)].takers[kind] -= 1;
        let back = 2 * arrives - self.now;
        let subject = number + 2 * u16::from(super::LINKS) * kind as u16;
        self.wheel.schedule(back, Event::AgentCredit.of(subject));
    }
}
