//! A place in a text, for errors that point.

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
        format!("{line}\n{indent}{}", "^".repeat(width))
    }

    fn before(&self) -> &str {
        self.text.get(..self.offset).unwrap_or(&self.text)
    }
}
