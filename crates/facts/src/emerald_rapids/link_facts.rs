//! What happens at one end of a link between sockets.

use super::{Arbitration, FlowRing, LINK_CLASSES, LinkPacket, LinkWidth, NETWORKS, ReturnedCredits};

/// How a message goes past the queues of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bypass {
    /// Nothing waits, and the link is idle: a flit of its own.
    Idle,
    /// The same, but messages of the block ring are about to arbitrate.
    Arbitrating,
    /// It joins a flit into which a message of the block ring has been slotted in this cycle.
    Slotted,
}

/// The halves of a message of the block ring, which come one after the other, when it is slotted.
#[derive(Debug, Clone, Copy)]
pub struct BlockHalves {
    /// It has a line.
    pub line: bool,
    /// Its header lies in both halves.
    pub both: bool,
    /// The first half is here; the second is.
    pub here: [bool; 2],
    /// Its flit cannot leave at once.
    pub delayed: bool,
}

/// A message that was sent before its second half had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limbo {
    /// It waits for that half.
    Begins,
    /// The half has come, and it is next in the FIFO of those that are complete.
    Completes,
    /// It leaves that.
    Ends,
}

/// A flit is begun while the one before is complete, and cannot go yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunAhead {
    /// Slotting begins that.
    Begins,
    /// A first message goes in.
    First,
    /// A second one does when the flit before has gone.
    Second,
    /// It is sent with two messages or more.
    Pays,
    /// The first message comes when the flit before has gone: nothing was won.
    TooLate,
}

/// What becomes of a link layer's request for slot 2 of a flit, for credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotRequest {
    /// It comes.
    Comes,
    /// The link has become idle, and the link layer sends them itself.
    Withdrawn,
    /// A flit has room there.
    Natural,
    /// A flit leaves room there.
    Forced,
}

/// What happens at one end of a link.
#[derive(Debug, Clone, Copy)]
pub enum LinkFact {
    /// A message comes off the mesh, and goes past the queues.
    PassesGate(LinkPacket, Bypass),
    /// It waits for the link.
    WaitsAtGate(LinkPacket),
    /// It goes into a flit.
    LeavesGate(LinkPacket),
    /// A message of the block ring goes into a flit.
    SlotsBlock(BlockHalves),
    /// One that was sent before its second half had come.
    Limbo(Limbo),
    /// A message in a flit takes its credits.
    Pays(LinkPacket),
    /// So many shared credits were not needed.
    Corrects(u16),
    /// M3UPI owes memory a completion for a line that came straight from there (`true`), or has sent it.
    Completion(bool),
    /// The networks arbitrate.
    Arbitrates(Arbitration),
    /// A flit goes without the first messages of these classes, which could pay, and would have had room there.
    Misses([[bool; LINK_CLASSES]; NETWORKS]),
    /// A flit is begun ahead of time.
    RunsAhead(RunAhead),
    /// A flit that the link layer had no room for goes on.
    Resumes {
        /// After so many uncore cycles.
        cycles: u32,
        /// In so many of these a line waited.
        lines: u32,
        /// Cycles of either in which the link layer could have begun with it, by its clock.
        valid: [u32; 2],
        /// Cycles in which messages could join it, and those in which some did.
        accumulating: u32,
        /// See `accumulating`.
        joined: u32,
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
    /// A flit goes to the link layer: with lines, beside a line that is being sent, into the send queue or past it.
    Ships {
        /// Some messages have a line.
        lines: bool,
        /// A line is being sent.
        beside_line: bool,
        /// It waits.
        queued: bool,
    },
    /// It leaves for the other socket.
    Leaves {
        /// Messages.
        messages: u8,
        /// The only one travels on a credit of its own.
        alone: bool,
        /// It has waited.
        queued: bool,
        /// It has lines.
        lines: bool,
        /// It was put together beside a line that was being sent.
        beside_line: bool,
    },
    /// The direction had nothing to send: the flit that it was in was filled with so many empty slots, and so many idle
    /// flits followed. Here they went out (`false`) or came in.
    Idles {
        /// Empty slots, the last ones of a flit.
        empty: u8,
        /// Idle flits.
        flits: u32,
        /// They came in.
        received: bool,
    },
    /// The header of a message, with its line if it has one, goes out (`false`) or comes in.
    Crosses(LinkPacket, bool),
    /// A flit was damaged on its way here.
    Damaged,
    /// The link layer asks for a slot for credits, or has one.
    SlotRequest(SlotRequest),
    /// Credits for the peer go out in a slot.
    GivesCredits(ReturnedCredits),
    /// Credits come back in a slot.
    GetsCredits(ReturnedCredits),
    /// A message that came in goes past its slot's receive queue, where by slot something waits.
    PassesReceiver(LinkPacket, [bool; 3]),
    /// It waits there, for room on a ring.
    WaitsAtReceiver(LinkPacket, [bool; 3], FlowRing),
    /// It leaves the receive queue.
    LeavesReceiver(LinkPacket),
    /// What is first in a receive queue finds no room in a flow queue: none at all, or (`true`) too little to go on.
    FindsNoRoom(FlowRing, bool),
    /// A message leaves the link layer past its flow queue.
    PassesFlow(LinkPacket),
    /// It leaves the link layer for its flow queue.
    EntersFlow(LinkPacket),
    /// It could leave its flow queue in this cycle, and another one of its ring does.
    StaysInFlow(LinkPacket),
    /// It leaves the flow queue.
    LeavesFlow(LinkPacket),
    /// Word of a writeback for its home enters the flow queue of addresses.
    WordEnters(LinkPacket),
    /// It could leave in this cycle, and another address does.
    WordStays(LinkPacket),
    /// It leaves.
    WordLeaves(LinkPacket),
    /// The home fetches the writeback.
    Fetched(LinkPacket),
    /// A message goes onto the mesh, or word of it, and takes a credit of its taker.
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
