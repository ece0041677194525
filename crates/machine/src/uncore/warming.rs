//! Whose turn it is while caches are filled by function, and when they are full.

use crate::workload::Access;

/// Accesses that a thread makes in a turn. Dependent loads make one: they come as much slower.
const IN_A_TURN: u32 = 16;
/// Lines that are filled for each line that the caches hold, in sixteenths: replacement does not go round evenly.
const FILLED: u64 = 24;
/// Turns without a miss, for each thread, after which all lines of the workload are in caches.
const ALL_HITS: u32 = 4096;

/// The order of the accesses that fill caches.
#[derive(Debug)]
pub struct Turns {
    /// Misses that are still to be made.
    remaining: u64,
    threads: usize,
    thread: usize,
    /// Accesses left of the turn.
    left: u32,
    /// Turns since the last miss.
    hits: u32,
}

impl Turns {
    /// For caches of so many bytes in all.
    pub const fn new(bytes: u64, threads: usize) -> Self {
        Self { remaining: bytes / 64 * FILLED / 16, threads, thread: 0, left: IN_A_TURN, hits: 0 }
    }

    /// The thread that makes the next access, until the caches are full or hold all that the workload reaches.
    pub const fn next(&mut self) -> Option<usize> {
        if self.threads == 0 || self.remaining == 0 || self.hits > ALL_HITS * self.threads as u32 {
            return None;
        }
        if self.left == 0 {
            self.thread = (self.thread + 1) % self.threads;
            self.left = IN_A_TURN;
            self.hits += 1;
        }
        self.left -= 1;
        Some(self.thread)
    }

    /// The access was made, and missed the core's caches or not.
    pub const fn made(&mut self, access: Access, missed: bool) {
        if missed {
            self.remaining -= 1;
            self.hits = 0;
        }
        if access.blocking {
            self.left = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Turns;
    use crate::workload::Access;

    const LOAD: Access = Access { address: 0, store: false, whole: false, blocking: false };

    #[test]
    fn threads_take_turns_until_the_caches_are_full() {
        // 64 lines: 96 misses.
        let mut turns = Turns::new(64 * 64, 2);
        let mut made = [0; 2];
        while let Some(thread) = turns.next() {
            made[thread] += 1;
            turns.made(Access { blocking: thread == 0, ..LOAD }, true);
        }
        assert_eq!(made, [6, 90], "five rounds of 1 and 16, then 1 and 10");
    }

    #[test]
    fn what_fits_ends_the_filling() {
        let mut turns = Turns::new(1 << 40, 1);
        let mut made = 0_u64;
        while turns.next().is_some() {
            turns.made(LOAD, made < 100);
            made += 1;
        }
        assert!((65_536..70_000).contains(&made), "{made}");
        assert_eq!(Turns::new(1 << 20, 0).next(), None);
    }
}
