//! The cores: threads that issue accesses, and programs.

mod bounces;
mod issue;
mod pages;
mod program;
mod ring_sink;
mod thread;

pub use ring_sink::RingSink;
pub use thread::{Thread, ThreadKind, Wanted};
