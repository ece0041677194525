//! What QEMU calls for every block, load and store.

use super::filter::{Filter, Outcome};
use super::flow::{self, Move, TranslatedAccess};
use super::layout::{
    KIND_FETCH, KIND_LOAD, KIND_NON_TEMPORAL, KIND_STORE, KIND_UPGRADE, KIND_WRITE_BACK, LINE, NOTE_EVEX,
    PROGRESS_BITS, Shared, Slot,
};
use super::operands::{Operands, operands};
use super::overwrite::First;
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

/// A block that QEMU has translated.
struct Block {
    first_line: u64,
    lines: u64,
    instructions: u64,
    /// What registers do after its last access.
    after: &'static [Move],
}

impl Block {
    const fn new(first: u64, end: u64, instructions: u64, after: &'static [Move]) -> Self {
        let last = if end > first { end - 1 } else { first };
        Self { first_line: first / LINE * LINE, lines: last / LINE - first / LINE + 1, instructions, after }
    }
}

extern "C" fn on_translation(_id: qemu::Id, block: *mut qemu::Block) {
    // SAFETY: QEMU passes the block that it is translating, and waits.
    let block = unsafe { &mut *block };
    let (mut first, mut end, mut count, mut repeats) = (None, 0, 0, false);
    let known = block.instructions().map(|instruction| {
        let (address, bytes) = (instruction.address(), bytes_of(instruction));
        first.get_or_insert(address);
        (end, count) = (address + instruction.size() as u64, count + 1);
        repeats = decode::is_repeated_store(bytes);
        operands(bytes)
    });
    let known: Vec<Operands> = known.collect();
    let translated = flow::translate(&known);
    for (instruction, operation) in block.instructions().zip(translated.operations) {
        instrument(instruction, operation);
    }
    // A repeated instruction jumps to itself for each element: that is no further instruction.
    let begun = if count == 1 && repeats { 0 } else { count };
    if let Some(first) = first {
        let data: &'static Block = Box::leak(Box::new(Block::new(first, end, begun, translated.after)));
        block.on_execution(on_block, std::ptr::from_ref(data) as u64);
    }
}

/// An instruction's bytes; none if QEMU does not say where they are. Only those on the page of the first are sure to be where it
/// says, and they are the ones that matter.
fn bytes_of(instruction: &qemu::Instruction) -> &[u8] {
    let host = instruction.host_address();
    if host == 0 {
        return &[];
    }
    let known = instruction.size().min((4096 - host % 4096) as usize);
    // SAFETY: QEMU has just translated these bytes from there.
    unsafe { std::slice::from_raw_parts(host as *const u8, known) }
}

fn instrument(instruction: &mut qemu::Instruction, operation: &'static TranslatedAccess) {
    let (host, address) = (instruction.host_address(), instruction.address());
    if host != 0 {
        follow::learn_guest_base(host.wrapping_sub(address));
    }
    let bytes = bytes_of(instruction);
    if decode::is_non_temporal_store(bytes) {
        instruction.on_access(on_non_temporal_store, std::ptr::from_ref(operation) as u64);
        return;
    }
    if decode::is_repeated_store(bytes) {
        instruction.on_access(on_repeated_access, std::ptr::from_ref(operation) as u64);
        return;
    }
    if decode::is_evex(bytes) {
        instruction.on_execution(on_evex, address);
    }
    instruction.on_access(on_access, std::ptr::from_ref(operation) as u64);
}

/// Adds to a counter that only this thread writes.
#[inline(always)]
fn add(counter: &AtomicU64, amount: u64) {
    counter.store(counter.load(Relaxed) + amount, Relaxed);
}

extern "C" fn on_block(vcpu: u32, data: *mut c_void) {
    // SAFETY: leaked by `on_translation`.
    let block: &'static Block = unsafe { &*data.cast() };
    let slot = table::slot(vcpu);
    let counters = &slot.counters;
    let before = counters.instructions.load(Relaxed);
    let begun = before + counters.block.load(Relaxed);
    counters.instructions.store(begun, Relaxed);
    if (before ^ begun) >> PROGRESS_BITS != 0 {
        slot.tell_progress(begun);
    }
    counters.block.store(block.instructions, Relaxed);
    add(&counters.fetches, block.lines);
    if slot.follows.load(Relaxed) != 0 {
        go_on_following(vcpu, slot, begun);
    }
    slot.block.store(data as u64, Relaxed);
    let filter = slot.fetch_filter();
    let mut line = block.first_line;
    for _ in 0..block.lines {
        if !filter.hits_first(line, false) {
            fetch(slot, &filter, line);
        }
        line += LINE;
    }
}

/// Follows values through what is left of the block before, unless nothing is under way any more.
#[inline(never)]
fn go_on_following(vcpu: u32, slot: &Slot, begun: u64) {
    // SAFETY: null, or leaked by `on_translation`.
    let left = unsafe { (slot.block.load(Relaxed) as *const Block).as_ref() }.map_or(&[][..], |block| block.after);
    // SAFETY: this is the thread, and no other is in use.
    let is_followed = unsafe { table::flow(vcpu) }.is_some_and(|flow| flow.begin(begun, left));
    slot.follows.store(is_followed.into(), Relaxed);
}

#[inline(never)]
fn fetch(slot: &Slot, filter: &Filter<'_>, line: u64) {
    if let Outcome::Miss(_) = slot.change(|| filter.touch(line, false)) {
        slot.record(KIND_FETCH, line, 6, slot.instruction(0));
    }
}

extern "C" fn on_access(vcpu: u32, info: u32, address: u64, data: *mut c_void) {
    let slot = table::slot(vcpu);
    let store = is_store(info);
    add(if store { &slot.counters.stores } else { &slot.counters.loads }, 1);
    let is_far = address % LINE > LINE - LARGEST_ACCESS || !slot.data_filter().hits_first(address, store);
    if is_far || slot.follows.load(Relaxed) != 0 {
        look_closer(vcpu, info, address, data);
    }
}

/// A load or a store that may reach into the next line, or that the filter may not let through, or whose value is
/// followed. Most are the first, and do neither.
#[inline(never)]
fn look_closer(vcpu: u32, info: u32, address: u64, data: *mut c_void) {
    let (slot, store) = (table::slot(vcpu), is_store(info));
    let log2_size = qemu::log2_size(info);
    let last = address + (1 << log2_size) - 1;
    let is_near = last / LINE == address / LINE && slot.data_filter().hits_first(address, store);
    let is_followed = slot.follows.load(Relaxed) != 0;
    // SAFETY: leaked by `flow::translate`.
    let operation: &'static TranslatedAccess = unsafe { &*data.cast() };
    let access = Access { operation, is_followed, address, last, store };
    if !is_near {
        access.go_out(vcpu, slot, log2_size);
    } else if is_followed {
        access.follow(vcpu);
    }
}

/// A load or a store of an instruction that repeats itself: it may overwrite whole lines.
extern "C" fn on_repeated_access(vcpu: u32, info: u32, address: u64, data: *mut c_void) {
    let (slot, store, log2_size) = (table::slot(vcpu), is_store(info), qemu::log2_size(info));
    if !store {
        // SAFETY: leaked by `flow::translate`.
        let operation: &'static TranslatedAccess = unsafe { &*data.cast() };
        slot.before_overwriting(slot.instruction(operation.place), || on_access(vcpu, info, address, data));
    } else if slot.goes_on_overwriting(address, log2_size) {
        add(&slot.counters.stores, 1);
    } else if !address.is_multiple_of(LINE) || slot.data_filter().holds(address) {
        on_access(vcpu, info, address, data);
    } else {
        begin_line(vcpu, slot, (address, log2_size), data);
    }
}

/// Such a store to the first byte of a line that is missing.
#[inline(never)]
fn begin_line(vcpu: u32, slot: &Slot, (line, log2_size): (u64, u64), data: *mut c_void) {
    // SAFETY: leaked by `flow::translate`.
    let operation: &'static TranslatedAccess = unsafe { &*data.cast() };
    // SAFETY: this is the thread, and no other is in use.
    let Some(flow) = (unsafe { table::flow(vcpu) }) else { return };
    add(&slot.counters.stores, 1);
    let is_followed = slot.follows.load(Relaxed) != 0;
    if is_followed {
        flow.reach(operation);
    }
    let written_back = match slot.change(|| slot.data_filter().touch(line, true)) {
        Outcome::Miss(written_back) => written_back,
        // Another thread's doing.
        Outcome::Hit | Outcome::Upgrade => None,
    };
    let after = if is_followed { flow.distance(operation) } else { 0 };
    let instruction = slot.instruction(operation.place);
    if let Some(line) = sharing::stored(vcpu, line) {
        slot.record(KIND_WRITE_BACK, line, 6, instruction);
    }
    slot.begin_overwriting(&First { line, log2_size, instruction, after, written_back });
    flow.goes_out(line, instruction);
    flow.complete(operation, line, true, true);
    slot.follows.store(1, Relaxed);
}

/// A load or a store at which the fast way ends.
struct Access {
    operation: &'static TranslatedAccess,
    is_followed: bool,
    /// Its first byte, and its last.
    address: u64,
    last: u64,
    store: bool,
}

impl Access {
    /// Follows a value that the first level has.
    fn follow(&self, vcpu: u32) {
        // SAFETY: this is the thread, and no other is in use.
        if let Some(flow) = unsafe { table::flow(vcpu) } {
            flow.reach(self.operation);
            flow.complete(self.operation, self.address, self.store, false);
        }
    }

    /// Looks its lines up, and passes on what is missing.
    #[inline(never)]
    fn go_out(&self, vcpu: u32, slot: &Slot, log2_size: u64) {
        // SAFETY: this is the thread, and no other is in use.
        let Some(flow) = (unsafe { table::flow(vcpu) }) else { return };
        if self.is_followed {
            flow.reach(self.operation);
        }
        let instruction = slot.instruction(self.operation.place);
        let second = (self.last / LINE != self.address / LINE).then_some(self.last & !(LINE - 1));
        let mut went_out = false;
        for address in [Some(self.address), second].into_iter().flatten() {
            let outcome = slot.change(|| slot.data_filter().touch(address, self.store));
            if outcome == Outcome::Hit {
                continue;
            }
            let after = if self.is_followed { flow.distance(self.operation) } else { 0 };
            self.report(vcpu, slot, outcome, (address, log2_size), (instruction, after));
            if let Outcome::Miss(_) = outcome {
                flow.goes_out(address, instruction);
                went_out = true;
            }
        }
        if went_out {
            slot.follows.store(1, Relaxed);
        }
        if self.is_followed || went_out {
            flow.complete(self.operation, self.address, self.store, went_out);
        }
    }

    /// Passes on what a line is wanted for, and how many loads and stores ago its address went out; 0 for none.
    fn report(
        &self,
        vcpu: u32,
        slot: &Slot,
        outcome: Outcome,
        (address, log2_size): (u64, u64),
        (instruction, after): (u64, u64),
    ) {
        let store = self.store;
        let recalled = if store { sharing::stored(vcpu, address) } else { sharing::loaded(vcpu, address) };
        if let Some(line) = recalled {
            slot.record(KIND_WRITE_BACK, line, 6, instruction);
        }
        match outcome {
            Outcome::Hit => {}
            Outcome::Upgrade => slot.record(KIND_UPGRADE, address, log2_size, instruction),
            Outcome::Miss(written_back) => {
                let kind = if store { KIND_STORE } else { KIND_LOAD };
                slot.record_after(kind, address, log2_size, instruction, after);
                if let Some(line) = written_back {
                    slot.record(KIND_WRITE_BACK, line, 6, instruction);
                }
            }
        }
    }
}

/// A store that goes around the caches. Stores to one line are combined on their way, as the hardware does.
extern "C" fn on_non_temporal_store(vcpu: u32, info: u32, address: u64, data: *mut c_void) {
    // SAFETY: leaked by `flow::translate`.
    let operation: &'static TranslatedAccess = unsafe { &*data.cast() };
    let slot = table::slot(vcpu);
    add(&slot.counters.stores, 1);
    let instruction = slot.instruction(operation.place);
    // SAFETY: this is the thread, and no other is in use.
    if let Some(flow) = unsafe { table::flow(vcpu) }.filter(|_| slot.follows.load(Relaxed) != 0) {
        flow.reach(operation);
    }
    let last = address + (1 << qemu::log2_size(info)) - 1;
    for line in [address & !(LINE - 1), last & !(LINE - 1)] {
        if slot.combining.iter().any(|combining| combining.load(Relaxed) == line) {
            continue;
        }
        let next = slot.combining_next.load(Relaxed) as usize % slot.combining.len();
        slot.combining[next].store(line, Relaxed);
        slot.combining_next.store(next as u32 + 1, Relaxed);
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
