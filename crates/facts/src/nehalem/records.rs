//! The life of a request, and of a snoop.

use pericore_engine::{NEVER, Tick};

use super::places::{Source, Tracker};
use crate::LineState;

/// Priority of a read in the memory controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Priority {
    /// Ordinary.
    Normal,
    /// Isochronous.
    High,
    /// Isochronous, the last line of a transfer.
    Critical,
}

/// Kinds of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A core reads a line.
    Read,
    /// A core reads a line to write to it.
    Own,
    /// A core gives a modified line up.
    WriteBack,
    /// A core's line written around the caches.
    Around {
        /// Only a part of it.
        partial: bool,
    },
    /// The LLC gives a modified line up.
    Evict,
    /// Data that a snoop found modified, on its way to memory.
    Snooped,
    /// A device reads a line.
    DeviceRead(Priority),
    /// A device writes a line.
    DeviceWrite {
        /// Only a part of it.
        partial: bool,
    },
}

impl Kind {
    /// Brings data from memory.
    #[inline]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Own | Self::DeviceRead(_))
    }

    /// Comes from a device.
    #[inline]
    pub const fn is_device(self) -> bool {
        matches!(self, Self::DeviceRead(_) | Self::DeviceWrite { .. })
    }

    /// The tracker of the global queue that holds it.
    #[inline]
    pub const fn tracker(self) -> Option<Tracker> {
        match self {
            Self::Read | Self::Own => Some(Tracker::Read),
            Self::WriteBack | Self::Around { .. } => Some(Tracker::Write),
            _ => None,
        }
    }

    /// Others must be asked about the line.
    #[inline]
    pub const fn snoops(self) -> bool {
        !matches!(self, Self::WriteBack | Self::Evict | Self::Snooped)
    }

    /// Afterwards nobody else may have the line.
    #[inline]
    pub const fn takes_all(self) -> bool {
        matches!(self, Self::Own | Self::Around { .. } | Self::DeviceWrite { .. })
    }
}

/// The life of a request: stamps are [`NEVER`](pericore_engine::NEVER) until they happen.
#[derive(Debug, Clone)]
pub struct Record {
    /// What it is.
    pub kind: Kind,
    /// Socket that it comes from; for devices, of its home.
    pub socket: u8,
    /// Socket whose memory holds the line.
    pub home: u8,
    /// Who asks, as its home sees it.
    pub source: Source,
    /// Channel of its home.
    pub channel: u8,
    /// Entered its tracker of the global queue.
    pub queued: Tick,
    /// Was looked up in the LLC.
    pub looked_up: Tick,
    /// The LLC had the line, with the right that it takes.
    pub hit: bool,
    /// The LLC replied.
    pub replied: Tick,
    /// Got a transaction number of its home.
    pub numbered: Tick,
    /// Entered the home logic.
    pub at_home: Tick,
    /// Went past the home logic to memory.
    pub bypassed: bool,
    /// Its home logic was done with it.
    pub left_home: Tick,
    /// Reached the memory controller.
    pub at_memory: Tick,
    /// A read left its channel's queue.
    pub served: Tick,
    /// An isochronous read: when it came home, a normal read of its line was waiting in the memory controller, and was
    /// hurried.
    pub hurried: bool,
    /// A read: another socket passed its line on while it waited in the memory controller, which was to cancel it.
    pub cancelled: bool,
    /// A write of an isochronous device. Of reads, the kind has it.
    pub isochronous_write: bool,
    /// State in which its line came into the LLC, and of what left for it.
    pub filled: Option<(LineState, LineState)>,
    /// Its completion required an acknowledgement because others wanted the line too.
    pub acknowledged: bool,
    /// Left its tracker.
    pub left: Tick,
}

impl Record {
    /// Memory serves it with priority.
    pub const fn is_isochronous(&self) -> bool {
        self.isochronous_write || matches!(self.kind, Kind::DeviceRead(Priority::High | Priority::Critical))
    }
}

/// Replies to a snoop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Reply {
    /// No copy stays.
    Gone,
    /// A shared copy stays.
    Shared,
    /// Passed on, a shared copy stays.
    ForwardShared,
    /// Passed on, no copy stays.
    Forward,
    /// A request of the snooped socket for the same line is open.
    Conflict,
    /// Passed on and written back, a shared copy stays.
    ForwardSharedWriteBack,
    /// Written back, no copy stays.
    WriteBack,
}

impl Reply {
    /// How many there are.
    pub const COUNT: usize = 7;
}

/// The life of a snoop in the socket that it goes to.
#[derive(Debug, Clone)]
pub struct ProbeRecord {
    /// That socket.
    pub socket: u8,
    /// The line's home is the same socket.
    pub local: bool,
    /// Link that it came by; none if the socket is the home that sends it.
    pub link: Option<u8>,
    /// Found the peer probe tracker full.
    pub waited: Tick,
    /// Entered the tracker.
    pub queued: Tick,
    /// Was looked up in the LLC.
    pub looked_up: Tick,
    /// The LLC had the line.
    pub hit: bool,
    /// The reply, once it has been given.
    pub reply: Option<Reply>,
    /// Left the tracker.
    pub left: Tick,
}

impl ProbeRecord {
    /// True if it found the tracker full.
    #[inline]
    pub const fn has_waited(&self) -> bool {
        self.waited != NEVER
    }
}
