//! What happens to messages between sockets: on the mesh side of a link (M3UPI) and in its link layer (UPI).

use super::{LinkClass, LinkMessage};

/// Virtual networks of a link.
pub const NETWORKS: usize = 2;
/// Message classes that the mesh side tells apart, as [`LinkClass`] numbers them: three of the address ring, four of
/// the block ring.
pub const LINK_CLASSES: usize = 7;
/// Classes of the address ring.
pub const ADDRESS_CLASSES: usize = 3;
/// Classes that have credits of their own: all but data, which always finds room (Table 2-412 has no row for it).
pub const OWN_CLASSES: usize = 6;
/// Flit buffers of a receiver that all its classes share (fitted: remote reads reach 155 GB/s over four links; 36 lines
/// of four buffers are between sending a flit and getting its credits back).
pub const SHARED_CREDITS: u16 = 144;
/// Buffers of each class on each virtual network (assumption).
pub const OWN_CREDITS: u8 = 2;
/// Messages that the flow queues of the address, block and acknowledge ring hold (assumption), and how many places the
/// link layer always leaves free in them (the reasons of M3_RXQ_BLOCKED say so).
pub const FLOW_ROOM: [u8; 3] = [8, 4, 8];
/// See [`FLOW_ROOM`].
pub const FLOW_LEAST: [u8; 3] = [2, 0, 3];
/// Writebacks that wait for their home to fetch them, beside the flow queues (assumption: what a link brings at full
/// rate while a word goes to the agent and back).
pub const UNFETCHED: u8 = 48;
/// Completions of lines that memory has sent straight to a link, which M3UPI owes to it (assumption:
/// twice what is on its way at full rate).
pub const COMPLETIONS: u8 = 8;
/// Kinds of credits of a link for those who take its messages: requests, snoops and writebacks at agents; bypass
/// messages at stacks 0 and 1 together, at stacks 2 to 5, and at the system agent; standard messages.
pub const TAKERS: usize = 10;
/// How many there are of each: what a mesh of this size has in flight at one message in two cycles; two of each message
/// that is not coherent (assumptions).
pub const TAKER_CREDITS: [u8; TAKERS] = [16, 16, 16, 2, 2, 2, 2, 2, 2, 2];
/// Link cycles in which a direction goes over to fewer lanes, and back to all, which lock anew (assumptions).
pub const NARROWING: u32 = 10;
/// See [`NARROWING`].
pub const WIDENING: u32 = 50;

/// The credit that a message travels on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paid {
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
    /// The caching agent that asked, for itself.
    Agent,
}

/// The ring that a message leaves a link on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum FlowRing {
    /// Addresses.
    Address,
    /// Lines, and what takes as much room.
    Block,
    /// Completions.
    Acknowledge,
}

/// A message between sockets.
#[derive(Debug, Clone, Copy)]
pub struct LinkPacket {
    /// What it is.
    pub message: LinkMessage,
    /// Virtual network.
    pub network: u8,
    /// Slot of its header in a flit, once it is in one.
    pub slot: u8,
    /// The credit that it travels on, once it is in a flit.
    pub paid: Paid,
    /// Who takes it where that is a stack, the system agent, or the agent that asked for itself.
    pub taker: Option<Taker>,
}

impl LinkPacket {
    /// The number of its class.
    pub const fn class(&self) -> usize {
        self.message.class() as usize
    }

    /// The index of its own credits.
    pub const fn own(&self) -> Option<usize> {
        own_of(self.class())
    }

    /// The ring that it leaves the link on.
    pub const fn lane(&self) -> FlowRing {
        match self.message {
            LinkMessage::Completion => FlowRing::Acknowledge,
            _ if self.class() < ADDRESS_CLASSES => FlowRing::Address,
            _ => FlowRing::Block,
        }
    }

    /// Shared credits that it takes: one for each flit buffer of the peer. A line fills three flits beside its
    /// header's.
    pub const fn cost(&self) -> u16 {
        if self.message.has_line() { 4 } else { 1 }
    }

    /// Shared credits that it is given when it wins: as many as a line needs for all of the block ring. What it does
    /// not need comes back in the next cycle.
    pub const fn allotted(&self) -> u16 {
        allotted(self.class())
    }

    /// It is fetched by its home, which hears of it by a message on the address ring.
    pub const fn is_fetched(&self) -> bool {
        matches!(self.message.class(), LinkClass::Writeback)
    }

    /// The kind of credit towards its taker that it needs.
    pub fn taker_credit(&self) -> Option<usize> {
        match (self.message.class(), self.taker) {
            (LinkClass::Request, _) => Some(0),
            (LinkClass::Snoop, _) => Some(1),
            (LinkClass::Writeback, _) => Some(2),
            (LinkClass::Bypass, Some(Taker::Stack(stack))) => Some(3 + usize::from(stack).saturating_sub(1)),
            (LinkClass::Bypass, Some(Taker::System)) => Some(8),
            (LinkClass::Standard, _) => Some(9),
            _ => None,
        }
    }

    /// Flits in which it fills each slot: one for its header, and a line's three.
    pub fn flits(&self) -> [u32; 3] {
        let line = if self.message.has_line() { 3 } else { 0 };
        std::array::from_fn(|slot| line + u32::from(slot == usize::from(self.slot)))
    }
}

/// Shared credits that a message of a class is given when it wins.
pub const fn allotted(class: usize) -> u16 {
    if class < ADDRESS_CLASSES { 1 } else { 4 }
}

/// Flits that a flit of headers takes with the lines of its messages, of which it has one at most.
pub const fn flits(lines: bool) -> u32 {
    if lines { 4 } else { 1 }
}

/// The index of a class's own credits.
pub const fn own_of(class: usize) -> Option<usize> {
    match class {
        3 => None,
        0..3 => Some(class),
        _ => Some(class - 1),
    }
}

/// What becomes of the first message of a class when its network arbitrates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArbitrationOutcome {
    /// None waits.
    #[default]
    Idle,
    /// It wins, and pays.
    Wins(Paid),
    /// Another one has won, though it could pay.
    Loses,
    /// It cannot pay, and nothing else of its ring wins.
    Poor,
    /// It cannot pay, and another one of its ring wins.
    Silent,
}

/// An arbitration of both virtual networks for the next flit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Arbitration {
    /// By network and class.
    pub outcomes: [[ArbitrationOutcome; LINK_CLASSES]; NETWORKS],
    /// Shared credits that are left for each network, whose turns follow each other.
    pub shared: [u16; NETWORKS],
    /// The network whose winners are slotted into a flit; `None` if nobody wins.
    pub flit: Option<u8>,
    /// Only the first of them is: the flit before has not gone yet.
    pub ahead: bool,
    /// Uncore cycles in which the same comes out: those in which nothing can pay are one.
    pub times: u32,
    /// A line that memory has sent straight to the link may not ask, for want of a completion credit, by network.
    pub incomplete: [bool; NETWORKS],
}

impl Arbitration {
    /// Winners of a network on the address ring, and on the block ring: how each pays.
    pub fn winners(&self, network: usize) -> [Option<Paid>; 2] {
        let (address, block) = self.outcomes[network].split_at(ADDRESS_CLASSES);
        [address, block].map(|classes| {
            classes
                .iter()
                .find_map(|outcome| if let ArbitrationOutcome::Wins(paid) = outcome { Some(*paid) } else { None })
        })
    }

    /// True if some message of a network waited on the address ring, and on the block ring.
    pub fn waited(&self, network: usize) -> [bool; 2] {
        let (address, block) = self.outcomes[network].split_at(ADDRESS_CLASSES);
        [address, block].map(|classes| classes.iter().any(|&outcome| outcome != ArbitrationOutcome::Idle))
    }
}

/// Credits that go back over a link.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReturnedCredits {
    /// Of the shared pool.
    pub shared: u16,
    /// By virtual network and class.
    pub own: [[u8; OWN_CLASSES]; NETWORKS],
}

impl ReturnedCredits {
    /// True if some are a virtual network's.
    pub fn are_own(&self) -> bool {
        self.own.as_flattened().iter().any(|&count| count > 0)
    }
}

/// Lanes that a direction uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkWidth {
    /// All (L0).
    Full,
    /// Some rest (L0p).
    Half,
    /// The link is shut down (L1).
    Off,
}
