//! A program of which only windows are run in detail: what was counted in them, and what that says of all of it.
//!
//! The first accesses are counted whole: a program brings in there what it works on. Behind them each window stands for
//! a stretch. The machine knows of all accesses, also of those that it passes over, how many went beyond the L2 and
//! which lines came from memory; as far as counts of windows follow these figures, so does what is said of the rest
//! (`regression.rs`). Events that take turns on the counters have a window in turn.
//!
//! For an error that is requested the density of the windows changes while the program runs. A stretch of equally dense
//! windows says of itself what it counted, and the stretches are added up (`stratum.rs`).

use pericore_machine::{Machine, Stage};
use pericore_observe::run::Passed;
use pericore_observe::session::Sample;

use super::block::{FIGURES, Figures, WindowBlock};
use super::estimate::{Estimate, TooFewWindows};
use super::pace::Density;
use super::regression::BY_FUNCTION;
use super::stratum::{Stratum, StratumCounts};

/// Windows that say something of the rest.
const LEAST: usize = 2;
/// Windows of each round of events, in a stretch of equally dense ones: two for each part of them.
const OF_STRATUM: u64 = 40;

/// What has been counted in windows so far.
#[derive(Debug)]
pub struct ProgramWindows {
    /// What the machine's accesses were when it was looked at last.
    stage: Stage,
    /// Its figures when that began.
    began: Figures,
    /// True until the first accesses have been counted.
    is_first: bool,
    /// Stretches of equally dense windows: all but the last two, that before, and the one that goes on.
    over: Option<StratumCounts>,
    before: Option<Stratum>,
    current: Stratum,
    /// Rounds of events that take turns: one after the other has a window.
    rounds: usize,
    density: Option<Density>,
    /// Windows of the current stretch after which its error is looked at.
    next: u64,
}

impl ProgramWindows {
    /// Before the first access of a program, while events take so many rounds on the counters, until an error is
    /// reached if one is requested.
    pub fn new(rounds: usize, requested: Option<f64>) -> Self {
        let (rounds, density) = (rounds.max(1), requested.map(Density::new));
        let (over, before, current) = (None, None, Stratum::default());
        let next = OF_STRATUM * rounds as u64;
        // Nothing comes before those of the first accesses that are counted.
        let (stage, began, is_first) = (Stage::Counted, [0.0; FIGURES], true);
        Self { stage, began, is_first, over, before, current, rounds, density, next }
    }

    /// What the driver is to do now that the machine has come so far: to take a sample that goes to
    /// [`ProgramWindows::take`], and behind a window to let other events have their turn.
    pub fn look(&self, machine: &Machine) -> Passed {
        match machine.stage() {
            Some(stage) if stage == self.stage => Passed::On,
            Some(_) if self.stage == Stage::Counted => Passed::Turn,
            Some(_) => Passed::Marked,
            None => Passed::On,
        }
    }

    /// A sample that ends where the machine is now. It is kept if it is of accesses that are counted.
    pub fn take(&mut self, machine: &Machine, sample: &Sample, truth: Option<&Sample>) {
        let now = figures(machine);
        let of = std::mem::replace(&mut self.stage, machine.stage().unwrap_or(Stage::Behind));
        let began = std::mem::replace(&mut self.began, now);
        let figures: Figures = std::array::from_fn(|index| now[index] - began[index]);
        if of == Stage::Counted && figures[0] > 0.0 {
            self.keep(WindowBlock { sample: sample.clone(), truth: truth.cloned(), figures, windows: 1 });
        }
    }

    pub(super) fn keep(&mut self, window: WindowBlock) {
        if std::mem::take(&mut self.is_first) {
            self.current.first = Some(window);
        } else {
            self.current.blocks.keep(window);
        }
    }

    /// One of so many accesses is to be counted from the next window on, if an error is requested.
    pub fn one_in(&self) -> Option<u32> {
        self.density.as_ref().map(Density::one_in)
    }

    /// True if it is time to see how dense windows have to be for the error that is requested.
    pub fn is_due(&self) -> bool {
        self.density.is_some() && self.stage != Stage::Counted && self.current.blocks.windows() >= self.next
    }

    /// Half of the widest interval is such a share of its number by now.
    pub fn set_pace(&mut self, widest: Option<f64>, machine: &Machine) {
        self.set_density(widest, figures(machine));
    }

    pub(super) fn set_density(&mut self, widest: Option<f64>, now: Figures) {
        let Some(density) = &mut self.density else { return };
        let windows = self.current.blocks.windows();
        if !density.look(widest) {
            self.next = windows + (windows / 4).max(1);
            return;
        }
        self.next = OF_STRATUM * self.rounds as u64;
        if let Some(before) = &self.before {
            let counts = before.counts(self.current.began, self.rounds);
            self.over = Some(match self.over.take() {
                Some(over) => over.with(&counts),
                None => counts,
            });
        }
        let next = Stratum { began: now, ..Stratum::default() };
        self.before = Some(std::mem::replace(&mut self.current, next));
    }

    /// What they say of all that the machine has done and passed over.
    ///
    /// # Errors
    /// There are too few.
    pub fn estimate(&self, machine: &Machine) -> Result<Estimate, TooFewWindows> {
        self.estimate_of(figures(machine))
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers of accesses")]
    pub(super) fn estimate_of(&self, all: Figures) -> Result<Estimate, TooFewWindows> {
        let windows = self.current.blocks.windows();
        let first = self.current.first.as_ref().map_or(0.0, |first| first.figures[0]);
        let counts = match &self.before {
            None if all[0] > first && self.current.blocks.all().len() < LEAST => {
                let [accesses, first] = [all[0] as u64, first as u64];
                return Err(TooFewWindows::Program { accesses, first, windows, least: LEAST });
            }
            None => self.current.counts(all, self.rounds),
            // Too few windows say nothing of their own stretch.
            Some(before) if windows < (LEAST * self.rounds) as u64 => {
                before.with(&self.current).counts(all, self.rounds)
            }
            Some(before) => before.counts(self.current.began, self.rounds).with(&self.current.counts(all, self.rounds)),
        };
        let counts = match &self.over {
            Some(over) => over.clone().with(&counts),
            None => counts,
        };
        let StratumCounts { sample, truth, without, counted, all, windows } = counts;
        let share = counted / all.max(1.0);
        Ok(Estimate { sample, truth, without, share, windows, by_function: BY_FUNCTION * (1.0 - share).max(0.0) })
    }
}

/// What the machine knows of all accesses until now: how many there are, how many went beyond the L2, and how
/// many lines memory has read.
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
fn figures(machine: &Machine) -> Figures {
    machine.passed().map(|number| number as f64)
}
