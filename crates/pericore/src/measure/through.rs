//! `--through`: how counters are reached.

use clap::ValueEnum;

/// How counters are reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ThroughArg {
    /// Through the kernel's driver where it counts all that is wanted of a kind of unit, else by registers
    #[default]
    Auto,
    /// By registers: MSRs, PCI configuration space, memory
    Registers,
    /// Through the kernel's driver: needs CAP_PERFMON alone
    Kernel,
}
