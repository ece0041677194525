//! A software Xeon: register-accurate PMON hardware driven by a model of the uncore's traffic, whose truth is known.
//!
//! [`workload`] is what the cores do, [`uncore`] the traffic model, [`ledger`] the truth that it keeps. All that a model
//! says to the hardware ([`chassis`]) are signals. [`Machine`] puts them together.

pub mod curve;
mod host;
pub mod ledger;
mod machine;
pub mod steady;
pub mod uncore;
pub mod workload;

pub use pericore_engine as engine;
pub use pericore_hardware::{chassis, pmon, signal};

pub use machine::{
    BuildError, FirstLevel, Machine, MachineSpec, MemoryKind, Parameters, SharedMachine, Snapshot, SpecError, WarmUp,
    Window, checked, modelled,
};
