//! Loads and stores whose addresses are made of what others bring: they go out when that is there, and the thread goes
//! on beside them as far as a core looks ahead.

use pericore_engine::Tick;

/// Loads and stores of a thread that are remembered; what is longer ago has come.
const REMEMBERED: usize = 64;

/// Loads and stores that a hardware thread leaves behind until their addresses are known: a scheduler's entries,
/// roughly.
pub const MOST_LEFT_BEHIND: usize = 32;

/// A load or a store: of a thread of the program, and its number among that thread's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadAccess {
    /// The program's thread.
    pub thread: u32,
    /// From 1.
    pub number: u64,
    /// The number of the one that brings what the address is made of; 0 if it waits for none.
    pub after: u64,
}

/// How far a load or a store has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataState {
    /// It waits itself.
    Waiting,
    /// This line was not in the L2, and its fill buffer says whether it is here.
    OfLine(u32),
    /// Its data can be used from this tick on.
    Since(Tick),
}

/// How far the last loads and stores of a thread of the program have come.
#[derive(Debug, Clone)]
pub struct Recent([(u64, DataState); REMEMBERED]);

impl Default for Recent {
    fn default() -> Self {
        Self([(0, DataState::Since(0)); REMEMBERED])
    }
}

impl Recent {
    /// Notes how far one has come.
    pub fn note(&mut self, number: u64, state: DataState) {
        self.0[Self::slot(number)] = (number, state);
    }

    /// How far one has come; what is not remembered has come long ago.
    pub fn state(&self, number: u64) -> DataState {
        let (known, state) = self.0[Self::slot(number)];
        if number != 0 && known == number { state } else { DataState::Since(0) }
    }

    const fn slot(number: u64) -> usize {
        (number % REMEMBERED as u64) as usize
    }
}
