//! What the doors serve: one trait, so that a machine, a paced machine or a recording can stand behind them.

use std::sync::Arc;
use std::time::Duration;

use pericore_registers::{Operation, Outcome};

use crate::platform::Platform;

/// What an access came to, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
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
    fn access(&self, operation: Operation) -> Response;

    /// The same for a thread of a tool, by the number that the system has for it.
    fn access_by(&self, operation: Operation, _thread: u32) -> Response {
        self.access(operation)
    }

    /// What CPUID gives on a CPU of the machine: EAX, EBX, ECX, EDX.
    fn cpuid(&self, cpu: u32, leaf: u32, subleaf: u32) -> [u32; 4];
}

/// A machine as one thread of a tool reaches it.
#[derive(Debug, Clone, Copy)]
pub struct FromThread<'b, B> {
    /// The machine.
    pub backend: &'b B,
    /// The thread's number.
    pub thread: u32,
}

impl<B: Backend> Backend for FromThread<'_, B> {
    fn platform(&self) -> &Platform {
        self.backend.platform()
    }

    fn access(&self, operation: Operation) -> Response {
        self.backend.access_by(operation, self.thread)
    }

    fn cpuid(&self, cpu: u32, leaf: u32, subleaf: u32) -> [u32; 4] {
        self.backend.cpuid(cpu, leaf, subleaf)
    }
}

impl<B: Backend + ?Sized> Backend for Arc<B> {
    fn platform(&self) -> &Platform {
        (**self).platform()
    }

    fn access(&self, operation: Operation) -> Response {
        (**self).access(operation)
    }

    fn access_by(&self, operation: Operation, thread: u32) -> Response {
        (**self).access_by(operation, thread)
    }

    fn cpuid(&self, cpu: u32, leaf: u32, subleaf: u32) -> [u32; 4] {
        (**self).cpuid(cpu, leaf, subleaf)
    }
}
