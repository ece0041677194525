//! A thread's slot: how it is taken, and how records go into its ring.

use super::filter::Filter;
use super::layout::{ENDED, FREE, KIND_PROGRESS, LIVE, RING, Record, SLOTS, Shared, Slot, TAKEN, pack, pack_order};
use super::{os, process};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering::*};

/// A reader that sleeps is woken at the latest after so many records.
const RING_BELL_EVERY: u64 = 256;

/// Takes a free slot for the calling process; one that goes nowhere if [`SLOTS`] threads are being observed.
pub fn take_slot() -> &'static Slot {
    let shared = process::shared();
    let header = shared.header();
    let (index, slot) = loop {
        let is_free = |slot: &Slot| slot.state.load(Relaxed) == FREE;
        let take = |slot: &Slot| is_free(slot) && slot.state.compare_exchange(FREE, TAKEN, AcqRel, Relaxed).is_ok();
        if let Some(found) = (0..SLOTS).map(|index| (index, shared.slot(index))).find(|(_, slot)| take(slot)) {
            break found;
        }
        // The slots of ended threads come free as soon as the reader has read them.
        let waiting = shared.slots().any(|slot| slot.state.load(Relaxed) == ENDED);
        if !waiting || header.closed.load(Relaxed) != 0 || !os::is_alive(header.tracer) {
            return no_slot();
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    fill_in(slot);
    slot.discards.store(header.closed.load(Relaxed), Relaxed);
    slot.state.store(LIVE, Release);
    header.slots_used.fetch_max(index as u32 + 1, AcqRel);
    slot
}

fn fill_in(slot: &'static Slot) {
    slot.pid.store(std::process::id(), Relaxed);
    process::describe(slot);
    let zero = [&slot.head.0, &slot.tail.0, &slot.tail_seen];
    let counters = &slot.counters;
    let counts = [
        &counters.instructions,
        &counters.block,
        &counters.loads,
        &counters.stores,
        &counters.fetches,
        &counters.dropped,
    ];
    for word in zero.into_iter().chain(counts).chain(&slot.data.0).chain(&slot.fetch.0).chain(&slot.combining) {
        word.store(0, Relaxed);
    }
    slot.writer_waits.0.store(0, Relaxed);
    slot.combining_next.store(0, Relaxed);
    slot.overwritten.next.store(0, Relaxed);
    slot.changing.store(0, Relaxed);
    slot.follows.store(0, Relaxed);
    slot.block.store(0, Relaxed);
}

/// A slot that no reader knows: what is recorded there is lost, and that there is such a thread is counted.
pub fn no_slot() -> &'static Slot {
    static NOWHERE: AtomicPtr<Slot> = AtomicPtr::new(std::ptr::null_mut());
    process::shared().header().unobserved.fetch_add(1, Relaxed);
    let known = NOWHERE.load(Acquire);
    // SAFETY: null or a slot that was put there below.
    if let Some(slot) = unsafe { known.as_ref() } {
        return slot;
    }
    let Some(memory) = os::map_private(size_of::<Slot>()) else {
        eprintln!("pericore: no memory left to observe another thread");
        std::process::abort();
    };
    let slot: NonNull<Slot> = memory.cast();
    // SAFETY: zeroed memory of the right size and alignment, which stays mapped.
    let slot: &'static Slot = unsafe { slot.as_ref() };
    slot.discards.store(1, Relaxed);
    NOWHERE.store(std::ptr::from_ref(slot).cast_mut(), Release);
    slot
}

impl Slot {
    /// The filter of loads and stores.
    #[inline(always)]
    pub fn data_filter(&self) -> Filter<'_> {
        let shape = process::data_shape();
        Filter::new(&self.data.0, shape.sets, shape.ways)
    }

    /// The filter of instruction fetches.
    #[inline(always)]
    pub fn fetch_filter(&self) -> Filter<'_> {
        let shape = process::fetch_shape();
        Filter::new(&self.fetch.0, shape.sets, shape.ways)
    }

    /// Changes the filters while no other thread does: a line that one removes must not come back because the other moves it at that time.
    #[inline]
    pub fn change<T>(&self, act: impl FnOnce() -> T) -> T {
        if !process::has_threads() {
            return act();
        }
        while self.changing.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            // Whoever does it is soon done, unless it does not run.
            std::thread::yield_now();
        }
        let result = act();
        self.changing.store(0, Release);
        result
    }

    /// Instructions up to the one at a place in the running block.
    pub fn instruction(&self, place: u64) -> u64 {
        self.counters.instructions.load(Relaxed) + place
    }

    /// Says how far the thread has come.
    #[cold]
    #[inline(never)]
    pub fn tell_progress(&self, instructions: u64) {
        self.record(KIND_PROGRESS, 0, 0, instructions);
    }

    /// Says that the thread is about to sleep.
    pub fn report_sleep(&self, instructions: u64, nanoseconds: u64) {
        self.record(KIND_PROGRESS, nanoseconds, 0, instructions);
    }

    /// Writes a record to the ring; waits while there is no room.
    pub fn record(&self, kind: u64, address: u64, log2_size: u64, instruction: u64) {
        self.record_after(kind, address, log2_size, instruction, 0);
    }

    /// Writes a load or a store to the ring, of which the address comes from the access so many loads and stores ago.
    pub fn record_after(&self, kind: u64, address: u64, log2_size: u64, instruction: u64, after: u64) {
        self.settle();
        self.write([pack(kind, address, log2_size), pack_order(instruction, after)]);
    }

    pub(super) fn write(&self, record: Record) {
        let head = self.head.0.load(Relaxed);
        if head - self.tail_seen.load(Relaxed) >= RING && !self.has_room(head) {
            let dropped = &self.counters.dropped;
            dropped.store(dropped.load(Relaxed) + 1, Relaxed);
            return;
        }
        // SAFETY: the cell is the writer's until `head` is past it, and this thread is the only writer.
        unsafe { *self.ring.0[(head % RING) as usize].get() = record };
        self.head.0.store(head + 1, Release);
        if head.is_multiple_of(RING_BELL_EVERY) {
            self.ring_the_bell();
        }
    }

    /// Waits for room. False if the record is to be thrown away.
    #[cold]
    #[inline(never)]
    fn has_room(&self, head: u64) -> bool {
        let header = process::shared().header();
        loop {
            self.writer_waits.0.store(1, SeqCst);
            let tail = self.tail.0.load(SeqCst);
            self.tail_seen.store(tail, Relaxed);
            if head - tail < RING {
                self.writer_waits.0.store(0, Relaxed);
                return true;
            }
            if self.discards.load(Relaxed) != 0 {
                return false;
            }
            // A tracer that was killed never makes room again.
            if header.closed.load(Relaxed) != 0 || !os::is_alive(header.tracer) {
                self.discards.store(1, Relaxed);
                return false;
            }
            self.ring_the_bell();
            os::futex_wait(low_half(&self.tail.0), tail as u32);
        }
    }

    /// Wakes the reader, if it sleeps. It looks by itself every few milliseconds: a wake-up lost to reordering costs no more.
    pub fn ring_the_bell(&self) {
        let header = process::shared().header();
        if header.reader_sleeps.load(Relaxed) != 0 {
            header.doorbell.fetch_add(1, Relaxed);
            os::futex_wake(header.doorbell.as_ptr());
        }
    }

    /// Says that no more will come.
    pub fn end(&self) {
        self.settle();
        self.state.store(ENDED, Release);
        self.ring_the_bell();
    }
}

/// The futex within a counter: its low half, which changes with every step.
fn low_half(counter: &std::sync::atomic::AtomicU64) -> *const u32 {
    let word: *const u32 = counter.as_ptr().cast();
    if cfg!(target_endian = "little") { word } else { word.wrapping_add(1) }
}

/// Marks the slots that an earlier image of this process, or an earlier process of the same number, has left.
pub fn end_slots_of_the_dead(shared: Shared) {
    let pid = std::process::id();
    for slot in shared.slots().filter(|slot| slot.pid.load(Relaxed) == pid) {
        let _ = slot.state.compare_exchange(LIVE, ENDED, AcqRel, Relaxed);
    }
}
