//! The accesses of one thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use pericore_engine::Random;

use super::{Kind, Workload};
use crate::frames::Frames;
use crate::shuffle::Shuffle;

const LINE: u64 = 64;

/// What an access of a device is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceAim {
    /// Memory is read or written.
    Memory,
    /// Another device is.
    Device,
    /// Memory is changed by an atomic operation, such as fetch and add.
    Atomic,
    /// A part of a line is written.
    Part,
}

/// One load or store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Byte address.
    pub address: u64,
    /// Number of its page among those of the footprint, counted from 1; 0 if the footprint is in one piece, whose page
    /// is known.
    pub page: u32,
    /// Store, not load.
    pub store: bool,
    /// For stores that do not go through the caches: of a streaming store, the whole line is written; of a device's
    /// write, it goes into the LLC.
    pub whole: bool,
    /// True if the next access cannot start before this one has its data.
    pub blocking: bool,
    /// Of a device's: what it is for.
    pub aim: DeviceAim,
}

/// Accesses that are left to be made.
#[derive(Debug, Clone)]
enum Remaining {
    /// Of the thread alone.
    Own(u64),
    /// Of all threads together: who is faster makes more of them, so that all end together.
    Common(Arc<AtomicU64>),
}

/// Makes the accesses of one thread, in order.
#[derive(Debug, Clone)]
pub struct Generator {
    kind: Kind,
    frames: Frames,
    random: Random,
    remaining: Remaining,
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
    /// Per cent of a device's accesses that go to another device, of the others that are atomic, and of the remaining
    /// ones that write a part of a line.
    peer: u8,
    atomic: u8,
    part: u8,
    /// Arrays of the share, the one whose turn it is, and its element's address in the first of them. The last is
    /// written, the others are read.
    arrays: u64,
    array: u64,
    element: u64,
    /// Of a thread that loads the machine: what stores have in hand of the accesses, in shares of [`Workload::read`],
    /// the place of the next one, and picoseconds between accesses. The first thread loads nothing.
    stores: u64,
    written: u64,
    delay: u64,
    first: bool,
}

impl Generator {
    /// The generator of a workload's thread.
    pub fn new(workload: &Workload, thread: u16) -> Self {
        let arrays = workload.arrays();
        let share = workload.footprint / u64::from(workload.threads) / arrays / LINE * LINE;
        let mut random = Random::new(workload.seed, u64::from(thread));
        // On a machine that has run for a while, walks are anywhere. Of loads and stores each has half of a share, and
        // the chase, which is everywhere, begins at its first number.
        let position = match workload.kind {
            _ if !workload.warm => 0,
            Kind::Loaded if thread == 0 => 0,
            Kind::Loaded => random.below(share / 2 / LINE) * LINE,
            _ => random.below(share / workload.stride) * workload.stride,
        };
        Self {
            kind: workload.kind,
            frames: Frames::new(workload.pages, workload.within, workload.seed),
            random,
            remaining: Remaining::Own(workload.requests_of(thread)),
            lines: workload.footprint / if workload.kind == Kind::Random { workload.stride.max(LINE) } else { LINE },
            start: share * arrays * u64::from(thread),
            share,
            position,
            stride: workload.stride,
            read: workload.read,
            whole: if workload.kind == Kind::NtStore { 100 - workload.partial } else { workload.allocate },
            peer: workload.peer,
            atomic: workload.atomic,
            part: if workload.kind == Kind::DmaWrite { workload.partial } else { 0 },
            arrays,
            array: 0,
            element: 0,
            stores: 0,
            written: position,
            delay: workload.delay,
            first: thread == 0,
        }
    }

    /// Makes no more accesses, and returns how many it would have made.
    pub fn stop(&mut self) -> u64 {
        match std::mem::replace(&mut self.remaining, Remaining::Own(0)) {
            Remaining::Own(left) => left,
            Remaining::Common(left) => left.swap(0, Relaxed),
        }
    }

    /// Goes on from where it is, with accesses that are common to several threads.
    pub fn go_on(&mut self, accesses: &Arc<AtomicU64>) {
        self.remaining = Remaining::Common(Arc::clone(accesses));
    }

    /// The next access, until none remain.
    #[inline]
    pub fn next_access(&mut self) -> Option<Access> {
        match &mut self.remaining {
            Remaining::Own(left) => *left = left.checked_sub(1)?,
            Remaining::Common(left) => left.store(left.load(Relaxed).checked_sub(1)?, Relaxed),
        }
        Some(self.make())
    }

    /// Picoseconds that pass between the access before and the next, besides what the core needs.
    #[inline]
    pub const fn pause(&mut self) -> u64 {
        if self.delay == 0 || self.first { 0 } else { self.random.below(2 * self.delay + 1) }
    }

    /// An access that fills caches before the workload begins, and is none of its accesses.
    pub fn warming_access(&mut self) -> Access {
        self.make()
    }

    #[inline]
    fn make(&mut self) -> Access {
        let access = self.access();
        Access { address: self.frames.place(access.address), page: self.frames.page(access.address), ..access }
    }

    /// An access to a byte of the footprint.
    #[inline]
    fn access(&mut self) -> Access {
        match self.kind {
            Kind::Stream | Kind::Idle => self.sequential(),
            Kind::NtStore | Kind::DmaWrite => {
                let (whole, aim) = (self.random.per_cent(self.whole), self.aim());
                Access { address: self.step(), page: 0, store: true, whole, blocking: false, aim }
            }
            Kind::DmaRead => {
                let aim = self.aim();
                Access { address: self.step(), page: 0, store: false, whole: false, blocking: false, aim }
            }
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
            Kind::Loaded if self.first => self.scattered(),
            Kind::Loaded => self.loading(),
        }
    }

    /// What a device's access is for. Nothing is drawn where there is no choice.
    fn aim(&mut self) -> DeviceAim {
        match () {
            () if self.peer > 0 && self.random.per_cent(self.peer) => DeviceAim::Device,
            () if self.atomic > 0 && self.random.per_cent(self.atomic) => DeviceAim::Atomic,
            () if self.part > 0 && self.random.per_cent(self.part) => DeviceAim::Part,
            () => DeviceAim::Memory,
        }
    }

    /// Every line of the share once, in an order that no prefetcher follows.
    fn scattered(&mut self) -> Access {
        let lines = self.share / LINE;
        let order = Shuffle::new(lines, 0);
        let address = loop {
            let number = order.at(self.position);
            self.position = order.next(self.position);
            if number < lines {
                break self.start + number * LINE;
            }
        };
        Access { address, page: 0, store: false, whole: false, blocking: true, aim: DeviceAim::Memory }
    }

    /// Loads walk the first half of the share, stores the second. A stored line is read and later written back, so
    /// that of `n` accesses with `s` stores memory sees `n` reads and `s` writes.
    const fn loading(&mut self) -> Access {
        let half = self.share / 2 / LINE * LINE;
        self.stores += (100 - self.read) as u64;
        let store = self.stores >= self.read as u64;
        let (offset, place) = if store {
            self.stores -= self.read as u64;
            (half, &mut self.written)
        } else {
            (0, &mut self.position)
        };
        let address = self.start + offset + *place;
        *place = if *place + 2 * LINE > half { 0 } else { *place + LINE };
        Access { address, page: 0, store, whole: false, blocking: false, aim: DeviceAim::Memory }
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
        Access {
            address,
            page: 0,
            store: !self.random.per_cent(self.read),
            whole: false,
            blocking: false,
            aim: DeviceAim::Memory,
        }
    }

    fn side_by_side(&mut self) -> Access {
        if self.array == 0 {
            self.element = self.step();
        }
        let address = self.element + self.array * self.share;
        self.array = (self.array + 1) % self.arrays;
        Access { address, page: 0, store: self.array == 0, whole: false, blocking: false, aim: DeviceAim::Memory }
    }

    fn random(&mut self, blocking: bool) -> Access {
        let step = if self.kind == Kind::Random { self.stride.max(LINE) } else { LINE };
        let address = self.random.below(self.lines) * step;
        Access {
            address,
            page: 0,
            store: !self.random.per_cent(self.read),
            whole: false,
            blocking,
            aim: DeviceAim::Memory,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DeviceAim, Generator};
    use crate::{Kind, Workload};

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
    fn a_loaded_machine_has_one_chase_and_walks_of_reads_and_writes() {
        // 60 reads and 40 writes at memory: of 60 accesses 40 are stores, whose lines are read, too.
        let workload =
            Workload { requests: 1800, threads: 3, footprint: 3 << 14, read: 60, ..Workload::new(Kind::Loaded) };
        let chase = all(&workload, 0);
        let mut lines: Vec<u64> = chase[..256].iter().map(|access| access.address).collect();
        assert!(chase.iter().all(|access| access.blocking && !access.store));
        assert!(lines.windows(2).filter(|pair| pair[1] == pair[0] + 64).count() < 8, "no walk");
        lines.sort_unstable();
        assert_eq!(lines, (0..256).map(|line| line * 64).collect::<Vec<u64>>(), "each line of 16 KiB once");
        let walk = all(&workload, 1);
        let [stores, loads] = [true, false].map(|store| {
            let of: Vec<u64> =
                walk.iter().filter(|access| access.store == store).map(|access| access.address).collect();
            of
        });
        assert_eq!((stores.len(), loads.len()), (400, 200));
        assert_eq!((stores[..2].to_vec(), loads[..2].to_vec()), (vec![0x6000, 0x6040], vec![0x4000, 0x4040]));
        assert_eq!((stores[128], loads[128]), (0x6000, 0x4000), "round in 128 lines each");
    }

    #[test]
    fn devices_reach_each_other_and_memory_as_often_as_they_are_to() {
        let workload = Workload { requests: 20_000, threads: 1, peer: 25, atomic: 40, ..Workload::new(Kind::DmaWrite) };
        let accesses = all(&workload, 0);
        let count = |aim| accesses.iter().filter(|access| access.aim == aim).count();
        let [memory, device, atomic] = [DeviceAim::Memory, DeviceAim::Device, DeviceAim::Atomic].map(count);
        // A quarter of all; of the rest two fifths and three.
        assert!(device.abs_diff(5000) < 300 && atomic.abs_diff(6000) < 300 && memory.abs_diff(9000) < 300);
        // A third of the nine thousand.
        let parts = all(&Workload { partial: 33, ..workload.clone() }, 0);
        let parts = parts.iter().filter(|access| access.aim == DeviceAim::Part).count();
        assert!(parts.abs_diff(2970) < 200, "{parts}");
        let plain = Workload { peer: 0, atomic: 0, ..workload };
        assert!(all(&plain, 0).iter().all(|access| access.aim == DeviceAim::Memory));
    }

    /// Side by side they would all be in the same banks, load after load.
    #[test]
    fn on_a_machine_that_has_run_the_walks_are_anywhere_in_their_shares() {
        let workload = Workload { warm: true, threads: 9, footprint: 9 << 20, ..Workload::new(Kind::Loaded) };
        let mut places: Vec<u64> =
            (1..9).map(|thread| Generator::new(&workload, thread).make().address - (u64::from(thread) << 20)).collect();
        assert!(places.iter().all(|place| *place < 1 << 19), "loads have the first half: {places:?}");
        places.sort_unstable();
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]) && places[7] > 1 << 17, "{places:?}");
    }

    #[test]
    fn pauses_have_their_mean() {
        let workload = Workload { threads: 2, delay: 20, ..Workload::new(Kind::Loaded) };
        let mut load = Generator::new(&workload, 1);
        let pauses: Vec<u64> = (0..100_000).map(|_| load.pause()).collect();
        let mean = pauses.iter().sum::<u64>() as f64 / 1e5;
        assert!((19.8..20.2).contains(&mean) && pauses.iter().all(|&pause| pause <= 40), "{mean}");
        assert_eq!(Generator::new(&workload, 0).pause(), 0, "the chase waits for its loads alone");
    }

    #[test]
    fn the_read_share_holds() {
        let workload = Workload { requests: 100_000, threads: 1, read: 70, ..Workload::new(Kind::Random) };
        let loads = all(&workload, 0).iter().filter(|access| !access.store).count();
        assert!((69_000..71_000).contains(&loads), "{loads}");
    }
}
