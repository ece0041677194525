//! A wrapper that counts accesses: what a plan really costs.

use crate::{Address, AddressSpace, Operation, Outcome, RegisterSpace, Width};

/// Accesses by space and direction. An 8-byte PCI access counts once; its cycles are counted apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AccessCounts {
    /// MSR reads.
    pub msr_reads: u64,
    /// MSR writes.
    pub msr_writes: u64,
    /// PCI configuration reads.
    pub pci_reads: u64,
    /// PCI configuration writes.
    pub pci_writes: u64,
    /// Dword (or narrower) PCI cycles that the PCI accesses came to.
    pub pci_cycles: u64,
    /// MMIO reads.
    pub mmio_reads: u64,
    /// MMIO writes.
    pub mmio_writes: u64,
    /// Calls of [`RegisterSpace::batch`].
    pub batches: u64,
}

impl AccessCounts {
    /// All reads.
    pub const fn reads(&self) -> u64 {
        self.msr_reads + self.pci_reads + self.mmio_reads
    }

    /// All writes.
    pub const fn writes(&self) -> u64 {
        self.msr_writes + self.pci_writes + self.mmio_writes
    }
}

/// Passes every access through to `inner` and counts it.
#[derive(Debug)]
pub struct Counting<S> {
    inner: S,
    counts: AccessCounts,
}

impl<S> Counting<S> {
    /// Wraps `inner` with all counts at zero.
    pub fn new(inner: S) -> Self {
        Self { inner, counts: AccessCounts::default() }
    }

    /// The counts so far.
    pub const fn counts(&self) -> AccessCounts {
        self.counts
    }

    /// The wrapped space.
    pub fn into_inner(self) -> S {
        self.inner
    }

    fn note(&mut self, address: Address, width: Width, is_write: bool) {
        let counts = &mut self.counts;
        let slot = match (address.space(), is_write) {
            (AddressSpace::Msr, false) => &mut counts.msr_reads,
            (AddressSpace::Msr, true) => &mut counts.msr_writes,
            (AddressSpace::PciConfig, false) => &mut counts.pci_reads,
            (AddressSpace::PciConfig, true) => &mut counts.pci_writes,
            (AddressSpace::Mmio, false) => &mut counts.mmio_reads,
            (AddressSpace::Mmio, true) => &mut counts.mmio_writes,
        };
        *slot += 1;
        if address.space() == AddressSpace::PciConfig {
            counts.pci_cycles += if width == Width::B8 { 2 } else { 1 };
        }
    }
}

impl<S: RegisterSpace> RegisterSpace for Counting<S> {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.note(address, width, false);
        self.inner.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.note(address, width, true);
        self.inner.write(address, width, value)
    }

    fn batch(&mut self, operations: &[Operation], outcomes: &mut Vec<Outcome<u64>>) {
        self.counts.batches += 1;
        for operation in operations {
            match *operation {
                Operation::Read { address, width } => self.note(address, width, false),
                Operation::Write { address, width, .. } => self.note(address, width, true),
            }
        }
        self.inner.batch(operations, outcomes);
    }

    fn pci_segments(&mut self) -> Vec<u16> {
        self.inner.pci_segments()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bdf;

    /// Answers a read with its width, refuses writes of 0, and keeps the order of what it was asked.
    #[derive(Default)]
    struct Log(Vec<Operation>);

    impl RegisterSpace for Log {
        fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
            self.0.push(Operation::Read { address, width });
            Ok(u64::from(width.bytes()))
        }

        fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
            self.0.push(Operation::Write { address, width, value });
            if value == 0 { Err(crate::AccessError::GeneralProtection { address }) } else { Ok(()) }
        }
    }

    const MSR: Address = Address::Msr { cpu: 0, msr: 0xd16 };
    const PCI: Address = Address::Pci { bdf: Bdf::new(0xff, 16, 0), offset: 0xa0 };
    const MMIO: Address = Address::Mmio { physical: 0xfe00_2838 };

    /// Different numbers of each, so that none can stand for another: 1 and 2 of MSRs, 3 and 4 of PCI, 5 and 6 of memory.
    #[test]
    fn each_space_and_direction_has_its_count() {
        let mut space = Counting::new(Log::default());
        for (address, reads, writes) in [(MSR, 1, 2), (PCI, 3, 4), (MMIO, 5, 6)] {
            for _ in 0..reads {
                assert_eq!(space.read(address, Width::B8), Ok(8));
            }
            for _ in 0..writes {
                space.write(address, Width::B4, 1).unwrap();
            }
        }
        let counts = space.counts();
        let expected = AccessCounts {
            msr_reads: 1,
            msr_writes: 2,
            pci_reads: 3,
            pci_writes: 4,
            // Three quadwords are two cycles each.
            pci_cycles: 3 * 2 + 4,
            mmio_reads: 5,
            mmio_writes: 6,
            batches: 0,
        };
        assert_eq!(counts, expected);
        assert_eq!((counts.reads(), counts.writes()), (1 + 3 + 5, 2 + 4 + 6));
        assert_eq!(space.into_inner().0.len(), 21);
    }

    /// A batch is one call, each of its steps an access; what comes back is what the wrapped space says, a refusal among it.
    #[test]
    fn a_batch_passes_through_in_order_and_its_steps_are_counted() {
        let steps = [
            Operation::Read { address: PCI, width: Width::B8 },
            Operation::Write { address: MSR, width: Width::B8, value: 0 },
            Operation::Write { address: PCI, width: Width::B8, value: 7 },
            Operation::Read { address: MMIO, width: Width::B2 },
        ];
        let mut space = Counting::new(Log::default());
        let mut outcomes = vec![Ok(99)];
        space.batch(&steps, &mut outcomes);
        let refused = crate::AccessError::GeneralProtection { address: MSR };
        assert_eq!(outcomes, [Ok(99), Ok(8), Err(refused.clone()), Ok(0), Ok(2)]);
        let counts = space.counts();
        assert_eq!((counts.pci_reads, counts.pci_writes, counts.pci_cycles, counts.msr_writes), (1, 1, 4, 1));
        assert_eq!((counts.mmio_reads, counts.reads(), counts.writes(), counts.batches), (1, 2, 2, 1));
        space.batch(&[], &mut outcomes);
        assert_eq!(space.counts().batches, 2);
        assert_eq!(space.write(MSR, Width::B8, 0), Err(refused));
        assert_eq!(space.counts().writes(), 3, "a refused access was made all the same");
        assert_eq!(space.into_inner().0[..4], steps);
    }
}
