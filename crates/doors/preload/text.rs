//! Texts built without allocation: inside a signal handler the allocator may be locked.

use core::ffi::{c_char, c_int, c_void};
use core::fmt::{self, Write};

use crate::sys;

/// A short text that ends with a zero byte.
pub struct Text {
    bytes: [u8; 160],
    length: usize,
}

impl Text {
    pub fn new(arguments: fmt::Arguments<'_>) -> Self {
        let mut text = Self { bytes: [0; 160], length: 0 };
        let _ = text.write_fmt(arguments);
        text
    }

    pub fn as_ptr(&self) -> *const c_char {
        self.bytes.as_ptr().cast()
    }

    /// Writes the text to standard error.
    pub fn show(&self) {
        const STDERR: c_int = 2;
        // SAFETY: the buffer holds `length` bytes.
        unsafe { sys::write(STDERR, self.bytes.as_ptr().cast::<c_void>(), self.length) };
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // One byte stays for the end.
        let room = self.bytes.len() - 1 - self.length;
        let count = text.len().min(room);
        self.bytes[self.length..self.length + count].copy_from_slice(&text.as_bytes()[..count]);
        self.length += count;
        Ok(())
    }
}
