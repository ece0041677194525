//! The memory that the tracer and the plugin share: a header, then one slot for each thread that is being observed.
//!
//! Both sides compile this file. A slot has one writer (the thread) and one reader (the tracer), so that a process
//! that is killed in the middle of anything leaves nothing locked. The memory is mapped once and needs no descriptor
//! afterwards: a program may close all of its descriptors, and a forked child already has it.

use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};

/// First word of the header; the last two digits count changes of the layout.
pub const MAGIC: u64 = u64::from_le_bytes(*b"PERIRG04");
/// Threads that can be observed at the same time, over all processes.
pub const SLOTS: usize = 1024;
/// Records of a ring.
pub const RING: u64 = 1 << 14;
/// Lines of the largest filter.
pub const MOST_LINES: usize = 4096;
/// Notes that are kept word for word; further ones are counted.
pub const NOTES: usize = 256;
/// Where the program stands in QEMU's command line as the tracer writes it (counted from 0):
/// `qemu -plugin P -cpu C -0 ARGV0 PROGRAM …`.
pub const PROGRAM_ARGUMENT: usize = 7;
/// Bytes of a cache line.
pub const LINE: u64 = 64;

/// Text of bounded length.
#[repr(C)]
pub struct Text<const N: usize> {
    length: AtomicU32,
    bytes: [AtomicU8; N],
}

impl<const N: usize> Text<N> {
    /// Stores text. What does not fit is cut off.
    pub fn set(&self, text: &[u8]) {
        let length = text.len().min(N);
        for (to, from) in self.bytes.iter().zip(text) {
            to.store(*from, Ordering::Relaxed);
        }
        self.length.store(length as u32, Ordering::Relaxed);
    }

    /// The text.
    pub fn get(&self) -> Vec<u8> {
        let length = (self.length.load(Ordering::Relaxed) as usize).min(N);
        self.bytes[..length].iter().map(|byte| byte.load(Ordering::Relaxed)).collect()
    }
}

/// Sets and ways of a filter. Sets are a power of 2.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Shape {
    /// Sets.
    pub sets: u32,
    /// Ways.
    pub ways: u32,
}

/// What is said once for the whole run.
#[repr(C, align(4096))]
pub struct Header {
    /// [`MAGIC`].
    pub magic: u64,
    /// The tracer's process.
    pub tracer: i32,
    /// Non-zero if programs that are exec()ed run under QEMU too.
    pub follow: u32,
    /// The filter of loads and stores.
    pub data: Shape,
    /// The filter of instruction fetches.
    pub fetch: Shape,
    /// Non-zero once nobody reads any more: writers then throw away instead of waiting.
    pub closed: AtomicU32,
    /// Counts calls for the reader's attention; a futex.
    pub doorbell: AtomicU32,
    /// Non-zero while the reader sleeps on the doorbell.
    pub reader_sleeps: AtomicU32,
    /// Processes begun; numbers them.
    pub processes: AtomicU32,
    /// One more than the highest slot ever taken.
    pub slots_used: AtomicU32,
    /// Threads that found no free slot.
    pub unobserved: AtomicU32,
    /// Notes begun, kept or not.
    pub notes_begun: AtomicU32,
    /// QEMU's path.
    pub qemu: Text<4096>,
    /// The path under which other processes open the plugin.
    pub plugin: Text<256>,
    /// The path under which other processes open this memory.
    pub memory: Text<256>,
    /// QEMU's CPU model.
    pub cpu: Text<256>,
    /// The notes.
    pub notes: [Note; NOTES],
}

/// Something to tell the user about a process.
#[repr(C)]
pub struct Note {
    /// Non-zero once the rest is written.
    pub ready: AtomicU32,
    /// What happened: one of the `NOTE_` constants.
    pub what: AtomicU32,
    /// The process.
    pub pid: AtomicU32,
    /// An error number, or nothing.
    pub errno: AtomicI32,
    /// An address, or nothing.
    pub address: AtomicU64,
    /// A path, or nothing.
    pub path: Text<484>,
}

/// The program was exec()ed without QEMU: following is switched off.
pub const NOTE_FOLLOWING_OFF: u32 = 1;
/// … its set-user-ID, set-group-ID or capabilities would be lost.
pub const NOTE_PRIVILEGED: u32 = 2;
/// … it is not for x86-64.
pub const NOTE_FOREIGN: u32 = 3;
/// … it was named by a descriptor.
pub const NOTE_DESCRIPTOR: u32 = 4;
/// … QEMU or the plugin cannot be reached from where the process is (another root or mount namespace).
pub const NOTE_UNREACHABLE: u32 = 5;
/// … QEMU could not be exec()ed, for the reason in `errno`.
pub const NOTE_EXEC_FAILED: u32 = 6;
/// … its arguments could not be read.
pub const NOTE_ARGUMENTS: u32 = 7;
/// An instruction with an EVEX prefix (AVX-512) at `address` was about to execute.
pub const NOTE_EVEX: u32 = 8;
/// The program was exec()ed without QEMU: the first program had ended.
pub const NOTE_TOO_LATE: u32 = 9;

/// Nobody's.
pub const FREE: u32 = 0;
/// Being filled in by the thread that takes it.
pub const TAKEN: u32 = 1;
/// In use.
pub const LIVE: u32 = 2;
/// Its thread has ended; the reader frees it once it has read all.
pub const ENDED: u32 = 3;

/// One access as it crosses: address (56 bits), kind (4), log2 of the size (4); then the instruction count (56) and
/// how many loads and stores of the thread ago the one was that its address comes from (8).
pub type Record = [u64; 2];

/// The furthest that an access names; what is longer ago has come.
pub const MOST_AFTER: u64 = 255;
/// Bits of the instruction count in a record.
pub const INSTRUCTION_BITS: u32 = 56;

/// Packs a record's second word.
pub const fn pack_order(instruction: u64, after: u64) -> u64 {
    instruction & ((1 << INSTRUCTION_BITS) - 1) | after << INSTRUCTION_BITS
}

/// Instruction count and distance of a record's second word.
pub const fn unpack_order(word: u64) -> (u64, u8) {
    (word & ((1 << INSTRUCTION_BITS) - 1), (word >> INSTRUCTION_BITS) as u8)
}

/// Kinds of records. The reader's `Kind` lists the same.
pub const KIND_LOAD: u64 = 0;
/// See the reader's `Kind`.
pub const KIND_STORE: u64 = 1;
/// See the reader's `Kind`.
pub const KIND_UPGRADE: u64 = 2;
/// See the reader's `Kind`.
pub const KIND_WRITE_BACK: u64 = 3;
/// See the reader's `Kind`.
pub const KIND_FETCH: u64 = 4;
/// See the reader's `Kind`.
pub const KIND_NON_TEMPORAL: u64 = 5;
/// First of two records: the address. The second holds the bytes instead of an address.
pub const KIND_UNMAP: u64 = 6;
/// No access: so far the thread has come. In place of an address, the nanoseconds that it is about to sleep.
pub const KIND_PROGRESS: u64 = 7;
/// Second of the two records of [`KIND_UNMAP`].
pub const KIND_UNMAP_BYTES: u64 = 8;
/// A thread says how far it has come each time that it has begun so many instructions (log2), and when it ends.
pub const PROGRESS_BITS: u32 = 20;

/// Bits of the address in a record.
pub const ADDRESS_BITS: u32 = 56;

/// Packs a record's first word.
pub const fn pack(kind: u64, address: u64, log2_size: u64) -> u64 {
    address & ((1 << ADDRESS_BITS) - 1) | kind << ADDRESS_BITS | log2_size << (ADDRESS_BITS + 4)
}

/// Kind, address and log2 of the size of a record's first word.
pub const fn unpack(word: u64) -> (u64, u64, u64) {
    (word >> ADDRESS_BITS & 15, word & ((1 << ADDRESS_BITS) - 1), word >> (ADDRESS_BITS + 4))
}

/// What only the thread writes and the reader only looks at.
#[repr(C, align(64))]
pub struct Counters {
    /// Instructions before the translation block that is running.
    pub instructions: AtomicU64,
    /// Instructions of that block.
    pub block: AtomicU64,
    /// Loads.
    pub loads: AtomicU64,
    /// Stores.
    pub stores: AtomicU64,
    /// Instruction lines fetched.
    pub fetches: AtomicU64,
    /// Records thrown away after the reader had gone.
    pub dropped: AtomicU64,
}

/// A line that a string instruction has begun to overwrite. Whether it overwrites all of it is known at the line's end:
/// until then its record waits.
#[repr(C)]
pub struct Overwritten {
    /// Where the next store is to go, within the line or behind its last byte; 0 if there is no such line.
    pub next: AtomicU64,
    /// The line's address.
    pub line: AtomicU64,
    /// Log2 of the bytes of the first store.
    pub log2_size: AtomicU64,
    /// Instruction count and distance, as a record's second word.
    pub order: AtomicU64,
    /// The address of the dirty line that had to go for it, and 1; 0 if there is none.
    pub written_back: AtomicU64,
}

/// One thread's slot.
#[repr(C, align(4096))]
pub struct Slot {
    /// [`FREE`], [`TAKEN`], [`LIVE`] or [`ENDED`].
    pub state: AtomicU32,
    /// The process, as the kernel numbers it.
    pub pid: AtomicU32,
    /// The process's number, from the header: one for each program image and each fork.
    pub process: AtomicU32,
    /// The process number from which this one was forked, plus 1; 0 for none.
    pub forked_from: AtomicU32,
    /// The program.
    pub program: Text<1024>,
    /// Records written.
    pub head: Line<AtomicU64>,
    /// Records read; the low half is a futex.
    pub tail: Line<AtomicU64>,
    /// Non-zero while the thread waits for room.
    pub writer_waits: Line<AtomicU32>,
    /// The writer's totals.
    pub counters: Counters,
    /// The writer's last look at `tail`.
    pub tail_seen: AtomicU64,
    /// Non-zero if this thread throws its records away.
    pub discards: AtomicU32,
    /// Lines that the last non-temporal stores went to.
    pub combining: [AtomicU64; 8],
    /// The next of these to replace.
    pub combining_next: AtomicU32,
    /// The line that a string instruction overwrites.
    pub overwritten: Overwritten,
    /// The running block, where the plugin has it.
    pub block: AtomicU64,
    /// Non-zero while something that went out may be under way, so that values are followed: for the running block.
    pub follows: AtomicU32,
    /// Non-zero while a thread changes the filters.
    pub changing: AtomicU32,
    /// Tags of the data filter.
    pub data: Tags,
    /// Tags of the fetch filter.
    pub fetch: Tags,
    /// The ring.
    pub ring: Ring,
}

/// A field on a cache line of its own.
#[repr(C, align(64))]
pub struct Line<T>(pub T);

/// The tags of a filter.
#[repr(C, align(4096))]
pub struct Tags(pub [AtomicU64; MOST_LINES]);

/// The records on their way.
#[repr(C, align(4096))]
pub struct Ring(pub [std::cell::UnsafeCell<Record>; RING as usize]);

/// Bytes of the shared memory.
pub const BYTES: usize = size_of::<Header>() + SLOTS * size_of::<Slot>();

/// The shared memory, mapped.
#[derive(Clone, Copy)]
pub struct Shared(std::ptr::NonNull<u8>);

// SAFETY: all that is shared between threads are atomics, or handed over through them.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Takes mapped memory over.
    ///
    /// # Safety
    /// `base` points to [`BYTES`] bytes of page-aligned, zero-initialised or already used shared memory, mapped for
    /// good.
    pub const unsafe fn new(base: std::ptr::NonNull<u8>) -> Self {
        Self(base)
    }

    /// Where it is mapped.
    pub const fn base(self) -> *mut u8 {
        self.0.as_ptr()
    }

    /// The header.
    pub fn header(self) -> &'static Header {
        // SAFETY: by `new`, the memory begins with a header, which is valid when zeroed.
        unsafe { self.0.cast().as_ref() }
    }

    /// A slot.
    pub fn slot(self, index: usize) -> &'static Slot {
        assert!(index < SLOTS);
        // SAFETY: by `new` and the assertion the slot is within the memory; it is valid when zeroed.
        unsafe { self.0.add(size_of::<Header>() + index * size_of::<Slot>()).cast().as_ref() }
    }

    /// The slots that were ever in use.
    pub fn slots(self) -> impl Iterator<Item = &'static Slot> {
        let used = self.header().slots_used.load(Ordering::Acquire) as usize;
        (0..used.min(SLOTS)).map(move |index| self.slot(index))
    }
}
