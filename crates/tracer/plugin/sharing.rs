//! Lines that several threads of a process use: what one thread stores to, the others' filters must not go on holding.
//!
//! Without this, two threads that pass a line to and fro would each miss once and hit ever after, and no traffic between their caches
//! would be seen. A table remembers who last asked for each line, so that private lines cost one look. It forgets lines whose place
//! another takes, by which time the filters have hardly kept them.
//!
//! Threads run on meanwhile, so who is told of what is a race, as it is on the hardware. But two filters never keep a line that both have stored
//! to: nothing would be heard of it any more. A thread changes its own filter first, then the table, then the other filters, so that whoever
//! comes to the table later finds the other one there; and no change of a filter is lost ([`change`](super::layout::Slot::change)).

use super::table;
use std::sync::atomic::{AtomicU64, Ordering::*};

/// Twice the lines of 64 filters of 32 KiB.
const PLACES: usize = 1 << 16;

/// The line's number (42 bits), the vCPU (16), [`SEVERAL`] and [`STORED`].
static OWNERS: [AtomicU64; PLACES] = [const { AtomicU64::new(0) }; PLACES];

/// Others than that vCPU may have the line, too.
const SEVERAL: u64 = 2;
/// That vCPU has stored to it.
const STORED: u64 = 1;

const LINE_SHIFT: u32 = 22;
const VCPU_SHIFT: u32 = 6;

fn place(address: u64) -> (&'static AtomicU64, u64) {
    let line = address / 64;
    // Lines of different threads often differ by multiples of large powers of 2.
    let hash = (line ^ line >> 16 ^ line >> 29) as usize % PLACES;
    (&OWNERS[hash], line << LINE_SHIFT)
}

const fn owner(entry: u64) -> u32 {
    (entry >> VCPU_SHIFT & 0xFFFF) as u32
}

/// A thread has read a line that it did not have.
pub fn loaded(vcpu: u32, address: u64) {
    let (place, line) = place(address);
    let own = line | u64::from(vcpu & 0xFFFF) << VCPU_SHIFT;
    let known = |entry: u64| entry >> LINE_SHIFT == line >> LINE_SHIFT;
    let enter = |entry: u64| match known(entry) {
        true if owner(entry) == vcpu => None,
        true => Some(own | SEVERAL),
        false => Some(own),
    };
    if let Ok(entry) = place.fetch_update(AcqRel, Acquire, enter)
        && known(entry)
        && entry & STORED != 0
        && let Some(slot) = table::existing(owner(entry))
    {
        slot.change(|| slot.data_filter().clean(address));
    }
}

/// A thread has asked for ownership of a line.
pub fn stored(vcpu: u32, address: u64) {
    let (place, line) = place(address);
    let entry = place.swap(line | u64::from(vcpu & 0xFFFF) << VCPU_SHIFT | STORED, AcqRel);
    if entry >> LINE_SHIFT != line >> LINE_SHIFT {
        return;
    }
    if entry & SEVERAL != 0 {
        for (_, slot) in table::all().filter(|(other, _)| *other != vcpu) {
            slot.change(|| slot.data_filter().remove(address));
        }
    } else if owner(entry) != vcpu
        && let Some(slot) = table::existing(owner(entry))
    {
        slot.change(|| slot.data_filter().remove(address));
    }
}
