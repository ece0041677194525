//! The totals of a socket, and what records add to them.

use pericore_dram::Command;
use pericore_engine::{NEVER, Tick};

use super::level::{CHANNELS, Level, Tracker};
use super::record::{Answer, Kind, Priority, ProbeRecord, Record};
use crate::ledger::LineState;

/// What came and went at one level, in uncore cycles.
#[derive(Debug, Clone, Copy, Default)]
pub struct LevelCells {
    pub entries: u64,
    /// Cycles that entries stayed, added up.
    pub cycles: u64,
    /// Cycles with any entry.
    pub nonempty: u64,
    /// Cycles with as many as there is room for.
    pub full: u64,
    pub live: u64,
    last: u64,
}

impl LevelCells {
    /// Brings the sums up to the start of a cycle.
    pub const fn settle(&mut self, cycle: u64, capacity: u64) {
        let passed = cycle - self.last;
        self.cycles += self.live * passed;
        if self.live > 0 {
            self.nonempty += passed;
        }
        if capacity > 0 && self.live == capacity {
            self.full += passed;
        }
        self.last = cycle;
    }
}

/// Totals of one socket.
#[derive(Debug, Clone)]
pub struct SocketCells {
    pub levels: [LevelCells; Level::COUNT],
    pub entered: [u64; 3],
    /// Of reads: answered by the LLC, missed, numbered; of writes: numbered.
    pub answered: u64,
    pub missed: u64,
    pub read_numbered: u64,
    pub write_numbered: u64,
    /// By tracker.
    pub hits: [u64; 3],
    pub misses: [u64; 3],
    pub lines_in: [u64; LineState::COUNT],
    pub lines_out: [u64; LineState::COUNT],
    /// To homes elsewhere, to the socket's own.
    pub answers: [[u64; Answer::COUNT]; 2],
    /// By source; reads, writes.
    pub requests: [[u64; 2]; 3],
    /// Entries of the table of conflicts, of two and of three requests.
    pub conflicts: [u64; 2],
    pub acknowledged: u64,
    pub bypassed: u64,
    pub high: [u64; CHANNELS],
    pub critical: [u64; CHANNELS],
    pub raised: [u64; CHANNELS],
    /// Whole lines, parts; by channel.
    pub writes: [[u64; CHANNELS]; 2],
    /// By source and answer, as they reached the home.
    pub matched: [[u64; Answer::COUNT]; 3],
    /// By channel and [`Command`].
    pub commands: [[u64; Command::COUNT]; CHANNELS],
    /// Reads answered from a pending write, by channel.
    pub forwards: [u64; CHANNELS],
    /// Writes that replaced a pending write, by channel.
    pub merges: [u64; CHANNELS],
}

impl SocketCells {
    pub fn new() -> Self {
        Self {
            levels: [LevelCells::default(); Level::COUNT],
            entered: [0; 3],
            answered: 0,
            missed: 0,
            read_numbered: 0,
            write_numbered: 0,
            hits: [0; 3],
            misses: [0; 3],
            lines_in: [0; LineState::COUNT],
            lines_out: [0; LineState::COUNT],
            answers: [[0; Answer::COUNT]; 2],
            requests: [[0; 2]; 3],
            conflicts: [0; 2],
            acknowledged: 0,
            bypassed: 0,
            high: [0; CHANNELS],
            critical: [0; CHANNELS],
            raised: [0; CHANNELS],
            writes: [[0; CHANNELS]; 2],
            matched: [[0; Answer::COUNT]; 3],
            commands: [[0; Command::COUNT]; CHANNELS],
            forwards: [0; CHANNELS],
            merges: [0; CHANNELS],
        }
    }
}

/// Adds what has happened to a request.
pub fn fold(sockets: &mut [SocketCells], record: &Record) {
    let happened = |stamp: Tick| u64::from(stamp != NEVER);
    let own = &mut sockets[usize::from(record.socket)];
    if let Some(tracker) = record.kind.tracker() {
        let index = tracker as usize;
        own.entered[index] += happened(record.queued);
        let looked_up = happened(record.looked_up);
        own.hits[index] += looked_up * u64::from(record.hit);
        own.misses[index] += looked_up * u64::from(!record.hit);
        if tracker == Tracker::Read {
            own.answered += happened(record.answered);
            own.missed += happened(record.answered) * u64::from(!record.hit);
            own.read_numbered += happened(record.numbered);
        } else {
            own.write_numbered += happened(record.numbered);
        }
    }
    if let Some((into, out)) = record.filled {
        own.lines_in[into as usize] += 1;
        own.lines_out[out as usize] += 1;
    }
    let home = &mut sockets[usize::from(record.home)];
    let channel = usize::from(record.channel);
    home.requests[record.source as usize][usize::from(!record.kind.reads())] += happened(record.at_home);
    home.bypassed += u64::from(record.bypassed);
    home.raised[channel] += u64::from(record.raised);
    home.acknowledged += u64::from(record.acknowledged);
    if record.at_memory == NEVER {
        return;
    }
    match record.kind {
        Kind::Read | Kind::Own | Kind::DeviceRead(Priority::Normal) => {}
        Kind::DeviceRead(Priority::High) => home.high[channel] += 1,
        Kind::DeviceRead(Priority::Critical) => home.critical[channel] += 1,
        Kind::DeviceWrite { partial: true } => home.writes[1][channel] += 1,
        _ => home.writes[0][channel] += 1,
    }
}

/// Adds what has happened to a snoop.
pub fn fold_probe(sockets: &mut [SocketCells], record: &ProbeRecord) {
    let cells = &mut sockets[usize::from(record.socket)];
    if record.queued != NEVER {
        cells.entered[Tracker::Peer as usize] += 1;
    }
    if record.looked_up != NEVER {
        let counts = if record.hit { &mut cells.hits } else { &mut cells.misses };
        counts[Tracker::Peer as usize] += 1;
    }
    if let Some(answer) = record.answer {
        cells.answers[usize::from(record.local)][answer as usize] += 1;
    }
}
