//! What the library takes from the C library, declared by hand: it is compiled without other crates.

use core::ffi::{c_char, c_int, c_long, c_void};

pub const SIGILL: c_int = 4;
pub const SIGSEGV: c_int = 11;
pub const SA_SIGINFO: c_int = 4;
pub const SA_NODEFER: c_int = 0x4000_0000;
pub const SA_ONSTACK: c_int = 0x0800_0000;
pub const PROT_READ: c_int = 1;
pub const PROT_WRITE: c_int = 2;
pub const PROT_EXEC: c_int = 4;
pub const MAP_PRIVATE: c_int = 2;
pub const MAP_FIXED: c_int = 0x10;
pub const MAP_ANONYMOUS: c_int = 0x20;
pub const O_RDONLY: c_int = 0;
pub const O_RDWR: c_int = 2;
pub const O_CLOEXEC: c_int = 0o2_000_000;
pub const ENODEV: c_int = 19;
pub const SIG_UNBLOCK: c_int = 1;
pub const CLOCK_MONOTONIC: c_int = 1;
pub const SYS_MMAP: c_long = 9;
pub const SYS_MUNMAP: c_long = 11;
pub const SYS_RT_SIGPROCMASK: c_long = 14;
pub const SYS_ARCH_PRCTL: c_long = 158;
pub const ARCH_SET_CPUID: c_long = 0x1012;
/// General registers in a signal's context, in the order of `gregs`.
pub const REG_RIP: usize = 16;

/// The kernel's numbering of registers (rax, rcx, rdx, …) to places in `gregs`.
pub const GREGS: [usize; 16] = [13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct SignalSet {
    pub bits: [u64; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct SignalAction {
    pub handler: usize,
    pub mask: SignalSet,
    pub flags: c_int,
    pub restorer: usize,
}

impl SignalAction {
    /// The default action.
    pub const DEFAULT: Self = Self { handler: 0, mask: SignalSet { bits: [0; 16] }, flags: 0, restorer: 0 };
}

#[repr(C)]
pub struct SignalInfo {
    pub signal: c_int,
    pub errno: c_int,
    pub code: c_int,
    _pad: c_int,
    pub address: usize,
}

#[repr(C)]
pub struct TimeSpec {
    pub seconds: i64,
    pub nanoseconds: i64,
}

#[repr(C)]
pub struct Context {
    _flags: u64,
    _link: usize,
    _stack: [u64; 3],
    pub registers: [u64; 23],
}

#[repr(C)]
pub struct ProgramHeader {
    pub kind: u32,
    pub flags: u32,
    pub offset: u64,
    pub address: u64,
    pub physical: u64,
    pub file_size: u64,
    pub memory_size: u64,
    pub align: u64,
}

#[repr(C)]
pub struct LoadedObject {
    pub base: usize,
    pub name: *const c_char,
    pub headers: *const ProgramHeader,
    pub count: u16,
}

#[link(name = "c")]
unsafe extern "C" {
    pub fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    pub fn close(descriptor: c_int) -> c_int;
    pub fn access(path: *const c_char, mode: c_int) -> c_int;
    pub fn pread(descriptor: c_int, buffer: *mut c_void, count: usize, offset: i64) -> isize;
    pub fn pwrite(descriptor: c_int, buffer: *const c_void, count: usize, offset: i64) -> isize;
    pub fn write(descriptor: c_int, buffer: *const c_void, count: usize) -> isize;
    pub fn mprotect(address: *mut c_void, length: usize, protection: c_int) -> c_int;
    pub fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int;
    pub fn sched_getcpu() -> c_int;
    pub fn syscall(number: c_long, ...) -> c_long;
    pub fn raise(signal: c_int) -> c_int;
    pub fn __sigaction(signal: c_int, new: *const SignalAction, old: *mut SignalAction) -> c_int;
    pub fn ssignal(signal: c_int, handler: usize) -> usize;
    #[cfg(embedded)]
    pub fn _exit(status: c_int) -> !;
    pub fn dl_iterate_phdr(
        callback: unsafe extern "C" fn(*const LoadedObject, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    pub fn readlink(path: *const c_char, buffer: *mut c_char, size: usize) -> isize;
    pub fn __errno_location() -> *mut c_int;
}
