//! The cores: threads that issue accesses, and programs.

mod issue;
mod program;
mod thread;

pub use thread::{Thread, ThreadKind, Wanted};
