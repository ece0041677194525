//! Register accesses as values: where (MSR, PCI configuration space, MMIO), how wide, what came back.
//!
//! This crate knows no hardware and does no I/O. [`RegisterSpace`] is the one trait between software and hardware:
//! Linux, the emulated machine, recordings and the [`Counting`] wrapper implement it.

mod address;
mod bits;
mod counting;
mod outcome;
mod space;

pub use address::{Address, AddressSpace, Bdf, Width};
pub use bits::BitRange;
pub use counting::{AccessCounts, Counting};
pub use outcome::{AccessError, Outcome};
pub use space::{Operation, RegisterSpace};
