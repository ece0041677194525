//! Lines that several threads of a process use: what one thread stores to, the others' filters must not go on holding.
//!
//! Without this, two threads that pass a line to and fro would each miss once and hit ever after, and no traffic between
//! their caches would be seen. A table remembers who last asked for each line, so that private lines cost one look. It
//! knows every line that a filter holds, as a snoop filter does: an entry is given up when no filter holds its line any
//! more, and if there is no such entry, the line is taken out of the filters. It is kept from the moment on that the
//! program asks for a second thread.
//!
//! Threads run on meanwhile, so who is told of what is a race, as it is on the hardware. But two filters never keep a
//! line that both have stored to: nothing would be heard of it any more. A thread changes its own filter first, then the
//! table, then the other filters, so that a thread that comes to the table later finds the other one there; and no
//! change of a filter is lost ([`change`](super::layout::Slot::change)).

use super::layout::Slot;
use super::{os, process, table};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

/// Entries of a bucket: a cache line's.
const WAYS: usize = 8;
/// All buckets together have eight entries for each line of 64 filters of 32 KiB.
const BUCKET_BITS: u32 = 15;
const BUCKETS: usize = 1 << BUCKET_BITS;

/// Lines with the same hash. Its entries change only by who holds its [`BUSY`].
#[repr(align(64))]
struct Bucket([AtomicU64; WAYS]);

/// An entry: the line's number (42 bits), the vCPU (16), [`SEVERAL`] and [`STORED`]; 0 if it is free.
static OWNERS: [Bucket; BUCKETS] = [const { Bucket([const { AtomicU64::new(0) }; WAYS]) }; BUCKETS];
static BUSY: [AtomicBool; BUCKETS] = [const { AtomicBool::new(false) }; BUCKETS];

/// Others than that vCPU may have the line, too.
const SEVERAL: u64 = 2;
/// That vCPU has stored to it.
const STORED: u64 = 1;

const LINE_SHIFT: u32 = 22;
const VCPU_SHIFT: u32 = 6;

/// A thread has read a line that it did not have. Returns a dirty line that had to go for it.
pub fn loaded(vcpu: u32, address: u64) -> Option<u64> {
    if !process::has_threads() {
        return None;
    }
    Held::of(address).enter(entry(vcpu, address), |place, known| {
        if owner(known) == vcpu {
            return;
        }
        place.store(entry(vcpu, address) | SEVERAL, Relaxed);
        if known & STORED != 0
            && let Some(slot) = table::existing(owner(known))
        {
            slot.change(|| slot.data_filter().clean(address));
        }
    })
}

/// A thread has asked for ownership of a line. Returns a dirty line that had to go for it.
pub fn stored(vcpu: u32, address: u64) -> Option<u64> {
    if !process::has_threads() {
        return None;
    }
    Held::of(address).enter(entry(vcpu, address) | STORED, |place, known| {
        place.store(entry(vcpu, address) | STORED, Relaxed);
        for (_, slot) in holders(known).filter(|(other, _)| *other != vcpu) {
            slot.change(|| slot.data_filter().remove(address));
        }
    })
}

/// Enters what the only thread has so far, before there is a second one. Says which dirty lines had to go.
pub fn enter_all(vcpu: u32, slot: &Slot, gone: impl FnMut(u64)) {
    let entry = |address, dirty| if dirty { entry(vcpu, address) | STORED } else { entry(vcpu, address) };
    let enter = |(address, dirty)| Held::of(address).enter(entry(address, dirty), |_, _| {});
    slot.data_filter().lines().filter_map(enter).for_each(gone);
}

/// To be called once.
pub fn begin() {
    os::at_fork(after_fork);
}

/// Frees the buckets that other threads of the parent held while this process was forked: here they do not run.
extern "C" fn after_fork() {
    for busy in &BUSY {
        busy.store(false, Relaxed);
    }
}

const fn entry(vcpu: u32, address: u64) -> u64 {
    ((address / 64) << LINE_SHIFT) | ((vcpu as u64 & 0xFFFF) << VCPU_SHIFT)
}

const fn owner(entry: u64) -> u32 {
    (entry >> VCPU_SHIFT & 0xFFFF) as u32
}

const fn address_of(entry: u64) -> u64 {
    (entry >> LINE_SHIFT) * 64
}

/// The threads that may have an entry's line.
fn holders(entry: u64) -> impl Iterator<Item = (u32, &'static Slot)> {
    let several = entry & SEVERAL != 0;
    let one = if several { None } else { table::existing(owner(entry)).map(|slot| (owner(entry), slot)) };
    one.into_iter().chain(several.then(table::all).into_iter().flatten())
}

/// A bucket that no other thread changes meanwhile.
struct Held {
    bucket: &'static Bucket,
    busy: &'static AtomicBool,
}

impl Held {
    /// The bucket of the line that holds an address.
    fn of(address: u64) -> Self {
        // Lines of different threads often differ by multiples of large powers of 2: by multiplication, all bits have a say.
        let hash = ((address / 64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - BUCKET_BITS)) as usize;
        let (bucket, busy) = (&OWNERS[hash], &BUSY[hash]);
        while busy.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            // The thread that holds it is soon done, unless it does not run.
            std::thread::yield_now();
        }
        Self { bucket, busy }
    }

    /// Hands the entry of a line to `known`, or enters the line if it has none. Returns a dirty line that had to go for it.
    fn enter(&self, new: u64, known: impl FnOnce(&AtomicU64, u64)) -> Option<u64> {
        let of_line = |place: &&AtomicU64| place.load(Relaxed) >> LINE_SHIFT == new >> LINE_SHIFT;
        if let Some(place) = self.bucket.0.iter().find(of_line) {
            known(place, place.load(Relaxed));
            return None;
        }
        let is_given_up = |place: &&AtomicU64| {
            let entry = place.load(Relaxed);
            entry == 0 || !holders(entry).any(|(_, slot)| slot.change(|| slot.data_filter().holds(address_of(entry))))
        };
        if let Some(place) = self.bucket.0.iter().find(is_given_up) {
            place.store(new, Relaxed);
            return None;
        }
        let taken = self.bucket.0[(new >> LINE_SHIFT) as usize % WAYS].swap(new, Relaxed);
        let line = address_of(taken);
        let dirty =
            holders(taken).fold(false, |dirty, (_, slot)| slot.change(|| slot.data_filter().remove(line)) || dirty);
        dirty.then_some(line)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.busy.store(false, Release);
    }
}
