//! The trait between software and hardware.

use crate::{AccessError, Address, Outcome, Width};

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

    /// The width of its cycle.
    pub const fn width(&self) -> Width {
        match self {
            Self::Read { width, .. } | Self::Write { width, .. } => *width,
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

    /// The PCI segments that there are, in ascending order.
    fn pci_segments(&mut self) -> Vec<u16> {
        vec![0]
    }

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

    /// Carries out a list in order and appends one outcome each to `outcomes`. A write whose mask in `keeps` is not 0
    /// leaves these bits as the register holds them: it is read right before, and the outcome is what it held. All
    /// other steps between two such writes are one [`batch`](Self::batch). Implementations that reach registers by
    /// messages override this to send one. `keeps` has as many masks as there are operations.
    fn carry_out_list(&mut self, operations: &[Operation], keeps: &[u64], outcomes: &mut Vec<Outcome<u64>>) {
        let mut at = 0;
        while at < operations.len() {
            if keeps[at] != 0 {
                outcomes.push(self.merge(operations[at], keeps[at]));
                at += 1;
                continue;
            }
            let plain = keeps[at..].iter().take_while(|keeps| **keeps == 0).count();
            self.batch(&operations[at..at + plain], outcomes);
            at += plain;
        }
    }

    /// Writes a register whose bits in `keeps` belong to others: it is read right before. What it held.
    ///
    /// # Errors
    /// As [`read`](Self::read) and [`write`](Self::write); a register that reads as all ones is not written.
    fn merge(&mut self, operation: Operation, keeps: u64) -> Outcome<u64> {
        let Operation::Write { address, width, value } = operation else { return self.carry_out(operation) };
        let held = self.read(address, width)?;
        if held == width.mask() {
            return Err(AccessError::Io { address, message: "the register reads as all ones".to_owned() });
        }
        self.write(address, width, held & keeps | value)?;
        Ok(held)
    }

    /// Says that the units of these names, of a processor family, are looked for next, by reads that each depend on
    /// those before. Implementations that let nobody read outside of units have it done where the registers are, and
    /// reply from what was read there.
    fn expect_discovery(&mut self, family: &str, units: &[&str]) {
        let _ = (family, units);
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

    fn pci_segments(&mut self) -> Vec<u16> {
        (**self).pci_segments()
    }

    fn carry_out_list(&mut self, operations: &[Operation], keeps: &[u64], outcomes: &mut Vec<Outcome<u64>>) {
        (**self).carry_out_list(operations, keeps, outcomes);
    }

    fn expect_discovery(&mut self, family: &str, units: &[&str]) {
        (**self).expect_discovery(family, units);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One register, 0x391, which refuses bit 63; a batch is its own, as where a system call is saved.
    #[derive(Default)]
    struct One {
        value: u64,
        batches: u32,
    }

    const HERE: Address = Address::Msr { cpu: 0, msr: 0x391 };
    const ELSEWHERE: Address = Address::Msr { cpu: 0, msr: 0x392 };

    /// The same without a batch of its own.
    #[derive(Default)]
    struct Plain(One);

    impl RegisterSpace for Plain {
        fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
            if address == HERE { Ok(self.0.value & width.mask()) } else { Err(AccessError::Unreachable { address }) }
        }

        fn write(&mut self, address: Address, _: Width, value: u64) -> Outcome<()> {
            if address != HERE || value >> 63 == 1 {
                return Err(AccessError::GeneralProtection { address });
            }
            self.0.value = value;
            Ok(())
        }
    }

    impl RegisterSpace for One {
        fn read(&mut self, _: Address, _: Width) -> Outcome<u64> {
            Ok(self.value)
        }

        fn write(&mut self, _: Address, _: Width, value: u64) -> Outcome<()> {
            self.value = value;
            Ok(())
        }

        fn batch(&mut self, _: &[Operation], outcomes: &mut Vec<Outcome<u64>>) {
            self.batches += 1;
            outcomes.push(Ok(42));
        }
    }

    const STEPS: [Operation; 5] = [
        Operation::Write { address: HERE, width: Width::B8, value: 0x2_0000_000f },
        Operation::Read { address: HERE, width: Width::B4 },
        Operation::Write { address: HERE, width: Width::B8, value: 1 << 63 },
        Operation::Read { address: ELSEWHERE, width: Width::B8 },
        Operation::Read { address: HERE, width: Width::B8 },
    ];

    /// A step that is refused neither ends the batch nor loses its place in the outcomes.
    #[test]
    fn a_batch_has_an_outcome_for_each_step_in_order() {
        let wanted = [
            Ok(0),
            Ok(0xf),
            Err(AccessError::GeneralProtection { address: HERE }),
            Err(AccessError::Unreachable { address: ELSEWHERE }),
            Ok(0x2_0000_000f),
        ];
        let mut outcomes = vec![Ok(7)];
        Plain::default().batch(&STEPS, &mut outcomes);
        assert_eq!(outcomes[0], Ok(7));
        assert_eq!(outcomes[1..], wanted);
        let mut space = Plain::default();
        assert_eq!(STEPS.map(|step| space.carry_out(step)), wanted);
        assert_eq!(STEPS.map(|step| step.address()), [HERE, HERE, HERE, ELSEWHERE, HERE]);
    }

    /// Bits 0 to 3 are ours, the rest somebody else's.
    #[test]
    fn bits_of_others_stay_as_they_are() {
        let mut space = Plain(One { value: 0xab5, batches: 0 });
        let write = |value| Operation::Write { address: HERE, width: Width::B8, value };
        let read = Operation::Read { address: HERE, width: Width::B8 };
        let mut outcomes = Vec::new();
        space.carry_out_list(&[read, write(0x3), read, write(0xc0)], &[0, !0xf, 0, 0], &mut outcomes);
        assert_eq!(outcomes, [Ok(0xab5), Ok(0xab5), Ok(0xab3), Ok(0)]);
        assert_eq!(space.0.value, 0xc0);
        // What is absent is not written.
        space.0.value = u64::MAX;
        assert!(space.merge(write(1), !0xf).is_err());
        assert_eq!(space.0.value, u64::MAX);
    }

    /// Through a reference it is the same space, with its own way of doing batches.
    #[test]
    fn a_reference_to_a_space_is_that_space() {
        fn write_read_batch(mut space: impl RegisterSpace) -> (Outcome<u64>, Vec<Outcome<u64>>) {
            space.write(HERE, Width::B8, 5).unwrap();
            let mut outcomes = Vec::new();
            let read = space.read(HERE, Width::B8);
            space.batch(&STEPS, &mut outcomes);
            (read, outcomes)
        }
        let mut one = One::default();
        assert_eq!(write_read_batch(&mut one), (Ok(5), vec![Ok(42)]));
        assert_eq!((one.value, one.batches), (5, 1));
        let mut plain = Plain::default();
        let (read, outcomes) = write_read_batch(&mut plain as &mut dyn RegisterSpace);
        assert_eq!((read, outcomes.len(), plain.0.value), (Ok(5), 5, 0x2_0000_000f));
    }
}
