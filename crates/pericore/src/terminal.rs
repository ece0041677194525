//! What a terminal asks of output: width, colour, nothing that upsets it.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use clap::{Args, ValueEnum};
use unicode_width::UnicodeWidthChar as _;

/// Widest line of human output.
pub const WIDTH: usize = 80;

/// `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The option, for commands that print for people.
#[derive(Debug, Clone, Copy, Args)]
pub struct ColorArg {
    /// Colour the output
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    color: ColorChoice,
}

impl ColorArg {
    /// How to paint standard output.
    pub fn paint(self) -> Paint {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Paint {
            on: match self.color {
                ColorChoice::Always => true,
                ColorChoice::Never => false,
                ColorChoice::Auto => std::io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb,
            },
        }
    }
}

/// Paints words, or leaves them as they are. Widths must be seen to before: escape sequences take no room on the screen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// A heading or a name.
    pub fn strong(self, text: &str) -> String {
        self.with("1", text)
    }

    /// What matters less.
    pub fn faint(self, text: &str) -> String {
        self.with("2", text)
    }

    /// What is wrong.
    pub fn alarm(self, text: &str) -> String {
        self.with("31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Columns of a line of what the text goes to: those of a terminal; none for a pipe or a file, where any line has room.
pub fn width_of(output: impl AsFd) -> Option<usize> {
    let is_terminal = output.as_fd().is_terminal();
    let known = terminal_size::terminal_size_of(output).map(|(terminal_size::Width(width), _)| usize::from(width));
    is_terminal.then(|| known.filter(|width| *width > 0).unwrap_or(WIDTH))
}

/// True if the user's locale is one of UTF-8, as POSIX finds out what that is.
pub fn is_unicode() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default().to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// Columns that a text takes on a terminal: wide characters take two, and marks on others none.
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

fn columns_of(character: char) -> usize {
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

/// The title of a measurement: what runs how is on a line of its own below, further in than the title.
pub fn title_lines(title: &str, indent: usize) -> String {
    title.replacen("; ", &format!(";\n{:indent$}", ""), 1)
}

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

/// Counters of a bit mask as people write them: `0-3`, `0,2`.
pub fn counter_list(mask: u16) -> String {
    let counters: Vec<u8> = (0..16).filter(|counter| mask >> counter & 1 == 1).collect();
    let is_run = counters.len() > 2 && counters.windows(2).all(|pair| pair[1] == pair[0] + 1);
    match (is_run, counters.first(), counters.last()) {
        (true, Some(first), Some(last)) => format!("{first}-{last}"),
        _ => counters.iter().map(u8::to_string).collect::<Vec<_>>().join(","),
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

    #[test]
    fn counters_are_runs_or_lists() {
        assert_eq!([0b1111, 0b0011, 0b0101, 0b1110, 0].map(counter_list), ["0-3", "0,1", "0,2", "1-3", ""]);
    }

    #[test]
    fn paint_is_off_by_default() {
        assert_eq!(Paint::default().strong("x"), "x");
        assert_eq!(Paint { on: true }.alarm("x"), "\x1b[31mx\x1b[0m");
    }
}
