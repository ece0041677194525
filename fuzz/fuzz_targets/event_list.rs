//! Event lists as users write them: never a crash, and an error points into the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pericore_observe::selection::Selection;

fuzz_target!(|text: &str| {
    for family in pericore_catalog::families() {
        let mut selection = Selection::new(family);
        if let Err(error) = selection.add_events(text) {
            assert!(!error.to_string().is_empty());
        }
        if let Err(error) = selection.add_metrics(text) {
            assert!(!error.to_string().is_empty());
        }
    }
});
