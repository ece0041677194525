//! From which earlier access an address comes: a pointer that a load brings cannot be followed before it is there.
//!
//! A thread's loads and stores that go out are numbered. Each general register knows the newest of them that its value
//! waits for, and so do the last few places in memory that were stored to. Between accesses values move by the steps of
//! the block, as they were translated. What has gone out long ago has come: then nothing is followed, and what
//! registers know is old, which is no harm.

use super::layout::{LINE, MOST_AFTER};
use super::operands::{Operands, RegisterSet};

/// Instructions after an access that went out, for which values are followed: as many as a core has under way, and then
/// some.
const WINDOW: u64 = 1024;
/// Lines that went out last, in sets of so many, and places that were stored to last, by their addresses.
const SETS: usize = 64;
const WAYS: usize = 4;
const PLACES: usize = 64;
const WORD: u64 = 8;

/// The target's value is made of the sources'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    targets: RegisterSet,
    sources: RegisterSet,
}

/// An instruction that accesses memory, as it was translated.
#[derive(Debug)]
pub struct TranslatedAccess {
    /// Its place in its block.
    pub place: u64,
    operands: Operands,
    /// What happens before it, and after the operation before.
    before: &'static [Move],
}

/// A block, as it was translated.
#[derive(Debug)]
pub struct Translated {
    /// Of each instruction.
    pub operations: &'static [TranslatedAccess],
    /// What happens after the last that accesses memory.
    pub after: &'static [Move],
}

/// Lasts for as long as QEMU's translation may, which is for good: QEMU says nothing of its end.
pub fn translate(block: &[Operands]) -> Translated {
    let mut bounds = Vec::new();
    let mut steps: Vec<Move> = Vec::new();
    let mut begin = 0;
    for operands in block {
        bounds.push(begin..steps.len());
        match *operands {
            Operands { in_memory: true, .. } => begin = steps.len(),
            Operands { targets: 0, .. } => {}
            Operands { targets, sources, .. } => steps.push(Move { targets, sources }),
        }
    }
    let steps: &'static [Move] = steps.leak();
    let operations = block.iter().zip(bounds).enumerate();
    let operation = |(place, (operands, bounds)): (usize, (&Operands, std::ops::Range<usize>))| TranslatedAccess {
        place: place as u64,
        operands: *operands,
        before: if operands.in_memory { &steps[bounds] } else { &[] },
    };
    Translated { operations: operations.map(operation).collect::<Vec<_>>().leak(), after: &steps[begin..] }
}

/// What was stored to a place in memory.
#[derive(Debug, Clone, Copy)]
struct Place {
    word: u64,
    /// What it waits for.
    made_of: u64,
    /// Accesses that had gone out by then.
    count: u64,
}

/// What a thread's registers wait for.
#[derive(Debug)]
pub struct ValueFlow {
    registers: [u64; RegisterSet::BITS as usize],
    /// Accesses that went out.
    count: u64,
    /// Instructions when the last of them did.
    newest: u64,
    /// Lines and their numbers.
    lines: [[(u64, u64); WAYS]; SETS],
    places: [Place; PLACES],
}

impl ValueFlow {
    /// Of a thread that has done nothing.
    pub const fn new() -> Self {
        let (registers, lines) = ([0; RegisterSet::BITS as usize], [[(0, 0); WAYS]; SETS]);
        let places = [Place { word: 0, made_of: 0, count: 0 }; PLACES];
        Self { registers, count: 0, newest: 0, lines, places }
    }

    /// A block begins, with what is left of the one before; true if something that went out may still be under way, so
    /// that values are followed in it.
    pub fn begin(&mut self, instruction: u64, left: &[Move]) -> bool {
        let is_followed = self.count != 0 && instruction.wrapping_sub(self.newest) <= WINDOW;
        if is_followed {
            self.walk(left);
        }
        is_followed
    }

    /// What happens before an operation.
    #[inline(always)]
    pub fn reach(&mut self, operation: &TranslatedAccess) {
        self.walk(operation.before);
    }

    fn walk(&mut self, steps: &[Move]) {
        for step in steps {
            let newest = self.newest_of(step.sources);
            self.set(step.targets, newest);
        }
    }

    /// How many accesses that went out ago the one was that an operation's address waits for; 0 for none.
    pub fn distance(&self, operation: &TranslatedAccess) -> u64 {
        let newest = self.newest_of(operation.operands.address);
        let distance = self.count + 1 - newest;
        if newest == 0 || distance > MOST_AFTER { 0 } else { distance }
    }

    /// An operation's line goes out.
    pub fn goes_out(&mut self, address: u64, instruction: u64) {
        (self.count, self.newest) = (self.count + 1, instruction);
        let set = &mut self.lines[slot_of(address / LINE, SETS)];
        if let Some(oldest) = set.iter_mut().min_by_key(|(_, number)| *number) {
            *oldest = (address / LINE, self.count);
        }
    }

    /// An operation has accessed an address; for which its line went out, if it was not there.
    pub fn complete(&mut self, operation: &TranslatedAccess, address: u64, store: bool, went_out: bool) {
        let Operands { address: from, sources, targets, .. } = operation.operands;
        let (word, made_of, count) = (address / WORD, self.newest_of(sources), self.count);
        let slot = slot_of(word, PLACES);
        if store {
            self.places[slot] = Place { word, made_of, count };
            return;
        }
        let loaded = if went_out { count } else { self.found(address / LINE, &self.places[slot], word) };
        self.set(targets, loaded.max(made_of).max(self.newest_of(from)));
    }

    /// What data waits for that the first level has.
    fn found(&self, line: u64, place: &Place, word: u64) -> u64 {
        let of_line = self.lines[slot_of(line, SETS)].iter().filter(|(known, _)| *known == line);
        let number = of_line.map(|(_, number)| *number).max().unwrap_or(0);
        // Stored since its line went out: the core has it.
        if place.word == word && place.count >= number { place.made_of } else { number }
    }

    fn newest_of(&self, mut registers: RegisterSet) -> u64 {
        let mut newest = 0;
        while registers != 0 {
            newest = newest.max(self.registers[registers.trailing_zeros() as usize]);
            registers &= registers - 1;
        }
        newest
    }

    fn set(&mut self, mut registers: RegisterSet, number: u64) {
        while registers != 0 {
            self.registers[registers.trailing_zeros() as usize] = number;
            registers &= registers - 1;
        }
    }
}

const fn slot_of(number: u64, slots: usize) -> usize {
    (number % slots as u64) as usize
}
