//! How much room a text takes.

use unicode_width::UnicodeWidthChar as _;

/// Widest line of human output.
pub const WIDTH: usize = 80;

/// Columns that a text takes on a terminal: wide characters take two, and marks on others none.
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

pub(crate) fn columns_of(character: char) -> usize {
    // Nearly all are, and need no table.
    if matches!(character, ' '..='~') { 1 } else { character.width().unwrap_or(0) }
}

/// The beginning of a text that takes at most so many columns, with all marks that stand on its last character.
pub fn beginning(text: &str, width: usize) -> &str {
    let mut used = 0;
    let is_behind = |&(_, character): &(usize, char)| {
        used += columns_of(character);
        used > width
    };
    let end = text.char_indices().find(is_behind).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// A text with spaces behind it up to a width.
pub fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}
