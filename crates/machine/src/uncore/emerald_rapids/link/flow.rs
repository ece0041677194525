//! From the link to the mesh: the link layer's receive queues (UPI), the flow queues and their credits towards agents (M3UPI).
//!
//! What comes in goes past its slot's receive queue if nothing waits there and the flow queue has room. Of each ring one message a
//! cycle goes onto the mesh; an address goes past its flow queue if that is empty.

use std::collections::VecDeque;

use pericore_hardware::signal::{SignalSink, Tick};

use super::{Lane, Packet, Taker, credits::Credits, place};
use crate::ledger::emerald_rapids::LinkClass;
use crate::ledger::emerald_rapids::compiled::{deed, level};
use crate::uncore::emerald_rapids::Model;
use crate::uncore::emerald_rapids::event::Event;

/// Messages that the flow queues of the address, block and acknowledge ring hold (assumption), and how many places the link layer
/// always leaves free in them (the reasons of M3_RXQ_BLOCKED say so).
const ROOM: [u8; 3] = [8, 4, 8];
const LEAST: [u8; 3] = [2, 0, 3];
/// Messages that wait in front of the flow queues, by slot: there is room from the start for what the peer's credits let through
/// where there is no jam.
const RECEIVED: usize = 64;
/// Requests, snoops and writebacks that a link may have on their way to agents (assumption: what a mesh of this size has in flight at
/// one message in two cycles); bypass messages to stacks 0 and 1 together, to stacks 2 to 5, to the system agent, and standard messages
/// (assumption: two each).
const AGENTS: [u8; 10] = [16, 16, 16, 2, 2, 2, 2, 2, 2, 2];

/// One link's way in.
#[derive(Debug)]
pub struct Flow {
    /// By slot of the flit.
    received: [VecDeque<u16>; 3],
    /// Places left in the flow queues, by ring.
    room: [u8; 3],
    /// By ring and virtual network.
    queues: [[VecDeque<u16>; 2]; 3],
    /// The network that goes first, by ring.
    turns: [u8; 3],
    /// When an address last left.
    left: Tick,
    /// Credits towards agents.
    pub agents: [u8; AGENTS.len()],
    pumping: bool,
    /// Credits that the sender gets back, and whether they are being gathered.
    pub freed: Credits,
    pub gathering: bool,
}

impl Flow {
    pub fn new() -> Self {
        Self {
            received: std::array::from_fn(|_| VecDeque::with_capacity(RECEIVED)),
            room: ROOM,
            queues: ROOM.map(|room| std::array::from_fn(|_| VecDeque::with_capacity(room.into()))),
            turns: [0; 3],
            left: Tick::MAX,
            agents: AGENTS,
            pumping: false,
            freed: Credits::default(),
            gathering: false,
        }
    }

    fn has_room(&self, lane: Lane) -> bool {
        self.room[lane as usize] > LEAST[lane as usize]
    }

    /// The agents' credit that a message needs.
    fn agent_kind(packet: &Packet) -> Option<usize> {
        match (packet.message.class(), packet.taker) {
            (LinkClass::Request, _) => Some(0),
            (LinkClass::Snoop, _) => Some(1),
            (LinkClass::Writeback, _) => Some(2),
            (LinkClass::Bypass, Some(Taker::Stack(stack))) => Some(3 + usize::from(stack).saturating_sub(1)),
            (LinkClass::Bypass, Some(Taker::System)) => Some(8),
            (LinkClass::Standard, _) => Some(9),
            _ => None,
        }
    }

    fn can_send(&self, packet: &Packet) -> bool {
        Self::agent_kind(packet).is_none_or(|kind| self.agents[kind] > 0)
    }
}

/// The flow queue's level of a message.
const fn queue_level(packet: &Packet) -> u16 {
    let network = packet.network as u16;
    match packet.lane() {
        Lane::Address => level!("m3upi/TxC_AD_FLQ_INSERTS.VN0_REQ") + 3 * network + packet.order() as u16,
        Lane::Block => level!("m3upi/TxC_BL_FLQ_OCCUPANCY.VN0_RSP") + 4 * network + packet.order() as u16 - 3,
        Lane::Acknowledge => level!("m3upi/TxC_AK_FLQ_INSERTS"),
    }
}

impl Model {
    /// A message of a flit arrives at the link layer.
    pub(super) fn receive<S: SignalSink>(&mut self, number: u16, id: u16, sink: &mut S) {
        let ((socket, link), now) = (place(number), self.now);
        let packet = self.links.packets[id];
        let (lane, slot) = (packet.lane(), packet.slot);
        let seen = match (lane, slot) {
            (Lane::Address, slot) => u16::from(slot) + deed!("m3upi/MULTI_SLOT_RCVD.AD_SLOT0"),
            (Lane::Block, _) => deed!("m3upi/MULTI_SLOT_RCVD.BL_SLOT0"),
            (Lane::Acknowledge, 0) => deed!("m3upi/MULTI_SLOT_RCVD.AK_SLOT0"),
            (Lane::Acknowledge, _) => deed!("m3upi/MULTI_SLOT_RCVD.AK_SLOT2"),
        };
        self.account.deed(seen, socket, link, now, sink);
        let flow = &self.links.flows[usize::from(number)];
        let (first, room) = (flow.received[usize::from(slot)].is_empty(), flow.has_room(lane));
        let bypasses = first && room;
        let others = [0, 1, 2].map(|other| other != slot && !flow.received[usize::from(other)].is_empty());
        self.note_wakeful(number, bypasses, sink);
        // A line fills all slots of the flits behind its header.
        let slots = if packet.message.has_line() { 0..3 } else { u16::from(slot)..u16::from(slot) + 1 };
        if bypasses {
            for slot in slots {
                self.account.deed(deed!("upi/RxL_BYPASSED.SLOT0") + slot, socket, link, now, sink);
            }
            for (other, _) in (0..3).zip(others).filter(|&(_, waits)| waits) {
                // Two rows for each slot, one for each other queue.
                let row = u16::from(slot) * 2 + other - u16::from(other > u16::from(slot));
                self.account.deed(deed!("upi/RxL_SLOT_BYPASS.S0_RXQ1") + row, socket, link, now, sink);
            }
            self.fill_flow(number, id, sink);
            return;
        }
        if first {
            let why = deed!("upi/M3_BYP_BLOCKED.FLOWQ_AD_VNA_LE2") + lane as u16;
            self.account.deed(why, socket, link, now, sink);
        }
        for slot in slots {
            self.account.enter(level!("upi/RxL_INSERTS.SLOT0") + slot, socket, link, now, sink);
        }
        self.links.flows[usize::from(number)].received[usize::from(slot)].push_back(id);
    }

    /// A message leaves the link layer for its flow queue, or goes past it.
    fn fill_flow<S: SignalSink>(&mut self, number: u16, id: u16, sink: &mut S) {
        let ((socket, link), now) = (place(number), self.now);
        let packet = self.links.packets[id];
        let lane = packet.lane();
        self.free_credits(number, &packet, sink);
        let flow = &mut self.links.flows[usize::from(number)];
        let queues = &flow.queues[lane as usize];
        let empty = queues[0].is_empty() && queues[1].is_empty();
        if lane == Lane::Address && empty && flow.left != now && flow.can_send(&packet) {
            flow.left = now;
            let past = deed!("m3upi/TxC_AD_FLQ_BYPASS.AD_SLOT0") + u16::from(packet.slot);
            self.account.deed(past, socket, link, now, sink);
            self.onto_other_mesh(number, id, sink);
            return;
        }
        flow.room[lane as usize] -= 1;
        flow.queues[lane as usize][usize::from(packet.network)].push_back(id);
        if flow.room[lane as usize] == LEAST[lane as usize] {
            let short = deed!("upi/FLOWQ_NO_VNA_CRD.AD_VNA_EQ2") + lane as u16;
            self.account.deed(short, socket, link, now, sink);
        }
        self.account.enter(queue_level(&packet), socket, link, now, sink);
        if lane == Lane::Block {
            let row = 4 * u16::from(packet.network) + packet.order() as u16 - 3;
            self.account.deed(deed!("m3upi/TxC_BL_FLQ_INSERTS.VN0_RSP") + row, socket, link, now, sink);
            self.note_writeback(number, &packet, true, sink);
        }
        self.wake_flow(number);
    }

    /// A writeback for this socket begins or ends to wait.
    fn note_writeback<S: SignalSink>(&mut self, number: u16, packet: &Packet, begins: bool, sink: &mut S) {
        if packet.message.class() != LinkClass::Writeback {
            return;
        }
        let ((socket, link), now) = (place(number), self.now);
        let pending = level!("m3upi/WB_PENDING.LOCALDEST_VN0") + u16::from(packet.network);
        if begins {
            self.account.enter(pending, socket, link, now, sink);
        } else {
            self.account.leave(pending, socket, link, now, sink);
        }
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
    pub(in super::super) fn flow_pump<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
        let ((socket, link), now) = (place(number), self.now);
        self.links.flows[usize::from(number)].pumping = false;
        let mut moved = false;
        for lane in [Lane::Address, Lane::Block, Lane::Acknowledge] {
            let first = self.links.flows[usize::from(number)].turns[lane as usize];
            let mut sent = false;
            for network in [first, 1 - first] {
                let flow = &mut self.links.flows[usize::from(number)];
                let Some(&id) = flow.queues[lane as usize][usize::from(network)].front() else { continue };
                let packet = self.links.packets[id];
                if sent || !flow.can_send(&packet) {
                    let class = packet.order() as u16;
                    let lost = match lane {
                        Lane::Address => 3 * u16::from(network) + class + deed!("m3upi/TxC_AD_ARB_FAIL.VN0_REQ"),
                        Lane::Block => 4 * u16::from(network) + class - 3 + deed!("m3upi/TxC_BL_ARB_FAIL.VN0_RSP"),
                        Lane::Acknowledge => continue,
                    };
                    self.account.deed(lost, socket, link, now, sink);
                    continue;
                }
                sent = true;
                flow.queues[lane as usize][usize::from(network)].pop_front();
                flow.room[lane as usize] += 1;
                flow.turns[lane as usize] = 1 - network;
                if lane == Lane::Address {
                    flow.left = now;
                }
                self.account.leave(queue_level(&packet), socket, link, now, sink);
                self.note_writeback(number, &packet, false, sink);
                self.onto_other_mesh(number, id, sink);
            }
            moved |= sent;
        }
        if moved {
            self.drain_received(number, sink);
            self.wake_flow(number);
        }
    }

    /// What waits in the receive queues goes on, where there is room again.
    fn drain_received<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
        let ((socket, link), now) = (place(number), self.now);
        for slot in 0..3 {
            while let Some(&id) = self.links.flows[usize::from(number)].received[slot].front() {
                let packet = self.links.packets[id];
                let flow = &mut self.links.flows[usize::from(number)];
                if !flow.has_room(packet.lane()) {
                    let why = deed!("upi/M3_RXQ_BLOCKED.FLOWQ_AD_VNA_LE2") + packet.lane() as u16;
                    self.account.deed(why, socket, link, now, sink);
                    break;
                }
                flow.received[slot].pop_front();
                let slots = if packet.message.has_line() { 0..3 } else { slot as u16..slot as u16 + 1 };
                for slot in slots {
                    self.account.leave(level!("upi/RxL_INSERTS.SLOT0") + slot, socket, link, now, sink);
                }
                self.fill_flow(number, id, sink);
            }
        }
    }

    /// A message goes from the link over this socket's mesh.
    fn onto_other_mesh<S: SignalSink>(&mut self, number: u16, id: u16, sink: &mut S) {
        let ((socket, link), now) = (place(number), self.now);
        let packet = self.links.packets[id];
        if packet.message.class() == LinkClass::Data && packet.taker.is_none() {
            self.account.deed(deed!("m3upi/D2C_SENT"), socket, link, now, sink);
            self.account.deed(deed!("upi/DIRECT_ATTEMPTS.D2C"), socket, link, now, sink);
        }
        let gate = self.places.m3upi[usize::from(link)];
        // The link deals out what comes to its two ports.
        let arrives = self.mesh_send(socket as u8, packet.far_ring(), packet.to % 2, gate, packet.to, sink);
        self.wheel.schedule(arrives, packet.then);
        if let Some(kind) = Flow::agent_kind(&packet) {
            let left = &mut self.links.flows[usize::from(number)].agents[kind];
            *left -= 1;
            if *left == 0 {
                let none = level!("m3upi/CHA_AD_CREDITS_EMPTY.REQ") + kind as u16;
                self.account.enter(none, socket, link, now, sink);
            }
            // The credit takes as long to come back.
            let back = 2 * arrives - now;
            let subject = number + 2 * u16::from(super::LINKS) * kind as u16;
            self.wheel.schedule(back, Event::AgentCredit.of(subject));
        }
        self.links.packets.remove(id);
    }
}
