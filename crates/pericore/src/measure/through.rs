//! `--through`: how counters are reached.

use clap::ValueEnum;

/// How counters are reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ThroughArg {
    /// For each kind of unit, the kernel's driver if it can count all selected events, else registers
    #[default]
    Auto,
    /// Registers: MSRs, PCI configuration space, memory
    Registers,
    /// The kernel's driver, which needs CAP_PERFMON only
    Kernel,
}
