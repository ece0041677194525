//! Packets between sockets: the life of each on one link, and the flits that it is made of.

use pericore_engine::{NEVER, Tick};

use super::packet_kind::{Class, PacketKind};

/// Power states of one end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LinkState {
    /// Sends with all lanes (L0).
    SendFull,
    /// Sends with half of them (L0p).
    SendHalf,
    /// Receives with all lanes.
    ReceiveFull,
    /// Receives with half of them.
    ReceiveHalf,
    /// Is off, in both directions (L1).
    Off,
}

impl LinkState {
    /// How many there are.
    pub const COUNT: usize = 5;
}

/// Why one end of a link cannot go on with a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkStall {
    /// Sending: the retry buffer has no room at all.
    RetryFull,
    /// Sending: it has room for smaller packets only.
    RetryAlmostFull,
    /// Receiving: the buffer between the clocks of link and ring has no place for another packet of a class.
    Crossing(Class),
}

impl LinkStall {
    /// How many there are.
    pub const COUNT: usize = 2 + Class::COUNT;

    /// Its number.
    pub const fn index(self) -> usize {
        match self {
            Self::RetryFull => 0,
            Self::RetryAlmostFull => 1,
            Self::Crossing(class) => 2 + class as usize,
        }
    }
}

/// Where credits for the far end's buffer came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credit {
    /// The pool that all classes share (VNA): so many.
    Shared(u8),
    /// The one that is kept for each class (VN0).
    Reserved,
}

/// The life of a packet on one link. Stamps are [`NEVER`] until they happen.
#[derive(Debug, Clone)]
pub struct PacketRecord {
    /// What it is.
    pub kind: PacketKind,
    /// Link that sends it, numbered over the machine.
    pub sender: u16,
    /// Link that receives it.
    pub receiver: u16,
    /// Node that it is for, and the node whose request it belongs to.
    pub to: u8,
    /// Node whose request it belongs to.
    pub requester: u8,
    /// It does not end at the receiving socket.
    pub passes_through: bool,
    /// Came to the ring stop of the link without waiting there.
    pub ring_bypass: Tick,
    /// Entered the ring stop's queue.
    pub ring_in: Tick,
    /// Left the ring stop's queue.
    pub ring_out: Tick,
    /// Got its credits.
    pub credit_at: Tick,
    /// Which.
    pub credit: Credit,
    /// Entered the transmit buffer; never if it went straight to the link.
    pub transmit_in: Tick,
    /// Left the transmit buffer.
    pub transmit_out: Tick,
    /// Place of the first flit on the link: two in each link clock.
    pub first_slot: u64,
    /// It goes at half width: a flit in each clock.
    pub half_width: bool,
    /// It arrived with a wrong checksum first.
    pub damaged: bool,
    /// Entered the receive buffer; never if it passed it by.
    pub receive_in: Tick,
    /// Left the receive buffer: began to be handed to the ring stop.
    pub receive_out: Tick,
    /// Flits of it that came into the receive buffer before that.
    pub received_flits: u8,
    /// Handed to the ring stop of the receiving socket.
    pub handed: Tick,
    /// Was for a cache and could go straight to the core; or could not.
    pub direct: Option<bool>,
    /// Its credits were sent back.
    pub returned: Tick,
}

impl PacketRecord {
    /// A packet of which nothing has happened yet.
    #[inline]
    pub const fn new(kind: PacketKind, sender: u16, receiver: u16, to: u8, requester: u8) -> Self {
        Self {
            kind,
            sender,
            receiver,
            to,
            requester,
            passes_through: receiver / 2 != to as u16,
            ring_bypass: NEVER,
            ring_in: NEVER,
            ring_out: NEVER,
            credit_at: NEVER,
            credit: Credit::Reserved,
            transmit_in: NEVER,
            transmit_out: NEVER,
            first_slot: NEVER,
            half_width: false,
            damaged: false,
            receive_in: NEVER,
            receive_out: NEVER,
            received_flits: 0,
            handed: NEVER,
            direct: None,
            returned: NEVER,
        }
    }

    /// Place of one of its flits on the link, the first being 0.
    #[inline]
    pub const fn slot_of(&self, flit: u64) -> u64 {
        self.first_slot + if self.half_width { 2 * flit } else { flit }
    }
}

/// Stations of a packet on one link. Its record has what has happened so far, the station included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PacketStation {
    /// It goes past the empty queues of its link's ring stop.
    PassesRing,
    /// It enters its queue there.
    EntersRing,
    /// It leaves the queue.
    LeavesRing,
    /// It tries to get shared credits and finds too few.
    NoShared,
    /// It then finds the credit that is kept for its class taken.
    NoReserved,
    /// It gets its credits.
    Credited,
    /// It goes out at once, past the transmit buffer.
    PassesTransmit,
    /// It enters the transmit buffer.
    EntersTransmit,
    /// It leaves the transmit buffer and goes out.
    LeavesTransmit,
    /// Its header arrives at the far end.
    Arrives,
    /// It goes on at once, past the receive buffer.
    PassesReceive,
    /// It enters the receive buffer.
    EntersReceive,
    /// It leaves the receive buffer.
    LeavesReceive,
    /// It is handed to the ring stop of the receiving socket.
    Handed,
    /// Its credits are sent back.
    Returned,
    /// They have come back, and it is over.
    Ended,
    /// It is under way: reported when somebody wants the state of a moment.
    UnderWay,
}

/// A flit on a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flit {
    /// The packet that it belongs to.
    pub kind: PacketKind,
    /// It is the packet's first.
    pub header: bool,
    /// The packet does not end at the receiving socket.
    pub passes_through: bool,
    /// Received, it comes into the buffer, where its packet waits; sent, it comes out of the buffer. Otherwise it goes
    /// past the buffer.
    pub buffered: bool,
}

impl PacketRecord {
    /// It waits in the receive buffer.
    #[inline]
    pub const fn waits_to_be_taken(&self) -> bool {
        self.receive_in != NEVER && self.receive_out == NEVER
    }
}

/// What one end of a link sends or receives in a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flits {
    /// The link, numbered over the machine.
    pub link: u16,
    /// It sends them; otherwise it receives them.
    pub sends: bool,
    /// Flits that the direction has room for in a clock.
    pub room: u8,
    /// Those that are not idle.
    pub flits: [Option<Flit>; 2],
}
