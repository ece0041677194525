//! The registers of the machine that this runs on, as Linux lets them be reached.
//!
//! | space | way | what it takes |
//! |---|---|---|
//! | MSR | `/dev/cpu/N/msr` | module `msr`, CAP_SYS_RAWIO and rights to the file |
//! | PCI configuration | `/sys/bus/pci/devices/…/config`, else `/proc/bus/pci/…` | CAP_SYS_ADMIN beyond the first 64 bytes; root's file to write |
//! | MMIO | `/dev/mem`, page by page | CAP_SYS_RAWIO; no kernel lockdown, no CONFIG_STRICT_DEVMEM in the way |
//!
//! Files are opened when an access needs them, and for reading only until something is written. Once they are open, no access asks for a capability
//! any more, but for reads below `/proc`: so [`LinuxSpace::hold_open`] and [`privileges`] give up the others.

pub(crate) mod cpu_list;
mod forbidden;
mod host;
mod memory;
mod msr;
mod nodes;
mod pci;
mod place;
pub mod privileges;
mod processor;
mod refusal;
mod revoked;
pub mod sandbox;
pub mod sessions;
mod space;
mod torn;

use std::path::{Path, PathBuf};
use std::time::Instant;

pub use forbidden::Forbidden;
pub use host::{Host, HostError};
pub use nodes::MemoryNode;
pub use place::stay_on;
pub use processor::Processor;
pub(crate) use refusal::{NOT_PERMITTED, REMEDIES};
pub use refusal::{REMEDY_MEM, REMEDY_MSR, REMEDY_MSR_MODULE, REMEDY_PCI};
pub use space::LinuxSpace;

use crate::session::Moment;

/// Where the system's files are: `/`, or a folder that stands for it in tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Default for Root {
    fn default() -> Self {
        Self(PathBuf::from("/"))
    }
}

impl Root {
    /// Files below `folder` instead of `/`.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// A path below the root.
    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.0.join(path)
    }
}

/// Tells the time for samples: wall seconds since it was made, and the time-stamp counter.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Default for Stopwatch {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Stopwatch {
    /// Now.
    pub fn moment(&self) -> Moment {
        Moment { seconds: self.0.elapsed().as_secs_f64(), tsc: time_stamp() }
    }
}

#[cfg(target_arch = "x86_64")]
fn time_stamp() -> u64 {
    // SAFETY: every x86-64 processor has RDTSC, and Linux leaves it to user mode unless a process forbids it to itself.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn time_stamp() -> u64 {
    0
}

#[cfg(test)]
mod tests;
