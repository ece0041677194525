//! What the plugin needs of the C library.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::NonNull;

#[link(name = "c")]
unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn mmap(
        address: *mut c_void,
        length: usize,
        protection: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn malloc(bytes: usize) -> *mut c_void;
    #[cfg(embedded)]
    fn abort() -> !;
}

/// The address of a symbol that QEMU or its libraries export; null if none does.
pub fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: a null handle asks for the default search order.
    unsafe { dlsym(core::ptr::null_mut(), name.as_ptr()) }
}

/// Maps the first page of a file that is open, shared and writable.
pub fn map_page(file: c_int) -> Option<NonNull<u8>> {
    const READ_WRITE: c_int = 3;
    const SHARED: c_int = 1;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let base = unsafe { mmap(core::ptr::null_mut(), 4096, READ_WRITE, SHARED, file, 0) };
    if base as isize == -1 { None } else { NonNull::new(base.cast()) }
}

/// Keeps a value for as long as QEMU runs; null without memory for it.
pub fn keep<T>(value: T) -> *mut T {
    // SAFETY: memory of malloc() is aligned for everything; it is written before anybody reads it.
    unsafe {
        let place: *mut T = malloc(size_of::<T>()).cast();
        if !place.is_null() {
            place.write(value);
        }
        place
    }
}

/// Ends QEMU.
#[cfg(embedded)]
pub fn give_up() -> ! {
    // SAFETY: takes no arguments and does not return.
    unsafe { abort() }
}
