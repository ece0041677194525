//! Links between sockets: the ring stop that queues messages and holds credits, and the link layer that turns them into flits.
//!
//! Each socket has two links. With two sockets both join the pair, and addresses are spread over them; with four the sockets form a
//! ring, and a packet for the opposite one passes through a neighbour. The ring stops work in the uncore clock, the link layers in
//! their own.

mod far;
mod layer;
mod passage;
mod port;
mod power;
mod stop;
mod wires;

use far::FarAccesses;
use passage::Passages;
use pericore_engine::{NEVER, Pool, Tick};

use super::Parameters;
use super::request::RequestId;
use crate::ledger::e5_2600::PacketRecord;
pub use far::FarKind;
pub use passage::FROM_LINK;
pub use passage::Waiting;
pub use port::Port;
pub use power::Savings;
pub use stop::{Letter, Origin};
pub use wires::{LinkWires, bind, codes};

/// Links of a socket.
pub const PORTS: u16 = 2;

/// Index of a packet in the pool.
pub type PacketId = u16;

/// What a packet does where it arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The home agent accepts the request.
    Accept,
    /// A slice is snooped; the request is the snoop.
    Snoop,
    /// The home agent hears a snoop's answer; the request is the snoop.
    Answer,
    /// The home agent gets a modified line that a snoop found; the request is the snoop.
    Write,
    /// The requester gets its data.
    Data,
    /// The requester's request is complete.
    Complete,
    /// Nothing: the packet with the data that follows it does.
    Announce,
    /// What the access of a core to another socket's devices or processors needs; in place of a request it has that.
    Far,
}

/// A packet on a link.
#[derive(Debug, Clone)]
pub struct Packet {
    /// The truth about it.
    pub record: PacketRecord,
    pub request: RequestId,
    pub action: Action,
    /// Comes from a home agent's egress.
    pub from_home: bool,
}

/// The links of a machine; none with one socket.
#[derive(Debug)]
pub struct Links {
    pub ports: Vec<Port>,
    pub wires: Vec<LinkWires>,
    pub packets: Pool<Packet>,
    pub far: FarAccesses,
    pub passages: Passages,
    pub savings: Savings,
    /// Each so many packets of a direction, one is damaged on its way; 0 for none.
    pub error_every: u64,
    /// The next tick at which a link layer acts.
    pub next: Tick,
    /// Link clocks from one end to the other.
    pub flight: u64,
    /// Ticks between a ring stop and its link layer.
    pub crossing: Tick,
    sockets: u16,
}

impl Links {
    /// Links at rest.
    pub fn new(parameters: &Parameters, crossing: Tick, wires: Vec<LinkWires>) -> Self {
        let (sockets, flight) = (u16::from(parameters.sockets), parameters.link_flight);
        let (shared, entries) = (parameters.link_credits, parameters.link_entries);
        // Port 0 leads to the next socket's port 1.
        let peer = |port: u16| {
            let (socket, side) = (port / PORTS, port % PORTS);
            (socket + if side == 0 { 1 } else { sockets - 1 }) % sockets * PORTS + 1 - side
        };
        let ports = (0..wires.len() as u16).map(|port| Port::new(peer(port), shared, entries)).collect();
        Self {
            ports,
            wires,
            packets: Pool::new(0),
            far: FarAccesses::default(),
            passages: Passages::new(),
            savings: Savings::default(),
            error_every: 0,
            next: NEVER,
            flight,
            crossing,
            sockets,
        }
    }

    /// True if nothing non-coherent is under way.
    pub fn is_idle(&self) -> bool {
        self.far.is_empty() && self.passages.is_empty()
    }

    /// True if there are none.
    pub const fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    /// The link by which a packet about a line goes on from a socket.
    fn way(&self, from: u8, to: u8, line: u32) -> u16 {
        // Either way is as good: lines are spread over both (assumption: the real routing tables are set by firmware).
        let either = ((line ^ (line >> 7) ^ (line >> 13)) & 1) as u16;
        let distance = (u16::from(to) + self.sockets - u16::from(from)) % self.sockets;
        let side = if 2 * distance == self.sockets { either } else { u16::from(2 * distance > self.sockets) };
        u16::from(from) * PORTS + side
    }
}

#[cfg(test)]
mod tests {
    use super::{LinkWires, Links};
    use crate::uncore::e5_2600::Parameters;
    use pericore_hardware::signal::Wiring;

    fn links(sockets: u8) -> Links {
        let family = pericore_catalog::family("e5-2600").unwrap();
        let mut wiring = Wiring::new(family, sockets.into());
        let wires: Vec<LinkWires> = super::bind(&mut wiring, sockets).unwrap();
        Links::new(&Parameters::e5_2680().with_sockets(sockets), 1, wires)
    }

    #[test]
    fn both_links_of_two_sockets_join_them() {
        let links = links(2);
        assert_eq!(links.ports.iter().map(|port| port.peer).collect::<Vec<_>>(), [3, 2, 1, 0]);
        assert_eq!((links.way(0, 1, 0), links.way(0, 1, 1), links.way(1, 0, 1)), (0, 1, 3));
    }

    #[test]
    fn four_sockets_form_a_ring() {
        let links = links(4);
        assert_eq!(links.ports.iter().map(|port| port.peer).collect::<Vec<_>>(), [3, 6, 5, 0, 7, 2, 1, 4]);
        // To the next, to the one before, and to the opposite one by either.
        assert_eq!((links.way(1, 2, 0), links.way(1, 0, 0)), (2, 3));
        assert_eq!((links.way(1, 3, 0), links.way(1, 3, 1)), (2, 3));
    }
}
