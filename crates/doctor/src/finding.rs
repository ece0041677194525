//! One thing that was looked at.

use std::fmt::Display;

/// What a look came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingState {
    /// All is well.
    Good,
    /// Worth knowing.
    Note,
    /// Something is missing.
    Bad,
}

impl FindingState {
    /// Its name in lines for programs.
    pub const fn name(self) -> &'static str {
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
    state: FindingState,
    message: String,
    remedy: Option<String>,
}

impl Finding {
    /// All is well.
    pub fn good(check: impl Into<String>, message: impl Into<String>) -> Self {
        Self { check: check.into(), state: FindingState::Good, message: message.into(), remedy: None }
    }

    /// Worth knowing; nothing that `stat` needs is missing.
    pub fn note(check: impl Into<String>, message: impl Into<String>) -> Self {
        Self { check: check.into(), state: FindingState::Note, message: message.into(), remedy: None }
    }

    /// Something is missing, and this is how to get it.
    pub fn bad(check: impl Into<String>, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check: check.into(), state: FindingState::Bad, message: message.into(), remedy: Some(remedy.into()) }
    }

    /// The same as something that is missing.
    pub fn into_problem(self, remedy: &str) -> Self {
        Self { state: FindingState::Bad, remedy: Some(remedy.to_owned()), ..self }
    }

    /// Something failed. Errors end with what to do, after the last semicolon.
    pub fn refused(check: &str, error: &impl Display) -> Self {
        let text = error.to_string();
        match text.rsplit_once("; ") {
            Some((message, remedy)) => Self::bad(check, message, remedy),
            None => Self::bad(
                check,
                text.as_str(),
                "try again; if it persists, report it with the output of `pericore doctor --json`",
            ),
        }
    }

    /// True if that was looked at.
    pub fn is_about(&self, check: &str) -> bool {
        self.check == check
    }

    /// True if something is missing.
    pub const fn is_problem(&self) -> bool {
        matches!(self.state, FindingState::Bad)
    }

    /// What was looked at.
    pub fn check(&self) -> &str {
        &self.check
    }

    /// What the look came to.
    pub const fn state(&self) -> FindingState {
        self.state
    }

    /// What was found.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn remedy(&self) -> Option<&str> {
        self.remedy.as_deref()
    }

    /// All words.
    pub fn words(&self) -> String {
        format!("{} {}", self.message, self.remedy.as_deref().unwrap_or(""))
    }
}
