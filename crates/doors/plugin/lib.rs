//! The QEMU plugin of a guest: how many instructions each CPU has retired, in user mode and in the kernel.
//!
//! An instruction is counted when it begins. One that then faults on memory begins again after the kernel has helped
//! it; in user mode the first beginning is taken back, as hardware counts only what retires. With one CPU the code that
//! QEMU makes adds by itself; with more, and where QEMU has no such addition any more (from 9.1 on), it calls us.
//!
//! build.rs compiles it by itself, without other crates and without the standard library.

#![allow(missing_docs)]
#![cfg_attr(embedded, no_std)]

mod inline;
mod os;
#[allow(dead_code, reason = "the tracer's plugin has it too, and uses more of it")]
mod qemu;

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering::Relaxed};

use qemu::{Block, Instruction};

/// Runs when QEMU opens the plugin, before it looks at the version.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = qemu::choose_version;

/// What the host reads of a CPU: `src/guest/core_pmu.rs` reads the same.
#[repr(C)]
struct Counts {
    user: AtomicU64,
    kernel: AtomicU64,
    /// Beginnings in user mode that were taken back.
    undone: AtomicU64,
    unused: AtomicU64,
}

/// CPUs that have a place in a page.
const CPUS: usize = 4096 / size_of::<Counts>();

/// Addresses of the kernel's half have this bit.
const KERNEL: u64 = 1 << 63;

static COUNTS: AtomicPtr<Counts> = AtomicPtr::new(core::ptr::null_mut());
/// Where the kernel comes in after a page fault.
static FAULT: AtomicU64 = AtomicU64::new(0);
/// Whether QEMU's code adds by itself.
static INLINE: AtomicBool = AtomicBool::new(false);

/// A block of user mode as it was translated.
struct UserBlock {
    first: u64,
    last: u64,
    instructions: u64,
}

/// Where a CPU is.
struct State {
    /// The block of user mode that began last.
    block: *const UserBlock,
    /// Instructions that had begun then, in user mode and in the kernel.
    user: u64,
    kernel: u64,
    /// The address of an instruction that may not have been completed, until user mode goes on.
    doubtful: u64,
}

struct States([UnsafeCell<State>; CPUS]);

// SAFETY: each element is touched by the thread of its CPU alone.
unsafe impl Sync for States {}

const START: State = State { block: core::ptr::null(), user: 0, kernel: 0, doubtful: 0 };
static STATES: States = States([const { UnsafeCell::new(START) }; CPUS]);

fn counts(cpu: u32) -> &'static Counts {
    // SAFETY: the page is mapped before anything is translated and stays; the index is within it.
    unsafe { &*COUNTS.load(Relaxed).add(cpu as usize % CPUS) }
}

/// Adds to a number that only this CPU's thread writes.
fn add(counter: &AtomicU64, amount: u64) {
    counter.store(counter.load(Relaxed) + amount, Relaxed);
}

extern "C" fn on_translation(_id: qemu::Id, block: *mut Block) {
    // SAFETY: QEMU passes the block that it is translating, and waits.
    let block = unsafe { &mut *block };
    let (mut first, mut last, mut instructions) = (None, 0, 0);
    for instruction in block.instructions() {
        last = instruction.address();
        first.get_or_insert(last);
        instructions += 1;
        instrument(instruction, last);
    }
    if let Some(first) = first.filter(|first| first & KERNEL == 0) {
        // Those that QEMU has thrown away may still be the last one that a CPU was in.
        let data = os::keep(UserBlock { first, last, instructions });
        if !data.is_null() {
            block.on_execution(on_user_block, data as u64);
        }
    }
}

fn instrument(instruction: &mut Instruction, address: u64) {
    let is_kernel = address & KERNEL != 0;
    if address == FAULT.load(Relaxed) {
        instruction.on_execution(on_page_fault, 0);
    } else if INLINE.load(Relaxed) {
        let counts = counts(0);
        inline::add(instruction, if is_kernel { &counts.kernel } else { &counts.user });
    } else {
        instruction.on_execution(if is_kernel { on_kernel } else { on_user }, 0);
    }
}

extern "C" fn on_user(cpu: u32, _: *mut c_void) {
    add(&counts(cpu).user, 1);
}

extern "C" fn on_kernel(cpu: u32, _: *mut c_void) {
    add(&counts(cpu).kernel, 1);
}

extern "C" fn on_user_block(cpu: u32, data: *mut c_void) {
    let counts = counts(cpu);
    // SAFETY: this CPU's thread is the only one that touches it.
    let state = unsafe { &mut *STATES.0[cpu as usize % CPUS].get() };
    let block: *const UserBlock = data.cast();
    if state.doubtful != 0 {
        // SAFETY: blocks are kept.
        if unsafe { (*block).first } == state.doubtful {
            add(&counts.undone, 1);
        }
        state.doubtful = 0;
    }
    *state = State { block, user: counts.user.load(Relaxed), kernel: counts.kernel.load(Relaxed), doubtful: 0 };
}

/// The first instruction of the kernel after a page fault: of user mode if the kernel has done nothing since.
extern "C" fn on_page_fault(cpu: u32, _: *mut c_void) {
    let counts = counts(cpu);
    // SAFETY: this CPU's thread is the only one that touches it; blocks are kept.
    let state = unsafe { &mut *STATES.0[cpu as usize % CPUS].get() };
    if let (true, Some(block)) = (counts.kernel.load(Relaxed) == state.kernel, unsafe { state.block.as_ref() }) {
        let begun = counts.user.load(Relaxed) - state.user;
        if begun < block.instructions {
            add(&counts.undone, u64::from(begun > 0));
        } else {
            // Either the last instruction faulted, or it was completed and what follows could not be fetched. Where
            // user mode goes on tells which.
            state.doubtful = block.last;
        }
    }
    add(&counts.kernel, 1);
}

/// QEMU's entry point. Anything but 0 makes QEMU give up.
///
/// # Safety
/// Called by QEMU, once, with `argc` strings in `argv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: qemu::Id,
    _info: *const qemu::Info,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    let argument = |name: &str| {
        (0..argc as usize).find_map(|index| {
            // SAFETY: QEMU passes `argc` strings that stay valid.
            unsafe { CStr::from_ptr(*argv.add(index)) }.to_str().ok()?.strip_prefix(name)
        })
    };
    let page = argument("counts=").and_then(|number| os::map_page(number.parse().ok()?));
    let fault = argument("fault=").and_then(|address| u64::from_str_radix(address, 16).ok());
    let (Some(page), Some(fault)) = (page, fault) else {
        return 1;
    };
    COUNTS.store(page.as_ptr().cast(), Relaxed);
    FAULT.store(fault, Relaxed);
    INLINE.store(argument("cpus=") == Some("1") && inline::can_add(), Relaxed);
    qemu::on_translation(id, on_translation);
    0
}

#[cfg(embedded)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    os::give_up()
}

/// The compiled parts of `core` name it; nothing unwinds here.
#[cfg(embedded)]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
