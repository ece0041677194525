//! The workloads that have a name.

/// The shape of the accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Each thread walks its own share of the footprint in order.
    Stream,
    /// Each thread reads one half of its share in order and writes the other.
    Copy,
    /// Each thread reads three quarters of its share in order, side by side, and writes the fourth: `a[i] = b[i] *
    /// c[i] + d[i]`.
    Triad,
    /// Lines drawn at random from the whole footprint, independent of each other.
    Random,
    /// Loads whose address depends on the load before: one under way for each thread.
    Chase,
    /// Half of the accesses in order, half at random.
    Mixed,
    /// Each thread writes its own share of the footprint in order with streaming stores, past the caches.
    NtStore,
    /// The first thread chases through its share, each line once; the others load memory in order at a set rate. What
    /// a bandwidth-latency curve is measured with (`pericore machine curve`).
    Loaded,
    /// Devices read memory in order, each its own share of the footprint.
    DmaRead,
    /// Devices write memory in order, each its own share of the footprint.
    DmaWrite,
    /// Nobody does anything.
    Idle,
}

impl Kind {
    /// The kinds that have a name on the command line, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Stream,
        Self::Copy,
        Self::Triad,
        Self::Random,
        Self::Chase,
        Self::Mixed,
        Self::NtStore,
        Self::DmaRead,
        Self::DmaWrite,
        Self::Idle,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Copy => "copy",
            Self::Triad => "triad",
            Self::Random => "random",
            Self::Chase => "chase",
            Self::Mixed => "mixed",
            Self::NtStore => "ntstore",
            Self::Loaded => "loaded",
            Self::DmaRead => "dma-read",
            Self::DmaWrite => "dma-write",
            Self::Idle => "idle",
        }
    }

    /// One line for help texts.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Stream => "each thread walks its own share of the footprint in order",
            Self::Copy => "each thread reads one half of its share in order and writes the other",
            Self::Triad => "each thread reads three quarters of its share side by side and writes the fourth",
            Self::Random => "lines drawn at random from the whole footprint",
            Self::Chase => "dependent loads at random, one under way for each thread",
            Self::Mixed => "half of the accesses in order, half at random",
            Self::NtStore => "each thread writes its own share of the footprint in order, around the caches",
            Self::Loaded => "one thread's dependent loads, while the others load memory at a set rate",
            Self::DmaRead => "devices read memory in order, each its own share of the footprint",
            Self::DmaWrite => "devices write memory in order, each its own share of the footprint",
            Self::Idle => "nobody does anything",
        }
    }

    /// Devices make its accesses, not threads.
    pub const fn is_of_devices(self) -> bool {
        matches!(self, Self::DmaRead | Self::DmaWrite)
    }

    /// The keys that make sense for the kind.
    pub const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Stream | Self::Mixed | Self::Random => &[
                "requests",
                "threads",
                "cpu",
                "footprint",
                "pages",
                "read",
                "stride",
                "vectors",
                "socket",
                "memory",
                "remote",
                "cxl",
                "warmup",
                "seed",
            ],
            Self::Copy | Self::Triad => &[
                "requests",
                "threads",
                "cpu",
                "footprint",
                "pages",
                "stride",
                "vectors",
                "socket",
                "memory",
                "remote",
                "cxl",
                "warmup",
                "seed",
            ],
            Self::Chase => &[
                "requests",
                "threads",
                "cpu",
                "footprint",
                "pages",
                "socket",
                "memory",
                "remote",
                "cxl",
                "warmup",
                "seed",
            ],
            Self::NtStore => &[
                "requests",
                "threads",
                "cpu",
                "footprint",
                "pages",
                "partial",
                "stride",
                "socket",
                "memory",
                "remote",
                "cxl",
                "warmup",
                "seed",
            ],
            Self::DmaRead => &[
                "requests",
                "threads",
                "footprint",
                "pages",
                "stride",
                "isoc",
                "peer",
                "socket",
                "memory",
                "remote",
                "cxl",
                "warmup",
                "seed",
            ],
            Self::DmaWrite => &[
                "requests",
                "threads",
                "footprint",
                "pages",
                "allocate",
                "stride",
                "partial",
                "isoc",
                "peer",
                "atomic",
                "socket",
                "memory",
                "remote",
                "cxl",
                "warmup",
                "seed",
            ],
            Self::Loaded | Self::Idle => &[],
        }
    }
}
