//! The forms of a report, and what it is printed with.

use crate::figures::Digits;

/// A form of results.
#[derive(Debug, Clone, Copy)]
pub enum Form<'a> {
    /// A table for people.
    Table,
    /// JSON lines.
    Json,
    /// Fields with this between.
    Separated(&'a str),
}

/// What a report is printed with in its form.
#[derive(Debug, Clone, Copy)]
pub struct Style<'a> {
    /// The model's figures stand beside the numbers.
    pub truth: bool,
    /// The software machine, if it was one.
    pub emulated: Option<&'a str>,
    /// How a table has whole numbers.
    pub digits: Digits,
    /// Bars of the summary end at an eighth of a column.
    pub unicode: bool,
}
