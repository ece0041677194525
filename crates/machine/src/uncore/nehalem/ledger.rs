//! The truth about a Nehalem machine, from the records of requests and snoops, and from when things came and went.

use super::level::{Level, Source, Tracker};
use super::parameters::{CHANNELS, Parameters};
use super::request::{Answer, Kind, Priority, ProbeRecord, Record};
use crate::engine::{Clocks, NEVER};
use crate::ledger::{self as shared, LineState, Question};
use crate::signal::Tick;

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
    live: u64,
    last: u64,
}

impl LevelCells {
    /// Brings the sums up to the start of a cycle.
    const fn settle(&mut self, cycle: u64, capacity: u64) {
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
}

impl SocketCells {
    fn new() -> Self {
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
        }
    }
}

/// The running account of a machine.
#[derive(Debug, Clone)]
pub struct Ledger {
    clocks: Clocks,
    capacity: [u64; Level::COUNT],
    opcodes: Opcodes,
    sockets: Vec<SocketCells>,
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
    pub fn new(parameters: &Parameters, opcodes: Opcodes) -> Self {
        let mut capacity = [0; Level::COUNT];
        let mut at = |level: Level, entries: u8| capacity[usize::from(level.0)] = entries.into();
        for tracker in [Tracker::Read, Tracker::Write, Tracker::Peer] {
            at(Level::tracker(tracker), parameters.trackers[tracker as usize]);
        }
        for source in Source::ALL {
            at(Level::home(source), parameters.home_entries[source as usize]);
        }
        for channel in 0..CHANNELS {
            at(Level::reads(channel), parameters.dram.reads);
            at(Level::writes(channel), parameters.dram.writes);
        }
        let sockets = vec![SocketCells::new(); parameters.sockets.into()];
        Self { clocks: parameters.clocks(), capacity, opcodes, sockets }
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
        memory: Vec<shared::Snapshot>,
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
        Snapshot { now, cycles: cycle, opcodes: self.opcodes, sockets, memory }
    }
}

/// Adds what has happened to a request.
fn fold(sockets: &mut [SocketCells], record: &Record) {
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
fn fold_probe(sockets: &mut [SocketCells], record: &ProbeRecord) {
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

/// The account at one instant.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub(super) now: Tick,
    /// Uncore cycles since reset.
    pub(super) cycles: u64,
    pub(super) opcodes: Opcodes,
    pub(super) sockets: Vec<SocketCells>,
    /// The memory channels' own accounts, by socket.
    pub(super) memory: Vec<shared::Snapshot>,
}

impl Snapshot {
    /// When it was taken: everything before this tick is in it.
    pub const fn now(&self) -> Tick {
        self.now
    }

    /// What an event has counted since reset; see [`crate::Snapshot::count`].
    pub fn count(&self, socket: u16, instance: u16, question: Question<'_>) -> Option<u64> {
        if question.unit != "uncore" || instance != 0 {
            return None;
        }
        super::names::value(self, usize::from(socket), question)
    }
}
