//! What a window does to an instance's counters, once it does the same every time.
//!
//! The input of an instance's counters comes back after a window, and so does everything that they remember but their registers:
//! comparators look one cycle back, levels follow their entries. An [`Orbit`] is built from one window that was told to the counters
//! signal by signal, and is valid only if their state after it was the state before it: then every further window adds what this
//! one added.

use pericore_engine::Tick;
use pericore_hardware::pmon::CounterState;

/// The state of counters at the start of a cell.
#[derive(Debug, Clone)]
pub struct Mark {
    /// States; the registers in them do not matter.
    pub states: Vec<CounterState>,
    /// Increments of each counter since the start of the window.
    pub gained: Vec<u64>,
}

impl Mark {
    /// True if counters that are here go on as they would from another mark.
    pub fn goes_on_like(&self, other: &Self) -> bool {
        let memory = |state: &CounterState| CounterState { value: 0, overflowed: false, ..*state };
        self.states.iter().map(memory).eq(other.states.iter().map(memory))
    }
}

/// A window that repeats.
#[derive(Debug)]
pub struct Orbit {
    /// One for each cell.
    marks: Vec<Mark>,
    /// Increments of each counter in a window.
    whole: Vec<u64>,
}

impl Orbit {
    /// The orbit of counters that came through `marks`, one for each cell, and then were at `end`; `None` if `end` is not where they
    /// began.
    pub fn close(marks: Vec<Mark>, end: &Mark) -> Option<Self> {
        let closes = marks.first().is_some_and(|start| end.goes_on_like(start));
        closes.then(|| Self { marks, whole: end.gained.clone() })
    }

    /// The mark of a cell.
    pub fn mark(&self, cell: u64) -> &Mark {
        &self.marks[cell as usize]
    }

    /// Increments of a counter between the start of window 0 and the start of cell `cell`, numbered on over all windows.
    pub fn gained(&self, counter: usize, cell: u64) -> u128 {
        let cells = self.marks.len() as u64;
        u128::from(self.whole[counter]) * u128::from(cell / cells) + u128::from(self.mark(cell % cells).gained[counter])
    }
}

/// How far an instance's counters have come.
#[derive(Debug, Default)]
pub struct Tracked {
    /// They have been told everything before this tick.
    pub at: Tick,
    /// What they were when `orbit` and `marks` were made.
    pub revision: u64,
    /// Increments since the start of the window; right once a window began with the present revision.
    pub gained: Vec<u64>,
    /// Marks of the present window so far, from its start, until there is an orbit.
    pub marks: Option<Vec<Mark>>,
    /// What windows do from here on.
    pub orbit: Option<Orbit>,
}

impl Tracked {
    /// Forgets what was found out if the counters are no longer what they were.
    pub fn notice(&mut self, revision: u64) {
        if self.revision != revision {
            self.revision = revision;
            self.marks = None;
            self.orbit = None;
        }
    }
}
