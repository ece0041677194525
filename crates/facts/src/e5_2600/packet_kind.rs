//! Kinds of packets between sockets, and the message classes that they belong to.

use crate::LineState;

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
    #[inline]
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
    #[inline]
    pub const fn state(self) -> LineState {
        match self {
            Self::DataECmp | Self::DataE => LineState::Exclusive,
            Self::DataFCmp | Self::DataF => LineState::Forward,
            Self::DataM => LineState::Modified,
            _ => LineState::Invalid,
        }
    }

    /// Message class.
    #[inline]
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
    #[inline]
    pub const fn is_request(self) -> bool {
        self as u8 <= Self::NonSnpWr as u8
    }

    /// Carries more than a header.
    #[inline]
    pub const fn is_data(self) -> bool {
        !matches!(self, Self::NcRd) && self as u8 >= Self::DataECmp as u8
    }

    /// Those of its flits that carry no bytes of a line: of eleven three, which leaves eight with 8 bytes and their
    /// enables (Table 2-92).
    #[inline]
    pub const fn header_flits(self) -> u8 {
        if self.flits() == 11 { 3 } else { 1 }
    }

    /// Goes over the data ring of a socket.
    #[inline]
    pub const fn by_data_ring(self) -> bool {
        self.class().by_data_ring()
    }

    /// Flits on the link: a header, and for a line eight of 8 bytes; for a part of one and for an interrupt two more
    /// headers (Table 2-92).
    #[inline]
    pub const fn flits(self) -> u64 {
        match self {
            Self::NonSnpWrDataPtl | Self::NcWrPtl | Self::IntPhysical => 11,
            _ if self.is_data() => 9,
            _ => 1,
        }
    }

    /// Data for a slice.
    #[inline]
    pub const fn is_for_cache(self) -> bool {
        let for_home = matches!(self, Self::WbIData | Self::WbSData | Self::NonSnpWrData | Self::NonSnpWrDataPtl);
        matches!(self.class(), Class::Data) && !for_home
    }
}
