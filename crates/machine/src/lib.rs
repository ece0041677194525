//! A software Xeon: register-accurate PMON hardware driven by a model of the uncore's traffic, whose truth is known.
//!
//! [`engine`] is time and chance, [`workload`] what the cores do, [`uncore`] the traffic model, [`ledger`] the truth that it keeps.
//! [`signal`] is all that the model says to the hardware: [`pmon`] the counters, [`chassis`] the sockets and buses that software
//! sees. [`Machine`] puts them together.

pub mod chassis;
pub mod curve;
pub mod engine;
mod host;
pub mod ledger;
mod machine;
pub mod pmon;
pub mod signal;
pub mod steady;
pub mod uncore;
pub mod workload;

pub use machine::{
    BuildError, FirstLevel, Machine, MachineSpec, MemoryKind, Parameters, SharedMachine, Snapshot, SpecError, Window,
    checked, modelled,
};
