//! What Linux's own driver offers: the PMUs of each family, and Intel's events on them.
//!
//! Families that are counted through the driver alone come from here ([`family`]): their units have no registers that
//! a program could write, their events are Intel's. For those and for the families with registers, [`perf_event`] has
//! the driver's way to select an event, and [`IntelNames`] Intel's name.

mod families;
mod names;
mod perf;
mod pool;
mod view;

pub use families::{
    ShippedKernel, counts_alone, families, family, family_of_cpu, family_of_file, is_driven_alone, of, unit,
};
pub use names::{IntelEvent, IntelNames, family_of_names, intel_events};
pub use perf::{NotOffered, PerfEvent, perf_event};
