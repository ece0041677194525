//! What the ledger is told of memory channels: commands on their buses, states, entries of their queues.

use super::Ledger;

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
}

impl MajorMode {
    /// How many there are.
    pub const COUNT: usize = 3;
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
}

impl Ledger {
    /// A command went out on a channel.
    #[inline]
    pub fn command(&mut self, channel: u16, record: CommandRecord) {
        self.cells.channels[usize::from(channel)].commands[record.command as usize] += 1;
        if let Some(log) = &mut self.log {
            log.push((channel, record));
        }
    }

    /// A request took an entry of a pending queue at DRAM cycle `cycle`.
    #[inline]
    pub fn queued(&mut self, channel: u16, queue: Pending, cycle: u64) {
        let capacity = self.capacity(queue);
        self.cells.channels[usize::from(channel)].queues[queue as usize].enter(cycle, capacity);
    }

    /// An entry that came at `entered` was given back at `cycle`.
    #[inline]
    pub fn unqueued(&mut self, channel: u16, queue: Pending, entered: u64, cycle: u64) {
        let capacity = self.capacity(queue);
        self.cells.channels[usize::from(channel)].queues[queue as usize].leave(entered, cycle, capacity);
    }

    /// A read was answered from a pending write.
    pub fn forwarded(&mut self, channel: u16) {
        self.cells.channels[usize::from(channel)].forwards += 1;
    }

    /// A write replaced a pending write.
    pub fn merged(&mut self, channel: u16) {
        self.cells.channels[usize::from(channel)].merges += 1;
    }

    /// A channel entered a major mode at DRAM cycle `cycle`.
    pub fn mode(&mut self, channel: u16, mode: MajorMode, cycle: u64) {
        self.cells.channels[usize::from(channel)].enter_mode(mode, cycle);
    }

    /// A read closed a row that a read or a write was waiting for.
    pub fn preempted(&mut self, channel: u16, victim: Pending) {
        self.cells.channels[usize::from(channel)].preemptions[victim as usize] += 1;
    }

    /// An error in a line was corrected.
    pub fn corrected(&mut self, channel: u16) {
        self.cells.channels[usize::from(channel)].corrected += 1;
    }

    /// A state of a channel begins or ends at DRAM cycle `cycle`.
    pub fn memory_state(&mut self, channel: u16, state: MemoryState, on: bool, cycle: u64) {
        self.cells.channels[usize::from(channel)].states[state.index()].switch(on, cycle);
    }
}
