//! Uncore PMON hardware in software, register by register: what tools and drivers see of a Xeon's uncore.
//!
//! [`signal`] is the hardware's input: pulses and levels of its units, with their tags and times. [`pmon`] are the
//! counters, compiled from the catalogue's rows; [`chassis`] the sockets, CPUs and buses through which software reads
//! and writes them. Signals come from outside this crate: from a model of the traffic, a test, or a recording.

mod borrowed_sink;
pub mod chassis;
pub mod pmon;
pub mod signal;

/// The examples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
