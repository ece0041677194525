//! Why a session does not start, or does not end cleanly.

use pericore_registers::AccessError;

use super::JournalError;
use crate::plan::Purpose;

/// A session that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// Someone else is counting.
    #[error("in use already: {}; another tool counts there: stop it, or use these counters anyway with --take-over", .counters.join(", "))]
    InUse {
        /// The counters: socket, instance, counter and what it counts.
        counters: Vec<String>,
    },
    /// The user lacks rights.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The user may read registers, and not write them.
    #[error("{0}; nothing was written")]
    NoWrites(AccessError),
    /// The journal cannot be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The system refuses a thread.
    #[error("socket {socket} cannot be read by a thread of its own: {message}; allow more threads (ulimit -u)")]
    Thread {
        /// Socket.
        socket: u16,
        /// The system's message.
        message: String,
    },
    /// A register refused a value during set-up. Everything has been put back.
    #[error(
        "socket {socket}, {instance}: register {register} refused the write to {purpose}: {error}; everything was put back, leave this unit out or report it"
    )]
    SetUp {
        /// Socket.
        socket: u16,
        /// Unit and number.
        instance: String,
        /// Register.
        register: String,
        /// What the write was for.
        purpose: Purpose,
        /// What came back.
        error: AccessError,
    },
    /// Registers refused their old values.
    #[error(
        "{refused} registers could not be put back, first {first}: {error}; write that value by hand or restart the machine"
    )]
    Restore {
        /// How many.
        refused: usize,
        /// The first one and its value.
        first: String,
        /// What came back.
        error: AccessError,
    },
}
