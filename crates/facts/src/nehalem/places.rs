//! What a socket is made of: trackers, ports, links, message classes.

/// Memory channels of a socket.
pub const CHANNELS: usize = 3;

/// The source of a request as the home logic sees it, in the order of its masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Source {
    /// The I/O hub.
    Hub,
    /// Another socket.
    Remote,
    /// The home logic's own socket.
    Local,
}

impl Source {
    /// All sources, by their number.
    pub const ALL: [Self; 3] = [Self::Hub, Self::Remote, Self::Local];
}

/// Trackers of the global queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Tracker {
    /// Reads and ownership requests of the cores.
    Read,
    /// Write-backs of the cores.
    Write,
    /// Snoops of others.
    Peer,
}

/// Data ports of the global queue: into it, then out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Port {
    /// From the links.
    FromLinks,
    /// From the memory controller.
    FromMemory,
    /// From the LLC.
    FromLlc,
    /// From cores 0 and 2.
    FromEvenCores,
    /// From cores 1 and 3.
    FromOddCores,
    /// To the links and the memory controller.
    ToOutside,
    /// To the LLC.
    ToLlc,
    /// To the cores.
    ToCores,
}

impl Port {
    /// How many there are.
    pub const COUNT: usize = 8;
    /// All ports, by their number.
    pub const ALL: [Self; Self::COUNT] = [
        Self::FromLinks,
        Self::FromMemory,
        Self::FromLlc,
        Self::FromEvenCores,
        Self::FromOddCores,
        Self::ToOutside,
        Self::ToLlc,
        Self::ToCores,
    ];

    /// The port by which a core's data comes in.
    #[inline]
    pub const fn from_core(core: usize) -> Self {
        if core.is_multiple_of(2) { Self::FromEvenCores } else { Self::FromOddCores }
    }
}

/// Message classes of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Class {
    /// Requests and snoop responses to a home.
    Home,
    /// Snoops.
    Snoop,
    /// Responses without data.
    Response,
    /// Data.
    Data,
    /// Non-coherent writes.
    Bypass,
    /// Non-coherent reads.
    Standard,
}

impl Class {
    /// How many there are.
    pub const COUNT: usize = 6;
    /// All classes, by their number.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Home, Self::Snoop, Self::Response, Self::Data, Self::Bypass, Self::Standard];

    /// Flits of a message: a line takes eight and its header one; a non-coherent write two for its address and mask
    /// besides.
    #[inline]
    pub const fn flits(self) -> u64 {
        match self {
            Self::Home | Self::Snoop | Self::Response => 1,
            Self::Data => 9,
            Self::Bypass => 11,
            Self::Standard => 3,
        }
    }
}

/// Links of a socket.
pub const LINKS: usize = 2;
/// The link to the other socket; which link leads where is an assumption (`catalog/undefined.toml`).
pub const TO_SOCKET: usize = 0;
/// The link to the I/O hub.
pub const TO_HUB: usize = 1;
