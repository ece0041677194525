//! What the ledger is told of memory channels: commands on their buses, states, entries of their queues.

/// Pending queues of a memory channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Pending {
    /// Reads (RPQ).
    Reads,
    /// Writes (WPQ).
    Writes,
}

/// What a memory channel prefers to serve (2.5.8, `MAJOR_MODES`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MajorMode {
    /// Reads; the default.
    Read,
    /// Writes, because many are pending.
    Write,
    /// Only reads that complete the lines of partial writes.
    Partial,
    /// Only isochronous reads.
    Isochronous,
}

impl MajorMode {
    /// How many there are.
    pub const COUNT: usize = 4;
}

/// States of a memory channel and its ranks that hold for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryState {
    /// The rank's clock is enabled.
    ClockOn(u8),
    /// The rank's requests wait, for heat or power.
    Throttled(u8),
    /// Everything waits, because memory is critically hot.
    Critical,
    /// The channel refreshes itself.
    SelfRefresh,
    /// All ranks are powered down, DLLs on.
    PoweredDown,
    /// All ranks are powered down, DLLs off.
    DllOff,
}

impl MemoryState {
    /// Ranks that a channel can have.
    const RANKS: usize = 8;
    /// How many there are.
    pub const COUNT: usize = 2 * Self::RANKS + 4;

    /// Its number.
    pub const fn index(self) -> usize {
        match self {
            Self::ClockOn(rank) => rank as usize % Self::RANKS,
            Self::Throttled(rank) => Self::RANKS + rank as usize % Self::RANKS,
            Self::Critical => 2 * Self::RANKS,
            Self::SelfRefresh => 2 * Self::RANKS + 1,
            Self::PoweredDown => 2 * Self::RANKS + 2,
            Self::DllOff => 2 * Self::RANKS + 3,
        }
    }
}

/// A DRAM command and, where the events tell them apart, why it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Command {
    /// Opens a row.
    Activate,
    /// Closes a row in the way of another.
    PrechargeMiss,
    /// Closes a row that was idle for too long.
    PrechargeIdle,
    /// Closes all rows of a rank, before a refresh.
    PrechargeAll,
    /// Reads a line.
    Read,
    /// Reads a line to complete a partial write.
    Underfill,
    /// Writes a line in write major mode.
    WriteMajor,
    /// Writes a line in read major mode.
    WriteOpportunistic,
    /// Refresh of a rank that had nothing else to do.
    RefreshIdle,
    /// Refresh that had been put off as often as is allowed.
    RefreshForced,
}

impl Command {
    /// How many kinds there are.
    pub const COUNT: usize = 10;
}

/// A command on a channel's bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandRecord {
    /// DRAM clock cycle.
    pub cycle: u64,
    /// Command.
    pub command: Command,
    /// Rank.
    pub rank: u8,
    /// Bank in the rank; 0 for commands to a whole rank.
    pub bank: u8,
    /// Row that the request wants, for activates, reads and writes; otherwise 0.
    pub row: u32,
    /// A read or a write that also closes its row, as soon as the bank allows (auto-precharge).
    pub closes: bool,
}

/// The commands of channels in the order in which they went out, if they are to be kept: the log grows with the run.
#[derive(Debug, Clone, Default)]
pub struct CommandLog(Option<Vec<(u16, CommandRecord)>>);

impl CommandLog {
    /// Keeps every command from now on, for checkers.
    pub fn keep(&mut self) {
        self.0 = Some(Vec::new());
    }

    /// A command went out on a channel.
    #[inline]
    pub fn note(&mut self, channel: u16, record: CommandRecord) {
        if let Some(log) = &mut self.0 {
            log.push((channel, record));
        }
    }

    /// What was kept, with the channels.
    pub fn commands(&self) -> &[(u16, CommandRecord)] {
        self.0.as_deref().unwrap_or_default()
    }
}
