//! Sweeps: many measurements of software Xeons from one file, each a partition of a Parquet data set.
//!
//! A [`Sweep`] is read from a TOML file (`docs/machine/sweeps.md`): machines x workloads x parameters, all checked
//! before anything runs. Each of its [`SweepRun`]s is a value that any process can carry out: the bytes of its
//! table depend on the run and on the version of Pericore, and on nothing else. A [`DataSet`] is the folder of the
//! tables. It tells which partitions are whole, [stale](PartitionState::Stale) or
//! [damaged](PartitionState::Damaged), by the names of the files, which have a key of the run and a digest of the
//! bytes.
//!
//! Who runs them is left to the caller: `pericore sweep` starts processes, the Python package hands them to Ray.

mod data_set;
mod file;
mod key;
mod run;
mod source;

pub use data_set::{DataSet, DataSetError, PartitionState};
pub use file::Sweep;
pub use run::{RunError, RunTable, SweepRun};
pub use source::SweepError;
