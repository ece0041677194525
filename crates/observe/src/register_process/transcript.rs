//! What discovery reads where the registers are, to be read again from memory elsewhere: discovery asks the same
//! questions in the same order if it gets the same replies.

use std::collections::VecDeque;

use pericore_registers::{Address, Operation, Outcome, RegisterSpace, Width};

/// Reads of a space, and what came of them. Writes are refused by design: discovery makes none.
#[derive(Debug)]
pub(super) struct Transcribed<'a, S> {
    inner: &'a mut S,
    pub(super) reads: Vec<(Operation, Outcome<u64>)>,
    pub(super) segments: Vec<u16>,
}

impl<'a, S: RegisterSpace> Transcribed<'a, S> {
    pub(super) fn new(inner: &'a mut S) -> Self {
        let segments = inner.pci_segments();
        Self { inner, reads: Vec::new(), segments }
    }
}

impl<S: RegisterSpace> RegisterSpace for Transcribed<'_, S> {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        let outcome = self.inner.read(address, width);
        self.reads.push((Operation::Read { address, width }, outcome.clone()));
        outcome
    }

    fn write(&mut self, address: Address, width: Width, _: u64) -> Outcome<()> {
        debug_assert!(false, "discovery writes {address}, {} bytes", width.bytes());
        Ok(())
    }

    fn batch(&mut self, operations: &[Operation], outcomes: &mut Vec<Outcome<u64>>) {
        let before = outcomes.len();
        self.inner.batch(operations, outcomes);
        self.reads.extend(operations.iter().copied().zip(outcomes[before..].iter().cloned()));
    }

    fn pci_segments(&mut self) -> Vec<u16> {
        self.segments.clone()
    }
}

/// The reads that are to be made again.
#[derive(Debug, Default)]
pub(super) struct DiscoveryReplay(VecDeque<(Operation, Outcome<u64>)>);

impl DiscoveryReplay {
    pub(super) fn of(reads: VecDeque<(Operation, Outcome<u64>)>) -> Self {
        Self(reads)
    }

    /// What came of an operation, if it is the next one. Any other ends the replay: what was read before is old then.
    pub(super) fn next(&mut self, operation: Operation) -> Option<Outcome<u64>> {
        match self.0.pop_front() {
            Some((known, outcome)) if known == operation => Some(outcome),
            _ => {
                self.0.clear();
                None
            }
        }
    }

    /// Ends the replay, and frees what it took.
    pub(super) fn end(&mut self) {
        self.0 = VecDeque::new();
    }
}
