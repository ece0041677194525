//! The totals of a socket, and what records add to them.

use pericore_engine::{NEVER, Period, Tick};
use pericore_facts::nehalem::{CHANNELS, Class, Kind, LINKS, Port, Priority, ProbeRecord, Record, Reply, Tracker};
use pericore_facts::{Command, LineState};

use crate::census::Census;

/// Totals of one socket.
#[derive(Debug, Clone, Default)]
pub struct SocketCells {
    /// By tracker.
    pub trackers: [Census; 3],
    /// Requests in the home logic, by source; cycles of its reads.
    pub home: [Census; 3],
    pub home_reads: [u64; 3],
    /// Requests that share their line with another at home, by source.
    pub contests: [Census; 3],
    /// Snoops that wait for the peer probe tracker, by link.
    pub no_peer: [Census; LINKS],
    /// Entries of a channel's queues: normal and isochronous reads, writes.
    pub reads: [Census; CHANNELS],
    pub isochronous: [Census; CHANNELS],
    /// Those of the writes that are isochronous.
    pub isochronous_writes: [Census; CHANNELS],
    /// Reads of either kind.
    pub outstanding: [Census; CHANNELS],
    pub writes: [Census; CHANNELS],
    /// Cycles in use, by port and by link; and in which messages lacked a credit, by link and class.
    pub ports: [u64; Port::COUNT],
    pub links: [u64; LINKS],
    pub no_credit: [[u64; Class::COUNT]; LINKS],
    /// Classes that lack a credit, by link: of messages of one flit, and of several.
    pub stalls: [[Census; 2]; LINKS],
    /// Reads; writes and snoops that miss.
    pub entered: [u64; 3],
    /// Of reads: answered by the LLC, missed, numbered; of writes: numbered.
    pub replied: u64,
    pub missed: u64,
    pub read_numbered: u64,
    pub write_numbered: u64,
    /// By tracker.
    pub hits: [u64; 3],
    pub misses: [u64; 3],
    pub lines_in: [u64; LineState::COUNT],
    pub lines_out: [u64; LineState::COUNT],
    /// To homes elsewhere, to the socket's own.
    pub replies: [[u64; Reply::COUNT]; 2],
    /// By source; reads, writes.
    pub requests: [[u64; 2]; 3],
    /// Entries of the table of conflicts, of two and of three requests.
    pub conflicts: [u64; 2],
    pub acknowledged: u64,
    pub bypassed: u64,
    pub high: [u64; CHANNELS],
    pub critical: [u64; CHANNELS],
    /// Normal reads that an isochronous one has hurried.
    pub hurried: [u64; CHANNELS],
    /// Reads that another socket answered while they waited.
    pub cancelled: [u64; CHANNELS],
    /// Whole lines, parts; by channel.
    pub written: [[u64; CHANNELS]; 2],
    /// By source and answer, as they reached the home.
    pub matched: [[u64; Reply::COUNT]; 3],
    /// By channel and [`Command`].
    pub commands: [[u64; Command::COUNT]; CHANNELS],
    /// Those of them that closed their row.
    pub closing: [[u64; Command::COUNT]; CHANNELS],
    /// Reads answered from a pending write, by channel.
    pub forwards: [u64; CHANNELS],
    /// Writes that replaced a pending write, by channel.
    pub merges: [u64; CHANNELS],
}

impl SocketCells {
    /// All that has entries.
    pub fn censuses(&self) -> impl Iterator<Item = &Census> {
        let of_sources = [&self.trackers, &self.home, &self.contests];
        let of_channels = [&self.reads, &self.isochronous, &self.isochronous_writes, &self.outstanding, &self.writes];
        let of_links = self.no_peer.iter().chain(self.stalls.iter().flatten());
        of_sources.into_iter().flatten().chain(of_channels.into_iter().flatten()).chain(of_links)
    }

    /// The queue of a channel that a request takes an entry of.
    #[inline]
    pub const fn queue(&mut self, kind: Kind, channel: u8) -> &mut Census {
        let channel = channel as usize;
        match kind {
            Kind::DeviceRead(Priority::High | Priority::Critical) => &mut self.isochronous[channel],
            Kind::Read | Kind::Own | Kind::DeviceRead(Priority::Normal) => &mut self.reads[channel],
            _ => &mut self.writes[channel],
        }
    }
}

/// Whole cycles from one station to another, which may not have been reached at `at`.
fn stay(clock: Period, at: Tick, from: Tick, to: Tick) -> Option<u64> {
    (from != NEVER).then(|| clock.cycles_between(from, to.min(at)))
}

/// Adds what has happened to a request.
pub fn fold(sockets: &mut [SocketCells], clock: Period, at: Tick, record: &Record) {
    let happened = |stamp: Tick| u64::from(stamp != NEVER);
    let own = &mut sockets[usize::from(record.socket)];
    if let Some(tracker) = record.kind.tracker() {
        let index = tracker as usize;
        own.trackers[index].stayed(stay(clock, at, record.queued, record.left).unwrap_or(0));
        let (hit, missed) = if record.looked_up == NEVER { (0, 0) } else { (record.hit.into(), (!record.hit).into()) };
        // Of the writes the LLC's events count those that cores write back.
        if !matches!(record.kind, Kind::Around { .. }) {
            own.hits[index] += hit;
            own.misses[index] += missed;
        }
        if tracker == Tracker::Read {
            own.entered[index] += happened(record.queued);
            own.replied += happened(record.replied);
            own.missed += happened(record.replied) * u64::from(!record.hit);
            own.read_numbered += happened(record.numbered);
        } else {
            own.entered[index] += missed;
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
    let source = record.source as usize;
    let cycles = stay(clock, at, record.at_home, record.left_home).unwrap_or(0);
    home.home[source].stayed(cycles);
    if record.kind.reads() {
        home.home_reads[source] += cycles;
        let cycles = stay(clock, at, record.at_memory, record.served).unwrap_or(0);
        home.queue(record.kind, record.channel).stayed(cycles);
        home.outstanding[channel].stayed(cycles);
    }
    home.bypassed += u64::from(record.bypassed);
    home.hurried[channel] += u64::from(record.hurried);
    home.cancelled[channel] += u64::from(record.cancelled);
    home.acknowledged += u64::from(record.acknowledged);
    if record.at_memory == NEVER {
        return;
    }
    match record.kind {
        Kind::Read | Kind::Own | Kind::DeviceRead(Priority::Normal) => {}
        Kind::DeviceRead(Priority::High) => home.high[channel] += 1,
        Kind::DeviceRead(Priority::Critical) => home.critical[channel] += 1,
        Kind::DeviceWrite { partial: true } | Kind::Around { partial: true } => home.written[1][channel] += 1,
        _ => home.written[0][channel] += 1,
    }
}

/// Adds what has happened to a snoop.
pub fn fold_probe(sockets: &mut [SocketCells], clock: Period, at: Tick, record: &ProbeRecord) {
    let cells = &mut sockets[usize::from(record.socket)];
    if let (Some(link), Some(cycles)) = (record.link, stay(clock, at, record.waited, record.queued)) {
        cells.no_peer[usize::from(link)].stayed(cycles);
    }
    if let Some(cycles) = stay(clock, at, record.queued, record.left) {
        cells.trackers[Tracker::Peer as usize].stayed(cycles);
    }
    if record.looked_up != NEVER {
        let counts = if record.hit { &mut cells.hits } else { &mut cells.misses };
        counts[Tracker::Peer as usize] += 1;
        // Of the peer probe tracker the event counts those that miss.
        cells.entered[Tracker::Peer as usize] += u64::from(!record.hit);
    }
    if let Some(reply) = record.reply {
        cells.replies[usize::from(record.local)][reply as usize] += 1;
    }
}
