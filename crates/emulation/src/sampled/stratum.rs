//! Stretches of a program whose windows are equally dense: what each says of itself, added up.

use pericore_metrics::{Grade, Validity};
use pericore_observe::session::Sample;

use super::block::{FIGURES, Figures, WindowBlock, WindowBlocks};
use super::numbers::damp;
use super::regression::whole;

/// The error follows from what would be said without one of so many parts of the windows.
pub const PARTS: usize = 20;

/// A stretch, and its windows.
#[derive(Debug, Default)]
pub struct Stratum {
    /// What is counted whole at its begin.
    pub first: Option<WindowBlock>,
    /// The machine's figures when it began.
    pub began: Figures,
    pub blocks: WindowBlocks,
}

/// What windows say of one or more stretches.
#[derive(Debug, Clone)]
pub struct StratumCounts {
    pub sample: Sample,
    pub truth: Option<Sample>,
    /// The same as `sample`, each without another part of the windows.
    pub without: Vec<Sample>,
    /// Accesses that were counted, and all.
    pub counted: f64,
    pub all: f64,
    pub windows: u64,
}

impl Stratum {
    /// What its windows say of it, if it ends at these figures of the machine, while events take so many rounds.
    pub fn counts(&self, end: Figures, rounds: usize) -> StratumCounts {
        let blocks: Vec<&WindowBlock> = self.blocks.all().iter().collect();
        let template = self.template();
        let first = self.first.as_ref().unwrap_or(&template);
        let all: Figures = std::array::from_fn(|index| end[index] - self.began[index]);
        let parts = PARTS.min(blocks.len() / rounds);
        // A part has windows of every round.
        let is_other = |at: usize, part: usize| at / rounds % parts != part;
        let sample = whole(first, &blocks, all, |block| Some(&block.sample));
        let counted = first.figures[0] + blocks.iter().map(|block| block.figures[0]).sum::<f64>();
        let without = |part: usize| {
            let others: Vec<&WindowBlock> =
                (0..).zip(&blocks).filter(|(at, _)| is_other(*at, part)).map(|(_, block)| *block).collect();
            damp(whole(first, &others, all, |block| Some(&block.sample)), &sample, counted / all[0])
        };
        let has_truth = self.first.iter().chain(self.blocks.all()).any(|block| block.truth.is_some());
        StratumCounts {
            truth: has_truth.then(|| whole(first, &blocks, all, |block| block.truth.as_ref())),
            without: (0..parts).map(without).collect(),
            sample,
            counted,
            all: all[0],
            windows: self.blocks.windows(),
        }
    }

    /// A block of the same events without a number.
    fn template(&self) -> WindowBlock {
        let mut sample = self.blocks.all().first().map_or_else(Sample::default, |block| block.sample.clone());
        (sample.seconds, sample.tsc_cycles) = (0.0, 0);
        for count in &mut sample.counts {
            (count.count, count.validity) = (None, Validity::MEASURED);
        }
        WindowBlock { sample, truth: None, figures: [0.0; FIGURES], windows: 0 }
    }

    /// The same with the windows of the stretch behind it.
    pub fn with(&self, later: &Self) -> Self {
        let mut blocks = WindowBlocks::new();
        self.blocks.all().iter().chain(later.blocks.all()).for_each(|block| blocks.keep(block.clone()));
        Self { first: self.first.clone(), began: self.began, blocks }
    }
}

impl StratumCounts {
    /// The same with a later stretch. What is not known of one is not known of both.
    #[must_use]
    pub fn with(mut self, later: &Self) -> Self {
        let of_all = [self.all / (self.all + later.all), later.all / (self.all + later.all)];
        let before = self.sample.clone();
        add(&mut self.sample, &later.sample, of_all);
        if let (Some(truth), Some(later)) = (&mut self.truth, &later.truth) {
            add(truth, later, of_all);
        }
        // Of a stretch with fewer windows each part is left out once, and then none.
        let parts = self.without.len().max(later.without.len());
        self.without.resize(parts, before);
        for (at, without) in self.without.iter_mut().enumerate() {
            add(without, later.without.get(at).unwrap_or(&later.sample), of_all);
        }
        self.counted += later.counted;
        self.all += later.all;
        self.windows += later.windows;
        self
    }
}

/// Adds a later stretch; both are such shares of all.
fn add(sample: &mut Sample, later: &Sample, of_all: [f64; 2]) {
    sample.seconds += later.seconds;
    sample.tsc_cycles += later.tsc_cycles;
    for (count, later) in sample.counts.iter_mut().zip(&later.counts) {
        count.count = count.count.zip(later.count).map(|(one, other)| one.saturating_add(other));
        let duty = count.validity.duty() * of_all[0] + later.validity.duty() * of_all[1];
        let others: Vec<Validity> =
            count.validity.reasons().iter().chain(later.validity.reasons()).map(|one| one.clone().into()).collect();
        let others = others.iter().filter(|one| one.grade() != Grade::Scaled);
        let scaled = Validity::scaled(duty);
        count.validity = others.fold(scaled, |validity, one| validity.and(one));
    }
}
