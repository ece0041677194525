//! What is handed out at the moment.

use std::sync::{Arc, Mutex, PoisonError};

/// All texts of one state of things.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pages {
    /// The metrics in Prometheus' text format 0.0.4.
    pub prometheus: Vec<u8>,
    /// The metrics in OpenMetrics 1.0.
    pub open_metrics: Vec<u8>,
    /// A short page for people.
    pub front: Vec<u8>,
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
