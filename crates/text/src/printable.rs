//! Text from files, journals and command lines on its way to a terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// Characters of a message that are shown; of a longer one its beginning and its end.
const MOST: usize = 4000;

/// Characters of its end.
const END: usize = 500;

/// The text with control characters as escapes, so that it cannot make a terminal do anything but show it: no
/// colours, no cursor movements, no change of a line's direction. New lines and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if acts(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// The same on one line.
pub fn on_one_line(text: &str) -> String {
    printable(text).replace('\n', "\\n").replace('\t', " ")
}

/// The same, and no longer than a screen or two: whatever is quoted in it may be as long as its file.
pub fn bounded(text: &str) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= MOST {
        return printable(text);
    }
    let place = |characters: usize| text.char_indices().nth(characters).map_or(text.len(), |(place, _)| place);
    let (beginning, end) = (&text[..place(MOST - END)], &text[place(length - END)..]);
    let mut shown = printable(beginning).into_owned();
    // A string takes whatever is written to it.
    let _ = write!(shown, " … ({} characters left out) … {}", length - MOST, printable(end));
    Cow::Owned(shown)
}

/// True for what a terminal carries out instead of showing it: control characters (C0, DEL, C1), and those that
/// change the direction of what follows (UAX #9, explicit formatting).
fn acts(character: char) -> bool {
    let is_line = matches!(character, '\n' | '\t');
    let is_direction =
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (character.is_control() && !is_line) || is_direction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_carry_out_is_escaped() {
        assert_eq!(printable("plain é 漢\n\tx"), "plain é 漢\n\tx");
        assert_eq!(printable("a\x1b[2Jb\r\x07\x7f\u{9b}31m"), "a\\u{1b}[2Jb\\r\\u{7}\\u{7f}\\u{9b}31m");
        assert_eq!(printable("\u{202e}gpj.exe"), "\\u{202e}gpj.exe");
        assert_eq!(on_one_line("a\nb\x1bc\td"), "a\\nb\\u{1b}c d");
    }

    #[test]
    fn a_message_has_a_length() {
        let long = "é".repeat(MOST);
        assert_eq!(bounded(&long), long);
        let longer = bounded(&("é".repeat(3_000_000) + "the end")).into_owned();
        assert!(longer.chars().count() < MOST + 50 && longer.ends_with("the end"), "{}", longer.len());
        assert!(longer.contains("… (2996007 characters left out) …"));
    }
}
