//! A guest: stock QEMU, a stock Debian kernel and its stock drivers, on the emulated machine.
//!
//! Registers reach the guest by two ways. MSRs and PCI configuration space: breakpoints of QEMU's gdb stub at the kernel's access
//! functions ([`traps`]); the machine answers in their place. Memory-mapped registers: a PCI device of QEMU whose accesses come
//! over a socket ([`proxy`]). [`Hardware`] decides which accesses are the machine's; [`clock`] ties the guest's time to the
//! machine's; [`Prepared`] is what is booted, [`run`] the boot.

mod access;
mod cache;
pub mod clock;
mod core_pmu;
mod cpio;
mod error;
pub mod gdb;
mod hardware;
mod overlay;
mod plan;
mod process;
mod program;
pub mod proxy;
mod qemu;
mod session;
mod stops;
mod streams;
pub mod traps;

pub use access::Access;
pub use cache::Prepared;
pub use error::GuestError;
pub use hardware::Hardware;
pub use session::{Boot, Output, Report, collector, run};
pub use stops::Counts;
