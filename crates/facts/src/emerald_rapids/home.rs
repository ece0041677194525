//! What a home agent queries of memory, and what happens to it where mesh and memory meet.

/// What is requested of a home agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HomeRequest {
    /// A line.
    Read,
    /// The right to overwrite a line, without its data.
    Claim,
    /// To write a line.
    Write,
}

/// What a request does in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryAction {
    /// It reads a line.
    Read,
    /// It writes a line.
    Write,
    /// It writes part of a line.
    PartialWrite,
}

/// Who sends a prefetch that runs ahead of a read of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum PrefetchSender {
    /// The agent, while it looks the line up (XPT).
    Agent,
    /// The link, for the other socket (UPI).
    Link,
}

impl PrefetchSender {
    /// How many there are.
    pub const COUNT: usize = 2;
}

/// What becomes of a prefetch at the agent that would send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum PrefetchSent {
    /// It goes onto the mesh.
    Goes,
    /// Other addresses wait there, as many as there are credits for prefetches: it is dropped.
    NoCredit,
    /// One is on its way onto the mesh, and has the port: it is dropped.
    Conflict,
}

/// What becomes of a prefetch where mesh and memory meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum PrefetchFate {
    /// It has an entry of the prefetch CAM, and reads memory.
    Runs,
    /// It is dropped: it came in the cycle after another one.
    BackToBack,
    /// There is no room in the queue of reads.
    NoRoom,
    /// What room there is there is kept for reads.
    BeyondThreshold,
    /// There is no room in the queue of writes.
    WritesWait,
    /// The prefetch CAM is full.
    CamFull,
    /// Its read has overtaken it.
    TooLate,
}

impl PrefetchFate {
    /// How many there are.
    pub const COUNT: usize = 7;
}

/// A request on its way to memory.
#[derive(Debug, Clone, Copy)]
pub struct MemoryRequest {
    /// The unit where mesh and memory meet, in the agent's socket.
    pub unit: u16,
    /// Which of its two channels.
    pub half: u8,
    /// What it does.
    pub action: MemoryAction,
    /// Whose prefetch reads memory for it already.
    pub ahead: Option<PrefetchSender>,
    /// It is a device's that must have it by a time.
    pub isochronous: bool,
}

/// What the bits in memory tell of a line's copies in the other socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum DirectoryState {
    /// It has none.
    Nowhere,
    /// It may share it.
    Shared,
    /// It may own it.
    Any,
}

impl DirectoryState {
    /// How many there are.
    pub const COUNT: usize = 3;
}
