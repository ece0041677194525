//! A core's caches when its first level is the program's tracer: the L2 does its work, and the L1 only remembers which lines are dirty
//! there, so that snoops and evictions find them.

use super::Reached;
use super::buffers::RESERVED;
use crate::cache::{Evicted, Right};
use crate::core::{Buffer, Core};

impl Core {
    /// Looks up an access that missed the first level. True with [`Reached::Miss`] if a request must go out for it.
    #[inline]
    pub fn reach_l2(&mut self, line: u32, store: bool) -> (Reached, bool) {
        if self.access_l2(line, store) {
            return (Reached::Hit, false);
        }
        match self.take_buffer(line, store) {
            Buffer::Taken => (Reached::Miss, true),
            Buffer::Joined => (Reached::Miss, false),
            Buffer::Full => (Reached::NoBuffer, false),
        }
    }

    /// Gets a buffer for a prefetch; false if there is no need or no room.
    #[inline]
    pub fn take_prefetch(&mut self, line: u32, store: bool) -> bool {
        self.free_buffers() > RESERVED as u32
            && self.l2.find(line).is_none()
            && !self.expects(line)
            && self.take_buffer(line, store) == Buffer::Taken
    }

    /// Looks up an access that missed the first level. False if a request must go out.
    pub fn access_l2(&mut self, line: u32, store: bool) -> bool {
        let Some(found) = self.l2.find(line) else { return false };
        if store && self.l2.right(found) == Right::Shared {
            return false;
        }
        self.l2.touch(found);
        true
    }

    /// The first level's copy of a line is written to. What gives way for it in the L2 must be written back.
    ///
    /// The tracer drops lines without a word when a process ends, and its caches are a thread's, not a core's: then more lines can be
    /// dirty than fit, and the oldest go to the L2.
    #[inline]
    pub fn dirty_l1(&mut self, line: u32) -> Option<Evicted> {
        self.insert_l1(line, Right::Modified)
    }

    /// The first level gives a dirty line up. What gives way for it in the L2 must be written back.
    #[inline]
    pub fn write_back_l1(&mut self, line: u32) -> Option<Evicted> {
        // A snoop or an eviction has taken the data already if the line is not dirty here any more.
        self.l1.remove(line).filter(|&right| right == Right::Modified)?;
        self.l2.put(line, Right::Modified).filter(|evicted| evicted.right == Right::Modified)
    }

    /// A line has come: gives its buffer back and fills the L2. What gives way must be written back.
    #[inline]
    pub fn fill_l2(&mut self, line: u32, right: Right) -> Option<Evicted> {
        let right = self.receive(line, right)?;
        // A store's line is dirty in the first level only.
        self.l2.put(line, right.min(Right::Exclusive)).filter(|evicted| evicted.right == Right::Modified)
    }
}

#[cfg(test)]
mod tests {
    use super::{Core, Reached};

    /// A line that is under way, or in the L2, needs no prefetch; of ten buffers two are left to accesses.
    #[test]
    fn prefetches_bring_what_is_neither_there_nor_under_way() {
        let mut core = Core::new(10);
        assert_eq!(core.reach_l2(1, false), (Reached::Miss, true));
        assert!(!core.take_prefetch(1, false), "under way for an access");
        assert!(core.take_prefetch(2, false) && !core.take_prefetch(2, false), "under way for a prefetch");
        core.fill_l2(1, crate::cache::Right::Exclusive);
        assert!(!core.take_prefetch(1, false), "in the L2");
        assert_eq!((3..20).filter(|&line| core.take_prefetch(line, false)).count(), 7);
        assert_eq!(core.reach_l2(50, false), (Reached::Miss, true));
    }
}
