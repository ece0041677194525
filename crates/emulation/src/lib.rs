//! Measurements of software Xeons in virtual time.
//!
//! An [`Experiment`] is a measurement as a value: a machine, what it runs, what is counted and how often. It has no
//! wall clock and no chance but seeds, so the same experiment gives the same samples. [`Experiment::check`] finds
//! what is wrong with it without running it; [`Experiment::start`] builds and warms the machine, and [`Started::run`]
//! passes each sample to a sink.
//!
//! The other modules are what any measurement of a software machine needs: [`VirtualClock`], the clock of
//! `observe::run`; [`start`]; [`plan`]; [`silent`], counts that no model makes; [`truth`], the model's own figures;
//! [`sampled`], what windows of a run say of all of it.

mod clock;
mod error;
mod experiment;
pub mod sampled;
pub mod silent;
pub mod start;
mod started;
pub mod truth;

pub use clock::{VirtualClock, moment};
pub use error::{ExperimentError, FaultyPart};
pub use experiment::{Experiment, POLL, TURN, plan};
pub use pericore_machine::part_file;
pub use started::Started;
