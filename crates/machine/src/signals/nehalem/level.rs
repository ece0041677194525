//! What of a socket has entries at any time, numbered.

use pericore_facts::nehalem::{CHANNELS, Class, Kind, LINKS, Port, Priority, Source, Tracker};

/// Something with entries, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level(pub u8);

const HOME: u8 = 3;
const HOME_READS: u8 = HOME + 3;
const CONTEST: u8 = HOME_READS + 3;
const PORT: u8 = CONTEST + 3;
const STALL: u8 = PORT + Port::COUNT as u8;
const HEADER: u8 = STALL + (LINKS * Class::COUNT) as u8;
const NO_PEER: u8 = HEADER + LINKS as u8;
const READS: u8 = NO_PEER + LINKS as u8;
const WRITES: u8 = READS + CHANNELS as u8;
const ISOCHRONOUS: u8 = WRITES + CHANNELS as u8;
const ISOCHRONOUS_WRITES: u8 = ISOCHRONOUS + CHANNELS as u8;

impl Level {
    /// How many there are in a socket.
    pub const COUNT: usize = ISOCHRONOUS_WRITES as usize + CHANNELS;

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
    pub const fn contest(source: Source) -> Self {
        Self(CONTEST + source as u8)
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

    /// Isochronous writes in a memory channel.
    pub const fn isochronous_writes(channel: usize) -> Self {
        Self(ISOCHRONOUS_WRITES + channel as u8)
    }

    /// The queue of a memory channel that a request takes an entry of.
    pub const fn queue(kind: Kind, channel: u8) -> Self {
        match kind {
            Kind::DeviceRead(Priority::High | Priority::Critical) => Self::isochronous(channel as usize),
            Kind::Read | Kind::Own | Kind::DeviceRead(Priority::Normal) => Self::reads(channel as usize),
            _ => Self::writes(channel as usize),
        }
    }
}
