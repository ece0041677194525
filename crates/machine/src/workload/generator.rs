//! The accesses of one thread.

use super::{Kind, Workload};
use crate::engine::Random;

const LINE: u64 = 64;

/// One load or store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Byte address.
    pub address: u64,
    /// Store, not load.
    pub store: bool,
    /// For stores that do not go through the caches: of a streaming store, the whole line is written; of a device's write, it goes into
    /// the LLC.
    pub whole: bool,
    /// True if the next access cannot start before this one has its data.
    pub blocking: bool,
}

/// Makes the accesses of one thread, in order.
#[derive(Debug, Clone)]
pub struct Generator {
    kind: Kind,
    random: Random,
    remaining: u64,
    /// Lines of the whole footprint that accesses at random are drawn from.
    lines: u64,
    /// First byte of the thread's own share, and its bytes; of several arrays, of the first.
    start: u64,
    share: u64,
    position: u64,
    stride: u64,
    read: u8,
    /// Per cent of the stores that are whole, or go into the LLC.
    whole: u8,
    /// Arrays of the share, the one whose turn it is, and its element's address in the first of them. The last is written, the
    /// others are read.
    arrays: u64,
    array: u64,
    element: u64,
}

impl Generator {
    /// The generator of a workload's thread.
    pub fn new(workload: &Workload, thread: u16) -> Self {
        let arrays = workload.arrays();
        let share = workload.footprint / u64::from(workload.threads) / arrays / LINE * LINE;
        Self {
            kind: workload.kind,
            random: Random::new(workload.seed, u64::from(thread)),
            remaining: workload.requests_of(thread),
            lines: workload.footprint / if workload.kind == Kind::Random { workload.stride.max(LINE) } else { LINE },
            start: share * arrays * u64::from(thread),
            share,
            position: 0,
            stride: workload.stride,
            read: workload.read,
            whole: if workload.kind == Kind::NtStore { 100 - workload.partial } else { workload.allocate },
            arrays,
            array: 0,
            element: 0,
        }
    }

    /// Accesses not yet made.
    pub const fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Makes no more accesses, and says how many it would have made.
    pub const fn stop(&mut self) -> u64 {
        std::mem::replace(&mut self.remaining, 0)
    }

    /// The next access, until none remain.
    #[inline]
    pub fn next_access(&mut self) -> Option<Access> {
        self.remaining = self.remaining.checked_sub(1)?;
        Some(match self.kind {
            Kind::Stream | Kind::Idle => self.sequential(),
            Kind::NtStore | Kind::DmaWrite => {
                let whole = self.random.per_cent(self.whole);
                Access { address: self.step(), store: true, whole, blocking: false }
            }
            Kind::DmaRead => Access { address: self.step(), store: false, whole: false, blocking: false },
            Kind::Copy | Kind::Triad => self.side_by_side(),
            Kind::Random => self.random(false),
            Kind::Chase => self.random(true),
            Kind::Mixed => {
                if self.random.next() >> 63 == 0 {
                    self.sequential()
                } else {
                    self.random(false)
                }
            }
        })
    }

    fn step(&mut self) -> u64 {
        let address = self.start + self.position;
        self.position += self.stride;
        if self.position >= self.share {
            self.position -= self.share;
        }
        address
    }

    fn sequential(&mut self) -> Access {
        let address = self.step();
        Access { address, store: !self.random.per_cent(self.read), whole: false, blocking: false }
    }

    fn side_by_side(&mut self) -> Access {
        if self.array == 0 {
            self.element = self.step();
        }
        let address = self.element + self.array * self.share;
        self.array = (self.array + 1) % self.arrays;
        Access { address, store: self.array == 0, whole: false, blocking: false }
    }

    fn random(&mut self, blocking: bool) -> Access {
        let step = if self.kind == Kind::Random { self.stride.max(LINE) } else { LINE };
        let address = self.random.below(self.lines) * step;
        Access { address, store: !self.random.per_cent(self.read), whole: false, blocking }
    }
}

#[cfg(test)]
mod tests {
    use super::Generator;
    use crate::workload::{Kind, Workload};

    fn all(workload: &Workload, thread: u16) -> Vec<super::Access> {
        let mut generator = Generator::new(workload, thread);
        std::iter::from_fn(|| generator.next_access()).collect()
    }

    #[test]
    fn threads_share_the_requests_and_stay_in_the_footprint() {
        for kind in Kind::ALL {
            let workload = Workload { requests: 10_007, threads: 3, footprint: 1 << 16, ..Workload::new(kind) };
            let accesses: Vec<_> = (0..3).flat_map(|thread| all(&workload, thread)).collect();
            assert_eq!(accesses.len(), 10_007);
            assert!(accesses.iter().all(|access| access.address < 1 << 16));
        }
    }

    #[test]
    fn a_stream_wraps_within_its_share() {
        let workload = Workload { requests: 6, threads: 2, footprint: 512, ..Workload::new(Kind::Stream) };
        let addresses: Vec<u64> = all(&workload, 1).iter().map(|access| access.address).collect();
        assert_eq!(addresses, [256, 320, 384]);
    }

    #[test]
    fn copy_reads_then_writes_the_other_half() {
        let workload = Workload { requests: 4, threads: 1, footprint: 1024, ..Workload::new(Kind::Copy) };
        let accesses: Vec<(u64, bool)> =
            all(&workload, 0).iter().map(|access| (access.address, access.store)).collect();
        assert_eq!(accesses, [(0, false), (512, true), (64, false), (576, true)]);
    }

    #[test]
    fn triad_reads_three_arrays_and_writes_the_fourth() {
        let workload = Workload { requests: 5, threads: 1, footprint: 1024, ..Workload::new(Kind::Triad) };
        let accesses: Vec<(u64, bool)> =
            all(&workload, 0).iter().map(|access| (access.address, access.store)).collect();
        assert_eq!(accesses, [(0, false), (256, false), (512, false), (768, true), (64, false)]);
    }

    #[test]
    fn the_read_share_holds() {
        let workload = Workload { requests: 100_000, threads: 1, read: 70, ..Workload::new(Kind::Random) };
        let loads = all(&workload, 0).iter().filter(|access| !access.store).count();
        assert!((69_000..71_000).contains(&loads), "{loads}");
    }
}
