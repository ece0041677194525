//! Linux's own driver and perf, and other people's tools, in a guest on the emulated machine. Nothing here is ours but the
//! hardware: stock QEMU 7.2, a stock Debian kernel, stock intel-uncore.ko.
//!
//! The counts that perf prints must equal what was injected between the accesses with which the driver started and stopped each
//! counter. Register addresses and control values are written by hand from the guides; the log of accesses gives the times.
//!
//! These need QEMU and Debian's package mirror. Where QEMU is not installed they fail, unless `PERICORE_NO_GUEST` is set.

mod bad_input;
mod bandwidth;
mod boot;
mod cases;
mod decoding;
mod e5_2600;
mod emerald_rapids;
mod injection;
mod sapphire_rapids;
mod sections;
mod switch;
mod truth;
