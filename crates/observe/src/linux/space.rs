//! All three spaces, and batches that save system calls.

use std::time::{Duration, Instant};

use pericore_registers::{Address, Bdf, Operation, Outcome, RegisterSpace, Width};

use super::Root;
use super::memory::Memory;
use super::msr::Msrs;
use super::pci::{self, Functions};
use super::torn::Reading;
use crate::discover::Cpu;

/// Bytes that one read of configuration space may take together.
const MOST_TOGETHER: usize = 256;
/// Readings of a counter that carries each time, before the last is taken as it is: each takes longer than the other
/// half of the counter's turn.
const MOST_READINGS: u32 = 4;

/// The registers of this machine. Opens what accesses need, when they need it.
#[derive(Debug, Default)]
pub struct LinuxSpace {
    root: Root,
    msrs: Msrs,
    functions: Functions,
    memory: Memory,
    calls: u64,
}

impl LinuxSpace {
    /// The registers behind the files below `root`.
    pub fn new(root: Root) -> Self {
        Self::of(root, Vec::new())
    }

    /// The same, where `cpus` are online: another one of a package serves if one goes offline.
    pub(super) fn of(root: Root, cpus: Vec<Cpu>) -> Self {
        Self { root, msrs: Msrs::of(cpus), ..Self::default() }
    }

    /// Reads and writes so far that took a system call each.
    pub const fn system_calls(&self) -> u64 {
        self.calls
    }

    /// Opens now what these accesses need, so that none of them opens a file later. What cannot be opened says so when it is accessed.
    pub fn hold_open(&mut self, operations: impl IntoIterator<Item = Operation>) {
        for operation in operations {
            let write = matches!(operation, Operation::Write { .. });
            match operation.address() {
                Address::Msr { cpu, msr } => self.msrs.hold_open(&self.root, cpu, msr, write),
                Address::Pci { bdf, .. } => self.functions.hold_open(&self.root, bdf, write),
                Address::Mmio { physical } => self.memory.hold_open(&self.root, physical, write),
            }
        }
    }

    /// True if some file is open whose reads ask for a capability each time, as those of `/proc` do: sysfs asks when it is opened.
    pub fn reads_through_proc(&self) -> bool {
        self.functions.reads_through_proc()
    }

    /// Reads of one PCI function that follow each other without a gap, with one system call.
    fn read_together(&mut self, bdf: Bdf, first: u16, reads: &[Operation], outcomes: &mut Vec<Outcome<u64>>) {
        let total: usize = reads.iter().map(|read| usize::from(read.width().bytes())).sum();
        let mut bytes = [0; MOST_TOGETHER];
        let (replies, took) = self.read_function(bdf, first, &mut bytes[..total]);
        let mut at = 0;
        for width in reads.iter().map(Operation::width) {
            let end = at + usize::from(width.bytes());
            let value = if replies == Ok(false) { width.mask() } else { number(&bytes[at..end]) };
            outcomes.push(match replies.clone() {
                Ok(_) => self.unless_torn(bdf, first + at as u16, width, Reading { value, took }),
                Err(error) => Err(error),
            });
            at = end;
        }
    }

    /// Reads configuration space with one system call, and takes the time.
    fn read_function(&mut self, bdf: Bdf, offset: u16, bytes: &mut [u8]) -> (Outcome<bool>, Duration) {
        self.calls += 1;
        let start = Instant::now();
        (self.functions.read(&self.root, bdf, offset, bytes), start.elapsed())
    }

    /// A value of configuration space that may be torn is read again until one is whole.
    fn unless_torn(&mut self, bdf: Bdf, offset: u16, width: Width, first: Reading) -> Outcome<u64> {
        let mut reading = first;
        for _ in 0..MOST_READINGS {
            if width != Width::B8 || !reading.may_be_torn() {
                break;
            }
            let mut bytes = [0; 8];
            let (replies, took) = self.read_function(bdf, offset, &mut bytes);
            if !replies? {
                return Ok(width.mask());
            }
            let second = Reading { value: number(&bytes), took };
            if second.shows_whole(reading) {
                break;
            }
            reading = second;
        }
        Ok(reading.value)
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

impl RegisterSpace for LinuxSpace {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        match address {
            Address::Msr { cpu, msr } => {
                self.calls += 1;
                self.msrs.read(&self.root, cpu, msr, width)
            }
            Address::Pci { bdf, offset } => {
                pci::check(bdf, offset, width)?;
                let mut bytes = [0; 8];
                let bytes = &mut bytes[..usize::from(width.bytes())];
                let (replies, took) = self.read_function(bdf, offset, bytes);
                if !replies? {
                    return Ok(width.mask());
                }
                self.unless_torn(bdf, offset, width, Reading { value: number(bytes), took })
            }
            Address::Mmio { physical } => self.memory.read(&self.root, physical, width),
        }
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        match address {
            Address::Msr { cpu, msr } => {
                self.calls += 1;
                self.msrs.write(&self.root, cpu, msr, width, value)
            }
            Address::Pci { bdf, offset } => {
                pci::check(bdf, offset, width)?;
                self.calls += 1;
                let bytes = value.to_le_bytes();
                self.functions.write(&self.root, bdf, offset, &bytes[..usize::from(width.bytes())])
            }
            Address::Mmio { physical } => self.memory.write(&self.root, physical, width, value),
        }
    }

    fn batch(&mut self, operations: &[Operation], outcomes: &mut Vec<Outcome<u64>>) {
        let mut rest = operations;
        while let Some(operation) = rest.first() {
            let (together, others) = rest.split_at(together(rest).max(1));
            match *operation {
                Operation::Read { address: Address::Pci { bdf, offset }, .. } if together.len() > 1 => {
                    self.read_together(bdf, offset, together, outcomes);
                }
                operation => outcomes.push(self.carry_out(operation)),
            }
            rest = others;
        }
    }

    fn pci_segments(&mut self) -> Vec<u16> {
        self.functions.segments(&self.root)
    }
}

/// How many reads at the front of `operations` lie side by side in one PCI function. The kernel turns one read of them
/// into the same cycles in the same order.
fn together(operations: &[Operation]) -> usize {
    let mut next: Option<(Bdf, u16)> = None;
    let mut total = 0;
    let follows = |operation: &&Operation| {
        let &&Operation::Read { address: Address::Pci { bdf, offset }, width } = operation else { return false };
        let follows = next.is_none_or(|place| place == (bdf, offset));
        total += usize::from(width.bytes());
        next = Some((bdf, offset.saturating_add(width.bytes())));
        // Cycles narrower than a dword would be merged into wider ones.
        let whole = matches!(width, Width::B4 | Width::B8);
        follows && whole && total <= MOST_TOGETHER && pci::check(bdf, offset, width).is_ok()
    };
    operations.iter().take_while(follows).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_registers_are_little_endian() {
        assert_eq!([number(&[0x10]), number(&[0x10, 0x32]), number(&[1, 2, 3, 4])], [0x10, 0x3210, 0x0403_0201]);
        assert_eq!(number(&[0xf0, 0xde, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12]), 0x1234_5678_9abc_def0);
        assert_eq!(number(&[]), 0);
    }

    /// One system call reads what lies side by side in a function, in dwords and pairs of them, 256 bytes at most.
    #[test]
    fn reads_without_a_gap_go_together() {
        let read =
            |bus, offset, width| Operation::Read { address: Address::Pci { bdf: Bdf::new(bus, 16, 0), offset }, width };
        let wide = |offset| read(0xff, offset, Width::B8);
        let write = Operation::Write { address: wide(0xa8).address(), width: Width::B8, value: 0 };
        let msr = Operation::Read { address: Address::Msr { cpu: 0, msr: 1 }, width: Width::B8 };
        for (operations, number) in [
            (&[wide(0xa0), wide(0xa8), wide(0xb0)][..], 3),
            (&[wide(0xa0), read(0xff, 0xa8, Width::B4), read(0xff, 0xac, Width::B4)], 3),
            (&[wide(0xa0), wide(0xb0)], 1),
            (&[wide(0xa0), wide(0xa0)], 1),
            (&[wide(0xa0), read(0xfe, 0xa8, Width::B8)], 1),
            (&[wide(0xa0), write], 1),
            (&[wide(0xa0), read(0xff, 0xa8, Width::B2)], 1),
            (&[wide(0xa2)], 0),
            (&[msr, wide(0xa0)], 0),
            (&[write], 0),
            (&[], 0),
        ] {
            assert_eq!(together(operations), number, "{operations:?}");
        }
        let many: Vec<Operation> = (0..40).map(|number| wide(8 * number)).collect();
        assert_eq!(together(&many), 32);
    }
}
