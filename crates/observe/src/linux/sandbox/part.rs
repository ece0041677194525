//! What a thread is for.

/// What a thread does from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadPart {
    /// It reaches registers for others.
    Registers,
    /// It takes samples and hands them on.
    Measuring,
    /// It talks to clients of a server.
    Serving,
}
