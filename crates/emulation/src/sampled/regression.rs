//! Counts of windows against what is known of all accesses (a regression estimator, as surveys use it where figures
//! of the whole population are known).

use std::collections::HashMap;

use pericore_metrics::Validity;
use pericore_observe::session::{Count, Sample, Slices};

use super::block::{FIGURES, Figures, WindowBlock};
use super::numbers::{float, whole_number};

/// What is known of accesses that were passed over is off by so much of it, roughly: caches that are filled by function
/// are not quite those of a detailed run.
pub const BY_FUNCTION: f64 = 0.025;

/// A figure says nothing beside the others if so little of its variation is its own.
const LEAST_OWN: f64 = 1e-6;

/// All of a run of such figures, from its first accesses and windows of the rest; `of` says which sample of a block.
pub fn whole<'a>(
    first: &'a WindowBlock,
    blocks: &[&'a WindowBlock],
    all: Figures,
    of: impl Fn(&'a WindowBlock) -> Option<&'a Sample>,
) -> Sample {
    let mut fits: HashMap<Vec<bool>, Fit> = HashMap::new();
    let mut estimate = |number: &dyn Fn(&'a WindowBlock) -> Option<f64>| {
        let numbers: Vec<Option<f64>> = blocks.iter().map(|block| number(block)).collect();
        let has_number: Vec<bool> = numbers.iter().map(Option::is_some).collect();
        let fit = fits.entry(has_number).or_insert_with_key(|counted| {
            Fit::of(blocks.iter().zip(counted).filter(|(_, counted)| **counted).map(|(block, _)| &block.figures))
        });
        let figures = blocks.iter().map(|block| &block.figures);
        let counted = figures.zip(&numbers).filter_map(|(figures, number)| Some((figures, (*number)?)));
        fit.whole(number(first).map(|number| (number, first.figures)), counted, all)
    };
    let seconds = estimate(&|block| Some(of(block)?.seconds)).map_or(0.0, |(seconds, _)| seconds);
    let cycles = estimate(&|block| Some(float(of(block)?.tsc_cycles))).map_or(0.0, |(cycles, _)| cycles);
    let counts = first.sample.counts.iter().enumerate().map(|(index, template)| {
        let of_block = |block: &'a WindowBlock| of(block)?.counts.get(index);
        // A truth is known of windows, too, in which it was not an event's turn: they are left out with the event.
        let had_turn = |block: &WindowBlock| block.sample.counts.get(index).is_some_and(|count| count.count.is_some());
        let estimate = estimate(&|block| of_block(block).filter(|_| had_turn(block))?.count.map(float));
        let validity = std::iter::once(first)
            .chain(blocks.iter().copied())
            .filter_map(of_block)
            .filter(|count| count.count.is_some() || estimate.is_none())
            .fold(Validity::MEASURED, |validity, count| validity.and(&count.validity));
        let (count, validity) = match estimate {
            Some((number, share)) if share < 1.0 => {
                (Some(whole_number(number)), Validity::scaled(share).and(&validity))
            }
            Some((number, _)) => (Some(whole_number(number)), validity),
            None => (None, validity),
        };
        Count { count, validity, slices: Slices::default(), standard_error: None, ..*template }
    });
    Sample { seconds, tsc_cycles: whole_number(cycles), counts: counts.collect(), ..first.sample.clone() }
}

/// Some of the windows: those that have counted an event.
#[derive(Debug)]
struct Fit {
    squares: LeastSquares,
    /// Their figures.
    figures: Figures,
    /// How these figures vary by chance, and with one another.
    covariance: [Figures; FIGURES],
}

impl Fit {
    fn of<'a>(blocks: impl Iterator<Item = &'a Figures> + Clone) -> Self {
        let add = |sum: Figures, block: &Figures| std::array::from_fn(|index| sum[index] + block[index]);
        let figures = blocks.clone().fold([0.0; FIGURES], add);
        let (mut covariance, mut count) = ([[0.0; FIGURES]; FIGURES], 0.0);
        for block in blocks.clone() {
            let off: Figures = std::array::from_fn(|index| block[index] - block[0] * figures[index] / figures[0]);
            for (row, one) in covariance.iter_mut().zip(off) {
                row.iter_mut().zip(off).for_each(|(sum, other)| *sum += one * other);
            }
            count += 1.0;
        }
        let of_sums = if count > 1.0 { count / (count - 1.0) } else { 1.0 };
        covariance.as_flattened_mut().iter_mut().for_each(|sum| *sum *= of_sums);
        Self { squares: LeastSquares::of(blocks), figures, covariance }
    }

    /// The number of the whole run and the share of it that was counted, from that of the first accesses with their
    /// figures, if it is known, and those of the windows. None if there is none.
    fn whole<'a>(
        &self,
        first: Option<(f64, Figures)>,
        windows: impl Iterator<Item = (&'a Figures, f64)> + Clone,
        all: Figures,
    ) -> Option<(f64, f64)> {
        let is_known = first.is_some();
        let (first, of_first) = first.unwrap_or_default();
        let rest: Figures = std::array::from_fn(|index| (all[index] - of_first[index]).max(0.0));
        let share = self.figures[0] / rest[0];
        if rest[0] <= 0.0 || (share <= 0.0 && is_known) {
            return is_known.then_some((first, of_first[0] / all[0]));
        }
        if share <= 0.0 {
            return None;
        }
        let counted: f64 = windows.clone().map(|(_, number)| number).sum();
        // What the rest has beyond the windows scaled up: of accesses nothing.
        let beyond: Figures = std::array::from_fn(|index| rest[index] - self.figures[index] / share);
        let slopes = self.squares.slopes(windows);
        let follows: f64 = slopes.iter().zip(beyond).map(|(slope, beyond)| slope * beyond).sum();
        let follows = follows * self.trust(&slopes, share, counted / share + follows);
        Some((first + (counted / share + follows).max(0.0), (of_first[0] + self.figures[0]) / all[0]))
    }

    /// How much of what follows from the figures is to be believed: all of it where windows alone vary much by chance,
    /// and little where they are so many that they know better than caches that are filled by function.
    fn trust(&self, slopes: &Figures, share: f64, number: f64) -> f64 {
        let rows = slopes.iter().zip(&self.covariance);
        let products = rows.flat_map(|(one, row)| slopes.iter().zip(row).map(move |(other, sum)| one * other * sum));
        let variance = products.sum::<f64>().max(0.0) * (1.0 - share).max(0.0) / (share * share);
        let bias = (BY_FUNCTION * number).powi(2);
        if variance > 0.0 { variance / (variance + bias) } else { 0.0 }
    }
}

/// The normal equations of the figures, each block weighed by its accesses, in the order in which they are eliminated.
#[derive(Debug)]
struct LeastSquares {
    /// Rows of the triangle, a figure each; none if it says nothing beside those before.
    rows: [Option<Figures>; FIGURES],
}

impl LeastSquares {
    /// Of blocks with these figures: per access, so that each block's weight is its number of accesses.
    fn of<'a>(blocks: impl Iterator<Item = &'a Figures>) -> Self {
        let mut normal = [[0.0; FIGURES]; FIGURES];
        for figures in blocks.filter(|figures| figures[0] > 0.0) {
            for (row, one) in figures.iter().enumerate() {
                for (column, other) in figures.iter().enumerate() {
                    normal[row][column] += one * other / figures[0];
                }
            }
        }
        let mut rows = [None; FIGURES];
        let whole: Figures = std::array::from_fn(|index| normal[index][index]);
        for pivot in 0..FIGURES {
            if normal[pivot][pivot] <= LEAST_OWN * whole[pivot] {
                continue;
            }
            rows[pivot] = Some(normal[pivot]);
            for row in pivot + 1..FIGURES {
                let factor = normal[row][pivot] / normal[pivot][pivot];
                let of_pivot = normal[pivot];
                normal[row].iter_mut().zip(of_pivot).for_each(|(sum, other)| *sum -= factor * other);
            }
        }
        Self { rows }
    }

    /// How numbers of the same blocks follow the figures.
    fn slopes<'a>(&self, numbers: impl Iterator<Item = (&'a Figures, f64)>) -> Figures {
        let mut right = [0.0; FIGURES];
        for (figures, number) in numbers.filter(|(figures, _)| figures[0] > 0.0) {
            for (right, figure) in right.iter_mut().zip(figures) {
                *right += figure * number / figures[0];
            }
        }
        for pivot in 0..FIGURES {
            let Some(row) = &self.rows[pivot] else { continue };
            for below in pivot + 1..FIGURES {
                // The matrix is symmetric: what was taken off a row below is in the pivot's own row.
                right[below] -= row[below] / row[pivot] * right[pivot];
            }
        }
        let mut slopes = [0.0; FIGURES];
        for pivot in (0..FIGURES).rev() {
            let Some(row) = &self.rows[pivot] else { continue };
            let known: f64 = (pivot + 1..FIGURES).map(|column| row[column] * slopes[column]).sum();
            slopes[pivot] = (right[pivot] - known) / row[pivot];
        }
        slopes
    }
}
