//! Packets between sockets, and what they do where they arrive.

use pericore_facts::e5_2600::{PacketKind, PacketRecord};
use pericore_parts::RequestId;

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
    Respond,
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

/// Where a message comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The socket's home agent.
    Home,
    /// The same; the message waited for the ring, and is in the agent's queue until its link has an entry for it.
    HomeQueue,
    /// A slice, or another link.
    Other,
}

/// A message for another socket.
#[derive(Debug, Clone, Copy)]
pub struct NewPacket {
    pub origin: Origin,
    /// From one socket to another.
    pub way: (u8, u8),
    pub kind: PacketKind,
    /// The socket whose request it belongs to.
    pub requester: u8,
    pub action: Action,
    pub request: RequestId,
}
