//! Texts from and to C.

use std::ffi::{CStr, c_char};

use crate::code::CallFailure;

/// Bytes that a name takes at most, with its zero at the end.
pub const NAME_SIZE: usize = 128;

/// Bytes that a sentence takes at most, with its zero at the end; longer ones are cut.
pub const TEXT_SIZE: usize = 512;

/// A text of the caller's.
///
/// # Safety
/// `text` is null, or points to bytes that end with a zero and stay as they are during `'a`.
///
/// # Errors
/// It is null, or not UTF-8.
pub unsafe fn required<'a>(text: *const c_char, what: &str) -> Result<&'a str, CallFailure> {
    // SAFETY: the caller promises the same.
    unsafe { optional(text, what) }?.ok_or_else(|| CallFailure::invalid(format!("{what} is null; give a text")))
}

/// The same, where null stands for none.
///
/// # Safety
/// As [`required`].
///
/// # Errors
/// It is not UTF-8.
pub unsafe fn optional<'a>(text: *const c_char, what: &str) -> Result<Option<&'a str>, CallFailure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: not null, and the caller promises the rest.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| CallFailure::invalid(format!("{what} is not UTF-8 text: {text:?}")))
}

/// A text in a field of a struct: cut between characters where it is too long, and always with a zero at the end.
pub fn fixed<const SIZE: usize>(text: &str) -> [c_char; SIZE] {
    let mut field = [0; SIZE];
    let mut end = text.len().min(SIZE.saturating_sub(1));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    for (to, from) in field.iter_mut().zip(&text.as_bytes()[..end]) {
        *to = from.cast_signed();
    }
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back<const SIZE: usize>(text: &str) -> String {
        let field = fixed::<SIZE>(text);
        // SAFETY: the field ends with a zero.
        unsafe { CStr::from_ptr(field.as_ptr()) }.to_str().expect("UTF-8").to_owned()
    }

    /// "µ" takes two bytes: of "aµ" three bytes have room for "a" and a zero, and four for all.
    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!((back::<3>("aµ").as_str(), back::<4>("aµ").as_str(), back::<8>("aµ").as_str()), ("a", "aµ", "aµ"));
        assert_eq!(back::<1>("a"), "");
    }

    #[test]
    fn null_and_bytes_that_are_no_text_are_refused() {
        // SAFETY: null, and a text that ends with a zero.
        unsafe {
            assert_eq!(optional(std::ptr::null(), "events"), Ok(None));
            assert!(required(std::ptr::null(), "events").is_err_and(|fault| fault.text.contains("events is null")));
            assert!(required(c"\xff".as_ptr(), "events").is_err_and(|fault| fault.text.contains("not UTF-8")));
        }
    }
}
