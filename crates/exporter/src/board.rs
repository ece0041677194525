//! What is handed out at the moment.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use crate::text::{Family, Format, exposition};

/// All pages of one state of things.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pages {
    /// The metrics.
    pub metrics: MetricsPage,
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

/// The metrics, in each format. Samples are taken more often than anybody reads them, and readers mostly want one
/// format: a text is written when the first reader requests it, once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MetricsPage {
    families: Vec<Family>,
    prometheus: OnceLock<Vec<u8>>,
    open_metrics: OnceLock<Vec<u8>>,
}

impl MetricsPage {
    /// Of these families, in this order.
    pub fn of(families: Vec<Family>) -> Self {
        Self { families, ..Self::default() }
    }

    /// A page whose texts are known.
    #[cfg(test)]
    pub(crate) fn written(prometheus: Vec<u8>, open_metrics: Vec<u8>) -> Self {
        Self { families: Vec::new(), prometheus: prometheus.into(), open_metrics: open_metrics.into() }
    }

    /// Its text.
    pub fn text(&self, format: Format) -> &[u8] {
        let text = match format {
            Format::Prometheus => &self.prometheus,
            Format::OpenMetrics => &self.open_metrics,
        };
        text.get_or_init(|| exposition(&self.families, format).into_bytes())
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
        let metrics = MetricsPage::written(vec![number], vec![number, 1]);
        Pages { metrics, front: vec![number, 2], stale_from: None }
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

    /// Each format's text is that of the families, whichever is requested first, and however often.
    #[test]
    fn a_text_is_written_when_it_is_requested() {
        let mut family = Family::new("x", crate::text::Kind::Counter, None, "h");
        family.push(Vec::new(), crate::text::Number::Whole(3));
        let page = MetricsPage::of(vec![family]);
        let prometheus = b"# HELP x_total h\n# TYPE x_total counter\nx_total 3\n";
        let open_metrics = b"# HELP x h\n# TYPE x counter\nx_total 3\n# EOF\n";
        for _ in 0..2 {
            assert_eq!(page.text(Format::OpenMetrics), open_metrics);
            assert_eq!(page.text(Format::Prometheus), prometheus);
        }
        assert!(std::ptr::eq(page.text(Format::Prometheus), page.text(Format::Prometheus)), "it is written once");
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
