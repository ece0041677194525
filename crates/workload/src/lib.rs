//! What the cores do: named workloads with parameters, and the address generators behind them.
//!
//! `NAME[:key=value,…]` on the command line becomes a [`Workload`]; a [`Generator`] for each thread makes its accesses.

mod error;
mod generator;
mod nearest;
mod number;
mod pages;
mod parse;
mod placement;
mod program;
mod sampling;
mod scenario;

use pericore_engine::Random;

pub use error::WorkloadError;
pub use generator::{Access, DeviceAim, Generator};
pub use pages::{Nodes, Pages};
pub use parse::Limits;
pub use placement::Placement;
pub use program::{PageSize, Policy, ProgramAccess, ProgramKind, ProgramSettings, ProgramSource, SettingsError};
pub use sampling::{SampleRequest, SampleSize, Sampling, SamplingError};
pub use scenario::Course;
pub use scenario::{
    Conditions, CoreSleep, Errand, FrequencyBounds, HotPart, LinkConditions, MemoryConditions, MessageKind, Phase,
    PhaseSetting, PhaseSettings, Scenario, ScenarioError,
};

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

    /// The keys that make sense for the kind.
    pub const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Stream | Self::Mixed | Self::Random => &[
                "requests",
                "threads",
                "cpu",
                "footprint",
                "read",
                "stride",
                "vectors",
                "remote",
                "cxl",
                "warmup",
                "seed",
            ],
            Self::Copy | Self::Triad => {
                &["requests", "threads", "cpu", "footprint", "stride", "vectors", "remote", "cxl", "warmup", "seed"]
            }
            Self::Chase => &["requests", "threads", "cpu", "footprint", "remote", "cxl", "warmup", "seed"],
            Self::NtStore => {
                &["requests", "threads", "cpu", "footprint", "partial", "stride", "remote", "cxl", "warmup", "seed"]
            }
            Self::DmaRead => &[
                "requests",
                "threads",
                "footprint",
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

/// A workload with all its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    /// The shape of the accesses.
    pub kind: Kind,
    /// Accesses over all threads.
    pub requests: u64,
    /// Threads; thread `t` runs on core `t` modulo the number of cores of the machine.
    pub threads: u16,
    /// Bytes that are touched, over all threads.
    pub footprint: u64,
    /// Loads among the accesses, per cent; the rest are stores. Of a loaded machine, reads among the transfers of
    /// memory.
    pub read: u8,
    /// Picoseconds that a thread that loads the machine waits between two accesses, on the average.
    pub delay: u64,
    /// Bytes between accesses of a sequential walk, and between the places that accesses at random are drawn from.
    pub stride: u64,
    /// Bits of the vectors that its threads calculate with, 256 or 512; 0 for scalar code.
    pub vectors: u16,
    /// The hardware thread of each socket on which its first thread runs; the others follow.
    pub cpu: u16,
    /// Accesses to memory of another socket, per cent.
    pub remote: u8,
    /// Accesses to memory behind a CXL link, per cent.
    pub expander: u8,
    /// Streaming stores that write a part of their line only, per cent; of writes of devices, among those that are not
    /// atomic and go to memory.
    pub partial: u8,
    /// Writes of devices that go into the LLC, per cent; the rest go past it.
    pub allocate: u8,
    /// Devices among all that are isochronous, per cent.
    pub isochronous: u8,
    /// Accesses of devices that go to other devices, per cent.
    pub peer: u8,
    /// Of a device's other writes, those that are atomic operations in memory, per cent.
    pub atomic: u8,
    /// The socket that all devices or threads belong to; `None` spreads them.
    pub socket: Option<u8>,
    /// The socket whose memory they read or write; `None` is each one's own, but for the remote accesses.
    pub memory: Option<u8>,
    /// Caches are full of the workload's lines when it begins: they are filled by function, without virtual time.
    pub warm: bool,
    /// Virtual microseconds that a warmed machine runs before the measurement; `None` until its rates have settled.
    pub warm_up: Option<u64>,
    /// Seed of everything random.
    pub seed: u64,
}

/// Bytes of a line.
const LINE: u64 = 64;

/// Streams of random numbers beyond those of threads and pages: one for each line, of its last access.
const LAST_ACCESSES: u64 = 1 << 40;

impl Workload {
    /// The defaults of a kind.
    pub const fn new(kind: Kind) -> Self {
        let read = match kind {
            Kind::Copy => 50,
            Kind::Triad => 75,
            Kind::Mixed => 67,
            Kind::NtStore | Kind::DmaWrite => 0,
            Kind::Stream | Kind::Random | Kind::Chase | Kind::Loaded | Kind::DmaRead | Kind::Idle => 100,
        };
        let threads = match kind {
            Kind::Chase => 1,
            Kind::DmaRead | Kind::DmaWrite => 4,
            _ => 8,
        };
        let requests = match kind {
            Kind::Chase => 100_000,
            Kind::Idle => 0,
            _ => 1_000_000,
        };
        Self {
            kind,
            requests,
            threads,
            footprint: 256 << 20,
            read,
            delay: 0,
            stride: 64,
            vectors: 0,
            cpu: 0,
            remote: 0,
            expander: 0,
            partial: 0,
            allocate: 100,
            isochronous: 0,
            peer: 0,
            atomic: 0,
            socket: None,
            memory: None,
            warm: false,
            warm_up: None,
            seed: 1,
        }
    }

    /// Parses `NAME[:key=value,…]` and checks it against a machine.
    ///
    /// # Errors
    /// [`WorkloadError`] for the first thing that is wrong.
    pub fn parse(text: &str, limits: &Limits) -> Result<Self, WorkloadError> {
        parse::parse(text, limits)
    }

    /// True if the last access to a line's byte was a store, after many passes through the footprint; nothing if none
    /// of the accesses comes there. Where loads and stores of a line are drawn, so is the last.
    pub fn stored_last(&self, address: u64) -> Option<bool> {
        if address >= self.footprint {
            return None;
        }
        let part = |parts: u64| (self.footprint / u64::from(self.threads) / parts / LINE * LINE).max(LINE);
        match self.kind {
            Kind::NtStore | Kind::DmaWrite => Some(true),
            Kind::Chase | Kind::DmaRead | Kind::Idle => Some(false),
            Kind::Copy | Kind::Triad => Some(address / part(self.arrays()) % self.arrays() + 1 == self.arrays()),
            // The first thread is the chase; of the others' shares the second half is for stores.
            Kind::Loaded if address < part(1) || address % part(1) < part(1) / 2 / LINE * LINE => Some(false),
            Kind::Loaded => (self.read < 100).then_some(true),
            Kind::Stream | Kind::Random | Kind::Mixed => {
                Some(!Random::new(self.seed, LAST_ACCESSES | (address / LINE)).per_cent(self.read))
            }
        }
    }

    /// Arrays that a thread's share of the footprint is made of: it walks through all of them side by side.
    pub const fn arrays(&self) -> u64 {
        match self.kind {
            Kind::Copy => 2,
            Kind::Triad => 4,
            _ => 1,
        }
    }

    /// Accesses of one thread: an even share, the first threads taking the remainder.
    pub const fn requests_of(&self, thread: u16) -> u64 {
        let (threads, thread) = (self.threads as u64, thread as u64);
        self.requests / threads + if thread < self.requests % threads { 1 } else { 0 }
    }
}

impl std::fmt::Display for Workload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.kind.name())?;
        let mut lead = ':';
        for key in self.kind.keys() {
            let value = match *key {
                "socket" | "memory" => {
                    let named = if *key == "socket" { self.socket } else { self.memory };
                    let Some(number) = named else { continue };
                    number.into()
                }
                // Few machines have these.
                "partial" if self.partial == 0 && self.kind == Kind::DmaWrite => continue,
                "isoc" if self.isochronous == 0 && self.kind == Kind::DmaWrite => continue,
                "peer" | "atomic" | "cpu" | "vectors" => {
                    let value = match *key {
                        "peer" => self.peer.into(),
                        "atomic" => self.atomic.into(),
                        "cpu" => self.cpu,
                        _ => self.vectors,
                    };
                    if value == 0 {
                        continue;
                    }
                    value.into()
                }
                "warmup" => {
                    let Some(microseconds) = self.warm_up else { continue };
                    microseconds
                }
                "requests" => self.requests,
                "threads" => u64::from(self.threads),
                "footprint" => self.footprint,
                "read" => u64::from(self.read),
                "stride" => self.stride,
                "remote" => u64::from(self.remote),
                "cxl" => u64::from(self.expander),
                "partial" => u64::from(self.partial),
                "allocate" => u64::from(self.allocate),
                "isoc" => u64::from(self.isochronous),
                _ => self.seed,
            };
            write!(f, "{lead}{key}={value}")?;
            lead = ',';
        }
        Ok(())
    }
}
