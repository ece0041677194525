//! A place in a text, for errors that point.

/// Characters of a line that are shown at most.
const LONGEST: usize = 76;

/// Characters before the place that are shown of a line that is longer.
const AROUND: usize = 30;

/// A place in a text that a user wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// The whole text.
    pub text: String,
    /// Byte offset of the place; the length of the text if it ends too early.
    pub offset: usize,
    /// Bytes that the place covers, 0 at the end.
    pub length: usize,
}

impl Spot {
    /// The `length` bytes at `offset` of `text`.
    pub fn new(text: &str, offset: usize, length: usize) -> Self {
        Self { text: text.to_owned(), offset, length }
    }

    /// The place's column in characters, counted from 1.
    pub fn column(&self) -> usize {
        self.before().chars().count() + 1
    }

    /// What stands there.
    pub fn token(&self) -> &str {
        self.text.get(self.offset..self.offset + self.length).unwrap_or("")
    }

    /// The line of the text that holds the place, and below it carets under the place.
    ///
    /// ```
    /// assert_eq!(pericore_metrics::Spot::new("A + * B", 4, 1).caret(), "A + * B\n    ^");
    /// ```
    pub fn caret(&self) -> String {
        let before = self.before();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[line_start..].lines().next().unwrap_or("");
        // Tabs stay, so that the caret stands where a terminal puts the place.
        let indent: String = before[line_start..].chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let width = self.token().lines().next().map_or(1, |token| token.chars().count().max(1));
        if line.chars().count() <= LONGEST {
            return format!("{line}\n{indent}{}", "^".repeat(width));
        }
        // Of a long line what is around the place: else it would fill the screen, and the carets would stand under another row of it.
        let first = indent.chars().count().saturating_sub(AROUND);
        let shown: String = line.chars().skip(first).take(LONGEST).collect();
        let left = if first > 0 { "…" } else { "" };
        let right = if line.chars().count() > first + LONGEST { "…" } else { "" };
        let indent: String = left.chars().map(|_| ' ').chain(indent.chars().skip(first)).collect();
        format!("{left}{shown}{right}\n{indent}{}", "^".repeat(width.min(LONGEST - AROUND)))
    }

    fn before(&self) -> &str {
        self.text.get(..self.offset).unwrap_or(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::Spot;

    /// 1,000 events of five characters: what is shown fits a terminal, and the carets stand under the wrong one.
    #[test]
    fn of_a_long_line_only_what_is_around_the_place_is_shown() {
        let text = "a/bc,".repeat(500) + "wrong," + &"a/bc,".repeat(500);
        let shown = Spot::new(&text, 2500, 5).caret();
        let (line, carets) = shown.split_once('\n').unwrap();
        assert!(line.starts_with("…a/bc,") && line.ends_with('…') && line.chars().count() == 78, "{line}");
        let place = carets.find('^').unwrap();
        assert_eq!(carets.trim_start(), "^^^^^");
        assert_eq!(line.chars().skip(place).take(5).collect::<String>(), "wrong");
        let at_the_end = Spot::new(&text, text.len(), 0).caret();
        let (line, carets) = at_the_end.split_once('\n').unwrap();
        assert_eq!((line.chars().count(), carets.chars().count()), (31, 32));
    }
}
