//! A line of a frame: never wider than its terminal, whatever is put into it.

use crate::terminal::Paint;

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
    /// At most `width` characters.
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
        let core: String = core.chars().take(room).collect();
        let count = core.chars().count();
        self.text.extend(std::iter::repeat_n(' ', self.gap));
        self.used += self.gap + count;
        self.gap = inner.len() - inner.trim_end_matches(' ').len();
        self.text.push_str(&brush(self.paint, &core));
    }

    /// Adds words that end where the line does, if there is room for them.
    pub fn push_right(&mut self, brush: Brush, words: &str) {
        let count = words.chars().count();
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

/// A name in at most `width` characters: its middle goes first, since names differ at their ends.
pub fn shortened(name: &str, width: usize, unicode: bool) -> String {
    let count = name.chars().count();
    if count <= width {
        return name.to_owned();
    }
    let dots = if unicode { "…" } else { ".." };
    let Some(kept) = width.checked_sub(dots.chars().count()).filter(|&kept| kept >= 2) else {
        return name.chars().take(width).collect();
    };
    let head = kept / 2;
    let (begin, end) = (name.chars().take(head), name.chars().skip(count - (kept - head)));
    begin.chain(dots.chars()).chain(end).collect()
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
