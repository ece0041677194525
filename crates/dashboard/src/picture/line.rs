//! A line of a picture: never wider than its place, whatever is put into it.

use pericore_text::{beginning, columns};
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};

/// A line in the making.
#[derive(Debug)]
pub struct LineBuilder {
    spans: Vec<Span<'static>>,
    width: usize,
    used: usize,
    /// Spaces that stand only if something comes after them.
    gap: usize,
}

impl LineBuilder {
    /// At most `width` columns.
    pub const fn new(width: usize) -> Self {
        Self { spans: Vec::new(), width, used: 0, gap: 0 }
    }

    /// Adds words, as many as there is room for.
    pub fn push(&mut self, style: Style, words: &str) {
        let inner = words.trim_start_matches(' ');
        self.gap += words.len() - inner.len();
        let core = inner.trim_end_matches(' ');
        let room = self.width.saturating_sub(self.used + self.gap);
        if core.is_empty() || room == 0 {
            self.gap += inner.len();
            return;
        }
        let core = beginning(core, room);
        let count = columns(core);
        if self.gap > 0 {
            self.spans.push(Span::raw(" ".repeat(self.gap)));
        }
        self.used += self.gap + count;
        self.gap = inner.len() - inner.trim_end_matches(' ').len();
        self.spans.push(Span::styled(core.to_owned(), style));
    }

    /// Adds words as they are, spaces and all, if there is room for them.
    pub fn push_block(&mut self, style: Style, words: &str) {
        let count = columns(words);
        if self.used + self.gap + count > self.width {
            return;
        }
        if self.gap > 0 {
            self.spans.push(Span::raw(" ".repeat(self.gap)));
        }
        self.used += self.gap + count;
        self.gap = 0;
        self.spans.push(Span::styled(words.to_owned(), style));
    }

    /// Adds words that end where the line does, if there is room for them.
    pub fn push_right(&mut self, style: Style, words: &str) {
        let count = columns(words);
        if let Some(gap) = self.width.checked_sub(self.used + count).filter(|&gap| gap > 0 || self.used == 0) {
            self.gap = gap;
            self.push(style, words);
        }
    }

    /// Columns that are left.
    pub const fn left(&self) -> usize {
        self.width.saturating_sub(self.used + self.gap)
    }

    /// The line.
    pub fn finish(self) -> Line<'static> {
        Line::from(self.spans)
    }
}

/// Words alone, as many as there is room for.
pub fn words(style: Style, words: &str, width: usize) -> Line<'static> {
    let mut line = LineBuilder::new(width);
    line.push(style, words);
    line.finish()
}

/// A name in at most `width` columns: its middle goes first, since names differ at their ends.
pub fn shortened(name: &str, width: usize, unicode: bool) -> String {
    if columns(name) <= width {
        return name.to_owned();
    }
    let dots = if unicode { "…" } else { ".." };
    let Some(kept) = width.checked_sub(columns(dots)).filter(|&kept| kept >= 2) else {
        return beginning(name, width).to_owned();
    };
    let begin = beginning(name, kept / 2);
    // The longest end that fits, and that does not begin with a mark on what is left out.
    let fits = |&(at, character): &(usize, char)| {
        columns(&name[at..]) <= kept - kept / 2 && columns(character.encode_utf8(&mut [0; 4])) > 0
    };
    let end = name.char_indices().find(fits).map_or("", |(at, _)| &name[at..]);
    format!("{begin}{dots}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_their_terminal_does() {
        let mut line = LineBuilder::new(10);
        line.push(Style::new(), "abc  ");
        line.push(Style::new(), "  defghij");
        assert_eq!(line.finish().to_string(), "abc    def");
        let mut line = LineBuilder::new(10);
        line.push(Style::new(), "abc   ");
        assert_eq!(line.finish().to_string(), "abc");
        let mut line = LineBuilder::new(10);
        line.push(Style::new(), "abc");
        line.push_right(Style::new(), "12:00");
        assert_eq!(line.finish().to_string(), "abc  12:00");
        let mut line = LineBuilder::new(10);
        line.push(Style::new(), "abcdef");
        line.push_right(Style::new(), "12:00");
        assert_eq!(line.finish().to_string(), "abcdef");
    }

    /// Wide characters take two columns, so that one may be left over; marks take none, and stay with their character.
    #[test]
    fn columns_are_counted_and_not_characters() {
        let mut line = LineBuilder::new(6);
        line.push(Style::new(), "読み書き");
        assert_eq!(line.finish().to_string(), "読み書");
        let mut line = LineBuilder::new(7);
        line.push(Style::new(), "読み書き");
        line.push(Style::new(), "x");
        assert_eq!(line.finish().to_string(), "読み書x");
        let mut line = LineBuilder::new(3);
        line.push(Style::new(), "e\u{301}e\u{301}e\u{301}e\u{301}");
        assert_eq!(line.finish().to_string(), "e\u{301}e\u{301}e\u{301}");
        assert_eq!(shortened("読み書きの数", 8, true), "読…の数");
        assert_eq!(columns(&shortened("読み書きの数", 7, false)), 6);
        assert_eq!(shortened("aaaae\u{301}bc", 5, true), "aa…bc");
    }

    #[test]
    fn names_lose_their_middle() {
        assert_eq!(shortened("PCT_REQUESTS_PAGE_HIT", 10, true), "PCT_…E_HIT");
        assert_eq!(shortened("PCT_REQUESTS_PAGE_HIT", 10, false), "PCT_.._HIT");
        assert_eq!(shortened("short", 10, true), "short");
        assert_eq!(shortened("longer", 3, true), "l…r");
        assert_eq!(shortened("longer", 2, true), "lo");
        assert_eq!(shortened("longer", 0, true), "");
    }
}
