//! Texts that software machines and their measurements are made from.

pub mod machine_part;
pub mod scenario;
pub mod snapshot;
pub mod sweep_file;
pub mod workload;
