//! MSRs outside the uncore's PMON that tools use: identity, frequency, energy, and the core's own counters.

use serde::{Deserialize, Serialize};

/// An MSR of a processor's core side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreMsr<'c> {
    /// MSR number.
    pub address: u32,
    /// Intel's name.
    pub name: &'c str,
    /// Which CPUs share it.
    pub scope: MsrScope,
    /// What reads return and writes do.
    pub kind: MsrKind,
    /// Value after reset.
    pub reset: u64,
    /// Counters of the core that it controls, if it does.
    pub controls: Option<CounterControl>,
    /// Table.
    pub source: &'c str,
}

/// Which CPUs share an MSR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MsrScope {
    /// Each logical CPU has its own.
    Cpu,
    /// All CPUs of a socket share it.
    Package,
}

/// What an MSR does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MsrKind {
    /// Keeps some bits as they are written.
    Kept {
        /// Bits that a write changes; the others keep their reset value.
        writable: u64,
    },
    /// Counts cycles of the nominal frequency, whatever is enabled.
    Cycles,
    /// Counts energy in units of 2^-16 J, 32 bits; read only.
    Energy {
        /// Power, in W.
        watts: u64,
    },
    /// Active threads of the socket in bits 15:0, active cores from bit 16 on; read only.
    CoreThreadCount,
    /// Counts events of the core.
    Counter {
        /// Its bit in the MSR that controls all counters ([`CounterControl::Global`]); from [`FIRST_FIXED`] on, fixed
        /// counters.
        enable: u8,
    },
}

/// The enable bit of the first fixed counter (`IA32_PERF_GLOBAL_CTRL`).
pub const FIRST_FIXED: u8 = 32;

/// What an MSR controls of the core's counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CounterControl {
    /// All counters, a bit each.
    Global,
    /// The fixed counters, four bits each.
    Fixed,
    /// What one counter counts.
    EventSelect {
        /// The counter's enable bit.
        counter: u8,
    },
}
