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

/// The memory prefetch that runs ahead of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum MemoryPrefetch {
    /// Reads of this kind have none.
    Never,
    /// The agent sent it (XPT), and it is dropped: memory keeps what room it has left for reads.
    AgentLost,
    /// The link sent it for the other socket (UPI), and it is dropped for the same reason.
    LinkLost,
    /// The agent sent it, and memory had no room at all.
    AgentFull,
    /// The link sent it, and memory had no room at all.
    LinkFull,
    /// The agent sent it (XPT), and it runs ahead of its read.
    Agent,
    /// The link sent it for the other socket (UPI), and it runs ahead of its read.
    Link,
}

impl MemoryPrefetch {
    /// How many there are.
    pub const COUNT: usize = 7;

    /// True if it runs ahead.
    #[inline]
    pub const fn runs(self) -> bool {
        matches!(self, Self::Agent | Self::Link)
    }
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
    /// What runs ahead of it.
    pub prefetch: MemoryPrefetch,
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
