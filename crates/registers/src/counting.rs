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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bdf;

    struct Zeros;

    impl RegisterSpace for Zeros {
        fn read(&mut self, _: Address, _: Width) -> Outcome<u64> {
            Ok(0)
        }

        fn write(&mut self, _: Address, _: Width, _: u64) -> Outcome<()> {
            Ok(())
        }
    }

    #[test]
    fn a_quadword_pci_access_is_one_access_and_two_cycles() {
        let mut space = Counting::new(Zeros);
        let counter = Address::Pci { bdf: Bdf::new(0xff, 16, 0), offset: 0xa0 };
        space.read(counter, Width::B8).unwrap();
        space.write(counter, Width::B4, 0).unwrap();
        let mut outcomes = Vec::new();
        space.batch(
            &[Operation::Read { address: Address::Msr { cpu: 0, msr: 0xd16 }, width: Width::B8 }],
            &mut outcomes,
        );
        assert_eq!(outcomes, [Ok(0)]);
        let counts = space.counts();
        assert_eq!((counts.pci_reads, counts.pci_writes, counts.pci_cycles), (1, 1, 3));
        assert_eq!((counts.msr_reads, counts.batches, counts.reads(), counts.writes()), (1, 1, 2, 1));
    }
}
