//! The far side of QEMU's `x-pci-proxy-dev`: a PCI device whose configuration space and memory accesses arrive on a socket.
//!
//! Each memory window of the machine is a BAR of the device, so stock QEMU under TCG forwards every load and store there.

pub mod config;
pub mod message;
mod server;

pub use config::ConfigSpace;
pub use server::{ProxyError, serve};
