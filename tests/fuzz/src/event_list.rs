//! Event lists as users write them: never a crash, and an error points into the text.

use pericore_observe::selection::Selection;

/// Any bytes.
pub fn run(data: &[u8]) {
    let text = crate::text(data);
    for family in pericore_catalog::families() {
        let mut selection = Selection::new(family);
        if let Err(error) = selection.add_events(text) {
            assert!(!error.to_string().is_empty());
        }
        if let Err(error) = selection.add_metrics(text) {
            assert!(!error.to_string().is_empty());
        }
    }
}
