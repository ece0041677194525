//! Lines of a width.

use crate::columns::{beginning, columns, columns_of};

/// `text` in lines of at most `width` columns, broken at spaces; a word that is longer is broken too.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for mut word in text.split_whitespace() {
        let mut takes = columns(word);
        if used > 0 && used + 1 + takes > width {
            lines.push(String::new());
            used = 0;
        }
        while takes > width {
            let begins = beginning(word, width);
            if begins.is_empty() {
                // A line of one column has no room for a wide character.
                word = word.trim_start_matches(|character| columns_of(character) > width);
            } else {
                push(&mut lines, begins, 0);
                lines.push(String::new());
                word = &word[begins.len()..];
            }
            takes = columns(word);
        }
        push(&mut lines, word, used);
        used += takes + usize::from(used > 0);
    }
    lines
}

fn push(lines: &mut [String], word: &str, used: usize) {
    if let Some(last) = lines.last_mut() {
        if used > 0 {
            last.push(' ');
        }
        last.push_str(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_spaces_and_cuts_only_what_is_too_long() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrapped("", 7), [""]);
        assert_eq!(wrapped("äöü ß", 5), ["äöü ß"]);
        assert_eq!(wrapped("読み書き e\u{301}e\u{301}", 3), ["読", "み", "書", "き", "e\u{301}e\u{301}"]);
        assert_eq!(wrapped("読x", 1), ["x"]);
    }
}
