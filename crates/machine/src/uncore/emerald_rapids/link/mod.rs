//! The socket links: the mesh side (M3UPI) and the link layer (UPI).
//!
//! A message goes over its own socket's mesh to the link, is slotted into a flit when it has won ([`arbitration`]) and the peer has room for it ([`gate`]), crosses with
//! its flit, goes through the receiver's flow queues ([`flow`]) and over the other socket's mesh to where it is wanted. A header takes
//! one slot of a flit, a line nine more. Credits go back on the other direction ([`credits`]); a link without work rests ([`power`]).

mod arbitration;
mod credits;
mod flow;
mod gate;
mod power;

use flow::Flow;
use gate::Gate;
use pericore_engine::Pool;
use pericore_hardware::signal::{SignalSink, Tick};
use power::PowerStates;

use super::Model;
use super::event::Event;
use crate::ledger::emerald_rapids::compiled::{deed, level};
use crate::ledger::emerald_rapids::{LinkMessage, Reason, Ring};

/// Links between two sockets.
pub const LINKS: u8 = 4;
/// Slots of a line's data.
const SLOTS_OF_A_LINE: Tick = 9;
/// Messages of which one is damaged on its way, and sent again (assumption: far more than on a real link, so that retries are seen).
const ERROR_INTERVAL: u64 = 1024;
/// Uncore cycles that sending it again takes.
const RETRY: Tick = 100;
/// Message classes that the mesh side tells apart: requests, snoops, responses on the address ring; data, writebacks, non-coherent
/// bypass and standard messages on the block ring.
const CLASSES: usize = 7;
/// Classes of the address ring.
const ADDRESS_CLASSES: usize = 3;
/// Classes that have credits of their own: all but data, which always finds room (Table 2-412 has no row for it).
const OWN_CLASSES: usize = 6;

/// The credit that a message travels on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Paid {
    /// Of the pool that all classes share (VNA).
    Shared,
    /// Of its class and virtual network (VN0, VN1).
    Own,
}

/// Who takes a message that is not coherent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taker {
    /// The I/O stack of a number.
    Stack(u8),
    /// The system agent.
    System,
}

/// The ring that a message leaves a link on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lane {
    Address,
    Block,
    Acknowledge,
}

/// What a message is, and where it is on its way.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    message: LinkMessage,
    /// Slot of its header in a flit.
    slot: u8,
    from: u8,
    link: u8,
    /// Agent that it holds a credit of until it is in a flit, and which.
    cha: u8,
    credit: Option<Reason>,
    /// Virtual network.
    network: u8,
    paid: Paid,
    /// Tile that it goes to in the other socket.
    to: u8,
    /// The stack, or the system agent, that takes it if it is not coherent.
    taker: Option<Taker>,
    /// What happens when it has arrived.
    then: u32,
}

impl Packet {
    /// A message that is about to leave.
    pub const fn new(message: LinkMessage) -> Self {
        Self {
            message,
            slot: 0,
            from: 0,
            link: 0,
            cha: 0,
            credit: None,
            network: 0,
            paid: Paid::Shared,
            to: 0,
            taker: None,
            then: 0,
        }
    }

    /// The same message, for a stack or the system agent.
    pub const fn taken_by(self, taker: Taker) -> Self {
        Self { taker: Some(taker), ..self }
    }

    /// The same message, on a credit of its agent.
    pub const fn on(self, credit: Reason) -> Self {
        Self { credit: Some(credit), ..self }
    }

    /// Its class among those that the mesh side tells apart.
    const fn order(&self) -> usize {
        self.message.class() as usize
    }

    /// The index of its own credits.
    const fn own(&self) -> Option<usize> {
        own_of(self.order())
    }

    const fn ring(&self) -> Ring {
        if self.order() < ADDRESS_CLASSES { Ring::Address } else { Ring::Block }
    }

    /// The ring that it takes to where it is wanted.
    pub const fn far_ring(&self) -> Ring {
        match self.lane() {
            Lane::Address => Ring::Address,
            Lane::Block => Ring::Block,
            // Completions are for the caching agents, or for a stack.
            Lane::Acknowledge if self.taker.is_none() => Ring::AcknowledgeAgents,
            Lane::Acknowledge => Ring::Acknowledge,
        }
    }

    const fn lane(&self) -> Lane {
        match self.message {
            LinkMessage::Completion => Lane::Acknowledge,
            _ if self.order() < ADDRESS_CLASSES => Lane::Address,
            _ => Lane::Block,
        }
    }

    /// Shared credits that it takes: one for each flit buffer of the peer. A line fills three flits beside its header's.
    const fn cost(&self) -> u16 {
        if self.message.has_line() { 4 } else { 1 }
    }
}

/// The index of a class's own credits.
const fn own_of(order: usize) -> Option<usize> {
    match order {
        3 => None,
        0..3 => Some(order),
        _ => Some(order - 1),
    }
}

/// A flit of headers and the lines that follow it.
#[derive(Debug, Clone, Copy, Default)]
struct Flit {
    ids: [u16; 3],
    count: usize,
    /// It waits in the link layer's send queue.
    queued: bool,
}

/// Messages under way between sockets. Gates and flow queues are numbered over the machine.
#[derive(Debug)]
pub struct Links {
    packets: Pool<Packet>,
    gates: Vec<Gate>,
    flows: Vec<Flow>,
    power: PowerStates,
}

impl Links {
    /// Quiet links.
    pub fn new(sockets: u8) -> Self {
        let links = if sockets > 1 { usize::from(sockets * LINKS) } else { 0 };
        Self {
            packets: Pool::new(links * 512),
            gates: (0..links).map(|_| Gate::new()).collect(),
            flows: (0..links).map(|_| Flow::new()).collect(),
            power: PowerStates::new(links),
        }
    }
}

/// The other end of a link.
const fn peer(number: u16) -> u16 {
    number ^ LINKS as u16
}

/// A link's socket and its number there.
const fn place(number: u16) -> (u16, u16) {
    (number / LINKS as u16, number % LINKS as u16)
}

impl Model {
    /// Sends a message of an agent's line to the other socket, `wait` after now; `then` happens when it has arrived at tile `to`.
    #[expect(clippy::too_many_arguments, reason = "a message is its parts")]
    pub(super) fn send_packet<S: SignalSink>(
        &mut self,
        socket: u8,
        cha: u8,
        packet: Packet,
        from: u8,
        to: u8,
        wait: Tick,
        then: u32,
        sink: &mut S,
    ) {
        // Links take turns by agent, and so do the virtual networks.
        let (link, network) = (cha % LINKS, cha / LINKS % 2);
        let gate = self.places.m3upi[usize::from(link)];
        let at = self.mesh_send(socket, packet.ring(), 0, from, gate, sink) + wait;
        let id = self.links.packets.add(Packet { from: socket, link, cha, network, to, then, ..packet });
        self.wheel.schedule(at, Event::Linked.of(id));
    }

    /// A flit leaves for the other socket.
    pub(super) fn flit_out<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
        let ((socket, link), now) = (place(number), self.now);
        let Some(flit) = self.links.gates[usize::from(number)].take_unsent() else { return };
        let account = &mut self.account;
        account.leave(level!("m3upi/RxC_CRD_OCC.FLITS_IN_FIFO"), socket, link, now, sink);
        if flit.queued {
            account.leave(level!("upi/TxL_INSERTS"), socket, link, now, sink);
        }
        for &id in &flit.ids[..flit.count] {
            let Packet { message, slot, .. } = self.links.packets[id];
            self.account.flits(socket, link, (message, slot), false, now, sink);
            self.account.deed(deed!("upi/TxL_ANY_FLITS.PROTHDR"), socket, link, now, sink);
            if message.has_line() {
                self.account.deed(deed!("upi/TxL_ANY_FLITS.DATA"), socket, link, now, sink);
            }
        }
        self.links.gates[usize::from(number)].cross(flit);
        self.wheel.schedule(now + self.times.link_crossing, Event::FlitIn.of(number));
        self.pump_link(number, sink);
    }

    /// A flit of a gate has come to the other socket.
    pub(super) fn flit_in<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
        let Some(flit) = self.links.gates[usize::from(number)].arrived() else { return };
        let (here, now) = (peer(number), self.now);
        let (socket, link) = place(here);
        for &id in &flit.ids[..flit.count] {
            let packet = self.links.packets[id];
            self.account.flits(socket, link, (packet.message, packet.slot), true, now, sink);
            let consumed = match (packet.paid, packet.network) {
                (Paid::Shared, _) => deed!("upi/RxL_CREDITS_CONSUMED_VNA"),
                (Paid::Own, 0) => deed!("upi/RxL_CREDITS_CONSUMED_VN0"),
                (Paid::Own, _) => deed!("upi/RxL_CREDITS_CONSUMED_VN1"),
            };
            self.account.deed(consumed, socket, link, now, sink);
            self.account.deed(deed!("upi/RxL_ANY_FLITS.PROTHDR"), socket, link, now, sink);
            if packet.message.has_line() {
                self.account.deed(deed!("upi/RxL_ANY_FLITS.DATA"), socket, link, now, sink);
            }
            self.receive(here, id, sink);
        }
    }
}
