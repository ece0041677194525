//! What a table of requests holds: the kinds of requests, by the opcodes of Tables 3-1 to 3-5.

/// The queue that a request comes through (Table 2-130).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    /// Cores of this socket.
    Core,
    /// The agent itself: what gives way to a fill.
    Evict,
    /// I/O stacks of this socket.
    Io,
    /// Snoops of other sockets.
    Snoop,
    /// Reads of other sockets.
    Remote,
    /// Writebacks of other sockets.
    RemoteWriteback,
}

impl Queue {
    /// How many there are.
    pub const COUNT: usize = 6;
    /// All of them.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Core, Self::Evict, Self::Io, Self::Snoop, Self::Remote, Self::RemoteWriteback];
}

/// What a look-up is for (Table 2-74).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// Data reads.
    Data,
    /// Writes.
    Write,
    /// Flushes and invalidations.
    Flush,
    /// Reads for ownership.
    Ownership,
    /// Code reads.
    Code,
    /// None of these: it does not look the line up.
    None,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident, $opcode:literal, $queue:ident, $lookup:ident;)*) => {
        /// Kind of a request.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Kind { $($(#[$doc])* $kind,)* }

        impl Kind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];
            const FACTS: &'static [(&'static str, Queue, Lookup)] = &[$(($opcode, Queue::$queue, Lookup::$lookup),)*];
        }
    };
}

kinds! {
    /// Demand read of data.
    DataRead, "DRd", Core, Data;
    /// Prefetch of data into the L2.
    DataPrefetch, "DRd_Pref", Core, Data;
    /// Demand read of data that needs no response about a miss.
    DataReadOpt, "DRd_Opt", Core, Data;
    /// The same as a prefetch.
    DataPrefetchOpt, "DRd_Opt_Pref", Core, Data;
    /// Read of a page table entry.
    PageWalk, "DRdPTE", Core, Data;
    /// Demand read for ownership.
    Ownership, "RFO", Core, Ownership;
    /// Prefetch for ownership.
    OwnershipPrefetch, "RFO_Pref", Core, Ownership;
    /// Demand read of code.
    CodeRead, "CRd", Core, Code;
    /// Prefetch of code.
    CodePrefetch, "CRd_Pref", Core, Code;
    /// Ownership of a line that will be overwritten in full.
    FullStore, "ItoM", Core, Ownership;
    /// The same as a speculation.
    FullStoreSpeculative, "SpecItoM", Core, Ownership;
    /// Streaming store of a full line.
    StreamFull, "WCiLF", Core, Write;
    /// Streaming store of part of a line.
    StreamPart, "WCiL", Core, Write;
    /// Uncacheable read.
    DeviceRead, "UCRdF", Core, None;
    /// Uncacheable write.
    DeviceWrite, "WiL", Core, None;
    /// Flush of a line.
    Flush, "CLFlush", Core, Flush;
    /// Flush of a line, weaker ordered.
    FlushOpt, "CLFlushOpt", Core, Flush;
    /// Memory gets what is newest of a line; its copies stay.
    Clean, "CLWB", Core, Flush;
    /// Prefetch of data into the LLC.
    LlcData, "LlcPrefData", Core, Data;
    /// Prefetch into the LLC in order to write.
    LlcOwnership, "LlcPrefRFO", Core, Ownership;
    /// Prefetch of code into the LLC.
    LlcCode, "LlcPrefCode", Core, Code;
    /// A core gives up a modified line.
    WritebackModified, "WbMtoI", Core, Write;
    /// A core gives up a clean line of its own.
    WritebackClean, "WbEFtoI", Core, Write;
    /// A core drops a shared line.
    WritebackShared, "WbStoI", Core, Write;
    /// DMA read.
    DmaRead, "PCIRdCur", Io, Data;
    /// DMA write of a full line.
    DmaWrite, "ItoM", Io, Ownership;
    /// DMA write of a full line that goes past the LLC.
    DmaWriteAround, "ItoM", Io, Ownership;
    /// DMA write of part of a line, which the agent merges (Table 2-124).
    DmaWriteNear, "ItoMCacheNear", Io, Ownership;
    /// DMA write of part of a line: ownership first.
    DmaPartial, "RFO", Io, Ownership;
    /// Atomic operation of a device: ownership first, the result's data afterwards.
    DmaAtomic, "RFO", Io, Ownership;
    /// And its data afterwards.
    DmaWriteback, "WbMtoI", Io, Write;
    /// A modified line gives way.
    Victim, "LLCVictim", Evict, None;
    /// Read of another socket.
    RemoteData, "RdData", Remote, Data;
    /// Code read of another socket.
    RemoteCode, "RdCode", Remote, Code;
    /// Read for ownership of another socket.
    RemoteOwnership, "InvOwn", Remote, Ownership;
    /// Ownership without data for another socket.
    RemoteClaim, "InvItoE", Remote, Flush;
    /// DMA read of another socket.
    RemoteCurrent, "RdCur", Remote, Data;
    /// Writeback of another socket.
    RemoteWriteback, "WbMtoI_WBQ", RemoteWriteback, Write;
    /// The same, of a line that several of its caches keep.
    RemoteWritebackShared, "WbMtoS", RemoteWriteback, Write;
    /// The same, of a line that one of its caches keeps.
    RemoteWritebackExclusive, "WbMtoE_WBQ", RemoteWriteback, Write;
    /// Streaming store or DMA write of another socket.
    RemoteWrite, "NonSnpWr", RemoteWriteback, Write;
    /// Snoop for data.
    SnoopData, "SnpData", Snoop, Data;
    /// Snoop for ownership.
    SnoopOwnership, "SnpInvOwn", Snoop, Ownership;
}

impl Kind {
    /// How many kinds there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Name of the opcode.
    pub const fn opcode(self) -> &'static str {
        Self::FACTS[self as usize].0
    }

    /// True if a line's data comes to the I/O stack for it: what is changed in part or by an operation is read first.
    pub const fn brings_data(self) -> bool {
        matches!(self, Self::DmaRead | Self::DmaPartial | Self::DmaAtomic)
    }

    /// True if a core or device of this socket reads the line to write it (RFO).
    pub const fn reads_for_ownership(self) -> bool {
        matches!(self, Self::Ownership | Self::OwnershipPrefetch | Self::DmaPartial | Self::DmaAtomic)
    }

    /// The queue that it comes through.
    #[inline]
    pub const fn queue(self) -> Queue {
        Self::FACTS[self as usize].1
    }

    /// What its look-up is for.
    #[inline]
    pub const fn lookup(self) -> Lookup {
        Self::FACTS[self as usize].2
    }

    /// True if a core gives a line up.
    pub const fn is_writeback(self) -> bool {
        matches!(self, Self::WritebackModified | Self::WritebackClean | Self::WritebackShared)
    }

    /// True for prefetches into the LLC only.
    pub const fn is_llc_prefetch(self) -> bool {
        matches!(self, Self::LlcData | Self::LlcOwnership | Self::LlcCode)
    }

    /// True if a line's data goes no further than to its agent: for a prefetch, or to be merged with a part of it.
    pub const fn keeps_data_at_agent(self) -> bool {
        self.is_llc_prefetch() || matches!(self, Self::DmaWriteNear)
    }

    /// True if its address is that of a device.
    pub const fn is_device(self) -> bool {
        matches!(self, Self::DeviceRead | Self::DeviceWrite)
    }

    /// True if the requester will write to the line.
    pub const fn owns(self) -> bool {
        matches!(self.lookup(), Lookup::Ownership) || matches!(self, Self::RemoteClaim)
    }

    /// True if the requester needs no data from memory: it overwrites the whole line.
    pub const fn needs_no_data(self) -> bool {
        matches!(
            self,
            Self::FullStore | Self::FullStoreSpeculative | Self::DmaWrite | Self::DmaWriteAround | Self::RemoteClaim
        )
    }
}

/// State of a line in LLC or snoop filter (Table 2-89); the number is the state in the tags of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Found {
    /// Neither in the LLC nor in the snoop filter.
    Nothing,
    /// Snoop filter: shared.
    FilterShared,
    /// Snoop filter: one owner.
    FilterExclusive,
    /// Snoop filter: HitME.
    FilterHitme,
    /// LLC: shared.
    Shared,
    /// LLC: exclusive.
    Exclusive,
    /// LLC: modified.
    Modified,
    /// LLC: shared, this one responses.
    Forward,
}

impl Found {
    /// How many there are.
    pub const COUNT: usize = 8;
    /// All of them.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Nothing,
        Self::FilterShared,
        Self::FilterExclusive,
        Self::FilterHitme,
        Self::Shared,
        Self::Exclusive,
        Self::Modified,
        Self::Forward,
    ];

    /// True if the LLC has the line.
    #[inline]
    pub const fn is_in_slice(self) -> bool {
        matches!(self, Self::Shared | Self::Exclusive | Self::Modified | Self::Forward)
    }

    /// The state of a number in the tags of a slice.
    pub const fn in_slice(state: u8) -> Self {
        match state {
            4 => Self::Shared,
            5 => Self::Exclusive,
            6 => Self::Modified,
            _ => Self::Forward,
        }
    }
}

/// Memory that a line lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Target {
    /// DDR.
    Ddr,
    /// Memory-mapped I/O.
    Device,
    /// Memory of a CXL expander.
    Expander,
    /// Memory of a CXL accelerator.
    Accelerator,
}

impl Target {
    /// How many there are.
    const COUNT: usize = 4;

    /// True for memory behind a CXL link.
    #[inline]
    pub const fn is_cxl(self) -> bool {
        matches!(self, Self::Expander | Self::Accelerator)
    }
}

/// What tells entries of a table of requests apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Class {
    /// Kind of request.
    pub kind: Kind,
    /// Found in LLC or snoop filter.
    pub hit: bool,
    /// The line's home is another socket.
    pub remote: bool,
    /// Memory of the line.
    pub target: Target,
}

impl Class {
    /// Bound of [`Class::index`].
    pub const COUNT: usize = Kind::COUNT * Target::COUNT * 4;

    /// A number for the class.
    #[inline]
    pub const fn index(self) -> usize {
        ((self.kind as usize * Target::COUNT + self.target as usize) * 2 + self.remote as usize) * 2 + self.hit as usize
    }

    /// The class of a number.
    pub const fn of(index: usize) -> Self {
        let target = match index / 4 % Target::COUNT {
            0 => Target::Ddr,
            1 => Target::Device,
            2 => Target::Expander,
            _ => Target::Accelerator,
        };
        Self { kind: Kind::ALL[index / (4 * Target::COUNT)], hit: index % 2 == 1, remote: index / 2 % 2 == 1, target }
    }
}
