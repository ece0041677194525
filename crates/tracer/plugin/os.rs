//! The system calls that the standard library does not wrap.

use std::ffi::{c_char, c_int, c_long, c_void};

unsafe extern "C" {
    fn mmap(
        address: *mut c_void,
        length: usize,
        protection: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn syscall(number: c_long, ...) -> c_long;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn execve(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char) -> c_int;
    fn access(path: *const c_char, mode: c_int) -> c_int;
    fn clock_gettime(clock: c_int, time: *mut i64) -> c_int;
    fn getxattr(path: *const c_char, name: *const c_char, value: *mut c_void, size: usize) -> isize;
}

#[cfg(target_arch = "x86_64")]
mod numbers {
    pub const FUTEX: i64 = 202;
    pub const PROCESS_VM_READV: i64 = 310;
}
#[cfg(not(target_arch = "x86_64"))]
mod numbers {
    // The numbers that Linux gave to all later architectures.
    pub const FUTEX: i64 = 98;
    pub const PROCESS_VM_READV: i64 = 270;
}

const EPERM: i32 = 1;

/// Nanoseconds of a clock of the kernel's; 0 if there is no such clock.
pub fn clock(number: u64) -> u64 {
    let mut time = [0_i64; 2];
    // SAFETY: the kernel fills in seconds and nanoseconds, of 64 bits each.
    let found = unsafe { clock_gettime(number as c_int, time.as_mut_ptr()) } == 0;
    let [seconds, rest] = time.map(i64::unsigned_abs);
    if found { seconds.saturating_mul(1_000_000_000).saturating_add(rest) } else { 0 }
}

/// Maps a file, shared and writable.
pub fn map_shared(file: &std::fs::File, length: usize) -> Option<std::ptr::NonNull<u8>> {
    use std::os::fd::AsRawFd;
    const READ_WRITE: c_int = 3;
    const SHARED: c_int = 1;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let base = unsafe { mmap(std::ptr::null_mut(), length, READ_WRITE, SHARED, file.as_raw_fd(), 0) };
    if base as isize == -1 { None } else { std::ptr::NonNull::new(base.cast()) }
}

/// Memory of this process alone, zeroed.
pub fn map_private(length: usize) -> Option<std::ptr::NonNull<u8>> {
    const READ_WRITE: c_int = 3;
    const PRIVATE_ANONYMOUS: c_int = 0x22;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let base = unsafe { mmap(std::ptr::null_mut(), length, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0) };
    if base as isize == -1 { None } else { std::ptr::NonNull::new(base.cast()) }
}

/// Sleeps while a futex holds a value, for a tenth of a second at most.
pub fn futex_wait(futex: *const u32, value: u32) {
    const WAIT: c_int = 0;
    let timeout: [i64; 2] = [0, 100_000_000];
    // SAFETY: the kernel reads the word and the time, both valid.
    unsafe { syscall(numbers::FUTEX, futex, WAIT, value, timeout.as_ptr(), 0usize, 0) };
}

/// Wakes whoever sleeps on a futex.
pub fn futex_wake(futex: *const u32) {
    const WAKE: c_int = 1;
    // SAFETY: the kernel uses the address as a key only.
    unsafe { syscall(numbers::FUTEX, futex, WAKE, c_int::MAX, 0usize, 0usize, 0) };
}

/// True if a process is there.
pub fn is_alive(pid: i32) -> bool {
    // SAFETY: signal 0 is never delivered.
    unsafe { kill(pid, 0) == 0 || std::io::Error::last_os_error().raw_os_error() == Some(EPERM) }
}

/// Has a function called in the child after each fork.
pub fn at_fork(child: extern "C" fn()) {
    // SAFETY: the function is static; should memory run out, forked children are not observed.
    unsafe { pthread_atfork(None, None, Some(child)) };
}

/// The address of a symbol that the process or its libraries export; null if none does.
pub fn symbol(name: &std::ffi::CStr) -> *mut c_void {
    // SAFETY: a null handle asks for the default search order.
    unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) }
}

/// Reads this process's own memory, as far as it is readable. Returns the number of bytes read.
pub fn read_own_memory(address: u64, buffer: &mut [u8]) -> usize {
    let local = [buffer.as_mut_ptr() as usize, buffer.len()];
    let remote = [address as usize, buffer.len()];
    // SAFETY: the kernel writes at most `buffer.len()` bytes to the buffer, and checks the other address itself.
    let read = unsafe {
        syscall(
            numbers::PROCESS_VM_READV,
            c_long::from(std::process::id()),
            local.as_ptr(),
            1usize,
            remote.as_ptr(),
            1usize,
            0usize,
        )
    };
    usize::try_from(read).unwrap_or(0)
}

/// Replaces the process; returns only if that fails, with the error number.
///
/// # Safety
/// Both lists end with a null pointer, and hold strings otherwise.
pub unsafe fn exec(path: &std::ffi::CStr, argv: &[*const c_char], envp: &[*const c_char]) -> i32 {
    // SAFETY: by the caller.
    unsafe { execve(path.as_ptr(), argv.as_ptr(), envp.as_ptr()) };
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// True if the process may open (4) or execute (1) a file.
pub fn may(path: &std::ffi::CStr, mode: c_int) -> bool {
    // SAFETY: a valid string.
    unsafe { access(path.as_ptr(), mode) == 0 }
}

/// True if a file carries capabilities.
pub fn has_capabilities(path: &std::ffi::CStr) -> bool {
    // SAFETY: with size 0 nothing is written.
    unsafe { getxattr(path.as_ptr(), c"security.capability".as_ptr(), std::ptr::null_mut(), 0) > 0 }
}
