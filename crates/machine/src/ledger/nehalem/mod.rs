//! The truth about a Nehalem machine, from the records of requests and snoops, and from when things came and went.

mod cells;
mod level;
mod names;
mod record;

use cells::{LevelCells, SocketCells, fold, fold_probe};
use pericore_dram::{CommandLog, CommandRecord};
use pericore_engine::{Clocks, Tick};

use crate::ledger::Question;
pub use level::{CHANNELS, Class, LINKS, Level, Port, Source, TO_HUB, TO_SOCKET, Tracker};
pub use names::NAMES;
pub use record::{Answer, Kind, Priority, ProbeRecord, Record};

/// The running account of a machine.
#[derive(Debug, Clone)]
pub struct Ledger {
    clocks: Clocks,
    capacity: [u64; Level::COUNT],
    opcodes: Opcodes,
    sockets: Vec<SocketCells>,
    log: CommandLog,
}

/// Sizes that the truth of "full" depends on.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Sockets of the machine, each with what follows.
    pub sockets: u8,
    /// Entries of the trackers, by [`Tracker`].
    pub trackers: [u8; 3],
    /// Entries of the home logic's trackers, by [`Source`].
    pub home_entries: [u8; 3],
    /// Entries of a channel's queue of reads.
    pub reads: u8,
    /// Entries of a channel's queue of writes.
    pub writes: u8,
}

/// Values of the messages that the match register can tell, from the catalogue's value set `qpi-messages`.
#[derive(Debug, Clone, Copy)]
pub struct Opcodes {
    /// Passed on, a shared copy stays.
    pub forward_shared: u64,
    /// Passed on, no copy stays.
    pub forward: u64,
    /// Written back, no copy stays.
    pub write_back: u64,
}

impl Ledger {
    /// An empty account.
    pub fn new(clocks: Clocks, opcodes: Opcodes, shape: &Shape) -> Self {
        let mut capacity = [0; Level::COUNT];
        let mut at = |level: Level, entries: u8| capacity[usize::from(level.0)] = entries.into();
        for tracker in [Tracker::Read, Tracker::Write, Tracker::Peer] {
            at(Level::tracker(tracker), shape.trackers[tracker as usize]);
        }
        for source in Source::ALL {
            at(Level::home(source), shape.home_entries[source as usize]);
        }
        for channel in 0..CHANNELS {
            at(Level::reads(channel), shape.reads);
            at(Level::writes(channel), shape.writes);
        }
        let sockets = vec![SocketCells::new(); shape.sockets.into()];
        Self { clocks, capacity, opcodes, sockets, log: CommandLog::default() }
    }

    /// An entry arrives.
    pub fn enter(&mut self, socket: usize, level: Level, tick: Tick) {
        let cells = self.settled(socket, level, tick);
        cells.entries += 1;
        cells.live += 1;
    }

    /// An entry leaves.
    pub fn leave(&mut self, socket: usize, level: Level, tick: Tick) {
        self.settled(socket, level, tick).live -= 1;
    }

    fn settled(&mut self, socket: usize, level: Level, tick: Tick) -> &mut LevelCells {
        let index = usize::from(level.0);
        let cells = &mut self.sockets[socket].levels[index];
        cells.settle(self.clocks.uclk.cycles(tick), self.capacity[index]);
        cells
    }

    /// An entry of the table of conflicts is over, in which at most so many requests met.
    pub fn conflict(&mut self, socket: usize, requests: u8) {
        self.sockets[socket].conflicts[usize::from(requests > 2)] += 1;
    }

    /// An answer to a snoop for a request of `source` reached its home.
    pub fn matched(&mut self, socket: usize, source: Source, answer: Answer) {
        self.sockets[socket].matched[source as usize][answer as usize] += 1;
    }

    /// A command went out on a channel of a socket.
    pub fn command(&mut self, socket: usize, channel: usize, record: CommandRecord) {
        self.sockets[socket].commands[channel][record.command as usize] += 1;
        self.log.note((socket * CHANNELS + channel) as u16, record);
    }

    /// A read was answered from a pending write.
    pub fn forwarded(&mut self, socket: usize, channel: usize) {
        self.sockets[socket].forwards[channel] += 1;
    }

    /// A write replaced a pending write.
    pub fn merged(&mut self, socket: usize, channel: usize) {
        self.sockets[socket].merges[channel] += 1;
    }

    /// Keeps every DRAM command from now on, for checkers.
    pub fn keep_commands(&mut self) {
        self.log.keep();
    }

    /// The DRAM commands kept since [`Ledger::keep_commands`], with their channel, numbered over the machine.
    pub fn commands(&self) -> &[(u16, CommandRecord)] {
        self.log.commands()
    }

    /// A request has ended.
    pub fn close(&mut self, record: &Record) {
        fold(&mut self.sockets, record);
    }

    /// A snoop has ended.
    pub fn close_probe(&mut self, record: &ProbeRecord) {
        fold_probe(&mut self.sockets, record);
    }

    /// The account as of now: what has ended, and the part so far of what is under way.
    pub fn snapshot<'a>(
        &self,
        now: Tick,
        records: impl Iterator<Item = &'a Record>,
        probes: impl Iterator<Item = &'a ProbeRecord>,
    ) -> Snapshot {
        let mut sockets = self.sockets.clone();
        records.for_each(|record| fold(&mut sockets, record));
        probes.for_each(|record| fold_probe(&mut sockets, record));
        let cycle = self.clocks.uclk.cycles(now);
        for cells in &mut sockets {
            for (level, &capacity) in cells.levels.iter_mut().zip(&self.capacity) {
                level.settle(cycle, capacity);
            }
        }
        Snapshot { now, cycles: cycle, opcodes: self.opcodes, sockets }
    }
}

/// The account at one instant.
#[derive(Debug, Clone)]
pub struct Snapshot {
    now: Tick,
    /// Uncore cycles since reset.
    cycles: u64,
    opcodes: Opcodes,
    sockets: Vec<SocketCells>,
}

impl Snapshot {
    /// When it was taken: everything before this tick is in it.
    pub const fn now(&self) -> Tick {
        self.now
    }

    /// Reads of a channel that were answered from a pending write, for which no command went out. No event counts them.
    pub fn forwards(&self, socket: usize, channel: usize) -> u64 {
        self.sockets[socket].forwards[channel]
    }

    /// Writes of a channel that replaced a pending write. No event counts them.
    pub fn merges(&self, socket: usize, channel: usize) -> u64 {
        self.sockets[socket].merges[channel]
    }

    /// What an event has counted since reset; see [`crate::Snapshot::count`].
    pub fn count(&self, socket: u16, instance: u16, question: Question<'_>) -> Option<u64> {
        if question.unit != "uncore" || instance != 0 {
            return None;
        }
        names::value(self, usize::from(socket), question)
    }
}
