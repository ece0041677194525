//! Lines that a string instruction overwrites: a core gets them without their data ("no-RFO" protocol of fast strings,
//! Intel's optimization manual, REP STOS and REP MOVS), while it reads a line of which it only stores to a part.
//!
//! QEMU stores an element at a time. So the record of a line waits from the store to its first byte on until the line
//! is full, or something else is recorded: then it is a store as any other. A line that is overwritten is a store of
//! all of its bytes. From how many bytes on hardware does so is not published: here it is from one line on.

use super::layout::{KIND_STORE, KIND_WRITE_BACK, LINE, Slot, pack, pack_order, unpack_order};
use std::sync::atomic::Ordering::Relaxed;

const LOG2_LINE: u64 = LINE.trailing_zeros() as u64;

/// The store that begins a line.
pub struct First {
    pub line: u64,
    pub log2_size: u64,
    pub instruction: u64,
    /// How many accesses that went out ago the one was that its address waits for; 0 for none.
    pub after: u64,
    /// The dirty line that had to go for it.
    pub written_back: Option<u64>,
}

impl Slot {
    /// A line's first store, which has missed.
    pub fn begin_overwriting(&self, first: &First) {
        self.settle();
        let pending = &self.overwritten;
        pending.line.store(first.line, Relaxed);
        pending.log2_size.store(first.log2_size, Relaxed);
        pending.order.store(pack_order(first.instruction, first.after), Relaxed);
        pending.written_back.store(first.written_back.map_or(0, |line| line | 1), Relaxed);
        pending.next.store(first.line + (1 << first.log2_size), Relaxed);
    }

    /// True if a store is the next one to the line, and all is done.
    #[inline(always)]
    pub fn goes_on_overwriting(&self, address: u64, log2_size: u64) -> bool {
        let pending = &self.overwritten;
        if address == 0 || pending.next.load(Relaxed) != address {
            return false;
        }
        let next = address + (1 << log2_size);
        if next == pending.line.load(Relaxed) + LINE {
            self.report_overwritten(LOG2_LINE);
        } else {
            pending.next.store(next, Relaxed);
        }
        true
    }

    /// What waits is recorded, as the store that it was.
    #[inline(always)]
    pub fn settle(&self) {
        if self.overwritten.next.load(Relaxed) != 0 {
            self.report_overwritten(self.overwritten.log2_size.load(Relaxed));
        }
    }

    #[inline(never)]
    fn report_overwritten(&self, log2_size: u64) {
        let pending = &self.overwritten;
        pending.next.store(0, Relaxed);
        self.write([pack(KIND_STORE, pending.line.load(Relaxed), log2_size), pending.order.load(Relaxed)]);
        let written_back = pending.written_back.load(Relaxed);
        if written_back != 0 {
            let (instruction, _) = unpack_order(pending.order.load(Relaxed));
            self.record(KIND_WRITE_BACK, written_back & !1, LOG2_LINE, instruction);
        }
    }

    /// The same instruction loads, which may be recorded before what waits.
    pub fn before_overwriting(&self, instruction: u64, record: impl FnOnce()) {
        let pending = &self.overwritten;
        let next = pending.next.load(Relaxed);
        if next == 0 {
            return record();
        }
        // Nothing is to be settled for it.
        pending.next.store(0, Relaxed);
        record();
        pending.next.store(next, Relaxed);
        // Instructions never fall from record to record.
        let (_, after) = unpack_order(pending.order.load(Relaxed));
        pending.order.store(pack_order(instruction, after.into()), Relaxed);
    }
}
