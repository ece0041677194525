//! What is handed out at the moment.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// All texts of one state of things.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pages {
    /// The metrics in Prometheus' text format 0.0.4.
    pub prometheus: Vec<u8>,
    /// The metrics in OpenMetrics 1.0.
    pub open_metrics: Vec<u8>,
    /// A short page for people.
    pub front: Vec<u8>,
    /// When newer ones should have come: from then on the server is not well. None for never.
    pub stale_from: Option<Instant>,
}

impl Pages {
    /// True until newer ones should have come.
    pub fn are_fresh(&self) -> bool {
        self.stale_from.is_none_or(|from| Instant::now() < from)
    }
}

/// Where the newest pages are. Readers get what is there as a whole, however long they take to send it.
#[derive(Debug, Clone, Default)]
pub struct Board(Arc<Mutex<Option<Arc<Pages>>>>);

impl Board {
    /// Replaces the pages.
    pub fn put(&self, pages: Pages) {
        let pages = Some(Arc::new(pages));
        // A thread that panicked elsewhere leaves whole pages behind: they are replaced as one.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = pages;
    }

    /// The newest pages; none before the first.
    pub fn pages(&self) -> Option<Arc<Pages>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(number: u8) -> Pages {
        Pages { prometheus: vec![number], open_metrics: vec![number, 1], front: vec![number, 2], stale_from: None }
    }

    /// A reader that is slow keeps the pages that it began with; whoever comes gets the newest, through any handle to the board.
    #[test]
    fn the_newest_pages_are_handed_out_and_older_ones_stay_whole() {
        let board = Board::default();
        assert_eq!(board.pages(), None);
        let other = board.clone();
        board.put(numbered(1));
        let slow = other.pages().expect("pages");
        other.put(numbered(2));
        assert_eq!(*slow, numbered(1));
        assert_eq!(board.pages().as_deref(), Some(&numbered(2)));
    }

    #[test]
    fn a_thread_that_panics_takes_nothing_along() {
        let board = Board::default();
        let held = board.clone();
        let end = std::thread::spawn(move || {
            let _guard = held.0.lock().unwrap();
            panic!("on purpose");
        });
        assert!(end.join().is_err() && board.0.is_poisoned());
        board.put(numbered(3));
        assert_eq!(board.pages().as_deref(), Some(&numbered(3)));
    }
}
