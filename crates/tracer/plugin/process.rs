//! The process: joining the tracer's memory, and doing so again after a fork.

use super::layout::{BYTES, MAGIC, NOTES, PROGRAM_ARGUMENT, Shape, Shared, Slot};
use super::{os, table, thread};
use std::cell::Cell;
use std::os::unix::ffi::OsStrExt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::*};

static SHARED: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
/// This process's number in the tracer's count.
static NUMBER: AtomicU32 = AtomicU32::new(0);
/// The number of the process that forked this one, plus 1.
static FORKED_FROM: AtomicU32 = AtomicU32::new(0);

/// Non-zero once the program has asked for a second thread, or a child.
static HAS_THREADS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The vCPU of a thread that is about to fork.
    static FORKING: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Maps the tracer's memory. `None` if it is not what it should be.
pub fn join(path: &[u8]) -> Option<Shared> {
    let file = std::fs::File::options().read(true).write(true).open(std::ffi::OsStr::from_bytes(path)).ok()?;
    if file.metadata().ok()?.len() != BYTES as u64 {
        return None;
    }
    let base = os::map_shared(&file, BYTES)?;
    // SAFETY: just mapped, of the right size, and never unmapped.
    let shared = unsafe { Shared::new(base) };
    if shared.header().magic != MAGIC {
        return None;
    }
    SHARED.store(shared.base(), Release);
    NUMBER.store(shared.header().processes.fetch_add(1, Relaxed), Relaxed);
    thread::end_slots_of_the_dead(shared);
    os::at_fork(after_fork);
    Some(shared)
}

/// The tracer's memory.
#[inline(always)]
pub fn shared() -> Shared {
    // SAFETY: `join` has stored it before anything else of the plugin runs.
    unsafe { Shared::new(NonNull::new_unchecked(SHARED.load(Relaxed))) }
}

/// Shape of the data filter.
#[inline(always)]
pub fn data_shape() -> Shape {
    shared().header().data
}

/// Shape of the fetch filter.
#[inline(always)]
pub fn fetch_shape() -> Shape {
    shared().header().fetch
}

/// The program that runs, as the tracer or `follow` wrote it into QEMU's command line.
pub fn program() -> Vec<u8> {
    let line = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    line.split(|&byte| byte == 0).nth(PROGRAM_ARGUMENT).unwrap_or_default().to_vec()
}

/// Writes into a slot whose it is.
pub fn describe(slot: &Slot) {
    slot.process.store(NUMBER.load(Relaxed), Relaxed);
    slot.forked_from.store(FORKED_FROM.load(Relaxed), Relaxed);
    slot.program.set(&program());
}

/// Tells the user something about this process.
pub fn note(what: u32, path: &[u8], errno: i32, address: u64) {
    let header = shared().header();
    let index = header.notes_begun.fetch_add(1, Relaxed) as usize;
    if index < NOTES {
        let note = &header.notes[index];
        note.what.store(what, Relaxed);
        note.pid.store(std::process::id(), Relaxed);
        note.errno.store(errno, Relaxed);
        note.address.store(address, Relaxed);
        note.path.set(path);
        note.ready.store(1, Release);
    }
}

/// True if there may be several threads.
#[inline]
pub fn has_threads() -> bool {
    HAS_THREADS.load(Relaxed) != 0
}

/// Remembers, in the thread that does it, that a fork or a thread is to come. True if it is the first.
pub fn before_fork(vcpu: u32) -> bool {
    FORKING.set(Some(vcpu));
    HAS_THREADS.swap(1, Relaxed) == 0
}

/// Runs in a forked child before anything of the program does. The child shares the parent's slots and must not write to them.
extern "C" fn after_fork() {
    let parent = FORKING.take().map(|vcpu| (vcpu, table::slot(vcpu)));
    table::clear();
    let shared = shared();
    FORKED_FROM.store(NUMBER.load(Relaxed) + 1, Relaxed);
    NUMBER.store(shared.header().processes.fetch_add(1, Relaxed), Relaxed);
    thread::end_slots_of_the_dead(shared);
    if let Some((vcpu, parent)) = parent {
        let child = thread::take_slot();
        // The child runs on with what its parent had in its cache.
        for (to, from) in child.data.0.iter().zip(&parent.data.0).chain(child.fetch.0.iter().zip(&parent.fetch.0)) {
            to.store(from.load(Relaxed), Relaxed);
        }
        table::set(vcpu, Some(child));
    }
}
