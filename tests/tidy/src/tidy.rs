//! Style as a test. Each rule reads the files that git knows, and a list in `tests/tidy/lists` says what broke the rule when the rule was
//! made. A list may only shrink: what is not on it fails, and so does an entry that is no longer needed.
//!
//! `PERICORE_TIDY_SHRINK=1 cargo test -p pericore-tidy` takes out what is no longer needed. Nothing adds to a list.

mod circles;
mod facts;
mod floors;
mod folders;
mod lengths;
mod links;
mod list;
mod modules;
mod names;
mod notes;
mod path;
mod sources;
mod unwraps;
mod words;
