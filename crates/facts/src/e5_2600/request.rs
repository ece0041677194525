//! The life of a request.

use pericore_engine::NEVER;

use crate::LineState;

/// Kinds of transactions in the table of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum RequestKind {
    /// Demand load (DRd).
    DataRead,
    /// Demand store (RFO).
    ReadForOwnership,
    /// Demand fetch of instructions (CRd).
    CodeRead,
    /// A core gives up a modified line (WbMtoI).
    WritebackToInvalid,
    /// A core writes a modified line back and keeps it (WbMtoE).
    WritebackToExclusive,
    /// The slice gives up a line to make room. Not from the IRQ: has no opcode.
    Eviction,
    /// Another socket's request asks for the line. From the IPQ: has no opcode.
    Snoop,
    /// Streaming store of a whole line (WCiLF).
    StreamWhole,
    /// Streaming store of a part of a line (WCiL).
    StreamPart,
    /// A device reads a line (PCIRdCur).
    IoRead,
    /// A device writes a line into the LLC (PCIItoM).
    IoWrite,
    /// A device writes a line to memory (PCIWiLF).
    IoWriteThrough,
    /// A home agent writes a directory bit with its line. Never in a slice.
    DirectoryWrite,
    /// A core asks for a line that it overwrites, without its data (ItoM).
    Overwrite,
}

impl RequestKind {
    /// How many kinds there are.
    pub const COUNT: usize = 14;
    /// All kinds, by their number.
    pub const ALL: [Self; Self::COUNT] = [
        Self::DataRead,
        Self::ReadForOwnership,
        Self::CodeRead,
        Self::WritebackToInvalid,
        Self::WritebackToExclusive,
        Self::Eviction,
        Self::Snoop,
        Self::StreamWhole,
        Self::StreamPart,
        Self::IoRead,
        Self::IoWrite,
        Self::IoWriteThrough,
        Self::DirectoryWrite,
        Self::Overwrite,
    ];

    /// A core asks for a line.
    #[inline]
    pub const fn is_read(self) -> bool {
        self.only_reads() || self.is_for_ownership()
    }

    /// A core asks for a line in order to write to it.
    #[inline]
    pub const fn is_for_ownership(self) -> bool {
        matches!(self, Self::ReadForOwnership | Self::Overwrite)
    }

    /// A core asks for a line, and not in order to write to it.
    #[inline]
    pub const fn only_reads(self) -> bool {
        matches!(self, Self::DataRead | Self::CodeRead)
    }

    /// A streaming store.
    #[inline]
    pub const fn is_stream(self) -> bool {
        matches!(self, Self::StreamWhole | Self::StreamPart)
    }

    /// Comes from a device.
    #[inline]
    pub const fn is_io(self) -> bool {
        matches!(self, Self::IoRead | Self::IoWrite | Self::IoWriteThrough)
    }

    /// Leaves the caches of the cores alone.
    #[inline]
    pub const fn passes_through(self) -> bool {
        self.is_stream() || self.is_io()
    }

    /// Takes its data to the home agent, whatever the LLC has.
    #[inline]
    pub const fn carries_data_home(self) -> bool {
        self.is_stream() || matches!(self, Self::IoWriteThrough)
    }

    /// Reads memory when the LLC misses.
    #[inline]
    pub const fn reads_memory(self) -> bool {
        self.is_read() && !self.only_claims() || matches!(self, Self::IoRead)
    }

    /// Asks the home agent for the line only: memory has nothing to do, since all of it is about to be overwritten.
    #[inline]
    pub const fn only_claims(self) -> bool {
        matches!(self, Self::IoWrite | Self::Overwrite)
    }

    /// Writes memory, if it comes to the home agent.
    #[inline]
    pub const fn writes_memory(self) -> bool {
        !self.reads_memory() && !self.only_claims()
    }

    /// Writes, as the look-up sees it.
    #[inline]
    pub const fn is_write(self) -> bool {
        self.is_writeback() || self.is_stream() || matches!(self, Self::IoWrite | Self::IoWriteThrough)
    }

    /// Carries data from a core.
    #[inline]
    pub const fn is_writeback(self) -> bool {
        matches!(self, Self::WritebackToInvalid | Self::WritebackToExclusive)
    }

    /// The name of its opcode in the guide's Table 2-30, if it comes by the IRQ.
    pub const fn opcode(self) -> Option<&'static str> {
        Some(match self {
            Self::DataRead => "DRd",
            Self::ReadForOwnership => "RFO",
            Self::CodeRead => "CRd",
            Self::WritebackToInvalid => "WbMtoI",
            Self::WritebackToExclusive => "WbMtoE",
            Self::StreamWhole => "WCiLF",
            Self::StreamPart => "WCiL",
            Self::IoRead => "PCIRdCur",
            Self::IoWrite => "PCIItoM",
            Self::IoWriteThrough => "PCIWiLF",
            Self::Overwrite => "ItoM",
            Self::Eviction | Self::Snoop | Self::DirectoryWrite => return None,
        })
    }
}

/// Thread ID of transactions that belong to no thread (2.3.3.3, Table 2-12).
pub const NO_THREAD: u8 = 0xF;
/// Thread ID of requests of devices (Table 2-12).
pub const IO_THREAD: u8 = 0x1E;

/// The life of one transaction: when it was where, and what was decided. Stamps are cycles of the uncore's clock, and
/// [`NEVER`] until they happen, but for `ingress_in`.
#[derive(Debug, Clone)]
pub struct Record {
    /// What it is.
    pub kind: RequestKind,
    /// Thread it belongs to: core * 2 + hardware thread, or [`NO_THREAD`].
    pub tid: u8,
    /// Node whose memory holds the line; its home agent has the same number.
    pub nid: u8,
    /// Slice that handles it, numbered over the machine.
    pub slice: u16,
    /// Its memory belongs to another socket than its slice.
    pub remote: bool,
    /// State in which the look-up found the line; for an eviction, the state that it left.
    pub state: LineState,
    /// It needs memory.
    pub miss: bool,
    /// Region of the home agent's memory, once it has come there.
    pub region: u8,
    /// State of what gave way to the filled line, once it has been filled.
    pub victim: Option<LineState>,
    /// Data went from the home agent or the link straight to the core.
    pub direct_to_core: bool,
    /// Data came from another cache, not from the home agent.
    pub forwarded: bool,
    /// The directory bit that it found, if it is a read, or that it writes.
    pub directory: Option<bool>,
    /// It found its channel idle at the home agent, if it is a read; or did not.
    pub bypass: Option<bool>,
    /// What of the things that happen to few requests has happened, one bit for each [`Rare`].
    rare: u8,
    /// Of an isochronous device: it has credits and a right of way of its own in memory.
    pub isochronous: bool,
    /// A partial write that found the rest of its line modified in the socket.
    pub completed: bool,
    /// Was turned away from the table of requests for the first time, for whatever reason.
    pub rejected: u64,
    /// Arrives in the slice's request queue; known when it is sent there.
    pub ingress_in: u64,
    /// Left the slice's request queue; this is also when the tags are looked up.
    pub ingress_out: u64,
    /// Entered the table of requests.
    pub tor_in: u64,
    /// Left the table of requests.
    pub tor_out: u64,
    /// Entered the home agent's tracker.
    pub tracker_in: u64,
    /// Left the home agent's tracker.
    pub tracker_out: u64,
    /// Write data went from the home agent to the memory controller.
    pub written: u64,
}

/// Stations of a request. Its record has what has happened so far, the station included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestStation {
    /// It arrives in its slice's queue. For all but snoops a fact only where somebody wants to know of it at once: its
    /// record has it anyway.
    Arrived,
    /// It is turned away from the table of requests for the first time, for whatever reason.
    Rejected,
    /// It is looked up, and leaves the queue.
    LookedUp,
    /// It enters the table of requests.
    Listed,
    /// It leaves the table of requests.
    Delisted,
    /// Its line comes into the LLC, and another gives way.
    Filled,
    /// A streaming store has found its line modified.
    Aliased,
    /// A snoop has taken an unmodified copy away, and says so without sending data.
    DroppedSilently,
    /// It enters its home agent's tracker.
    AtHome,
    /// A read goes to its channel: the short way, or not.
    Routed,
    /// Its data goes from the home agent to the memory controller.
    Written,
    /// The directory bit of its line has come with it.
    DirectoryRead,
    /// The directory bit of its line changes.
    DirectoryChanged,
    /// The home agent answers, and its entry of the tracker is free.
    Answered,
    /// The home agent sends it, a snoop.
    Snooped,
    /// The home agent tells another socket that it is complete, without data.
    CompletedElsewhere,
    /// The modified line that it found, a snoop, comes to the home agent.
    SnoopWritten,
    /// It is over.
    Ended,
    /// It is under way: reported when somebody wants the state of a moment.
    UnderWay,
}

/// What happens to few requests only, at most once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Rare {
    /// The home agent sent it, a snoop.
    Snooped = 1,
    /// The home agent told another socket that it is complete, without data.
    CompletedElsewhere = 1 << 1,
    /// The data of the modified line that it found, a snoop, came to the home agent.
    SnoopWritten = 1 << 2,
    /// It took an unmodified copy away, a snoop, and said so without sending data.
    DroppedSilently = 1 << 3,
    /// It found its line modified, a streaming store.
    Aliased = 1 << 4,
    /// The home agent would have sent its data, a load, straight to the core, but another cache has it.
    DirectOverridden = 1 << 5,
}

impl Record {
    /// Something rare happens.
    #[inline]
    pub const fn note(&mut self, what: Rare) {
        self.rare |= what as u8;
    }

    /// Something rare has happened.
    #[inline]
    pub const fn has(&self, what: Rare) -> bool {
        self.rare & what as u8 != 0
    }

    /// More has happened than a look-up and stays in its slice.
    #[inline]
    pub const fn has_more(&self) -> bool {
        self.tracker_in != NEVER || self.victim.is_some() || self.is_rare()
    }

    /// Something has happened that happens to few requests.
    #[inline]
    pub const fn is_rare(&self) -> bool {
        self.rare != 0 || self.rejected != NEVER || self.directory.is_some()
    }

    /// The record of a request under way, without what happens from a cycle on.
    pub fn before(&self, cycle: u64) -> Self {
        let ingress_in = if self.ingress_in < cycle { self.ingress_in } else { NEVER };
        Self { ingress_in, ..self.clone() }
    }

    /// A record of which nothing has happened yet.
    #[inline]
    pub const fn new(kind: RequestKind, tid: u8, slice: u16, nid: u8, remote: bool) -> Self {
        Self {
            kind,
            tid,
            nid,
            slice,
            remote,
            state: LineState::Invalid,
            miss: false,
            region: 0,
            victim: None,
            completed: false,
            isochronous: false,
            direct_to_core: false,
            forwarded: false,
            directory: None,
            bypass: None,
            rare: 0,
            rejected: NEVER,
            ingress_in: NEVER,
            ingress_out: NEVER,
            tor_in: NEVER,
            tor_out: NEVER,
            tracker_in: NEVER,
            tracker_out: NEVER,
            written: NEVER,
        }
    }
}
