//! The trait between software and hardware.

use crate::{Address, Outcome, Width};

/// One step of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Read; the batch's result holds the value.
    Read {
        /// Where.
        address: Address,
        /// Cycle width.
        width: Width,
    },
    /// Write.
    Write {
        /// Where.
        address: Address,
        /// Cycle width.
        width: Width,
        /// Value; bits above the width must be zero.
        value: u64,
    },
}

impl Operation {
    /// Where the step goes.
    pub const fn address(&self) -> Address {
        match self {
            Self::Read { address, .. } | Self::Write { address, .. } => *address,
        }
    }
}

/// A machine's registers, whichever way they are reached.
pub trait RegisterSpace {
    /// Reads `width` at `address`, zero-extended.
    ///
    /// # Errors
    /// See [`AccessError`](crate::AccessError). An absent PCI function reads as all ones and is no error.
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64>;

    /// Writes the low `width` of `value`.
    ///
    /// # Errors
    /// See [`AccessError`](crate::AccessError). A write to an absent PCI function is dropped and is no error.
    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()>;

    /// Carries out one operation: the value read, or 0 for a write.
    ///
    /// # Errors
    /// As [`read`](Self::read) and [`write`](Self::write).
    fn carry_out(&mut self, operation: Operation) -> Outcome<u64> {
        match operation {
            Operation::Read { address, width } => self.read(address, width),
            Operation::Write { address, width, value } => self.write(address, width, value).map(|()| 0),
        }
    }

    /// Carries out `operations` in order and appends one outcome each to `outcomes`, as [`carry_out`](Self::carry_out) gives it.
    /// A failing step does not stop the batch. Implementations that can save system calls override this.
    fn batch(&mut self, operations: &[Operation], outcomes: &mut Vec<Outcome<u64>>) {
        outcomes.extend(operations.iter().map(|&operation| self.carry_out(operation)));
    }
}

impl<T: RegisterSpace + ?Sized> RegisterSpace for &mut T {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        (**self).read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        (**self).write(address, width, value)
    }

    fn batch(&mut self, operations: &[Operation], outcomes: &mut Vec<Outcome<u64>>) {
        (**self).batch(operations, outcomes);
    }
}
