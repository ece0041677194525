//! Traffic in real time: a window of a workload's steady phase, repeated for as long as somebody measures.
//!
//! A model is slower than the hardware that it stands for. A client that measures while wall time passes gets what the model would
//! do all the same: [`Steady::measure`] lets a machine run its workload until its rates are steady, then records every signal of one
//! window, together with the ledger's account of it. From then on time `t` of the live machine is time `t` modulo the window's length
//! of the recording. [`Replay`] brings the counters of a chassis to any such time; [`Account`] gives the truth between two of them.
//!
//! **Exactness.** What a counter reads at tick `t` is a function of `t` and of the register writes before it, with their ticks, and of
//! nothing else: not of when or how often registers were read, nor of the host's speed. It is what a chassis would show that was
//! told every recorded signal in order, window after window. Between two windows, levels go back to what they were at the start of
//! the window, and nobody counts that as an arrival. So a count of an unshaped event equals the ledger's figure for the same ticks,
//! to the last unit; [`Account`] makes it of whole windows and the part before and after.
//!
//! Counters are not told every signal: where the state of an instance's counters comes back after a window, each further window adds
//! the same, and whole windows are added up in closed form ([`orbit`]).

mod account;
mod orbit;
mod recording;
mod replay;

use std::sync::Arc;

use pericore_engine::{Tick, common_multiple};

use crate::Machine;
pub use account::Account;
pub use recording::saved::SavedError;
pub use recording::{Recorder, Recording};
pub use replay::Replay;

/// How a steady phase is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Microseconds of the warm-up; `None` until the rates have settled ([`Machine::warm_up`]).
    pub warm_up: Option<u64>,
    /// Length of the window, in microseconds.
    pub window: u64,
    /// Parts of a window at whose borders the state of counters is kept: a reading costs a part's signals at most.
    pub cells: u32,
}

impl Default for Pace {
    /// A window of 100 us sees a dozen refreshes of each rank.
    fn default() -> Self {
        Self { warm_up: None, window: 100, cells: 1024 }
    }
}

/// A window of a workload's steady phase.
#[derive(Debug, Clone)]
pub struct Steady {
    recording: Arc<Recording>,
    /// When the window began, in ticks of the machine that was measured.
    base: Tick,
}

impl Steady {
    /// Runs a machine until its rates have settled, then records a window. `grid` is a number of ticks that every clock of the chassis divides
    /// that the window is meant for: windows are whole multiples of it.
    pub fn measure(machine: &mut Machine, grid: Tick, pace: &Pace) -> Self {
        let grid = common_multiple(machine.chassis().clock_grid(), grid.max(1));
        let microseconds = |count: u64| count.saturating_mul(machine.clocks().ticks_per_second() / 1_000_000);
        let cells = u64::from(pace.cells.max(1));
        // Offsets in a window have 32 bits.
        let longest = u64::from(u32::MAX) / cells / grid;
        let cell = (microseconds(pace.window) / cells / grid).clamp(1, longest.max(1)) * grid;
        machine.settle(pace.warm_up);
        // On the grid of the hardware's clocks.
        let past = machine.now() % cell;
        machine.run_for(if past == 0 { 0 } else { cell - past });
        let base = machine.now();
        let mut recorder = Recorder::new(machine.chassis(), base, cell, pace.cells.max(1));
        machine.run_into(cells * cell, &mut recorder);
        Self { recording: Arc::new(recorder.finish()), base }
    }

    /// Length of the window, in ticks.
    pub fn window(&self) -> Tick {
        self.recording.window()
    }

    /// What repeats the window.
    pub fn replay(&self) -> Replay {
        Replay::new(Arc::clone(&self.recording))
    }

    /// What the ledger says of the live machine up to each of `ticks`. `machine` is one that was built like the measured one, and
    /// has not run.
    pub fn account(&self, machine: &mut Machine, ticks: impl IntoIterator<Item = Tick>) -> Account {
        machine.run_for(self.base);
        Account::of(machine, self.window(), ticks)
    }
}
