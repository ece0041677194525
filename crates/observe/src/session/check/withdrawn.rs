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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_withdrawn_is_of_one_count_in_the_samples_right_before() {
        let doubt = |event, socket, instance, why: &str| Doubt { event, socket, instance, why: why.to_owned() };
        let doubts = vec![doubt(1, 0, 3, "it was frozen"), doubt(1, 0, 3, "it was written"), doubt(2, 1, 0, "other")];
        let withdrawn = Withdrawn { samples: 3, doubts };
        let text = withdrawn.validity_of(1, 0, 3).unwrap().to_string();
        assert_eq!(text, "suspect: withdrawn: it was frozen; suspect: withdrawn: it was written");
        assert_eq!(withdrawn.validity_of(2, 1, 0).unwrap().to_string(), "suspect: withdrawn: other");
        for (event, socket, instance) in [(1, 0, 2), (1, 1, 3), (0, 0, 3), (2, 0, 0)] {
            assert_eq!(withdrawn.validity_of(event, socket, instance), None);
        }
        assert_eq!([0, 2, 3, 10].map(|earlier| withdrawn.among(earlier)), [0..0, 0..2, 0..3, 7..10]);
    }
}
