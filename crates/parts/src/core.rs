//! A core: private caches and line-fill buffers, and what the threads that run on it wait for.

use pericore_engine::search::matches;

use super::RequestId;
use super::cache::{Cache, Evicted, Right};
use super::line::LINE_BYTES;
use super::program::Pause;
use super::request_port::RequestPort;

/// Sets of the L1 data cache: 32 KB in 8 ways (Intel optimization manual, Sandy Bridge).
const L1_SETS: usize = 64;
/// Sets of the L2: 256 KB in 8 ways (same).
const L2_SETS: usize = 512;
/// Bytes of the L2.
pub const L2_BYTES: u64 = L2_SETS as u64 * 8 * 64;
/// Bytes of a page, which no prefetcher leaves.
const PAGE_BYTES: u64 = 4096;
const FREE: u32 = u32::MAX;
/// Line-fill buffers of a core at most.
pub const MOST_FILL_BUFFERS: u64 = 16;
const MOST_BUFFERS: usize = MOST_FILL_BUFFERS as usize;

/// Why a thread does not issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadState {
    /// It has an event under way.
    Running,
    /// It waits for a buffer.
    ForBuffer,
    /// It waits for the data of a request.
    ForData(RequestId),
    /// It waits for the program that it runs to give it an access.
    ForAccess,
    /// It has issued all its accesses.
    Finished,
}

impl ThreadState {
    /// Ends a wait for an access; true if it is one.
    #[inline]
    pub fn rouse(&mut self) -> bool {
        let waits = *self == Self::ForAccess;
        if waits {
            *self = Self::Running;
        }
        waits
    }
}

impl From<Pause> for ThreadState {
    fn from(why: Pause) -> Self {
        match why {
            Pause::ForBuffer => Self::ForBuffer,
            Pause::ForAccess => Self::ForAccess,
            Pause::Over => Self::Finished,
        }
    }
}

/// Where an access finds its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// In the L1.
    L1,
    /// In the L2.
    L2,
    /// Not there, or without the right to write.
    Miss,
}

/// How a miss gets a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffer {
    /// A new one: a request must go out.
    Taken,
    /// The line is already on its way and will do.
    Joined,
    /// It must wait.
    Full,
}

/// How far an L2's prefetcher lets a core run ahead along the pages that it walks through in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streamer {
    /// Lines of a core under way at most, with those of its line-fill buffers: entries of the L2's queue of misses.
    pub queue: u8,
    /// Lines of one page under way at most.
    pub ahead: u8,
}

/// Private caches and buffers of a core.
#[derive(Debug)]
pub struct Core {
    /// First level, for data.
    pub l1: Cache<L1_SETS>,
    /// Second level.
    pub l2: Cache<L2_SETS>,
    /// Lines on their way.
    buffers: [u32; MOST_BUFFERS],
    /// Buffers in use.
    used: u32,
    /// Buffers whose line will come with the right to write.
    writable: u32,
    /// Buffers whose line the LLC has given to the core: its data is on the way.
    given: u32,
    /// Of those, what others have asked for since: they come for reading only, or to be given up at once.
    lowered: u32,
    lost: u32,
    all: u32,
    /// Writebacks under way.
    pub writebacks: u8,
    /// Where its requests leave for the ring.
    pub port: RequestPort,
}

impl Core {
    /// A core with empty caches.
    pub fn new(fill_buffers: u8) -> Self {
        Self {
            l1: Cache::new(),
            l2: Cache::new(),
            buffers: [FREE; MOST_BUFFERS],
            used: 0,
            writable: 0,
            given: 0,
            lowered: 0,
            lost: 0,
            all: (1 << fill_buffers) - 1,
            writebacks: 0,
            port: RequestPort::default(),
        }
    }

    /// Looks an access up, and moves its line to the L1 if it is found. Also gives the line that must be written back for it.
    #[inline(always)]
    pub fn access(&mut self, line: u32, store: bool) -> (Level, Option<Evicted>) {
        if let Some(found) = self.l1.find(line) {
            if store {
                if self.l1.right(found) == Right::Shared {
                    return (Level::Miss, None);
                }
                self.l1.set_right(found, Right::Modified);
            }
            self.l1.touch(found);
            return (Level::L1, None);
        }
        let Some(found) = self.l2.find(line) else { return (Level::Miss, None) };
        let right = self.l2.right(found);
        if store && right == Right::Shared {
            return (Level::Miss, None);
        }
        self.l2.touch(found);
        let right = if store { Right::Modified } else { right.min(Right::Exclusive) };
        (Level::L2, self.insert_l1(line, right))
    }

    /// Gets a line-fill buffer for a miss.
    #[inline]
    pub fn take_buffer(&mut self, line: u32, store: bool) -> Buffer {
        self.join(line, store).unwrap_or_else(|| self.occupy(self.all & !self.used, line, store))
    }

    /// What becomes of an access to a line that is under way; `None` if it is not.
    #[inline]
    fn join(&self, line: u32, store: bool) -> Option<Buffer> {
        let same = matches(&self.buffers, u32::MAX, line);
        let will_do = !store || same & self.writable != 0;
        (same != 0).then_some(if will_do { Buffer::Joined } else { Buffer::Full })
    }

    /// Gives a line the first of these buffers, if there is one.
    #[inline]
    fn occupy(&mut self, free: u32, line: u32, store: bool) -> Buffer {
        if free == 0 {
            return Buffer::Full;
        }
        let index = free.trailing_zeros();
        self.buffers[index as usize] = line;
        self.used |= 1 << index;
        self.writable |= u32::from(store) << index;
        Buffer::Taken
    }

    /// Gets a buffer for a miss of a thread that an L2's prefetcher runs ahead of: a line of a page of which others are
    /// under way has the L2's queue, the first of a page needs a line-fill buffer.
    #[inline]
    pub fn take_streamed(&mut self, line: u32, store: bool, streamer: Streamer) -> Buffer {
        self.join(line, store).unwrap_or_else(|| {
            let free = if self.has_room(line, streamer) { !self.used } else { 0 };
            self.occupy(free, line, store)
        })
    }

    /// True if there is a buffer for a line that is not under way.
    #[inline]
    fn has_room(&self, line: u32, streamer: Streamer) -> bool {
        const IN_PAGE: u32 = (PAGE_BYTES / LINE_BYTES) as u32 - 1;
        let (under_way, fill_buffers) = (self.used.count_ones(), self.all.count_ones());
        let ahead = matches(&self.buffers, !IN_PAGE, line & !IN_PAGE).count_ones();
        if ahead == 0 {
            return under_way < fill_buffers;
        }
        // A core with more fill buffers than the queue has entries uses them all.
        ahead < fill_buffers.max(streamer.ahead.into()) && under_way < fill_buffers.max(streamer.queue.into())
    }

    /// True if a line is neither under way nor has a buffer to be had.
    #[inline]
    pub fn is_full_for(&self, line: u32, streamer: Streamer) -> bool {
        !self.has_room(line, streamer) && !self.expects(line)
    }

    /// True if all line-fill buffers are taken, none of them by a line.
    #[inline]
    pub fn is_full(&self, line: u32) -> bool {
        self.used == self.all && matches(&self.buffers, u32::MAX, line) == 0
    }

    /// A line has come: gives its buffer back and fills the caches. Gives the lines that must be written back for it.
    #[inline(always)]
    pub fn fill(&mut self, line: u32, right: Right) -> [Option<Evicted>; 2] {
        let Some(right) = self.receive(line, right) else { return [None; 2] };
        let from_l2 = self.l2.put(line, right.min(Right::Exclusive)).filter(|evicted| evicted.right == Right::Modified);
        [from_l2, self.insert_l1(line, right)]
    }

    /// A line has come: its buffer is free. Gives the right to it that is left, if any is.
    #[inline]
    pub fn receive(&mut self, line: u32, right: Right) -> Option<Right> {
        let buffer = self.give_buffer(line);
        if (self.lowered | self.lost) & buffer == 0 {
            return Some(right);
        }
        let lost = self.lost & buffer != 0;
        self.lowered &= !buffer;
        self.lost &= !buffer;
        (!lost).then_some(Right::Shared)
    }

    /// Frees a line's buffer; tells which it was, as a bit.
    #[inline]
    pub fn give_buffer(&mut self, line: u32) -> u32 {
        let buffer = matches(&self.buffers, u32::MAX, line);
        if buffer != 0 {
            self.buffers[buffer.trailing_zeros() as usize] = FREE;
            self.used &= !buffer;
            self.writable &= !buffer;
            self.given &= !buffer;
        }
        buffer
    }

    /// The LLC has given a line to the core, where its data has not come yet. Who asks for it from now on asks for what is on its way.
    #[inline]
    pub fn give(&mut self, line: u32) {
        self.given |= matches(&self.buffers, u32::MAX, line);
    }

    /// The buffer of a line that is on its way, and belongs to the core already.
    fn coming(&self, line: u32) -> u32 {
        if self.given == 0 { 0 } else { matches(&self.buffers, u32::MAX, line) & self.given }
    }

    /// True if a line is on its way.
    #[inline]
    pub fn expects(&self, line: u32) -> bool {
        matches(&self.buffers, u32::MAX, line) != 0
    }

    /// Line-fill buffers that are free.
    #[inline]
    pub const fn free_buffers(&self) -> u32 {
        (self.all & !self.used).count_ones()
    }

    /// True if the L1 has a line.
    #[inline]
    pub fn keeps(&self, line: u32) -> bool {
        self.l1.find(line).is_some()
    }

    /// Takes a line away; true if it was modified. One on its way is used once when it comes.
    #[inline]
    pub fn invalidate(&mut self, line: u32) -> bool {
        let coming = self.coming(line);
        self.lost |= coming;
        let (l1, l2) = (self.l1.remove(line), self.l2.remove(line));
        self.hand_over_write(coming) || l1 == Some(Right::Modified) || l2 == Some(Right::Modified)
    }

    /// Leaves a line for reading only; true if it was modified.
    #[inline]
    pub fn share(&mut self, line: u32) -> bool {
        let coming = self.coming(line);
        self.lowered |= coming;
        let (l1, l2) = (self.l1.share(line), self.l2.share(line));
        self.hand_over_write(coming) || l1 == Some(Right::Modified) || l2 == Some(Right::Modified)
    }

    /// True if a buffer's line comes to be written: the LLC is told once.
    const fn hand_over_write(&mut self, buffer: u32) -> bool {
        let written = self.writable & buffer != 0;
        self.writable &= !buffer;
        written
    }

    /// The lines that the core holds, with the rights to them; some twice.
    pub fn lines(&self) -> impl Iterator<Item = (u32, Right)> + '_ {
        self.l1.lines().chain(self.l2.lines())
    }

    /// Puts a line into the L1, or raises the right to it there. What gives way goes to the L2 if it is modified; what gives way there is the result.
    #[inline]
    pub fn insert_l1(&mut self, line: u32, right: Right) -> Option<Evicted> {
        let evicted = self.l1.put(line, right).filter(|evicted| evicted.right == Right::Modified)?;
        self.l2.put(evicted.line, Right::Modified).filter(|evicted| evicted.right == Right::Modified)
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffer, Core, Level, Right, Streamer};

    #[test]
    fn a_store_needs_the_right_to_write() {
        let mut core = Core::new(10);
        assert_eq!(core.access(5, false).0, Level::Miss);
        core.fill(5, Right::Shared);
        assert_eq!(core.access(5, false).0, Level::L1);
        assert_eq!(core.access(5, true).0, Level::Miss);
        core.fill(5, Right::Modified);
        assert_eq!(core.access(5, true).0, Level::L1);
        assert!(core.share(5));
        assert_eq!(core.access(5, true).0, Level::Miss);
        assert!(!core.invalidate(5));
    }

    #[test]
    fn modified_lines_come_back_out_and_clean_ones_do_not() {
        let mut core = Core::new(10);
        let mut written = 0;
        // Twice the L2: everything in the first half must leave.
        for line in 0..8192 {
            let out = core.fill(line, if line % 2 == 0 { Right::Modified } else { Right::Exclusive });
            written += out.iter().flatten().inspect(|evicted| assert_eq!(evicted.line % 2, 0)).count();
        }
        assert!((1900..=2304).contains(&written), "{written}");
    }

    #[test]
    fn buffers_run_out_and_are_shared_by_accesses_to_one_line() {
        let mut core = Core::new(2);
        assert_eq!(core.take_buffer(1, false), Buffer::Taken);
        assert_eq!(core.take_buffer(1, false), Buffer::Joined);
        assert_eq!(core.take_buffer(1, true), Buffer::Full);
        assert_eq!(core.take_buffer(2, true), Buffer::Taken);
        assert_eq!(core.take_buffer(2, true), Buffer::Joined);
        assert_eq!(core.take_buffer(3, false), Buffer::Full);
        core.fill(1, Right::Exclusive);
        assert_eq!(core.take_buffer(3, false), Buffer::Taken);
    }

    /// Two fill buffers, four entries in the L2's queue, three lines of a page: pages are of 64 lines.
    #[test]
    fn along_a_page_more_is_under_way_than_there_are_fill_buffers() {
        let streamer = Streamer { queue: 4, ahead: 3 };
        let mut core = Core::new(2);
        for line in [64, 65, 66] {
            assert!(!core.is_full_for(line, streamer));
            assert_eq!(core.take_streamed(line, false, streamer), Buffer::Taken);
        }
        // A fourth line of the page is too far ahead, the first of another needs a fill buffer.
        for line in [67, 128] {
            assert!(core.is_full_for(line, streamer));
            assert_eq!(core.take_streamed(line, false, streamer), Buffer::Full);
        }
        assert_eq!(core.take_streamed(65, false, streamer), Buffer::Joined);
        assert_eq!(core.take_streamed(65, true, streamer), Buffer::Full);
        core.fill(64, Right::Exclusive);
        core.fill(65, Right::Exclusive);
        assert_eq!(core.take_streamed(128, true, streamer), Buffer::Taken);
        assert_eq!(core.take_streamed(129, true, streamer), Buffer::Taken);
        assert_eq!(core.take_streamed(130, true, streamer), Buffer::Taken);
        // The L2's queue is full: a page that is walked through has no more room either.
        assert_eq!(core.take_streamed(67, false, streamer), Buffer::Full);
        // What no prefetcher runs ahead of has the fill buffers, and none is free.
        assert_eq!(core.take_buffer(500, false), Buffer::Full);
    }
}
