//! A program of which only windows are run in detail: what was counted in them, and what that says of all of it.
//!
//! The first accesses are counted whole: a program brings in there what it works on. Behind them each window stands for
//! a stretch. The machine knows of all accesses, also of those that it passes over, how many went beyond the L2 and
//! which lines came from memory; as far as counts of windows follow these figures, so does what is said of the rest
//! ([`regression`]). Events that take turns on the counters have a window in turn.

mod regression;
#[cfg(test)]
mod tests;

use pericore_machine::{Machine, Stage};
use pericore_observe::run::Passed;
use pericore_observe::session::Sample;

use regression::{FIGURES, Figures, WindowBlock, whole};

/// Windows of the same events are added up two by two when there are more blocks than this.
const MOST_BLOCKS: usize = 512;
/// The error follows from what would be said without one of so many parts of the windows.
const PARTS: usize = 20;
/// Windows that say something of the rest.
const LEAST: usize = 2;

/// What has been counted in windows so far.
#[derive(Debug)]
pub struct WindowCounts {
    /// What the machine's accesses were when it was looked at last.
    stage: Stage,
    /// Its figures when that began.
    began: Figures,
    /// The first accesses.
    first: Option<WindowBlock>,
    blocks: Vec<WindowBlock>,
    windows: u64,
}

/// What windows say of a whole run.
#[derive(Debug)]
pub struct Estimate {
    /// Counts and times of the whole run.
    pub sample: Sample,
    /// The model's figures, if they were asked for.
    pub truth: Option<Sample>,
    /// The same as `sample`, each without another part of the windows.
    pub without: Vec<Sample>,
    /// How much of the program was run in detail and counted, by its accesses.
    pub share: f64,
    /// Windows.
    pub windows: u64,
}

/// Too few windows were counted to say anything.
#[derive(Debug, thiserror::Error)]
#[error(
    "the program has {accesses} accesses beyond its first-level caches, of which the first {first} and {windows} \
     windows were counted, and an error takes {LEAST} windows: give a larger share, or measure the program whole"
)]
pub struct TooFewWindows {
    accesses: u64,
    first: u64,
    windows: u64,
}

impl WindowCounts {
    /// Before the first access.
    pub const fn new() -> Self {
        // Nothing comes before those of the first accesses that are counted.
        Self { stage: Stage::Counted, began: [0.0; FIGURES], first: None, blocks: Vec::new(), windows: 0 }
    }

    /// What the driver is to do now that the machine has come so far: to take a sample that goes to
    /// [`WindowCounts::take`], and behind a window to let other events have their turn.
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

    fn keep(&mut self, window: WindowBlock) {
        if self.first.is_none() {
            self.first = Some(window);
            return;
        }
        self.windows += 1;
        self.blocks.push(window);
        if self.blocks.len() > MOST_BLOCKS {
            self.fold();
        }
    }

    /// Adds neighbours up that have counted the same events, those of the fewest windows.
    fn fold(&mut self) {
        let least = self.blocks.iter().map(|block| block.windows).min().unwrap_or(1);
        let mut folded: Vec<WindowBlock> = Vec::with_capacity(MOST_BLOCKS);
        for block in self.blocks.drain(..) {
            let is_partner = |other: &&mut WindowBlock| {
                other.windows == least && block.windows == least && other.counts_the_same(&block)
            };
            let partner = folded.iter_mut().rev().find(is_partner);
            match partner {
                Some(partner) => partner.add(&block),
                None => folded.push(block),
            }
        }
        self.blocks = folded;
    }

    /// What they say of all that the machine has done and passed over.
    ///
    /// # Errors
    /// There are too few.
    pub fn estimate(self, machine: &Machine) -> Result<Estimate, TooFewWindows> {
        self.estimate_of(figures(machine))
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers of accesses")]
    fn estimate_of(self, all: Figures) -> Result<Estimate, TooFewWindows> {
        let first = self.first.unwrap_or_default();
        if all[0] > first.figures[0] && self.blocks.len() < LEAST {
            let [accesses, first] = [all[0] as u64, first.figures[0] as u64];
            return Err(TooFewWindows { accesses, first, windows: self.windows });
        }
        let blocks: Vec<&WindowBlock> = self.blocks.iter().collect();
        let parts = PARTS.min(blocks.len());
        let without = |part: usize| {
            let others: Vec<&WindowBlock> =
                self.blocks.iter().enumerate().filter(|(at, _)| at % parts != part).map(|(_, block)| block).collect();
            whole(&first, &others, all, |block| Some(&block.sample))
        };
        let counted: f64 = blocks.iter().map(|block| block.figures[0]).sum();
        let has_truth = first.truth.is_some();
        Ok(Estimate {
            sample: whole(&first, &blocks, all, |block| Some(&block.sample)),
            truth: has_truth.then(|| whole(&first, &blocks, all, |block| block.truth.as_ref())),
            without: (0..parts).map(without).collect(),
            share: (first.figures[0] + counted) / all[0].max(1.0),
            windows: self.windows,
        })
    }
}

impl Default for WindowCounts {
    fn default() -> Self {
        Self::new()
    }
}

/// What the machine knows of all accesses until now: how many there are, how many requests went beyond the L2, and how
/// many lines memory has read.
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
fn figures(machine: &Machine) -> Figures {
    machine.passed().map(|number| number as f64)
}
