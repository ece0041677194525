//! Whether samples come as they should, for a supervisor that starts a server anew which is not well.

use crate::board::Pages;

/// Why the server is not well; nothing if it is.
pub fn why_unwell(pages: Option<&Pages>) -> Option<&'static str> {
    match pages {
        Some(pages) if pages.are_fresh() => None,
        Some(_) => Some("no new sample has come for long"),
        None => Some("nothing has been measured yet: the first interval goes on"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_server_is_well_while_its_newest_sample_is_not_too_old() {
        let until = |stale_from| Pages { stale_from: Some(stale_from), ..Pages::default() };
        let now = Instant::now();
        assert_eq!(why_unwell(Some(&Pages::default())), None);
        assert_eq!(why_unwell(Some(&until(now + Duration::from_secs(60)))), None);
        assert_eq!(why_unwell(Some(&until(now))), Some("no new sample has come for long"));
        assert!(why_unwell(None).is_some());
    }
}
