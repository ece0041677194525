//! What a check says of samples before the one that it is made with.

use std::ops::Range;

use pericore_metrics::Validity;

/// Samples that were taken before a check, and that it does not confirm: what they depend on is not as the session
/// left it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Withdrawn {
    /// So many samples right before the one that brings this.
    pub samples: u64,
    /// The counts that are in doubt in all of them.
    pub doubts: Vec<Doubt>,
}

/// A count in doubt.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    /// Index in the selection's events.
    pub event: usize,
    /// Socket.
    pub socket: u16,
    /// Instance within the socket.
    pub instance: u16,
    /// What was found.
    pub why: String,
}

impl Withdrawn {
    /// What is to be said of an event in an instance of a socket, if it is in doubt.
    pub fn validity_of(&self, event: usize, socket: u16, instance: u16) -> Option<Validity> {
        let is_of = |doubt: &&Doubt| (doubt.event, doubt.socket, doubt.instance) == (event, socket, instance);
        let reasons = self.doubts.iter().filter(is_of);
        reasons.map(|doubt| Validity::suspect(format!("withdrawn: {}", doubt.why))).reduce(|all, one| all.and(&one))
    }

    /// Which of so many earlier samples, the oldest first, are withdrawn.
    pub fn among(&self, earlier: usize) -> Range<usize> {
        let withdrawn = usize::try_from(self.samples).unwrap_or(usize::MAX);
        earlier.saturating_sub(withdrawn)..earlier
    }
}
