//! The socket links: the mesh side (M3UPI) and the link layer (UPI).
//!
//! A message goes over its own socket's mesh to the link, is slotted into a flit when it has won ([`arbitration`]) and the peer has room for it ([`gate`]), crosses with
//! its flit, goes through the receiver's flow queues ([`flow`]) and over the other socket's mesh to where it is wanted. A header takes
//! one slot of a flit, a line nine more. Credits go back on the other direction ([`credits`]); a link without work rests ([`power`]).

mod arbitration;
mod building;
mod completions;
mod credits;
mod flit;
mod flow;
mod gate;
mod halves;
mod idle;
mod power;

use building::HeaderFlit;
use flow::Flow;
use gate::Gate;
use pericore_engine::Pool;
use pericore_engine::Tick;
use power::PowerStates;

use super::Model;
use super::event::Event;
use pericore_facts::emerald_rapids::{
    ADDRESS_CLASSES, Fact, FlowRing, LINK_CLASSES as CLASSES, LinkFact, LinkMessage, LinkPacket, OWN_CLASSES, Paid,
    Readers, Reason, Ring, Taker, UnitInstance, own_of,
};
use pericore_workload::LinkConditions;

pub use super::layout::LINKS;
/// Slots of a line's data.
const SLOTS_OF_A_LINE: Tick = 9;
/// Uncore cycles that sending it again takes.
const RETRY: Tick = 100;

/// What a message is, and where it is on its way.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    sent: LinkPacket,
    from: u8,
    /// The port by which its stop gets it.
    port: u8,
    link: u8,
    /// Agent that it holds a credit of until it is in a flit, and which.
    cha: u8,
    credit: Option<Reason>,
    /// Tile that it goes to in the other socket.
    to: u8,
    /// What happens when it has arrived.
    then: u32,
    /// Tile of the memory that has sent it past its agent.
    memory: Option<u8>,
    /// When each half of a message of the block ring is at the link.
    halves: [Tick; 2],
}

impl Packet {
    /// A message that is about to leave.
    pub const fn new(message: LinkMessage) -> Self {
        let sent = LinkPacket { message, network: 0, slot: 0, paid: Paid::Shared, taker: None };
        Self { sent, from: 0, port: 0, link: 0, cha: 0, credit: None, to: 0, then: 0, memory: None, halves: [0; 2] }
    }

    /// The same message, sent by memory at a tile past its agent.
    pub const fn past_agent(self, tile: u8) -> Self {
        Self { memory: Some(tile), ..self }
    }

    /// The same message, for the one who takes it, if that is no core and no agent of a line.
    pub const fn for_taker(self, taker: Option<Taker>) -> Self {
        Self { sent: LinkPacket { taker, ..self.sent }, ..self }
    }

    /// The same message, on a credit of its agent.
    pub const fn on(self, credit: Reason) -> Self {
        Self { credit: Some(credit), ..self }
    }

    /// The same message, given to the mesh by the second port of a stop if `port` is one.
    pub const fn through(self, port: u8) -> Self {
        Self { port, ..self }
    }

    const fn ring(&self) -> Ring {
        if self.sent.class() < ADDRESS_CLASSES { Ring::Address } else { Ring::Block }
    }

    /// The ring that it takes to where it is wanted.
    pub const fn far_ring(&self) -> Ring {
        match self.sent.lane() {
            FlowRing::Address => Ring::Address,
            FlowRing::Block => Ring::Block,
            FlowRing::Acknowledge if matches!(self.sent.taker, Some(Taker::Agent)) => Ring::AcknowledgeAgents,
            // For a core or a stack.
            FlowRing::Acknowledge => Ring::Acknowledge,
        }
    }
}

/// Messages under way between sockets. Gates and flow queues are numbered over the machine.
#[derive(Debug)]
pub struct Links {
    packets: Pool<Packet>,
    gates: Vec<Gate>,
    flows: Vec<Flow>,
    power: PowerStates,
    /// Of so many messages of a direction one is damaged on its way, and sent again; 0 for none.
    error_every: u64,
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
            error_every: 0,
        }
    }
}

impl Links {
    /// How often links damage a message, from here on.
    pub(super) const fn begin(&mut self, conditions: LinkConditions) {
        self.error_every = conditions.error_every;
    }
}

/// The other end of a link.
const fn peer(number: u16) -> u16 {
    number ^ LINKS as u16
}

/// A link's socket and its number there.
const fn place(number: u16) -> UnitInstance {
    (number / LINKS as u16, number % LINKS as u16)
}

impl Model {
    /// Sends a message of an agent's line to the other socket, `wait` after now; `then` happens when it has arrived at tile `to`.
    #[expect(clippy::too_many_arguments, reason = "a message is its parts")]
    pub(super) fn send_packet<R: Readers>(
        &mut self,
        socket: u8,
        cha: u8,
        packet: Packet,
        from: u8,
        to: u8,
        wait: Tick,
        then: u32,
        reader: &mut R,
    ) {
        // Links take turns by agent, and so do the virtual networks.
        let (link, network) = (cha % LINKS, cha / LINKS % 2);
        let gate = self.places.m3upi[usize::from(link)];
        let at = self.mesh_send(socket, packet.ring(), packet.port, from, gate, reader) + wait;
        let sent = LinkPacket { network, ..packet.sent };
        let id = self.links.packets.add(Packet { sent, from: socket, link, cha, to, then, ..packet });
        self.wheel.schedule(at, Event::Linked.of(id));
    }

    /// Something happens at the end of a link.
    fn at_link<R: Readers>(&self, number: u16, fact: LinkFact, reader: &mut R) {
        reader.read(self.now, Fact::Link(place(number), fact));
    }

    /// A flit leaves for the other socket.
    pub(super) fn flit_out<R: Readers>(&mut self, number: u16, reader: &mut R) {
        let Some(flit) = self.links.gates[usize::from(number)].take_unsent() else { return };
        let HeaderFlit { queued, alone, beside_line, .. } = flit;
        let (messages, lines) = (flit.count as u8, flit.lines > 0);
        self.at_link(number, LinkFact::Leaves { messages, alone, queued, lines, beside_line }, reader);
        for &id in &flit.ids[..flit.count] {
            self.at_link(number, LinkFact::Crosses(self.links.packets[id].sent, false), reader);
        }
        self.links.gates[usize::from(number)].cross(flit);
        self.wheel.schedule(self.now + self.times.link_crossing, Event::FlitIn.of(number));
        self.pump_link(number, reader);
    }

    /// A flit of a gate has come to the other socket.
    pub(super) fn flit_in<R: Readers>(&mut self, number: u16, reader: &mut R) {
        let Some(flit) = self.links.gates[usize::from(number)].arrived() else { return };
        let here = peer(number);
        // Whether its messages find room is looked up once for all of them.
        let room = self.links.flows[usize::from(here)].has_room();
        for &id in &flit.ids[..flit.count] {
            self.at_link(here, LinkFact::Crosses(self.links.packets[id].sent, true), reader);
            self.receive(here, id, room, reader);
        }
    }
}

#[cfg(test)]
impl Model {
    /// As many messages of a kind come off the mesh to the first link in one cycle.
    pub(super) fn come_to_link(&mut self, count: usize, packet: Packet) {
        let to = self.places.cha[0];
        for _ in 0..count {
            let id = self.links.packets.add(Packet { to, then: Event::LinkIdle.of(0), ..packet });
            self.wheel.schedule(self.now, Event::Linked.of(id));
        }
    }
}
