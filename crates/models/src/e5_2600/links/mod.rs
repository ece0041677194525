//! Links between sockets: the ring stop that queues messages and holds credits, and the link layer that turns them into
//! flits.
//!
//! Each socket has two links. With two sockets both join the pair, and addresses are spread over them; with four the
//! sockets form a ring, and a packet for the opposite one passes through a neighbour. The ring stops work in the uncore
//! clock, the link layers in their own.

mod far;
mod far_access;
mod io_side;
mod layer;
mod packet;
mod passage;
mod port;
mod power;
mod power_state;
mod retry;
mod stop;

use far_access::FarAccesses;
pub use far_access::FarKind;
pub use io_side::FROM_LINK;
use io_side::Passages;
pub use packet::{Action, NewPacket, Origin, PacketId};
use packet::{PORTS, Packet};
use pericore_engine::{NEVER, Pool, Tick};
use port::Port;
pub use power_state::PowerSaving;

use crate::e5_2600::Parameters;

/// The links of a machine; none with one socket.
#[derive(Debug)]
pub struct Links {
    pub ports: Vec<Port>,
    pub packets: Pool<Packet>,
    pub far: FarAccesses,
    pub passages: Passages,
    pub power_saving: PowerSaving,
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
    pub fn new(parameters: &Parameters, crossing: Tick) -> Self {
        let (sockets, flight) = (u16::from(parameters.sockets), parameters.link_flight);
        let (shared, entries) = (parameters.link_credits, parameters.link_entries);
        // Port 0 leads to the next socket's port 1.
        let peer = |port: u16| {
            let (socket, side) = (port / PORTS, port % PORTS);
            (socket + if side == 0 { 1 } else { sockets - 1 }) % sockets * PORTS + 1 - side
        };
        let count = if sockets > 1 { sockets * PORTS } else { 0 };
        let ports = (0..count).map(|port| Port::new(peer(port), shared, entries)).collect();
        Self {
            ports,
            packets: Pool::new(0),
            far: FarAccesses::default(),
            passages: Passages::new(),
            power_saving: PowerSaving::default(),
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
    use super::Links;
    use crate::e5_2600::Parameters;

    fn links(sockets: u8) -> Links {
        Links::new(&Parameters::e5_2680().with_sockets(sockets), 1)
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
