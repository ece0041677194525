//! A private place for a program: its own mounts and processes, gone with the last of them.
//!
//! The plan is worked out beforehand, as data; the first process of the namespace only carries it out, with system calls
//! that are safe after a fork in a program with threads. That process is process 1 of a PID namespace: when it ends, or when the
//! process that started it dies, the kernel kills the program and all that it started, and the mounts go with them.

mod child;
mod parent;
mod plan;
mod report;

pub use parent::{Command, Outcome, start};
pub use plan::plan;
