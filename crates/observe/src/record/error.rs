//! Why a recording cannot be read.

use super::FORMAT;

/// A recording that cannot be read, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be read.
    #[error("line {line}: cannot be read: {message}")]
    Io {
        /// Line, from 1.
        line: usize,
        /// The system's message.
        message: String,
    },
    /// There is not even a whole first line.
    #[error("it ends before its first line does: nothing was recorded; record again")]
    Nothing,
    /// The first line is none of a recording.
    #[error("line 1: {what}: not a Pericore recording; name a file that `pericore record` wrote")]
    Foreign {
        /// What is wrong.
        what: String,
    },
    /// The format is of another version.
    #[error(
        "line 1: the format's version is {found}, and this pericore reads version {FORMAT}; read it with the pericore that wrote it"
    )]
    Version {
        /// The version, as it stands there.
        found: String,
    },
    /// A line is not as the format has it.
    #[error("line {line}{}: {what}; {}", in_field(.field), advice(*.line))]
    Damaged {
        /// Line, from 1.
        line: usize,
        /// The field, such as `counts[3]`; none if it is the line as a whole.
        field: Option<String>,
        /// What is wrong.
        what: String,
    },
}

fn in_field(field: &Option<String>) -> String {
    field.as_ref().map_or_else(String::new, |field| format!(", {field}"))
}

fn advice(line: usize) -> String {
    match line {
        0 | 1 => "the file was damaged: record again".to_owned(),
        _ => format!("the file was damaged: what is before can be read from its first {} lines (head -n)", line - 1),
    }
}
