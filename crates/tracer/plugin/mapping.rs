//! Memory that the program gives back: its pages are gone, and with them what the filters hold of it.

use super::layout::{KIND_UNMAP, KIND_UNMAP_BYTES, LINE};
use super::table;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const MAP_FIXED: u64 = 0x10;
const MADV_DONTNEED: u64 = 4;

thread_local! {
    /// The arguments of the call under way: QEMU tells a call's result without them.
    static ARGUMENTS: Cell<[u64; 4]> = const { Cell::new([0; 4]) };
}

/// The end of the heap.
static BREAK: AtomicU64 = AtomicU64::new(0);

/// Remembers the arguments of a call that changes mappings.
pub fn before(arguments: [u64; 4]) {
    ARGUMENTS.set(arguments);
}

/// Only a mapping at a fixed place can replace one.
pub fn after_mmap(vcpu: u32, result: i64) {
    let [_, length, _, flags] = ARGUMENTS.get();
    if result > 0 && flags & MAP_FIXED != 0 {
        gone(vcpu, result as u64, length);
    }
}

pub fn after_munmap(vcpu: u32, result: i64) {
    let [start, length, ..] = ARGUMENTS.get();
    if result == 0 {
        gone(vcpu, start, length);
    }
}

/// Pages that move keep their contents, but not their addresses: the model sees new ones.
pub fn after_mremap(vcpu: u32, result: i64) {
    let [start, old_length, new_length, _] = ARGUMENTS.get();
    if result > 0 && result as u64 != start {
        gone(vcpu, start, old_length);
    } else if result > 0 && new_length < old_length {
        gone(vcpu, start + new_length, old_length - new_length);
    }
}

pub fn after_madvise(vcpu: u32, result: i64) {
    let [start, length, advice, _] = ARGUMENTS.get();
    if result == 0 && advice == MADV_DONTNEED {
        gone(vcpu, start, length);
    }
}

pub fn after_brk(vcpu: u32, result: i64) {
    let before = BREAK.swap(result as u64, Relaxed);
    if (result as u64) < before {
        gone(vcpu, result as u64, before - result as u64);
    }
}

fn gone(vcpu: u32, start: u64, bytes: u64) {
    if bytes == 0 {
        return;
    }
    // Every thread of the process may have lines of it. What a running thread loses besides, it reads again.
    for (_, slot) in table::all() {
        slot.change(|| {
            slot.data_filter().remove_range(start, bytes);
            slot.fetch_filter().remove_range(start, bytes);
        });
        for combining in &slot.combining {
            if (start & !(LINE - 1)..start.saturating_add(bytes)).contains(&combining.load(Relaxed)) {
                combining.store(0, Relaxed);
            }
        }
    }
    let slot = table::slot(vcpu);
    let instruction = slot.instruction(slot.counters.block.load(Relaxed));
    slot.record(KIND_UNMAP, start, 0, instruction);
    slot.record(KIND_UNMAP_BYTES, bytes, 0, instruction);
}
