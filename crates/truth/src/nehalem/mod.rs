//! The truth about a Nehalem machine, from the records of requests and snoops, and from when things came and went.

mod cells;
mod names;
mod reader;
mod shape;
#[cfg(test)]
mod tests;

use cells::SocketCells;
use pericore_engine::{Clocks, Tick};
use pericore_facts::nehalem::CHANNELS;
use pericore_facts::{CommandLog, CommandRecord};

use crate::census::Census;
use crate::{Latencies, Question};
pub use names::NAMES;
pub use shape::{Opcodes, Shape};

/// The running account of a machine.
#[derive(Debug, Clone)]
pub struct Ledger {
    clocks: Clocks,
    shape: Shape,
    opcodes: Opcodes,
    sockets: Vec<SocketCells>,
    log: CommandLog,
    latencies: Option<Box<Latencies>>,
}

/// Room of queues of which no event counts the cycles that they are full.
const NO_LIMIT: u64 = u64::MAX;
/// Requests in conflict that the event of a tracker asks for.
const SEVERAL: u64 = 2;

impl Ledger {
    /// An empty account.
    pub fn new(clocks: Clocks, opcodes: Opcodes, shape: Shape) -> Self {
        let sockets = vec![SocketCells::default(); shape.sockets.into()];
        Self { clocks, shape, opcodes, sockets, log: CommandLog::default(), latencies: None }
    }

    /// Keeps how long each read takes from now on, for [`Ledger::latencies`].
    pub fn keep_latencies(&mut self) {
        self.latencies = Some(Box::default());
    }

    /// How long the reads took that have ended since [`Ledger::keep_latencies`], of their own socket in the
    /// home logic, in cycles of so many ticks; `None` without it.
    pub fn latencies(&self) -> Option<(&Latencies, u64)> {
        Some((self.latencies.as_deref()?, self.clocks.uclk.ticks()))
    }

    /// Keeps every DRAM command from now on, for checkers.
    pub fn keep_commands(&mut self) {
        self.log.keep();
    }

    /// The DRAM commands kept since [`Ledger::keep_commands`], with their channel, numbered over the machine.
    pub fn commands(&self) -> &[(u16, CommandRecord)] {
        self.log.commands()
    }

    /// A copy to which what is under way can be added, for [`Ledger::at`].
    pub fn so_far(&self) -> Self {
        Self { sockets: self.sockets.clone(), log: CommandLog::default(), latencies: None, ..*self }
    }

    /// The account at a tick, to which the part so far of what is under way has been added.
    pub fn at(mut self, now: Tick) -> Snapshot {
        let cycle = self.clocks.uclk.cycles(now);
        let shape = self.shape;
        for cells in &mut self.sockets {
            let settle = |censuses: &mut [Census], rooms: &[u64]| {
                censuses.iter_mut().zip(rooms).for_each(|(census, &room)| *census = census.at(cycle, room));
            };
            settle(&mut cells.trackers, &shape.trackers.map(u64::from));
            settle(&mut cells.home, &shape.home_entries.map(u64::from));
            settle(&mut cells.contests, &[SEVERAL; 3]);
            settle(&mut cells.no_peer, &[NO_LIMIT; 2]);
            cells.stalls.iter_mut().for_each(|stalls| settle(stalls, &[NO_LIMIT; 2]));
            settle(&mut cells.reads, &[shape.queue(true); CHANNELS]);
            settle(&mut cells.outstanding, &[NO_LIMIT; CHANNELS]);
            settle(&mut cells.isochronous, &[shape.high_priority[0].into(); CHANNELS]);
            settle(&mut cells.isochronous_writes, &[shape.high_priority[1].into(); CHANNELS]);
            settle(&mut cells.writes, &[shape.queue(false); CHANNELS]);
        }
        Snapshot { now, cycles: cycle, opcodes: self.opcodes, sockets: self.sockets }
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

    /// Reads of a channel that took their data from a pending write, for which no command went out. No event counts
    /// them.
    pub fn forwards(&self, socket: usize, channel: usize) -> u64 {
        self.sockets[socket].forwards[channel]
    }

    /// Writes of a channel that replaced a pending write. No event counts them.
    pub fn merges(&self, socket: usize, channel: usize) -> u64 {
        self.sockets[socket].merges[channel]
    }

    /// What an event has counted since reset in a socket's only instance. `None` if there is no truth for the event.
    pub fn count(&self, socket: u16, instance: u16, question: Question<'_>) -> Option<u64> {
        if question.unit != "uncore" || instance != 0 {
            return None;
        }
        names::value(self.sockets.get(usize::from(socket))?, self.cycles, &self.opcodes, question)
    }

    /// True if all queues of a socket are empty.
    pub fn is_empty(&self, socket: usize) -> bool {
        self.sockets[socket].censuses().all(|census| census.live == 0)
    }

    /// The law of queues: what entries that came and went make of a queue's occupancy is what their records make of it.
    pub fn is_sound(&self) -> bool {
        self.sockets.iter().all(|cells| cells.censuses().all(Census::is_sound))
    }
}
