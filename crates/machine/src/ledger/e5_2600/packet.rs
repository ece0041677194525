//! What the ledger is told about packets between sockets: the life of each on one link.

use pericore_engine::{NEVER, Tick};

use crate::ledger::LineState;

/// Message classes of the links that the model uses, numbered as its queues are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Class {
    /// Requests to a home agent, and answers to it.
    Home,
    /// Snoops.
    Snoop,
    /// Responses without data.
    NoData,
    /// Responses with data.
    Data,
    /// Non-coherent bypass: writes to devices, interrupts.
    Bypass,
    /// Non-coherent standard: reads from devices.
    Standard,
}

impl Class {
    /// How many classes there are.
    pub const COUNT: usize = 6;
    /// All classes, by their number.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Home, Self::Snoop, Self::NoData, Self::Data, Self::Bypass, Self::Standard];

    /// Goes over the data ring of a socket; the others go over the address ring.
    pub const fn by_data_ring(self) -> bool {
        matches!(self, Self::Data | Self::Bypass | Self::Standard)
    }
}

/// Messages between sockets, as the guide's tables of packets name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PacketKind {
    /// Request: a line to read.
    RdData,
    /// Request: a line to own.
    RdInvOwn,
    /// Request: a modified line is coming back.
    WbMtoI,
    /// Request: a line as it is now, for a device.
    RdCur,
    /// Request: to own a line without its data.
    InvItoE,
    /// Request: data to be written without snoops is coming.
    NonSnpWr,
    /// Answer to a snoop: no copy remains.
    RspI,
    /// Answer: a shared copy remains.
    RspS,
    /// Answer: the data went to the requester, no copy remains.
    RspFwdI,
    /// Answer: the data went to the requester, a shared copy remains.
    RspFwdS,
    /// Answer: the data went to requester and home, a shared copy remains.
    RspFwdSWb,
    /// Snoop for a line to read.
    SnpData,
    /// Snoop for a line to own.
    SnpInvOwn,
    /// The request is complete.
    Cmp,
    /// Data from the home, nobody else has the line; completes the request.
    DataECmp,
    /// Data from the home, others share the line; completes the request.
    DataFCmp,
    /// Data from a cache that keeps a shared copy.
    DataF,
    /// Data from a cache that had the line as memory has it.
    DataE,
    /// Data from a cache that had the line modified.
    DataM,
    /// Data written back, no copy remains.
    WbIData,
    /// Data written back, a shared copy remains.
    WbSData,
    /// Data that is not cached.
    DataNc,
    /// A line that is written without snoops.
    NonSnpWrData,
    /// A part of a line that is written without snoops.
    NonSnpWrDataPtl,
    /// A read of a device's register.
    NcRd,
    /// A write to a device's register.
    NcWrPtl,
    /// An interrupt for a processor.
    IntPhysical,
}

impl PacketKind {
    /// How many kinds there are.
    pub const COUNT: usize = 27;
    /// All kinds, by their number.
    pub const ALL: [Self; Self::COUNT] = [
        Self::RdData,
        Self::RdInvOwn,
        Self::WbMtoI,
        Self::RdCur,
        Self::InvItoE,
        Self::NonSnpWr,
        Self::RspI,
        Self::RspS,
        Self::RspFwdI,
        Self::RspFwdS,
        Self::RspFwdSWb,
        Self::SnpData,
        Self::SnpInvOwn,
        Self::Cmp,
        Self::DataECmp,
        Self::DataFCmp,
        Self::DataF,
        Self::DataE,
        Self::DataM,
        Self::WbIData,
        Self::WbSData,
        Self::DataNc,
        Self::NonSnpWrData,
        Self::NonSnpWrDataPtl,
        Self::NcRd,
        Self::NcWrPtl,
        Self::IntPhysical,
    ];

    /// The name of its opcode in the guide's Table 2-143.
    pub const fn opcode(self) -> &'static str {
        match self {
            Self::RdData => "RdData",
            Self::RdInvOwn => "RdInvOwn",
            Self::WbMtoI => "WbMtoI",
            Self::RspI => "RspI",
            Self::RspS => "RspS",
            Self::RspFwdI => "RspFwdI",
            Self::RspFwdS => "RspFwdS",
            Self::RspFwdSWb => "RspFwdSWb",
            Self::SnpData => "SnpData",
            Self::SnpInvOwn => "SnpInvOwn",
            Self::Cmp => "Cmp",
            Self::DataECmp | Self::DataFCmp => "DataC_Cmp",
            Self::DataF | Self::DataE | Self::DataM => "DataC",
            Self::WbIData => "WbIData",
            Self::WbSData => "WbSData",
            Self::RdCur => "RdCur",
            Self::InvItoE => "InvItoE",
            Self::NonSnpWr => "NonSnpWr",
            Self::DataNc => "DataNc",
            Self::NonSnpWrData => "NonSnpWrData",
            Self::NonSnpWrDataPtl => "NonSnpWrDataPtl",
            Self::NcRd => "NcRd",
            Self::NcWrPtl => "NcWrPtl",
            Self::IntPhysical => "IntPhysical",
        }
    }

    /// State of the line that it brings, for data that goes to a cache.
    pub const fn state(self) -> LineState {
        match self {
            Self::DataECmp | Self::DataE => LineState::Exclusive,
            Self::DataFCmp | Self::DataF => LineState::Forward,
            Self::DataM => LineState::Modified,
            _ => LineState::Invalid,
        }
    }

    /// Message class.
    pub const fn class(self) -> Class {
        match self {
            Self::SnpData | Self::SnpInvOwn => Class::Snoop,
            Self::Cmp => Class::NoData,
            Self::NcRd => Class::Standard,
            Self::NcWrPtl | Self::IntPhysical => Class::Bypass,
            _ if self as u8 >= Self::DataECmp as u8 => Class::Data,
            _ => Class::Home,
        }
    }

    /// A request to a home agent, not an answer.
    pub const fn is_request(self) -> bool {
        self as u8 <= Self::NonSnpWr as u8
    }

    /// Carries more than a header.
    pub const fn is_data(self) -> bool {
        !matches!(self, Self::NcRd) && self as u8 >= Self::DataECmp as u8
    }

    /// Goes over the data ring of a socket.
    pub const fn by_data_ring(self) -> bool {
        self.class().by_data_ring()
    }

    /// Flits on the link: a header, and for a line eight of 8 bytes; for a part of one and for an interrupt ten (Table 2-92).
    pub const fn flits(self) -> u64 {
        match self {
            Self::NonSnpWrDataPtl | Self::NcWrPtl | Self::IntPhysical => 11,
            _ if self.is_data() => 9,
            _ => 1,
        }
    }

    /// Data for a slice.
    pub const fn is_for_cache(self) -> bool {
        let for_home = matches!(self, Self::WbIData | Self::WbSData | Self::NonSnpWrData | Self::NonSnpWrDataPtl);
        matches!(self.class(), Class::Data) && !for_home
    }
}

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
    /// First refused shared credits.
    pub shared_refused: Tick,
    /// First refused the reserved credit.
    pub reserved_refused: Tick,
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
    /// Left the receive buffer.
    pub receive_out: Tick,
    /// Handed to the ring stop of the receiving socket.
    pub handed: Tick,
    /// Was for a cache and could go straight to the core; or could not.
    pub direct: Option<bool>,
    /// Its credits were sent back.
    pub returned: Tick,
}

impl PacketRecord {
    /// A packet of which nothing has happened yet.
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
            shared_refused: NEVER,
            reserved_refused: NEVER,
            credit_at: NEVER,
            credit: Credit::Reserved,
            transmit_in: NEVER,
            transmit_out: NEVER,
            first_slot: NEVER,
            half_width: false,
            damaged: false,
            receive_in: NEVER,
            receive_out: NEVER,
            handed: NEVER,
            direct: None,
            returned: NEVER,
        }
    }

    /// Place of one of its flits on the link, the first being 0.
    pub const fn slot_of(&self, flit: u64) -> u64 {
        self.first_slot + if self.half_width { 2 * flit } else { flit }
    }
}

/// The numbers of the message kinds in packet headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketCodes {
    /// Class and opcode, as Table 2-143 joins them: class in bits 7:4.
    pub messages: [u8; PacketKind::COUNT],
    /// State of the line.
    pub states: [u8; PacketKind::COUNT],
}
