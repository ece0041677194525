//! What memory channels did, and what the guide's events of the memory controller mean by it (section 2.2).

use pericore_dram::{Command, Lane, MajorMode, MemoryState, Pending, Sent};
use pericore_facts::emerald_rapids::MemoryFact;

use super::gauge::{Depths, Gauge};

/// Column commands, as the events tell them apart.
#[derive(Debug, Clone, Copy)]
enum Column {
    Read,
    Underfill,
    Write,
}

/// Totals of one subchannel.
#[derive(Debug, Clone, Default)]
struct HalfCells {
    /// By column command, whether writes were preferred, priority of the request: in its turn, starved, isochronous.
    columns: [[[u64; 3]; 2]; 3],
    /// Of those, the ones that closed their row, by kind.
    closing: [u64; 3],
    /// By whom the row was opened for, and whether that was starved.
    activates: [[u64; 2]; Lane::COUNT],
    /// Rows closed in the way of somebody, by whom.
    precharges: [u64; Lane::COUNT],
    /// Rows closed because they were idle; all rows of a rank.
    idle: u64,
    all: u64,
    /// Refreshes in good time, and those that could not wait.
    refreshes: [u64; 2],
    forwards: u64,
    merges: u64,
    /// Changes of the major mode: to reads, to writes.
    changes: [u64; 2],
    /// Of those, while reads waited and writes did.
    switches: [u64; 2],
    /// Rows closed that a queue waited for.
    preempted: [u64; 2],
    /// Requests that are pending, and how many isochronous ones there were.
    queues: [Gauge; 2],
    isochronous: [u64; 2],
    /// Reads whose data is on its way in.
    buffer: Gauge,
    /// Reads are preferred, writes are.
    modes: [Gauge; 2],
    /// Ranks whose clock is off.
    clock_on: [Gauge; 2],
}

/// Totals of one memory channel.
#[derive(Debug, Clone, Default)]
pub struct ChannelCells {
    halves: [HalfCells; 2],
    /// Reads whose data is on its way in, of both.
    buffer: Depths,
    /// Subchannels in which a rank's requests wait for heat or power, by rank; in which everything does; that refresh
    /// themselves.
    throttled: [Gauge; 2],
    critical: Gauge,
    refreshing: Gauge,
    /// Subchannels that are powered down.
    down: Gauge,
    corrected: u64,
}

/// Reads that complete a line to be written belong to the writes.
const fn prefers_writes(mode: MajorMode) -> usize {
    match mode {
        MajorMode::Read | MajorMode::Isochronous => 0,
        _ => 1,
    }
}

/// A channel is powered down, or refreshes itself, while both of its subchannels do.
const HALVES: u64 = 2;
/// A level that is no queue has room for everybody.
const ENDLESS: u64 = u64::MAX;

fn switch(gauge: &mut Gauge, on: bool, cycle: u64) {
    if on { gauge.enter(cycle, ENDLESS) } else { gauge.leave(cycle, ENDLESS) }
}

impl HalfCells {
    fn command(&mut self, sent: &Sent) {
        let (mode, starved) = (prefers_writes(sent.mode), usize::from(sent.starved));
        let column = match sent.record.command {
            Command::Activate => {
                self.activates[sent.lane as usize][starved] += 1;
                return;
            }
            Command::PrechargeMiss => {
                self.precharges[sent.lane as usize] += 1;
                return;
            }
            Command::PrechargeIdle => {
                self.idle += 1;
                return;
            }
            Command::PrechargeAll => {
                self.all += 1;
                return;
            }
            Command::RefreshIdle => {
                self.refreshes[0] += 1;
                return;
            }
            Command::RefreshForced => {
                self.refreshes[1] += 1;
                return;
            }
            Command::Read => {
                self.buffer.enter(sent.record.cycle, ENDLESS);
                Column::Read
            }
            Command::Underfill => Column::Underfill,
            Command::WriteMajor | Command::WriteOpportunistic => Column::Write,
        };
        let priority = if sent.lane == Lane::Isochronous { ISOCHRONOUS } else { starved };
        self.columns[column as usize][mode][priority] += 1;
        self.closing[column as usize] += u64::from(sent.record.closes);
    }

    /// Column commands of some kinds.
    fn columns(&self, kinds: &[Column]) -> u64 {
        kinds.iter().map(|&kind| self.columns[kind as usize].as_flattened().iter().sum::<u64>()).sum()
    }

    /// Those of a kind that left their row open.
    fn leaving_open(&self, kind: Column) -> u64 {
        self.columns(&[kind]) - self.closing[kind as usize]
    }

    /// Of those, the ones in a mode; in their turn or not.
    fn in_mode(&self, kinds: &[Column], mode: usize) -> u64 {
        kinds.iter().map(|&kind| self.columns[kind as usize][mode].iter().sum::<u64>()).sum()
    }

    fn of_age(&self, kinds: &[Column], starved: usize) -> u64 {
        kinds.iter().map(|&kind| self.columns[kind as usize].iter().map(|ages| ages[starved]).sum::<u64>()).sum()
    }

    /// Rows opened for requests of these lanes, either those that had starved or the others.
    fn opened_at_age(&self, lanes: &[Lane], starved: usize) -> u64 {
        lanes.iter().map(|&lane| self.activates[lane as usize][starved]).sum()
    }

    fn opened(&self, lanes: &[Lane]) -> u64 {
        self.opened_at_age(lanes, 0) + self.opened_at_age(lanes, 1)
    }

    fn closed(&self, lanes: &[Lane]) -> u64 {
        lanes.iter().map(|&lane| self.precharges[lane as usize]).sum()
    }
}

/// The last of the priorities of column commands.
const ISOCHRONOUS: usize = 2;
const READ_LANES: [Lane; 2] = [Lane::Reads, Lane::Isochronous];
const READS: [Column; 2] = [Column::Read, Column::Underfill];
const WRITES: [Column; 1] = [Column::Write];
const EVERY_COLUMN: [Column; 3] = [Column::Read, Column::Underfill, Column::Write];

impl ChannelCells {
    /// Something happens in one of its halves. `room` are the entries of the pending queues.
    #[inline]
    pub fn add(&mut self, half: u8, fact: MemoryFact, cycle: u64, room: [u64; 2]) {
        let of = &mut self.halves[usize::from(half) % 2];
        match fact {
            MemoryFact::Starts => {
                of.modes[0].enter(0, ENDLESS);
                of.clock_on.iter_mut().for_each(|rank| rank.enter(0, ENDLESS));
            }
            MemoryFact::Command(sent) => {
                of.command(&sent);
                if sent.record.command == Command::Read {
                    self.buffer.enter(sent.record.cycle);
                }
            }
            MemoryFact::Delivers => {
                of.buffer.leave(cycle, ENDLESS);
                self.buffer.leave(cycle);
            }
            MemoryFact::Enters(queue, isochronous) => {
                of.isochronous[queue as usize] += u64::from(isochronous);
                of.queues[queue as usize].enter(cycle, room[queue as usize]);
            }
            MemoryFact::Leaves(queue) => of.queues[queue as usize].leave(cycle, room[queue as usize]),
            MemoryFact::Forwards => of.forwards += 1,
            MemoryFact::Merges => of.merges += 1,
            MemoryFact::Mode { from, to, preempts } => {
                let (from, to) = (prefers_writes(from), prefers_writes(to));
                if from != to {
                    of.modes[from].leave(cycle, ENDLESS);
                    of.modes[to].enter(cycle, ENDLESS);
                    of.changes[to] += 1;
                    of.switches[to] += u64::from(preempts);
                }
            }
            MemoryFact::Preempts(victim) => of.preempted[victim as usize] += 1,
            MemoryFact::State(MemoryState::ClockOn(rank), on) => {
                switch(&mut of.clock_on[usize::from(rank) % 2], on, cycle);
            }
            MemoryFact::State(MemoryState::Throttled(rank), on) => {
                switch(&mut self.throttled[usize::from(rank) % 2], on, cycle);
            }
            MemoryFact::State(MemoryState::Critical, on) => switch(&mut self.critical, on, cycle),
            MemoryFact::State(MemoryState::SelfRefresh, on) => {
                if on {
                    self.refreshing.enter(cycle, HALVES)
                } else {
                    self.refreshing.leave(cycle, HALVES)
                }
            }
            MemoryFact::State(MemoryState::PoweredDown | MemoryState::DllOff, true) => self.down.enter(cycle, HALVES),
            MemoryFact::State(MemoryState::PoweredDown | MemoryState::DllOff, false) => self.down.leave(cycle, HALVES),
            MemoryFact::Corrects => self.corrected += 1,
        }
    }

    /// Brings its sums up to a cycle.
    pub fn bring_up(&mut self, cycle: u64, room: [u64; 2]) {
        for half in &mut self.halves {
            for (queue, room) in half.queues.iter_mut().zip(room) {
                *queue = queue.at(cycle, room);
            }
            let levels = half.modes.iter_mut().chain(&mut half.clock_on).chain([&mut half.buffer]);
            levels.for_each(|gauge| *gauge = gauge.at(cycle, ENDLESS));
        }
        let levels = self.throttled.iter_mut().chain([&mut self.critical]);
        self.buffer = self.buffer.at(cycle);
        levels.for_each(|gauge| *gauge = gauge.at(cycle, ENDLESS));
        for gauge in [&mut self.down, &mut self.refreshing] {
            *gauge = gauge.at(cycle, HALVES);
        }
    }

    /// RDB_FULL: cycles in which reads of both halves have more than so many entries of the buffer, after
    /// [`ChannelCells::bring_up`].
    pub fn more_buffered_than(&self, entries: u64) -> u64 {
        self.buffer.more_than(entries)
    }

    /// The count of an event of the memory controller, after [`ChannelCells::bring_up`].
    pub fn value(&self, event: &str, subevent: &str) -> Option<u64> {
        if let Some(gauge) = self.level(event, subevent) {
            return gauge;
        }
        let (name, halves) = self.of_halves(subevent);
        // The halves are part of the name of some events.
        let (event, halves) = match event.split_once("_PCH") {
            Some((event, half)) => (event, &self.halves[half.parse::<usize>().ok()?..][..1]),
            None => (event, halves),
        };
        let sum = |of: &dyn Fn(&HalfCells) -> u64| Some(halves.iter().map(of).sum());
        match (event, name) {
            ("CAS_COUNT", "PCH" | "ALL") | ("CAS_ISSUED_REQ_LEN", "PCH") => sum(&|half| half.columns(&EVERY_COLUMN)),
            // Commands that close their row and those that leave it open are counted apart.
            ("CAS_COUNT", "RD_PRE_REG") => sum(&|half| half.closing[Column::Read as usize]),
            ("CAS_COUNT", "RD_PRE_UNDERFILL") => sum(&|half| half.closing[Column::Underfill as usize]),
            ("CAS_COUNT", "WR_PRE") => sum(&|half| half.closing[Column::Write as usize]),
            ("CAS_COUNT", "RD_REG") => sum(&|half| half.leaving_open(Column::Read)),
            ("CAS_COUNT", "RD_UNDERFILL") => sum(&|half| half.leaving_open(Column::Underfill)),
            ("CAS_COUNT", "WR_NONPRE") => sum(&|half| half.leaving_open(Column::Write)),
            ("CAS_ISSUED_REQ_LEN", "RD_64B") => sum(&|half| half.columns(&[Column::Read])),
            ("CAS_ISSUED_REQ_LEN", "RD_UFILL_64B") => sum(&|half| half.columns(&[Column::Underfill])),
            ("CAS_COUNT", "RD") => sum(&|half| half.columns(&READS)),
            ("CAS_COUNT", "WR") | ("CAS_ISSUED_REQ_LEN", "WR_64B") => sum(&|half| half.columns(&WRITES)),
            // A subchannel moves a whole line in one burst of 16: every command is of 64 bytes.
            ("CAS_ISSUED_REQ_LEN", "RD_32B" | "RD_UFILL_32B" | "WR_32B") => Some(0),
            ("CAS_MM", "RD_RMM") => sum(&|half| half.in_mode(&READS, 0)),
            ("CAS_MM", "RD_WMM") => sum(&|half| half.in_mode(&READS, 1)),
            ("CAS_MM", "WR_RMM") => sum(&|half| half.in_mode(&WRITES, 0)),
            ("CAS_MM", "WR_WMM") => sum(&|half| half.in_mode(&WRITES, 1)),
            ("RD_CAS_PRIO", "NORMAL") => sum(&|half| half.of_age(&READS, 0)),
            ("RD_CAS_PRIO", "CRITICAL") => sum(&|half| half.of_age(&READS, ISOCHRONOUS)),
            ("RD_CAS_PRIO", "STARVED") => sum(&|half| half.of_age(&READS, 1)),
            ("WR_CAS_PRIO", "NORMAL") => sum(&|half| half.of_age(&WRITES, 0)),
            ("WR_CAS_PRIO", "STARVED") => sum(&|half| half.of_age(&WRITES, 1)),
            ("ACT_COUNT", "ALL") | ("ACT_PRIO", "PCH") => sum(&|half| half.opened(&Lane::ALL)),
            ("ACT_COUNT", "RD") => sum(&|half| half.opened(&READ_LANES)),
            ("ACT_COUNT", "WR") => sum(&|half| half.opened(&[Lane::Writes])),
            ("ACT_COUNT", "UFILL") => sum(&|half| half.opened(&[Lane::Underfills])),
            // Isochronous writes are sent with the others (Table 2-137: by priority).
            ("ACT_PRIO", "RD_CRITICAL") => sum(&|half| half.opened(&[Lane::Isochronous])),
            ("ACT_PRIO", "WR_CRITICAL") => Some(0),
            // Underfills are reads here, too.
            ("ACT_PRIO", "RD_NORMAL") => sum(&|half| half.opened_at_age(&[Lane::Reads, Lane::Underfills], 0)),
            ("ACT_PRIO", "RD_STARVED") => sum(&|half| half.opened_at_age(&[Lane::Reads, Lane::Underfills], 1)),
            ("ACT_PRIO", "WR_NORMAL") => sum(&|half| half.opened_at_age(&[Lane::Writes], 0)),
            ("ACT_PRIO", "WR_STARVED") => sum(&|half| half.opened_at_age(&[Lane::Writes], 1)),
            ("PRE_COUNT", "RD") => sum(&|half| half.closed(&READ_LANES)),
            ("PRE_COUNT", "WR") => sum(&|half| half.closed(&[Lane::Writes])),
            ("PRE_COUNT", "UFILL") => sum(&|half| half.closed(&[Lane::Underfills])),
            ("PRE_COUNT", "PGT") => sum(&|half| half.idle),
            ("PRE_COUNT", "ALL") => sum(&|half| half.closed(&Lane::ALL) + half.idle),
            ("DRAM_PRE_ALL", "PCH" | "ALL") => sum(&|half| half.all),
            ("DRAM_REFRESH", "HIGH" | "HIGH_ALL") => sum(&|half| half.refreshes[0]),
            ("DRAM_REFRESH", "PANIC" | "PANIC_ALL") => sum(&|half| half.refreshes[1]),
            ("WPQ_READ_HIT", "PCH") => sum(&|half| half.forwards),
            ("WPQ_WRITE_HIT", "PCH") => sum(&|half| half.merges),
            ("PREEMPTION", "RD") => sum(&|half| half.preempted[Pending::Reads as usize]),
            ("PREEMPTION", "WR") => sum(&|half| half.preempted[Pending::Writes as usize]),
            ("MAJOR_MODE_CHANGE", "PW_TO_PR") => sum(&|half| half.changes[0]),
            ("MAJOR_MODE_CHANGE", "PR_TO_PW") => sum(&|half| half.changes[1]),
            ("PREEMPTION_MM_SWITCH", "RMM") => sum(&|half| half.switches[0]),
            ("PREEMPTION_MM_SWITCH", "WMM") => sum(&|half| half.switches[1]),
            ("ECC_CORRECTABLE_ERRORS", "") => Some(self.corrected),
            _ => None,
        }
    }

    /// A subevent's name without the half that it names, and that half, or both; of one that names nothing else, `PCH`.
    fn of_halves<'a>(&self, subevent: &'a str) -> (&'a str, &[HalfCells]) {
        let (name, half) = match subevent {
            "PCH0" => ("PCH", 0),
            "PCH1" => ("PCH", 1),
            _ => match subevent.rsplit_once("_PCH") {
                Some((name, "0")) => (name, 0),
                Some((name, "1")) => (name, 1),
                _ => return (subevent, &self.halves),
            },
        };
        (name, &self.halves[half..=half])
    }

    /// The count of an event about something that lasts.
    fn level(&self, event: &str, subevent: &str) -> Option<Option<u64>> {
        let half = |name: &str| name.ends_with('1') as usize;
        let queue = if event.starts_with("WPQ") { Pending::Writes } else { Pending::Reads } as usize;
        let of = |half: usize| &self.halves[half].queues[queue];
        Some(match (event, subevent) {
            ("RPQ_INSERTS" | "WPQ_INSERTS", "PCH0" | "PCH1") => Some(of(half(subevent)).entries),
            // Requests are of low priority, or isochronous (Tables 2-165 and 2-179).
            ("RPQ_PRIO" | "WPQ_PRIO", "PCH0_LOW") => Some(of(0).entries - self.halves[0].isochronous[queue]),
            ("RPQ_PRIO" | "WPQ_PRIO", "PCH1_LOW") => Some(of(1).entries - self.halves[1].isochronous[queue]),
            ("RPQ_PRIO" | "WPQ_PRIO", "PCH0_CRIT") => Some(self.halves[0].isochronous[queue]),
            ("RPQ_PRIO" | "WPQ_PRIO", "PCH1_CRIT") => Some(self.halves[1].isochronous[queue]),
            ("RPQ_CYCLES_NE" | "WPQ_CYCLES_NE", "PCH0" | "PCH1") => Some(of(half(subevent)).nonempty),
            ("RPQ_OCCUPANCY_PCH0" | "RPQ_OCCUPANCY_PCH1" | "WPQ_OCCUPANCY_PCH0" | "WPQ_OCCUPANCY_PCH1", "") => {
                Some(of(half(event)).occupied)
            }
            ("RPQ_CYCLES_FULL_PCH0" | "RPQ_CYCLES_FULL_PCH1" | "WPQ_CYCLES_FULL_PCH0" | "WPQ_CYCLES_FULL_PCH1", "") => {
                Some(of(half(event)).full)
            }
            ("RDB_INSERTS", "ALL") => Some(self.halves.iter().map(|half| half.buffer.entries).sum()),
            ("RDB_INSERTS", "PCH0" | "PCH1") => Some(self.halves[half(subevent)].buffer.entries),
            ("RDB_OCCUPANCY", "") => Some(self.halves.iter().map(|half| half.buffer.occupied).sum()),
            ("RDB_NE", "ALL") | ("RDB_NOT_EMPTY", "") => Some(self.buffer.more_than(0)),
            ("RDB_NE", "PCH0" | "PCH1") => Some(self.halves[half(subevent)].buffer.nonempty),
            ("MAJOR_MODES", "PREF_RD") => Some(self.halves.iter().map(|half| half.modes[0].occupied).sum()),
            ("MAJOR_MODES", "PREF_WR") => Some(self.halves.iter().map(|half| half.modes[1].occupied).sum()),
            ("POWER_THROTTLE_CYCLES", "SLOT0" | "SLOT1") => Some(self.throttled[half(subevent)].nonempty),
            ("POWER_CRIT_THROTTLE_CYCLES", "SLOT0" | "SLOT1") => Some(self.critical.nonempty),
            ("POWER_SELF_REFRESH", "") => Some(self.refreshing.full),
            ("POWER_CHANNEL_PPD", "") => Some(self.down.full),
            ("POWER_CKE_CYCLES", _) => {
                let number: usize = subevent.strip_prefix("LOW_")?.parse().ok()?;
                Some(self.halves.get(number / 2)?.clock_on[number % 2].occupied)
            }
            _ => return None,
        })
    }
}
