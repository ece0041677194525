//! What the cores do: named workloads with parameters, and the address generators behind them.
//!
//! `NAME[:key=value,…]` on the command line becomes a [`Workload`]; a [`Generator`] for each thread makes its accesses.

mod error;
mod frames;
mod generator;
mod kind;
mod nearest;
mod number;
mod pages;
mod parse;
mod placement;
mod program;
mod sampling;
mod scenario;
mod shuffle;

use pericore_engine::Random;

pub use error::WorkloadError;
pub use frames::PageTables;
pub use generator::{Access, DeviceAim, Generator};
pub use kind::Kind;
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
    /// Pages that each lie anywhere in the `within` bytes of their node's memory; `None` for a footprint in one piece.
    pub pages: Option<PageSize>,
    /// Bytes of memory of a node, where there are pages.
    pub within: u64,
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
    /// The socket whose memory they reach; `None` is each one's own, but for the remote accesses.
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
            pages: None,
            within: 0,
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

    /// The page tables of its footprint, if that is in pages.
    pub fn page_tables(&self) -> Option<PageTables> {
        self.pages.map(|size| PageTables::new(size, self.within))
    }

    /// The socket that all its threads run on, if it names one; devices run on none.
    pub fn socket_of_threads(&self) -> Option<u8> {
        self.socket.filter(|_| !self.kind.is_of_devices())
    }

    /// True if the last access to a line's byte in memory was a store, after many passes through the footprint; nothing
    /// if none of the accesses comes there. Where loads and stores of a line are drawn, so is the last.
    pub fn stored_last(&self, place: u64) -> Option<bool> {
        let address = frames::Frames::new(self.pages, self.within, self.seed).address(place);
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
                "pages" => {
                    let Some(size) = self.pages else { continue };
                    1 << size.bits()
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
