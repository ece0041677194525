//! A software Xeon: register-accurate PMON hardware driven by a model of the uncore's traffic, whose truth is known.
//!
//! [`workload`] is what the cores do, [`uncore`] the traffic model, [`ledger`] the truth that it keeps. All that a model
//! says to the hardware ([`chassis`]) are signals. [`Machine`] puts them together.

pub mod coverage;
pub mod curve;
mod e5_2600;
mod emerald_rapids;
pub mod ledger;
mod machine;
mod memory_traffic;
mod nehalem;
pub mod signals;
pub mod steady;
pub mod uncore;

pub use pericore_engine as engine;
pub use pericore_hardware::{chassis, pmon, signal};
pub use pericore_models as models;
pub use pericore_parts::host::large_pages;
pub use pericore_parts::program::Stage;
pub use pericore_parts::work::{Progress, Worker};
pub use pericore_workload as workload;

pub use e5_2600::E5;
pub use emerald_rapids::EmeraldRapids;
pub use machine::{
    BuildError, FirstLevel, Machine, MachineSpec, MemoryKind, PRESETS, Parameters, ReadLatencies, SharedMachine,
    Snapshot, SpecError, WarmUp, Window, add_part, checked, modelled, part_file,
};
