//! How many requests a core would have under way, where accesses take no virtual time: whether its L2's prefetchers
//! find room depends on it.

use std::collections::VecDeque;

use pericore_engine::search::matches;

use super::dependence::{DataState, MOST_LEFT_BEHIND, Recent, ThreadAccess};
use crate::llc::bits;

/// Buffers that prefetches leave to the program's own misses.
pub const RESERVED: usize = 2;

/// Where an access finds its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundIn {
    /// In its core's L2.
    L2,
    /// In another cache of its socket.
    Cache,
    /// In none of these: memory is read, for the directory at least, also where another socket has the line.
    Memory,
}

/// What accesses take, in core cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cycles {
    /// Until data that is in the L2 can be used.
    pub l2: u64,
    /// For which a request has a buffer if its line is in another cache.
    pub cache: u64,
    /// The same if its line is in memory.
    pub memory: u64,
    /// From one request that leaves the core to the next.
    pub interval: u64,
}

/// A line, and whether a store wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedLine {
    pub line: u32,
    pub to_store: bool,
}

/// Requests that are remembered: more than are under way, since chains of them run side by side.
const REMEMBERED: usize = 32;

/// The requests of a core, by the cycles at which they begin and end. Its cycles are those that its instructions take,
/// and waits for buffers and data as far as it cannot look ahead. Accesses come in the program's order, and not in that
/// of time: one that waits for its address begins later than some that come behind it.
#[derive(Debug, Clone, Default)]
pub struct Buffers {
    now: u64,
    /// When the last access went out.
    start: u64,
    begin: [u64; REMEMBERED],
    /// When each leaves the core. What comes later may fit between two, so that a `RequestPort` will not do.
    leave: [u64; REMEMBERED],
    end: [u64; REMEMBERED],
    lines: [u32; REMEMBERED],
    /// Those that stores want, one bit each.
    to_store: u32,
    next: usize,
    /// Ticks are cycles here.
    recent: Recent,
    /// Cycles that instructions have taken so far.
    taken: u64,
    /// What waits for its address: where it stands, in such cycles, and when it goes out.
    behind: VecDeque<(u64, u64)>,
}

impl Buffers {
    /// So many cycles pass, and an access goes out when what its address is made of is there. The core does not go on
    /// before what stands more than `ahead` cycles of instructions before that has gone out.
    pub fn pass(&mut self, cycles: u64, ahead: u64, demand: Option<ThreadAccess>) {
        self.now = self.now.saturating_add(cycles);
        self.taken = self.taken.saturating_add(cycles);
        while let Some(&(place, start)) = self.behind.front()
            && (self.taken - place >= ahead || self.behind.len() > MOST_LEFT_BEHIND)
        {
            self.now = self.now.max(start);
            self.behind.pop_front();
        }
        let known = self.recent.state(demand.map_or(0, |demand| demand.after));
        self.start = if let DataState::Since(cycle) = known { self.now.max(cycle) } else { self.now };
    }

    /// The access finds its line, and waits for one of `most` buffers if need be. False if the L2 has its data: not if
    /// the line is still under way there. A store to a line that a load has requested has the store buffer until that
    /// has come, and finds it in the L2.
    pub fn access(
        &mut self,
        most: usize,
        want: WantedLine,
        found: FoundIn,
        demand: Option<ThreadAccess>,
        c: Cycles,
    ) -> bool {
        let mut requests = bits(matches(&self.lines, u32::MAX, want.line));
        let mut under_way = requests.find(|&request| self.end[request] > self.start);
        if let Some(request) = under_way
            && want.to_store
            && self.to_store & 1 << request == 0
        {
            (self.start, under_way) = (self.end[request], None);
        }
        let (data, misses) = match (found, under_way) {
            (_, Some(request)) => (self.end[request], true),
            (FoundIn::L2, None) => (self.start.saturating_add(c.l2), false),
            (FoundIn::Cache | FoundIn::Memory, None) => {
                if self.under_way() >= most {
                    let busy = self.begin.iter().zip(&self.end).filter(|&(&begin, &end)| self.is_busy(begin, end));
                    self.start = busy.map(|(_, &end)| end).min().unwrap_or(self.start);
                    self.now = self.now.max(self.start);
                }
                (self.send(want, found, c), true)
            }
        };
        if let Some(demand) = demand {
            self.recent.note(demand.number, DataState::Since(data));
        }
        if self.start > self.now {
            self.behind.push_back((self.taken, self.start));
        }
        misses
    }

    /// A prefetch that finds room requests a line.
    pub fn prefetch(&mut self, want: WantedLine, found: FoundIn, c: Cycles) {
        self.send(want, found, c);
    }

    /// True if a prefetch finds room among so many buffers.
    pub fn has_room(&self, most: usize) -> bool {
        self.under_way() + RESERVED < most
    }

    const fn is_busy(&self, begin: u64, end: u64) -> bool {
        begin <= self.start && self.start < end
    }

    /// Requests that have a buffer as the last access goes out.
    fn under_way(&self) -> usize {
        self.begin.iter().zip(&self.end).filter(|&(&begin, &end)| self.is_busy(begin, end)).count()
    }

    /// A request goes out, so many cycles from any other; when it ends.
    fn send(&mut self, want: WantedLine, found: FoundIn, c: Cycles) -> u64 {
        let cycles = match found {
            FoundIn::L2 => c.l2,
            FoundIn::Cache => c.cache,
            FoundIn::Memory => c.memory,
        };
        let mut leave = self.start;
        let takes = |leave: u64| move |&(&other, &end): &(&u64, &u64)| other.abs_diff(leave) < c.interval && end != 0;
        // No more others than there are can be in the way, also at the end of time.
        for _ in 0..REMEMBERED {
            let Some((&other, _)) = self.leave.iter().zip(&self.end).find(takes(leave)) else { break };
            leave = other.saturating_add(c.interval);
        }
        let end = leave.saturating_add(cycles);
        let request = self.next;
        (self.begin[request], self.leave[request], self.end[request]) = (self.start, leave, end);
        self.lines[request] = want.line;
        self.to_store = self.to_store & !(1 << request) | u32::from(want.to_store) << request;
        self.next = (self.next + 1) % REMEMBERED;
        end
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffers, Cycles, FoundIn, MOST_LEFT_BEHIND, WantedLine};
    use crate::program::dependence::ThreadAccess;

    const CYCLES: Cycles = Cycles { l2: 10, cache: 30, memory: 200, interval: 5 };
    const AHEAD: u64 = 80;

    const fn load(line: u32) -> WantedLine {
        WantedLine { line, to_store: false }
    }

    /// Of four buffers two are left to accesses: prefetches have room while three or more are free.
    #[test]
    fn prefetches_leave_two_buffers_to_accesses() {
        let mut buffers = Buffers::default();
        assert!(buffers.has_room(4));
        buffers.prefetch(load(1), FoundIn::Memory, CYCLES);
        assert!(buffers.has_room(4));
        assert!(buffers.access(4, load(2), FoundIn::Cache, None, CYCLES));
        assert!(!buffers.has_room(4));
        buffers.pass(34, AHEAD, None);
        assert!(!buffers.has_room(4));
        buffers.pass(1, AHEAD, None);
        assert!(buffers.has_room(4), "the line from the LLC has come 30 cycles after it left, 5 after the other");
    }

    /// The fifth of four accesses, one in 10 cycles, goes out when the first has come, which left at 10 and was under
    /// way for 200. The core waits with it.
    #[test]
    fn accesses_wait_for_buffers() {
        let mut buffers = Buffers::default();
        for line in 0..5 {
            buffers.pass(10, AHEAD, None);
            assert!(buffers.access(4, load(line), FoundIn::Memory, None, CYCLES));
        }
        assert_eq!((buffers.start, buffers.now), (210, 210));
    }

    /// A core looks 80 cycles ahead of what waits for its address, which comes from memory at 210.
    #[test]
    fn a_core_looks_ahead_so_far() {
        let mut buffers = Buffers::default();
        let of = |number, after| Some(ThreadAccess { thread: 0, number, after });
        for (line, demand) in [(1, of(1, 0)), (2, of(2, 1))] {
            buffers.pass(10, AHEAD, demand);
            assert!(buffers.access(4, load(line), FoundIn::Memory, demand, CYCLES));
        }
        buffers.pass(79, AHEAD, None);
        assert_eq!((buffers.start, buffers.now), (99, 99));
        buffers.pass(1, AHEAD, None);
        assert_eq!((buffers.start, buffers.now), (210, 210));
    }

    /// A trace may say that no instructions come between accesses, or all that there can be.
    #[test]
    fn what_no_program_does_ends_too() {
        let mut buffers = Buffers::default();
        let of = |number, after| Some(ThreadAccess { thread: 0, number, after });
        for number in 1..1000 {
            buffers.pass(0, AHEAD, of(number, number - 1));
            buffers.access(4, load(number as u32), FoundIn::Memory, of(number, number - 1), CYCLES);
        }
        assert!(buffers.behind.len() <= MOST_LEFT_BEHIND + 1 && buffers.now > 190_000);
        for line in 0..100 {
            buffers.pass(u64::MAX, AHEAD, None);
            buffers.access(4, load(line), FoundIn::Memory, None, CYCLES);
        }
        assert_eq!(buffers.now, u64::MAX);
    }

    /// They leave 5 cycles apart, those of one access and of others.
    #[test]
    fn requests_leave_one_by_one() {
        let mut buffers = Buffers::default();
        assert!(buffers.access(4, load(1), FoundIn::Cache, None, CYCLES));
        (2..4).for_each(|line| buffers.prefetch(load(line), FoundIn::Cache, CYCLES));
        buffers.pass(2, AHEAD, None);
        buffers.access(4, load(4), FoundIn::Cache, None, CYCLES);
        assert_eq!((&buffers.begin[..4], &buffers.end[..4]), (&[0, 0, 0, 2][..], &[30, 35, 40, 45][..]));
    }

    /// What goes out at 10 does not wait for the buffers of a chain that goes on at 200.
    #[test]
    fn chains_run_side_by_side() {
        let mut buffers = Buffers::default();
        let of = |number, after| Some(ThreadAccess { thread: 0, number, after });
        buffers.access(1, load(1), FoundIn::Memory, of(1, 0), CYCLES);
        buffers.pass(0, AHEAD, of(2, 1));
        buffers.access(1, load(2), FoundIn::Memory, of(2, 1), CYCLES);
        assert_eq!((buffers.start, buffers.now), (200, 0));
        buffers.pass(10, AHEAD, of(3, 0));
        assert!(buffers.under_way() == 1 && !buffers.has_room(3) && buffers.has_room(4));
        buffers.access(2, load(3), FoundIn::Cache, of(3, 0), CYCLES);
        assert_eq!((buffers.start, buffers.now), (10, 10));
    }

    /// One that waits for data goes out later, and those behind it do not.
    #[test]
    fn accesses_wait_for_data_and_not_for_each_other() {
        let mut buffers = Buffers::default();
        let of = |number, after| Some(ThreadAccess { thread: 0, number, after });
        for (demand, start) in [(of(1, 0), 10), (of(2, 1), 40), (of(3, 0), 30), (of(4, 2), 70)] {
            buffers.pass(10, AHEAD, demand);
            assert_eq!(buffers.start, start);
            buffers.access(4, load(start as u32), FoundIn::Cache, demand, CYCLES);
        }
    }

    /// A prefetched line is in the L2 when its data has come, and not before: at 30, not at 20.
    #[test]
    fn a_line_that_is_under_way_is_missed() {
        let mut buffers = Buffers::default();
        buffers.prefetch(load(7), FoundIn::Cache, CYCLES);
        buffers.pass(20, AHEAD, None);
        assert!(buffers.access(4, load(7), FoundIn::L2, None, CYCLES));
        buffers.pass(10, AHEAD, None);
        assert!(!buffers.access(4, load(7), FoundIn::L2, None, CYCLES));
    }

    /// What a load has requested is stored to when it has come, and no sooner, and the core goes on; what a store has
    /// requested is missed as by a load.
    #[test]
    fn a_store_waits_for_a_loads_line() {
        let store = |line| WantedLine { line, to_store: true };
        let mut buffers = Buffers::default();
        assert!(buffers.access(4, load(7), FoundIn::Cache, None, CYCLES));
        assert!(buffers.access(4, store(8), FoundIn::Cache, None, CYCLES));
        assert!(buffers.access(4, store(8), FoundIn::L2, None, CYCLES) && buffers.now == 0);
        assert!(!buffers.access(4, store(7), FoundIn::L2, None, CYCLES));
        assert_eq!((buffers.start, buffers.now), (30, 0));
    }
}
