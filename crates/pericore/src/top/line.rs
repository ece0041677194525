//! A line of a frame: never wider than its terminal, whatever is put into it.

use pericore_text::{Paint, beginning, columns};

/// How a word is painted.
pub type Brush = fn(Paint, &str) -> String;

/// As it is.
pub fn plain(_: Paint, text: &str) -> String {
    text.to_owned()
}

/// A line in the making.
#[derive(Debug)]
pub struct Line {
    text: String,
    paint: Paint,
    width: usize,
    used: usize,
    /// Spaces that stand only if something comes after them.
    gap: usize,
}

impl Line {
    /// At most `width` columns.
    pub const fn new(width: usize, paint: Paint) -> Self {
        Self { text: String::new(), paint, width, used: 0, gap: 0 }
    }

    /// Adds words, as many as there is room for.
    pub fn push(&mut self, brush: Brush, words: &str) {
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
        self.text.extend(std::iter::repeat_n(' ', self.gap));
        self.used += self.gap + count;
        self.gap = inner.len() - inner.trim_end_matches(' ').len();
        self.text.push_str(&brush(self.paint, core));
    }

    /// Adds words that end where the line does, if there is room for them.
    pub fn push_right(&mut self, brush: Brush, words: &str) {
        let count = columns(words);
        if let Some(gap) = self.width.checked_sub(self.used + count).filter(|&gap| gap > 0 || self.used == 0) {
            self.gap = gap;
            self.push(brush, words);
        }
    }

    /// The line, without spaces at its end.
    pub fn finish(self) -> String {
        self.text
    }
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
        let mut line = Line::new(10, Paint::default());
        line.push(plain, "abc  ");
        line.push(plain, "  defghij");
        assert_eq!(line.finish(), "abc    def");
        let mut line = Line::new(10, Paint::default());
        line.push(plain, "abc   ");
        assert_eq!(line.finish(), "abc");
        let mut line = Line::new(10, Paint::default());
        line.push(plain, "abc");
        line.push_right(plain, "12:00");
        assert_eq!(line.finish(), "abc  12:00");
        let mut line = Line::new(10, Paint::default());
        line.push(plain, "abcdef");
        line.push_right(plain, "12:00");
        assert_eq!(line.finish(), "abcdef");
    }

    /// Wide characters take two columns, so that one may be left over; marks take none, and stay with what they stand on.
    #[test]
    fn columns_are_counted_and_not_characters() {
        let mut line = Line::new(6, Paint::default());
        line.push(plain, "読み書き");
        assert_eq!(line.finish(), "読み書");
        let mut line = Line::new(7, Paint::default());
        line.push(plain, "読み書き");
        line.push(plain, "x");
        assert_eq!(line.finish(), "読み書x");
        let mut line = Line::new(3, Paint::default());
        line.push(plain, "e\u{301}e\u{301}e\u{301}e\u{301}");
        assert_eq!(line.finish(), "e\u{301}e\u{301}e\u{301}");
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
