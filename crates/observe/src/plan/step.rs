//! A single register access of a plan, and what it is for.

use std::fmt;

use pericore_catalog::Register;
use pericore_registers::{Address, Operation, Width};

/// A register access with its purpose.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The access.
    pub operation: Operation,
    /// What it is for.
    pub purpose: Purpose,
    /// Index of the instance in [`SocketPlan::instances`](super::SocketPlan::instances).
    pub instance: usize,
    /// The register array.
    pub register: &'static Register,
    /// Member of the array.
    pub member: u8,
    /// For a write the bits that stay as the register holds them, since they belong to others: it is read first, if there are any.
    pub keeps: u64,
}

/// What an access is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Looks whether a counter is in use by someone else.
    Inspect,
    /// The same, and saves the value because it will be overwritten.
    Save,
    /// Finds out whether registers may be written, before anything is changed.
    Attempt,
    /// Makes the unit obey freezes.
    EnableFreeze,
    /// Stops the unit's counters.
    Freeze,
    /// Switches off a counter that no freeze stops.
    Disable,
    /// Sets a filter.
    Filter,
    /// Selects the event and enables the counter.
    Select,
    /// Zeroes counters.
    Reset,
    /// Reads the count that the first sample is compared with.
    Baseline {
        /// Index in [`InstancePlan::counters`](super::InstancePlan::counters).
        counter: usize,
    },
    /// Reads a count.
    Count {
        /// Index in [`InstancePlan::counters`](super::InstancePlan::counters).
        counter: usize,
    },
    /// Lets the unit's counters run.
    Unfreeze,
}

impl Step {
    /// The counter that it reads, if it does: an index in [`InstancePlan::counters`](super::InstancePlan::counters).
    pub const fn counter(&self) -> Option<usize> {
        match self.purpose {
            Purpose::Baseline { counter } | Purpose::Count { counter } => Some(counter),
            _ => None,
        }
    }

    /// Name of the register: `ctl2`.
    pub fn register_name(&self) -> String {
        self.register.member_name(self.member)
    }
}

/// A write as the writes that carry it out: of 8 bytes in configuration space the upper half goes first, beside a lower half of 0, since hardware acts
/// on the lower half alone.
pub fn halves(operation: Operation) -> impl Iterator<Item = Operation> {
    const LOWER: u64 = 0xffff_ffff;
    let (first, second) = match operation {
        Operation::Write { address: address @ Address::Pci { .. }, width: Width::B8, value } if value & LOWER != 0 => {
            let upper = Operation::Write { address, width: Width::B8, value: value & !LOWER };
            (upper, Some(Operation::Write { address, width: Width::B4, value: value & LOWER }))
        }
        other => (other, None),
    };
    std::iter::once(first).chain(second)
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inspect => "in use?",
            Self::Save => "save",
            Self::Attempt => "may it be written?",
            Self::EnableFreeze => "obey freezes",
            Self::Freeze => "freeze",
            Self::Disable => "disable",
            Self::Filter => "filter",
            Self::Select => "select and enable",
            Self::Reset => "reset",
            Self::Baseline { .. } => "baseline",
            Self::Count { .. } => "count",
            Self::Unfreeze => "unfreeze",
        })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.register_name();
        match self.operation {
            Operation::Read { address, width } => write!(f, "read  {name:<12} {address}, {} bytes", width.bytes())?,
            Operation::Write { address, value, .. } => write!(f, "write {name:<12} {address} <- {value:#x}")?,
        }
        if self.keeps != 0 {
            write!(f, ", keeps {:#x}", self.keeps)?;
        }
        write!(f, "  ({})", self.purpose)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSR: Address = Address::Msr { cpu: 1, msr: 0xd10 };
    const PCI: Address = Address::Pci { bdf: pericore_registers::Bdf::new(0xff, 16, 0), offset: 0xd8 };

    /// Eight bytes of configuration space take two cycles, the lower one first, and that one makes a counter count: so
    /// the upper half goes ahead beside a lower one of 0.
    #[test]
    fn only_wide_writes_of_configuration_space_have_halves() {
        let write = |address, width, value| Operation::Write { address, width, value };
        let given = |operation| halves(operation).collect::<Vec<_>>();
        let whole = 0x12_0040_0304;
        assert_eq!(
            given(write(PCI, Width::B8, whole)),
            [write(PCI, Width::B8, 0x12_0000_0000), write(PCI, Width::B4, 0x0040_0304)]
        );
        for alone in [
            write(PCI, Width::B8, 0x12_0000_0000),
            write(PCI, Width::B4, 0x0040_0304),
            write(MSR, Width::B8, whole),
            write(Address::Mmio { physical: 8 }, Width::B8, whole),
            Operation::Read { address: PCI, width: Width::B8 },
        ] {
            assert_eq!(given(alone), [alone]);
        }
    }

    /// What `--dry-run` prints.
    #[test]
    fn a_step_prints_what_it_does_and_what_for() {
        let register =
            crate::testing::e5_2600().unit("cbo").unwrap().register(pericore_catalog::Role::Control).unwrap();
        let step = |operation, purpose, keeps| Step { operation, purpose, instance: 0, register, member: 2, keeps };
        let read = Operation::Read { address: PCI, width: Width::B4 };
        let write = Operation::Write { address: MSR, width: Width::B8, value: 0x40_0136 };
        for (step, text) in [
            (step(read, Purpose::Inspect, 0), format!("read  ctl2         {PCI}, 4 bytes  (in use?)")),
            (step(write, Purpose::Select, 0), format!("write ctl2         {MSR} <- 0x400136  (select and enable)")),
            (
                step(write, Purpose::Attempt, 0xff00),
                format!("write ctl2         {MSR} <- 0x400136, keeps 0xff00  (may it be written?)"),
            ),
        ] {
            assert_eq!(step.to_string(), text);
        }
        for (purpose, counter, word) in [
            (Purpose::Save, None, "save"),
            (Purpose::EnableFreeze, None, "obey freezes"),
            (Purpose::Freeze, None, "freeze"),
            (Purpose::Disable, None, "disable"),
            (Purpose::Filter, None, "filter"),
            (Purpose::Reset, None, "reset"),
            (Purpose::Baseline { counter: 3 }, Some(3), "baseline"),
            (Purpose::Count { counter: 5 }, Some(5), "count"),
            (Purpose::Unfreeze, None, "unfreeze"),
        ] {
            assert_eq!((step(read, purpose, 0).counter(), purpose.to_string().as_str()), (counter, word));
        }
    }
}
