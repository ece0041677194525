//! The rings of a socket, and what goes over them.

/// The rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum RingKind {
    /// AD: requests.
    Address,
    /// AK: acknowledgements.
    Acknowledge,
    /// BL: data.
    Block,
    /// IV: snoops of cores.
    Snoop,
}

impl RingKind {
    /// How many there are.
    pub const COUNT: usize = 4;

    /// Transfers of a message: a line takes two of 32 bytes (2.3.7).
    #[inline]
    pub const fn slots(self) -> u32 {
        if matches!(self, Self::Block) { 2 } else { 1 }
    }
}

/// Messages that a ring stop of a slice or its core sends (2.3.7, `TxR_INSERTS`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Message {
    /// Slice: request to the home agent.
    AddressFromCache,
    /// Slice: global observation or completion to a core.
    AcknowledgeFromCache,
    /// Slice: data to a core or to the home agent.
    DataFromCache,
    /// Slice: snoop to cores.
    SnoopFromCache,
    /// Core: request to a slice.
    AddressFromCore,
    /// Core: answer to a snoop.
    AcknowledgeFromCore,
    /// Core: data of a writeback.
    DataFromCore,
}

impl Message {
    /// How many kinds there are.
    pub const COUNT: usize = 7;
    /// All kinds, by their number.
    pub const ALL: [Self; Self::COUNT] = [
        Self::AddressFromCache,
        Self::AcknowledgeFromCache,
        Self::DataFromCache,
        Self::SnoopFromCache,
        Self::AddressFromCore,
        Self::AcknowledgeFromCore,
        Self::DataFromCore,
    ];

    /// The ring that it goes over.
    #[inline]
    pub const fn ring(self) -> RingKind {
        match self {
            Self::AddressFromCache | Self::AddressFromCore => RingKind::Address,
            Self::AcknowledgeFromCache | Self::AcknowledgeFromCore => RingKind::Acknowledge,
            Self::DataFromCache | Self::DataFromCore => RingKind::Block,
            Self::SnoopFromCache => RingKind::Snoop,
        }
    }
}

/// A message that the ring stop of a slice and its core sends to another stop of its socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sending {
    /// The stop, numbered over the machine.
    pub stop: u16,
    /// What it sends.
    pub message: Message,
    /// Stop of the receiver within the socket; a snoop of cores goes to all and has its sender here.
    pub to: u8,
    /// It goes in an odd cycle.
    pub odd: bool,
    /// Cycles that it waited for those before it.
    pub waited: u64,
}

/// The way of anything else over a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// Which ring.
    pub kind: RingKind,
    /// Stop of the sender.
    pub from: u8,
    /// Stop of the receiver.
    pub to: u8,
    /// Sent in an odd cycle.
    pub odd: bool,
}
