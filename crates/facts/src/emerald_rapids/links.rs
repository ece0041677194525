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
    /// The network whose winners are slotted into a flit, and how many messages that takes; `None` if nobody wins.
    pub flit: Option<(u8, u8)>,
    /// Uncore cycles in which the same comes out: those in which nothing can pay are one.
    pub times: u32,
    /// Classes whose first message could pay, and would have had room in the flit.
    pub left_over: [[bool; LINK_CLASSES]; NETWORKS],
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

/// What happens at one end of a link.
#[derive(Debug, Clone, Copy)]
pub enum LinkFact {
    /// A message comes off the mesh to an idle link, and goes into a flit of its own.
    PassesGate(LinkPacket),
    /// It waits for the link.
    WaitsAtGate(LinkPacket),
    /// It goes into a flit.
    LeavesGate(LinkPacket),
    /// A message in a flit takes its credits.
    Pays(LinkPacket),
    /// The networks arbitrate.
    Arbitrates(Arbitration),
    /// The link layer has room again for the next flit.
    Resumes {
        /// After so many uncore cycles.
        cycles: u32,
        /// In so many of these a line waited.
        lines: u32,
    },
    /// It has: messages of a network, on the address ring (0) or the data ring, have waited for so many of these.
    MadeNoProgress {
        /// Virtual network.
        network: u8,
        /// Ring.
        ring: u8,
        /// Uncore cycles.
        cycles: u32,
    },
    /// A flit of so many messages goes to the link layer: with lines, beside a line that is being sent, into the send
    /// queue or past it.
    Ships {
        /// Messages.
        messages: u8,
        /// Some have a line.
        lines: bool,
        /// A line is being sent.
        beside_line: bool,
        /// It waits.
        queued: bool,
    },
    /// It leaves for the other socket.
    Leaves {
        /// It has waited.
        queued: bool,
        /// It has lines.
        lines: bool,
    },
    /// The header of a message, with its line if it has one, goes out (`false`) or comes in.
    Crosses(LinkPacket, bool),
    /// A flit was damaged on its way here.
    Damaged,
    /// Credits for the peer go out in a slot.
    GivesCredits(ReturnedCredits),
    /// Credits come back in a slot.
    GetsCredits(ReturnedCredits),
    /// A message that came in goes past its slot's receive queue, where by slot something waits.
    PassesReceiver(LinkPacket, [bool; 3]),
    /// It waits there.
    WaitsAtReceiver(LinkPacket, [bool; 3]),
    /// It leaves the receive queue.
    LeavesReceiver(LinkPacket),
    /// What is first in a receive queue finds no room in its flow queue.
    FindsNoRoom(FlowRing),
    /// A message leaves the link layer past its flow queue.
    PassesFlow(LinkPacket),
    /// It leaves the link layer for its flow queue.
    EntersFlow(LinkPacket),
    /// It could leave its flow queue in this cycle, and another one of its ring does.
    StaysInFlow(LinkPacket),
    /// It leaves the flow queue.
    LeavesFlow(LinkPacket),
    /// It goes onto the mesh, and takes a credit of its taker.
    GoesOn(LinkPacket),
    /// A credit of a taker of a kind is back.
    TakerReady(u8),
    /// The direction from here changes its width, which it has had from the start if it had none.
    Width(Option<LinkWidth>, LinkWidth),
    /// This end asks the other to shut down, which is so.
    ShutsDown(bool),
    /// This end's physical layer trains, or has trained.
    Trains(bool),
}
