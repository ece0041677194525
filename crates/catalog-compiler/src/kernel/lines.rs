//! The lines of a table.

use crate::Place;

/// A file's lines.
pub struct TableLines {
    /// Number of the file.
    pub file: u16,
    /// What it holds.
    pub text: String,
}

impl TableLines {
    /// TableLines that have words, with their places; `#` begins a comment.
    pub fn iter(&self) -> impl Iterator<Item = (Place, &str)> {
        let lines = (1..).zip(self.text.lines()).map(|(line, text)| (Place { file: self.file, line }, text));
        lines.filter(|(_, text)| !text.trim_start().is_empty() && !text.starts_with('#'))
    }
}
