//! Our own threads: some load memory at a set rate, one chases pointers.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use pericore_machine::engine::Random;
use pericore_machine::large_pages;

use crate::own_memory::{CacheLine, LINE};

/// Accesses between two looks at the clock: a look takes some tens of nanoseconds, of which this many hide most.
const AT_ONCE: u64 = 64;

/// What all threads are told, and what they have done.
#[derive(Debug, Default)]
pub struct OwnThreads {
    stop: AtomicBool,
    /// Picoseconds from one access of a thread that loads memory to its next.
    pub delay: AtomicU64,
    /// Reads of lines among 100 transfers.
    read: u64,
    /// Lines that were read and written, and loads that were waited for.
    loaded: AtomicU64,
    stored: AtomicU64,
    chased: AtomicU64,
}

/// What was done at a moment.
#[derive(Debug, Clone, Copy)]
pub struct Done {
    at: Instant,
    loaded: u64,
    stored: u64,
    chased: u64,
}

/// What a window came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnRates {
    /// Bytes per second that memory has to read and write for our threads.
    pub bandwidth: f64,
    /// Reads among these transfers, per cent.
    pub read: f64,
    /// Nanoseconds of a load that is waited for; none if none was.
    pub latency: Option<f64>,
}

impl OwnThreads {
    /// Threads that make so many reads of 100 transfers.
    pub fn new(read: u8) -> Self {
        Self { read: read.into(), ..Self::default() }
    }

    /// All threads come to their end.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// What has been done by now.
    pub fn done(&self) -> Done {
        let of = |count: &AtomicU64| count.load(Relaxed);
        Done { at: Instant::now(), loaded: of(&self.loaded), stored: of(&self.stored), chased: of(&self.chased) }
    }
}

impl Done {
    /// What was done from here to another moment.
    pub fn until(&self, to: &Self) -> OwnRates {
        let seconds = (to.at - self.at).as_secs_f64();
        let count = |to: u64, from: u64| (to - from) as f64;
        let chased = count(to.chased, self.chased);
        // A stored line is read first and written back later; the thread that chases pointers reads one each time.
        let writes = count(to.stored, self.stored);
        let reads = count(to.loaded, self.loaded) + writes + chased;
        OwnRates {
            bandwidth: (reads + writes) * LINE as f64 / seconds,
            read: 100.0 * reads / (reads + writes),
            latency: (chased > 0.0).then(|| seconds * 1e9 / chased),
        }
    }
}

/// So many bytes in lines, touched by this thread.
pub fn memory(bytes: usize) -> Vec<CacheLine> {
    let mut lines = Vec::with_capacity(bytes / LINE);
    large_pages(lines.spare_capacity_mut());
    lines.resize(bytes / LINE, CacheLine([1; LINE / 8]));
    lines
}

/// Lets each line name the next, in an order without a pattern: a chase comes by all before one comes again.
pub fn link_at_random(lines: &mut [CacheLine]) {
    for (number, line) in lines.iter_mut().enumerate() {
        line.0[0] = number as u64;
    }
    // Sattolo's shuffle leaves one ring.
    let mut random = Random::new(1, 0);
    for last in (1..lines.len()).rev() {
        let other = random.below(last as u64) as usize;
        let (a, b) = (lines[last].0[0], lines[other].0[0]);
        (lines[last].0[0], lines[other].0[0]) = (b, a);
    }
}

/// Chases pointers until all are to stop.
pub fn chase(lines: &[CacheLine], shared: &OwnThreads) {
    let mut at = 0;
    while !shared.stop.load(Relaxed) {
        for _ in 0..AT_ONCE {
            at = lines[at].0[0] as usize;
        }
        at = black_box(at);
        shared.chased.fetch_add(AT_ONCE, Relaxed);
    }
}

/// Loads memory until all are to stop: walks through one half with loads and through the other with stores.
pub fn load(lines: &mut [CacheLine], shared: &OwnThreads) {
    let middle = lines.len() / 2;
    let (loads, stores) = lines.split_at_mut(middle);
    let (mut next_load, mut next_store, mut in_hand) = (0, 0, 0);
    let read = shared.read;
    let mut due = Instant::now();
    while !shared.stop.load(Relaxed) {
        let (mut sum, mut stored) = (0_u64, 0);
        for _ in 0..AT_ONCE {
            in_hand += 100 - read;
            if in_hand >= read {
                in_hand -= read;
                stores[next_store].0 = [in_hand; LINE / 8];
                next_store = if next_store + 1 == stores.len() { 0 } else { next_store + 1 };
                stored += 1;
            } else {
                sum = loads[next_load].0.iter().fold(sum, |sum, word| sum.wrapping_add(*word));
                next_load = if next_load + 1 == loads.len() { 0 } else { next_load + 1 };
            }
        }
        black_box(sum);
        black_box(&mut *stores);
        shared.loaded.fetch_add(AT_ONCE - stored, Relaxed);
        shared.stored.fetch_add(stored, Relaxed);
        due += Duration::from_nanos(AT_ONCE * shared.delay.load(Relaxed) / 1000);
        let now = Instant::now();
        // Who is late does not catch up: the rate is the greatest that was asked for.
        due = due.max(now);
        while due > now && Instant::now() < due && !shared.stop.load(Relaxed) {
            spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Done, Instant, OwnRates, OwnThreads, chase, link_at_random, load, memory};
    use std::sync::atomic::Ordering::Relaxed;
    use std::time::Duration;

    #[test]
    fn lines_are_linked_in_one_ring() {
        for count in [1, 2, 3, 1000] {
            let mut lines = memory(count * 64);
            link_at_random(&mut lines);
            let mut at = 0;
            for step in 1..=count {
                at = lines[at].0[0] as usize;
                assert_eq!(at == 0, step == count, "{count}: after {step}");
            }
        }
    }

    /// 3,000 lines loaded, 1,000 stored and 500 chased in a millisecond: 4,500 reads and 1,000 writes of 64 bytes.
    #[test]
    fn a_stored_line_is_read_and_written() {
        let at = Instant::now();
        let from = Done { at, loaded: 7, stored: 8, chased: 9 };
        let to = Done { at: at + Duration::from_millis(1), loaded: 3007, stored: 1008, chased: 509 };
        let OwnRates { bandwidth, read, latency } = from.until(&to);
        assert!((bandwidth - 352e6).abs() < 1.0 && (read - 100.0 * 4500.0 / 5500.0).abs() < 1e-9, "{bandwidth} {read}");
        assert_eq!(latency, Some(2000.0));
        assert_eq!(from.until(&Done { chased: 9, ..to }).latency, None);
    }

    /// A minute from each access to the next: after the first 64, which are made at once, a thread waits for an hour,
    /// and makes no other however long others work; and it stops at once when it is to.
    #[test]
    fn a_thread_loads_memory_no_faster_than_it_is_to() {
        let shared = OwnThreads::new(75);
        shared.delay.store(60_000_000_000_000, Relaxed);
        let (mut lines, mut ring) = (memory(1 << 16), memory(1 << 12));
        link_at_random(&mut ring);
        let accesses = || shared.loaded.load(Relaxed) + shared.stored.load(Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| load(&mut lines, &shared));
            scope.spawn(|| chase(&ring, &shared));
            while accesses() < 64 || shared.done().chased < 1_000_000 {
                std::thread::yield_now();
            }
            shared.stop();
        });
        assert_eq!(accesses(), 64);
    }

    /// Of three reads in four transfers one access in three is a store.
    #[test]
    fn threads_work_until_they_are_to_stop() {
        let shared = OwnThreads::new(75);
        let (mut lines, mut ring) = (memory(1 << 16), memory(1 << 12));
        link_at_random(&mut ring);
        std::thread::scope(|scope| {
            scope.spawn(|| load(&mut lines, &shared));
            scope.spawn(|| chase(&ring, &shared));
            while shared.done().loaded < 10_000 || shared.done().chased == 0 {
                std::thread::yield_now();
            }
            shared.stop();
        });
        let [loaded, stored] = [&shared.loaded, &shared.stored].map(|count| count.load(Relaxed) as f64);
        assert!((stored / (loaded + stored) - 1.0 / 3.0).abs() < 0.01, "{loaded} {stored}");
    }
}
