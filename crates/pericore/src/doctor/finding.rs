//! One thing that was looked at.

use std::fmt::Display;
use std::io::{self, Write};

use serde_json::json;

use crate::printable::printable;
use crate::terminal::{Paint, wrapped};

/// Columns before the text.
const INDENT: usize = 18;
/// Columns of the text.
const TEXT: usize = 80 - INDENT;

/// What a look came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    Note,
    Bad,
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Note => "note",
            Self::Bad => "problem",
        }
    }
}

/// A look, what it came to, and what to do about it.
#[derive(Debug)]
pub struct Finding {
    check: String,
    state: State,
    says: String,
    remedy: Option<String>,
}

impl Finding {
    /// All is well.
    pub fn good(check: impl Into<String>, says: impl Into<String>) -> Self {
        Self { check: check.into(), state: State::Good, says: says.into(), remedy: None }
    }

    /// Worth knowing; nothing that `stat` needs is missing.
    pub fn note(check: impl Into<String>, says: impl Into<String>) -> Self {
        Self { check: check.into(), state: State::Note, says: says.into(), remedy: None }
    }

    /// Something is missing, and this is how to get it.
    pub fn bad(check: impl Into<String>, says: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check: check.into(), state: State::Bad, says: says.into(), remedy: Some(remedy.into()) }
    }

    /// The same as something that is missing.
    pub fn into_problem(self, remedy: &str) -> Self {
        Self { state: State::Bad, remedy: Some(remedy.to_owned()), ..self }
    }

    /// Something failed. Errors end with what to do, after the last semicolon.
    pub fn refused(check: &str, error: &impl Display) -> Self {
        let text = error.to_string();
        match text.rsplit_once("; ") {
            Some((says, remedy)) => Self::bad(check, says, remedy),
            None => Self::bad(
                check,
                text.as_str(),
                "try again; if it stays, report it with the output of `pericore doctor --json`",
            ),
        }
    }

    /// True if that was looked at.
    pub fn is_about(&self, check: &str) -> bool {
        self.check == check
    }

    /// True if something is missing.
    pub const fn is_problem(&self) -> bool {
        matches!(self.state, State::Bad)
    }

    /// A line for programs.
    pub fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { check, state, says, remedy } = self;
        writeln!(out, "{}", json!({ "check": check, "state": state.name(), "message": says, "remedy": remedy }))
    }

    /// Lines for people.
    pub fn print(&self, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
        let mark = format!("{:<8}", self.state.name());
        let mark = if self.is_problem() { paint.alarm(&mark) } else { paint.faint(&mark) };
        for (number, line) in wrapped(&printable(&self.says), TEXT).iter().enumerate() {
            match number {
                0 => writeln!(out, "{mark}{:<9} {line}", self.check)?,
                _ => writeln!(out, "{:INDENT$}{line}", "")?,
            }
        }
        for (number, line) in self.remedy.iter().flat_map(|text| wrapped(&printable(text), TEXT - 3)).enumerate() {
            writeln!(out, "{:INDENT$}{} {line}", "", if number == 0 { "=>" } else { "  " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
impl Finding {
    /// The check and its state, for comparison.
    pub fn key(&self) -> (&str, &'static str) {
        (&self.check, self.state.name())
    }

    /// All words.
    pub fn words(&self) -> String {
        format!("{} {}", self.says, self.remedy.as_deref().unwrap_or(""))
    }
}
