//! What the doors serve: one trait, so that a machine, a paced machine or a recording can stand behind them.

use std::sync::Arc;
use std::time::Duration;

use pericore_registers::{Operation, Outcome};

use crate::platform::Platform;

/// What an access came to, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The value read, or 0 for a write.
    pub outcome: Outcome<u64>,
    /// Virtual time since the machine's reset.
    pub at: Duration,
}

/// A machine behind the doors. Several threads of a tool reach it at once.
pub trait Backend: Send + Sync {
    /// CPUs and PCI functions, as tools find them. They do not change.
    fn platform(&self) -> &Platform;

    /// Carries out one access. MSR addresses name the machine's CPU, not the host's.
    fn access(&self, operation: Operation) -> Answer;

    /// What CPUID answers on a CPU of the machine: EAX, EBX, ECX, EDX.
    fn cpuid(&self, cpu: u32, leaf: u32, subleaf: u32) -> [u32; 4];
}

impl<B: Backend + ?Sized> Backend for Arc<B> {
    fn platform(&self) -> &Platform {
        (**self).platform()
    }

    fn access(&self, operation: Operation) -> Answer {
        (**self).access(operation)
    }

    fn cpuid(&self, cpu: u32, leaf: u32, subleaf: u32) -> [u32; 4] {
        (**self).cpuid(cpu, leaf, subleaf)
    }
}
