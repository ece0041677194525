//! What functions return, and failures on their way there.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pericore_observe::session::SessionError;

use crate::message;

/// What a call has come to. Negative codes are failures; `pericore_message` has the words.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// Done.
    Ok = 0,
    /// The workload of the software machine has ended: no time passes there any more.
    Ended = 1,
    /// There is no number: the figure has `NAN`, and the reason.
    NoNumber = 2,
    /// An argument is not valid: a null pointer, a text that is not UTF-8, an index out of range, a region that is
    /// not open.
    Invalid = -1,
    /// A name is not known: of a family, a machine, a workload, an event, a metric or a region.
    Unknown = -2,
    /// The counters cannot be used: rights are missing, the processor is not known, or another tool counts.
    Unavailable = -3,
    /// Something failed while it counted.
    Failed = -4,
}

/// A failure with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFailure {
    pub code: Code,
    pub text: String,
}

impl CallFailure {
    pub fn invalid(text: impl Display) -> Self {
        Self { code: Code::Invalid, text: text.to_string() }
    }

    pub fn unknown(text: impl Display) -> Self {
        Self { code: Code::Unknown, text: text.to_string() }
    }

    pub fn unavailable(text: impl Display) -> Self {
        Self { code: Code::Unavailable, text: text.to_string() }
    }

    pub fn failed(text: impl Display) -> Self {
        Self { code: Code::Failed, text: text.to_string() }
    }
}

impl From<SessionError> for CallFailure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::InUse { .. } => Self::unavailable(error),
            error => Self::failed(error),
        }
    }
}

/// Runs the body of a function of the library: a failure leaves its words for `pericore_message`, and a panic
/// becomes one.
pub fn guarded(body: impl FnOnce() -> Result<Code, CallFailure>) -> Code {
    let fault = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(code)) => return code,
        Ok(Err(fault)) => fault,
        Err(panic) => CallFailure::failed(format!("a defect of libpericore: {}; please report it", words(&*panic))),
    };
    message::keep(&fault.text);
    fault.code
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_failure_with_words() {
        assert_eq!(guarded(|| panic!("{} is odd", 3)), Code::Failed);
        assert_eq!(message::last(), "a defect of libpericore: 3 is odd; please report it");
        assert_eq!(guarded(|| Err(CallFailure::unknown("no event"))), Code::Unknown);
        assert_eq!(message::last(), "no event");
    }
}
