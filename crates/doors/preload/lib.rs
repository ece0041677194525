//! The library that programs preload: it answers CPUID with the emulated processor's identity and RDTSC with its time, and serves
//! mapped `/dev/mem`.
//!
//! build.rs compiles it by itself, without other crates. Everything that runs in a signal handler makes plain system calls only.

#![allow(missing_docs)]
#![cfg_attr(embedded, no_std)]

mod answer;
mod memory;
mod patch;
mod signals;
mod sys;
mod text;
mod unwind;
mod x86;

use core::ffi::{c_int, c_void};

const FAILED: *mut c_void = -1isize as *mut c_void;

/// Runs when the library is loaded, before the program.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    // Outside the private namespace there is nothing to serve: the variable leaked.
    // SAFETY: constant path.
    if unsafe { sys::access(c"/dev/cpu/.pericore/door.so".as_ptr(), 0) } == 0 {
        signals::take_over();
        answer::learn_clock();
        patch::patch_all(!answer::fault_on_cpuid());
    }
}

/// The system call behind mmap.
unsafe fn map_pages(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    let (protection, flags, file) = (i64::from(protection), i64::from(flags), i64::from(file));
    // SAFETY: the caller's arguments.
    unsafe { sys::syscall(sys::SYS_MMAP, address, length, protection, flags, file, offset) as *mut c_void }
}

/// Maps as asked, or, for `/dev/mem`, pages that fault.
unsafe fn map(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: the caller's arguments; errno's place is this thread's.
    unsafe {
        let mapped = map_pages(address, length, protection, flags, file, offset);
        // Files under direct I/O cannot be mapped shared.
        let refused = mapped == FAILED && file >= 0 && *sys::__errno_location() == sys::ENODEV;
        if !refused || !memory::is_memory(file) {
            return mapped;
        }
        let pages =
            map_pages(address, length, 0, sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | flags & sys::MAP_FIXED, -1, 0);
        if pages != FAILED && !memory::note(pages as usize, length, offset as usize) {
            text::Text::new(format_args!("pericore: too many mappings of /dev/mem\n")).show();
            return FAILED;
        }
        pages
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: the caller's arguments.
    unsafe { map(address, length, protection, flags, file, offset) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mmap64(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: the caller's arguments.
    unsafe { map(address, length, protection, flags, file, offset) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(address: *mut c_void, length: usize) -> c_int {
    memory::forget(address as usize);
    // SAFETY: the caller's arguments.
    unsafe { sys::syscall(sys::SYS_MUNMAP, address, length) as c_int }
}

#[cfg(embedded)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    text::Text::new(format_args!("pericore: the preloaded library failed\n")).show();
    // SAFETY: ends the process at once.
    unsafe { sys::_exit(127) }
}

// The core library was compiled to unwind and names this; nothing here unwinds. Hidden, so that no program takes it for its own.
#[cfg(embedded)]
core::arch::global_asm!(".hidden rust_eh_personality", ".globl rust_eh_personality", "rust_eh_personality: ud2");
