//! The words of the last failure of each thread, and the version.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Keeps the words of a failure for this thread.
pub fn keep(text: &str) {
    // A name that the caller wrote may come back in it, but has no zero inside: it came as a C string.
    let text = CString::new(text.replace('\0', "?")).unwrap_or_default();
    LAST.with(|last| last.replace(text));
}

/// What is kept.
#[cfg(test)]
pub fn last() -> String {
    LAST.with(|last| last.borrow().to_string_lossy().into_owned())
}

/// The words of this thread's last failure, in UTF-8, never null; valid until the next failure in this thread.
#[unsafe(no_mangle)]
pub extern "C" fn pericore_message() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}

/// The library's version, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn pericore_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => c"unknown",
    };
    VERSION.as_ptr()
}
