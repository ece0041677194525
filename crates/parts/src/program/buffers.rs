//! How many requests a core would have under way, where accesses take no virtual time: whether its L2's prefetchers
//! find room depends on it.

/// Requests that a core can have under way at most.
const MOST: usize = 16;
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

/// The buffers of a core, by the cycle at which each is free again. Its cycles are those that its instructions take,
/// and waits for buffers and data.
#[derive(Debug, Clone, Default)]
pub struct Buffers {
    now: u64,
    free_at: [u64; MOST],
    /// When the data of the last access has come.
    last_data: u64,
}

impl Buffers {
    /// So many cycles pass; if the next access waits for data, until that has come.
    pub fn pass(&mut self, cycles: u64, waits: bool) {
        self.now = self.now.saturating_add(cycles);
        if waits {
            self.now = self.now.max(self.last_data);
        }
    }

    /// An access requests a line of such a place; waits for one of the first `most` buffers if need be.
    pub fn request(&mut self, most: usize, found: FoundIn, cycles: [u64; 2]) {
        let buffers = &mut self.free_at[..most.clamp(1, MOST)];
        if let Some(first) = buffers.iter_mut().min() {
            self.now = self.now.max(*first);
            *first = self.now.saturating_add(Self::latency(found, cycles));
            self.last_data = *first;
        }
    }

    /// A prefetch does, if there is room.
    pub fn prefetch(&mut self, most: usize, found: FoundIn, cycles: [u64; 2]) {
        let now = self.now;
        if let Some(free) = self.free_at[..most.clamp(1, MOST)].iter_mut().find(|at| **at <= now) {
            *free = now.saturating_add(Self::latency(found, cycles));
        }
    }

    /// True if a prefetch finds room.
    pub fn has_room(&self, most: usize) -> bool {
        let buffers = &self.free_at[..most.clamp(1, MOST)];
        buffers.iter().filter(|&&at| at <= self.now).count() > RESERVED
    }

    const fn latency(found: FoundIn, [cache, memory]: [u64; 2]) -> u64 {
        match found {
            FoundIn::L2 => 0,
            FoundIn::Cache => cache,
            FoundIn::Memory => memory,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffers, FoundIn};

    const LATENCIES: [u64; 2] = [30, 200];

    /// Of four buffers two are left to accesses: prefetches have room while three or more are free.
    #[test]
    fn prefetches_leave_two_buffers_to_accesses() {
        let mut buffers = Buffers::default();
        assert!(buffers.has_room(4));
        buffers.prefetch(4, FoundIn::Memory, LATENCIES);
        assert!(buffers.has_room(4));
        buffers.request(4, FoundIn::Cache, LATENCIES);
        assert!(!buffers.has_room(4));
        buffers.pass(29, false);
        assert!(!buffers.has_room(4));
        buffers.pass(1, false);
        assert!(buffers.has_room(4), "the line from the LLC has come after 30 cycles");
    }

    /// The fifth of four accesses waits until the first has come, 200 cycles after it went out.
    #[test]
    fn accesses_wait_for_buffers_and_for_data() {
        let mut buffers = Buffers::default();
        for _ in 0..5 {
            buffers.pass(10, false);
            buffers.request(4, FoundIn::Memory, LATENCIES);
        }
        assert_eq!(buffers.now, 210);
        buffers.pass(10, true);
        assert_eq!(buffers.now, 410, "its address is what the fifth brings");
    }
}
