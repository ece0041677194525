//! Counting through the kernel's own uncore drivers (`perf_event_open`).
//!
//! The drivers' PMUs stand in `/sys/bus/event_source/devices`: [`Pmu::read`] reads one. What the catalogue calls a
//! field has a term there, which the PMU's format files place in an event's attributes; the few names that differ, and
//! what is odd in drivers, are rows of `catalog/kernel/driver.txt` ([`DriverNames`]). No register is written, and no
//! journal: the kernel puts everything back, and shares counters with others by turns. CAP_PERFMON is enough, or
//! `perf_event_paranoid` at 0 or below.

mod counting;
mod driver;
mod error;
mod format;
mod open;
mod pmu;
mod prepare;
mod stacks;
mod system_call;
mod terms;

pub use counting::KernelCounters;
pub use driver::{DriverNames, DriverTableError};
pub use error::{KernelError, PmuError};
pub use format::{Attributes, FormatError, Privilege, TermFormat};
pub use open::KernelCost;
pub use pmu::{NamedEvent, Pmu, parse_terms, uncore_pmus};
pub use prepare::{KernelCounter, KernelPlan, KernelPmus, kinds_of_pmus};
pub use stacks::{IoStack, PciDevice, pci_devices};
pub use system_call::{GroupReading, LinuxPerf, PerfEvents};
pub use terms::{KernelEvent, KernelTerm};

#[cfg(test)]
mod tests;
