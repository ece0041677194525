//! What QEMU calls for every block, load and store.

use super::filter::{Filter, Outcome};
use super::layout::{
    KIND_FETCH, KIND_LOAD, KIND_NON_TEMPORAL, KIND_STORE, KIND_UPGRADE, KIND_WRITE_BACK, LINE, NOTE_EVEX,
    PROGRESS_BITS, Shared, Slot,
};
use super::{decode, follow, process, qemu, sharing, table};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

/// No access is larger: from this offset on, one may reach into the next line.
const LARGEST_ACCESS: u64 = 16;

/// The bit of an access's description that says "store"; 0 if it is not one bit, and QEMU has to be asked each time.
static STORE_BIT: AtomicU32 = AtomicU32::new(0);

pub fn begin(id: qemu::Id, _shared: Shared) {
    STORE_BIT.store(store_bit(), Relaxed);
    qemu::on_translation(id, on_translation);
}

/// Which bit of an access's description says "store" is QEMU's own affair. Asking about each bit once saves a call on each access.
fn store_bit() -> u32 {
    let bits: Vec<u32> = (0..32).map(|bit| 1 << bit).filter(|&bit| qemu::is_store(bit)).collect();
    match bits[..] {
        [bit] if !qemu::is_store(!bit) => bit,
        _ => 0,
    }
}

#[inline(always)]
fn is_store(info: u32) -> bool {
    match STORE_BIT.load(Relaxed) {
        0 => qemu::is_store(info),
        bit => info & bit != 0,
    }
}

/// A block in the 64 bits that QEMU hands back: the number of its first line (42 bits: user addresses have 47), its instructions
/// (10; QEMU stops at 512), its lines (12; two pages at most).
#[derive(Clone, Copy)]
struct BlockData(u64);

impl BlockData {
    fn new(first: u64, end: u64, instructions: u64) -> Self {
        let line = (first / LINE) & ((1 << 42) - 1);
        let lines = (end.max(first + 1) - 1) / LINE - first / LINE + 1;
        Self(line | (instructions & 0x3FF) << 42 | lines << 52)
    }

    const fn first_line(self) -> u64 {
        (self.0 & ((1 << 42) - 1)) * LINE
    }

    const fn instructions(self) -> u64 {
        self.0 >> 42 & 0x3FF
    }

    const fn lines(self) -> u64 {
        self.0 >> 52
    }
}

extern "C" fn on_translation(_id: qemu::Id, block: *mut qemu::Block) {
    // SAFETY: QEMU passes the block that it is translating, and waits.
    let block = unsafe { &mut *block };
    let (mut first, mut end, mut count) = (None, 0, 0);
    for (place, instruction) in block.instructions().enumerate() {
        let address = instruction.address();
        first.get_or_insert(address);
        (end, count) = (address + instruction.size() as u64, place as u64 + 1);
        instrument(instruction, address, place as u64);
    }
    if let Some(first) = first {
        block.on_execution(on_block, BlockData::new(first, end, count).0);
    }
}

fn instrument(instruction: &mut qemu::Instruction, address: u64, place: u64) {
    let host = instruction.host_address();
    if host == 0 {
        instruction.on_access(on_access, place);
        return;
    }
    follow::learn_guest_base(host.wrapping_sub(address));
    // Only the first bytes matter, and only those on the page of the first are sure to be at the address that QEMU gives.
    let known = instruction.size().min((4096 - host % 4096) as usize);
    // SAFETY: QEMU has just translated these bytes from there.
    let bytes = unsafe { std::slice::from_raw_parts(host as *const u8, known) };
    if decode::is_non_temporal_store(bytes) {
        instruction.on_access(on_non_temporal_store, place);
        return;
    }
    if decode::is_evex(bytes) {
        instruction.on_execution(on_evex, address);
    }
    instruction.on_access(on_access, place);
}

/// Adds to a counter that only this thread writes.
#[inline(always)]
fn add(counter: &AtomicU64, amount: u64) {
    counter.store(counter.load(Relaxed) + amount, Relaxed);
}

extern "C" fn on_block(vcpu: u32, data: *mut c_void) {
    let block = BlockData(data as u64);
    let slot = table::slot(vcpu);
    let counters = &slot.counters;
    let before = counters.instructions.load(Relaxed);
    let begun = before + counters.block.load(Relaxed);
    counters.instructions.store(begun, Relaxed);
    if (before ^ begun) >> PROGRESS_BITS != 0 {
        slot.tell_progress(begun);
    }
    counters.block.store(block.instructions(), Relaxed);
    add(&counters.fetches, block.lines());
    let filter = slot.fetch_filter();
    let mut line = block.first_line();
    for _ in 0..block.lines() {
        if !filter.hits_first(line, false) {
            fetch(slot, &filter, line);
        }
        line += LINE;
    }
}

#[inline(never)]
fn fetch(slot: &Slot, filter: &Filter<'_>, line: u64) {
    if let Outcome::Miss(_) = slot.change(|| filter.touch(line, false)) {
        slot.record(KIND_FETCH, line, 6, slot.instruction(0));
    }
}

extern "C" fn on_access(vcpu: u32, info: u32, address: u64, place: *mut c_void) {
    let slot = table::slot(vcpu);
    let store = is_store(info);
    add(if store { &slot.counters.stores } else { &slot.counters.loads }, 1);
    if address % LINE > LINE - LARGEST_ACCESS || !slot.data_filter().hits_first(address, store) {
        look_closer(vcpu, slot, info, address, store, place as u64);
    }
}

#[inline(never)]
fn look_closer(vcpu: u32, slot: &Slot, info: u32, address: u64, store: bool, place: u64) {
    let log2_size = qemu::log2_size(info);
    let last = address + (1 << log2_size) - 1;
    let lines = [Some(address), (last / LINE != address / LINE).then_some(last & !(LINE - 1))];
    for address in lines.into_iter().flatten() {
        let outcome = slot.change(|| slot.data_filter().touch(address, store));
        if outcome != Outcome::Hit {
            report(vcpu, slot, outcome, address, log2_size, store, slot.instruction(place));
        }
    }
}

fn report(vcpu: u32, slot: &Slot, outcome: Outcome, address: u64, log2_size: u64, store: bool, instruction: u64) {
    let recalled = if store { sharing::stored(vcpu, address) } else { sharing::loaded(vcpu, address) };
    if let Some(line) = recalled {
        slot.record(KIND_WRITE_BACK, line, 6, instruction);
    }
    match outcome {
        Outcome::Hit => {}
        Outcome::Upgrade => slot.record(KIND_UPGRADE, address, log2_size, instruction),
        Outcome::Miss(written_back) => {
            slot.record(if store { KIND_STORE } else { KIND_LOAD }, address, log2_size, instruction);
            if let Some(line) = written_back {
                slot.record(KIND_WRITE_BACK, line, 6, instruction);
            }
        }
    }
}

/// A store that goes around the caches. Stores to one line are combined on their way, as the hardware does.
extern "C" fn on_non_temporal_store(vcpu: u32, info: u32, address: u64, place: *mut c_void) {
    let slot = table::slot(vcpu);
    add(&slot.counters.stores, 1);
    let last = address + (1 << qemu::log2_size(info)) - 1;
    for line in [address & !(LINE - 1), last & !(LINE - 1)] {
        if slot.combining.iter().any(|combining| combining.load(Relaxed) == line) {
            continue;
        }
        let next = slot.combining_next.load(Relaxed) as usize % slot.combining.len();
        slot.combining[next].store(line, Relaxed);
        slot.combining_next.store(next as u32 + 1, Relaxed);
        let instruction = slot.instruction(place as u64);
        if slot.change(|| slot.data_filter().remove(line)) {
            slot.record(KIND_WRITE_BACK, line, 6, instruction);
        }
        if let Some(line) = sharing::stored(vcpu, line) {
            slot.record(KIND_WRITE_BACK, line, 6, instruction);
        }
        slot.record(KIND_NON_TEMPORAL, line, 6, instruction);
    }
}

/// An instruction that QEMU may not know, about to run: if the process dies of it, the tracer can say why.
extern "C" fn on_evex(_vcpu: u32, address: *mut c_void) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.swap(true, Relaxed) {
        process::note(NOTE_EVEX, &process::program(), 0, address as u64);
    }
}
