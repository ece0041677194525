//! What has a number of entries at any time: trackers, ports, queues of a socket.

/// Memory channels of a socket.
pub const CHANNELS: usize = 3;

/// Who asks: the source of a request as the home logic sees it, in the order of its masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    pub const fn from_core(core: usize) -> Self {
        if core.is_multiple_of(2) { Self::FromEvenCores } else { Self::FromOddCores }
    }
}

/// Message classes of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

    /// Flits of a message: a line takes eight and its header one; a non-coherent write two for its address and mask besides.
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

/// Something with entries, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level(pub u8);

const HOME: u8 = 3;
const HOME_READS: u8 = HOME + 3;
const CONFLICT: u8 = HOME_READS + 3;
const PORT: u8 = CONFLICT + 3;
const STALL: u8 = PORT + Port::COUNT as u8;
const HEADER: u8 = STALL + (LINKS * Class::COUNT) as u8;
const NO_PEER: u8 = HEADER + LINKS as u8;
const READS: u8 = NO_PEER + LINKS as u8;
const WRITES: u8 = READS + CHANNELS as u8;
const ISOCHRONOUS: u8 = WRITES + CHANNELS as u8;

impl Level {
    /// How many there are in a socket.
    pub const COUNT: usize = ISOCHRONOUS as usize + CHANNELS;

    /// Entries of a tracker.
    pub const fn tracker(tracker: Tracker) -> Self {
        Self(tracker as u8)
    }

    /// Entries of a home tracker.
    pub const fn home(source: Source) -> Self {
        Self(HOME + source as u8)
    }

    /// The reads among them.
    pub const fn home_reads(source: Source) -> Self {
        Self(HOME_READS + source as u8)
    }

    /// Requests of a home tracker that share their address with another.
    pub const fn conflict(source: Source) -> Self {
        Self(CONFLICT + source as u8)
    }

    /// A data port at work.
    pub const fn port(port: Port) -> Self {
        Self(PORT + port as u8)
    }

    /// Messages of a class that lack a credit.
    pub const fn stall(link: usize, class: Class) -> Self {
        Self(STALL + (link * Class::COUNT) as u8 + class as u8)
    }

    /// A link's header buffer in use.
    pub const fn header(link: usize) -> Self {
        Self(HEADER + link as u8)
    }

    /// Snoops of a link that wait for the peer probe tracker.
    pub const fn no_peer(link: usize) -> Self {
        Self(NO_PEER + link as u8)
    }

    /// Normal reads in a memory channel.
    pub const fn reads(channel: usize) -> Self {
        Self(READS + channel as u8)
    }

    /// Writes in a memory channel.
    pub const fn writes(channel: usize) -> Self {
        Self(WRITES + channel as u8)
    }

    /// Isochronous reads in a memory channel.
    pub const fn isochronous(channel: usize) -> Self {
        Self(ISOCHRONOUS + channel as u8)
    }
}
