//! Counts of parts of an interval, and what they say about the whole of it.

use pericore_metrics::Validity;

/// Most parts that are kept; beyond that neighbours are added up two by two, which keeps the estimate sound and memory
/// bounded.
const MOST: usize = 128;

/// What is to be said of a sum: it ends where 64 bits do, and what is shown there is too low.
pub(crate) fn at_end_of_range(sum: Option<u64>) -> Validity {
    if sum == Some(u64::MAX) { Validity::suspect("the sum is 2^64 - 1 or more") } else { Validity::MEASURED }
}

/// Counts of the parts of an interval in which a counter ran.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Slices {
    parts: Vec<(f64, u64)>,
}

impl Slices {
    /// Adds a part: its length in seconds and its count.
    pub fn push(&mut self, seconds: f64, count: u64) {
        if self.parts.len() == MOST {
            let add = |pair: &[(f64, u64)]| {
                pair.iter().fold((0.0, 0_u64), |sum, part| (sum.0 + part.0, sum.1.saturating_add(part.1)))
            };
            self.parts = self.parts.chunks(2).map(add).collect();
        }
        self.parts.push((seconds, count));
    }

    /// Adds the parts of another counter, or of a later interval.
    pub fn extend(&mut self, other: &Self) {
        other.parts.iter().for_each(|&(seconds, count)| self.push(seconds, count));
    }

    /// The parts: seconds and count of each.
    pub fn parts(&self) -> &[(f64, u64)] {
        &self.parts
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Seconds in which the counter ran.
    pub fn seconds(&self) -> f64 {
        self.parts.iter().map(|(seconds, _)| seconds).sum()
    }

    /// Increments in that time.
    pub fn count(&self) -> u64 {
        self.parts.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// The count that `whole` seconds would have had at the same rate.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate"
    )]
    pub fn scaled_up(&self, whole: f64) -> u64 {
        (self.count() as f64 / (self.seconds() / whole)).round() as u64
    }

    /// The sum over two counters that ran at the same times; nothing if they did not.
    pub fn beside(&self, other: &Self) -> Option<Self> {
        let together = self.parts.iter().zip(&other.parts).all(|(a, b)| (a.0 - b.0).abs() <= 1e-3 * a.0.max(b.0));
        if !together || self.parts.len() != other.parts.len() {
            return None;
        }
        let sum = |(a, b): (&(f64, u64), &(f64, u64))| (a.0, a.1.saturating_add(b.1));
        Some(Self { parts: self.parts.iter().zip(&other.parts).map(sum).collect() })
    }

    /// The standard error of the count scaled up to `whole` seconds, from the variation between the parts; nothing if there are
    /// too few parts to tell.
    ///
    /// With the rate r of all parts and a variance per second v = sum((c - r t)^2 / t) / (n - 1), the scaled count misses by
    /// what the uncounted rest would have added: v T (T - t) / t for T seconds of which t were counted. Two corrections keep twice this error a
    /// 95 % interval on short runs: few parts vary less than what they stand for, so the error grows by Student's factor; and parts that agree by
    /// chance cannot say that nothing rare happened in between, so what was counted varies by at least the root of its count, up to 100, and by at least 1.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn standard_error(&self, whole: f64) -> Option<f64> {
        const RARE: f64 = 100.0;
        let parts: Vec<(f64, f64)> =
            self.parts.iter().filter(|part| part.0 > 0.0).map(|part| (part.0, part.1 as f64)).collect();
        let counted: f64 = parts.iter().map(|part| part.0).sum();
        if parts.len() < 2 || counted <= 0.0 {
            return None;
        }
        let total = parts.iter().map(|part| part.1).sum::<f64>();
        let rate = total / counted;
        let residuals: f64 = parts.iter().map(|(seconds, count)| (count - rate * seconds).powi(2) / seconds).sum();
        let freedom = parts.len() - 1;
        let per_second = residuals / freedom as f64 * student(freedom).powi(2);
        let variance = (per_second * counted).max(total.clamp(1.0, RARE));
        Some((variance * whole * (whole - counted).max(0.0)).sqrt() / counted)
    }
}

/// Half of the normal distribution's 95 % interval, in standard deviations.
pub const NORMAL: f64 = 1.959_964;

/// How much wider Student's 95 % interval is than that of the normal distribution, by degrees of freedom.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub fn student(freedom: usize) -> f64 {
    const FEW: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    let quantile = freedom.checked_sub(1).and_then(|at| FEW.get(at).copied()).unwrap_or_else(|| {
        // Cornish and Fisher's expansion, good to four digits from here on.
        let n = freedom.max(1) as f64;
        let (z, z3, z5) = (NORMAL, NORMAL.powi(3), NORMAL.powi(5));
        z + (z3 + z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
    });
    quantile / NORMAL
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices(parts: &[(f64, u64)]) -> Slices {
        let mut slices = Slices::default();
        parts.iter().for_each(|&(seconds, count)| slices.push(seconds, count));
        slices
    }

    #[test]
    fn a_steady_rate_has_next_to_no_error_and_one_part_tells_nothing() {
        let error = slices(&[(1.0, 1 << 30), (2.0, 2 << 30), (1.0, 1 << 30)]).standard_error(8.0).unwrap();
        // The floor of 100 in what was counted: 10 * sqrt(8 * 4) / 4.
        assert!((error - 10.0 * 32.0_f64.sqrt() / 4.0).abs() < 1e-6, "{error}");
        assert_eq!(slices(&[(1.0, 10)]).standard_error(8.0), None);
    }

    #[test]
    fn the_error_is_that_of_a_random_half() {
        // Parts of 1 s with 800 and 1200: rate 1000, variance (40000 + 40000) / 1 = 80000 per second; 4 s of which 2 were counted; one
        // degree of freedom widens by 12.706 / 1.96.
        let error = slices(&[(1.0, 800), (1.0, 1200)]).standard_error(4.0).unwrap();
        let expected = (80000.0_f64 * 4.0 * 2.0 / 2.0).sqrt() * 12.706 / 1.959_964;
        assert!((error / expected - 1.0).abs() < 1e-6, "{error}, not {expected}");
    }

    #[test]
    fn students_factor_falls_to_one() {
        // From any table: 2.228 at 10, 2.131 at 15, 2.042 at 30, 1.984 at 100.
        for (freedom, quantile) in [(10, 2.228), (15, 2.131), (30, 2.042), (100, 1.984)] {
            assert!((student(freedom) * 1.959_964 - quantile).abs() < 2e-3, "{freedom}");
        }
        assert!((1..1000).all(|freedom| student(freedom) > student(freedom + 1)));
    }

    /// A small generator, so that the test is the same everywhere.
    struct Dice(u64);

    impl Dice {
        fn unit(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }

        /// How many arrivals of a rate fall into a stretch, one or a burst at a time.
        fn arrivals(&mut self, mean: f64, burst: u64) -> u64 {
            let (mut left, mut count) = (mean, 0);
            loop {
                left += self.unit().max(1e-300).ln();
                if left < 0.0 {
                    return count;
                }
                count += 1 + (self.unit() * burst as f64) as u64;
            }
        }
    }

    /// How often the truth lies within twice the error: runs of `parts` turns, one in `rounds` of which is counted.
    fn coverage(parts: usize, rounds: usize, mean: f64, burst: u64, seed: u64) -> f64 {
        let mut dice = Dice(seed);
        let runs = 1500;
        let covered = (0..runs).filter(|_| {
            let mut counted = Slices::default();
            let mut truth = 0;
            for turn in 0..parts * rounds {
                let count = dice.arrivals(mean, burst);
                truth += count;
                if turn % rounds == 0 {
                    counted.push(1.0, count);
                }
            }
            let whole = (parts * rounds) as f64;
            let estimate = counted.count() as f64 * rounds as f64;
            let error = counted.standard_error(whole).expect("enough parts");
            (estimate - truth as f64).abs() <= 2.0 * error + 0.5
        });
        covered.count() as f64 / runs as f64
    }

    #[test]
    fn twice_the_error_covers_the_truth_on_short_runs_too() {
        for parts in [2, 3, 5, 10, 40] {
            for rounds in [2, 4] {
                for (mean, burst) in [(0.3, 1), (5.0, 1), (40.0, 1), (8.0, 20)] {
                    let covered = coverage(parts, rounds, mean, burst, 77);
                    assert!(covered >= 0.92, "{parts} parts of {rounds} rounds, {mean} by {burst}: {covered}");
                }
            }
        }
    }

    #[test]
    fn many_parts_are_folded_without_loss() {
        let all: Vec<(f64, u64)> = (0..1000).map(|at| (0.001, at % 7)).collect();
        let folded = slices(&all);
        assert!(folded.parts.len() <= MOST);
        assert_eq!(folded.count(), all.iter().map(|part| part.1).sum::<u64>());
        assert!((folded.seconds() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn only_what_ran_together_adds_up() {
        let one = slices(&[(1.0, 1), (1.0, 3)]);
        assert_eq!(one.beside(&slices(&[(1.0, 3), (1.0, 1)])), Some(slices(&[(1.0, 4), (1.0, 4)])));
        assert_eq!(one.beside(&slices(&[(1.0, 3)])), None);
        assert_eq!(one.beside(&slices(&[(1.0, 3), (0.5, 1)])), None);
    }

    /// Parts are of the same time if they differ by no more than a thousandth, whether they are long or short.
    #[test]
    fn what_ran_together_is_known_by_a_share_of_its_length() {
        for (one, other, are_together) in [
            (10.0, 10.005, true),
            (10.005, 10.0, true),
            (10.0, 10.02, false),
            (10.02, 10.0, false),
            (0.01, 0.010_05, false),
            (0.01, 0.010_005, true),
            (0.0, 0.0, true),
        ] {
            let (one, other) = (slices(&[(one, 2)]), slices(&[(other, 3)]));
            assert_eq!(one.beside(&other).map(|sum| sum.count()), are_together.then_some(5), "{one:?} and {other:?}");
        }
    }

    /// Half of two seconds with 10 stands for 20; a rate is of all parts together.
    #[test]
    fn counts_are_scaled_by_the_time_of_all_parts() {
        assert_eq!(slices(&[(1.0, 10)]).scaled_up(2.0), 20);
        assert_eq!(slices(&[(0.25, 10), (0.75, 20)]).scaled_up(4.0), 120);
        let mut both = slices(&[(1.0, 1)]);
        both.extend(&slices(&[(2.0, 3), (0.5, 5)]));
        assert_eq!((both.parts(), both.seconds(), both.count()), (&[(1.0, 1), (2.0, 3), (0.5, 5)][..], 3.5, 9));
        assert!(!both.is_empty() && Slices::default().is_empty());
        // Neither a single part nor parts without time say how far off the count is.
        for parts in [&[(1.0, 10)][..], &[(1.0, 10), (0.0, 4)], &[]] {
            assert_eq!(slices(parts).standard_error(2.0), None, "{parts:?}");
        }
        assert_eq!(slices(&[(1.0, 10), (1.0, 12)]).standard_error(2.0), Some(0.0), "nothing was left out");
    }

    /// Parts of 1 s and 3 s with 10 and 60: 17.5 a second, from which they are off by 7.5 each, so 7.5^2 / 1 + 7.5^2
    /// / 3 = 75 a second with one degree of freedom. Of 8 s four were not counted.
    #[test]
    fn the_error_is_that_of_the_rate() {
        let close = |parts: &[(f64, u64)], whole: f64, expected: f64| {
            let error = slices(parts).standard_error(whole).unwrap();
            assert!((error - expected).abs() < 1e-9 * expected.max(1.0), "{parts:?}: {error}, not {expected}");
        };
        let few = 12.706 / 1.959_964;
        close(&[(1.0, 10), (3.0, 60)], 8.0, (75.0_f64 * 4.0 * 8.0 * 4.0).sqrt() / 4.0 * few);
        // A part without time says nothing, and does not count as one.
        close(&[(1.0, 10), (0.0, 99), (3.0, 60)], 8.0, (75.0_f64 * 4.0 * 8.0 * 4.0).sqrt() / 4.0 * few);
        // Three parts of a second: 20 each, from which two are off by 10, with two degrees of freedom.
        close(&[(1.0, 10), (1.0, 20), (1.0, 30)], 6.0, (100.0_f64 * 3.0 * 6.0 * 3.0).sqrt() / 3.0 * 4.303 / 1.959_964);
        // Parts that agree vary by the root of their count all the same, by 1 at least, and by 10 at most.
        close(&[(1.0, 2), (1.0, 2)], 4.0, (4.0_f64 * 4.0 * 2.0).sqrt() / 2.0);
        close(&[(1.0, 0), (1.0, 0)], 4.0, (4.0_f64 * 2.0).sqrt() / 2.0);
        close(&[(1.0, 500), (1.0, 500)], 4.0, (100.0_f64 * 4.0 * 2.0).sqrt() / 2.0);
        // What was counted for longer than the whole has no uncounted rest.
        close(&[(1.0, 10), (3.0, 60)], 3.0, 0.0);
    }

    /// From tables of Student's distribution: up to ten degrees of freedom as they stand there, beyond that to what the
    /// expansion's next term would add.
    #[test]
    fn students_quantiles_are_those_of_tables() {
        let table = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
        for (freedom, quantile) in (1..).zip(table) {
            assert!((student(freedom) * 1.959_964 - quantile).abs() < 1e-9, "{freedom}");
        }
        for (freedom, quantile, room) in [
            (11, 2.200_99, 2.5e-3),
            (12, 2.178_81, 2e-3),
            (20, 2.085_96, 4e-4),
            (30, 2.042_27, 2e-4),
            (100, 1.983_97, 2e-5),
            (1000, 1.962_34, 1e-5),
        ] {
            assert!(
                (student(freedom) * 1.959_964 - quantile).abs() < room,
                "{freedom}: {}",
                student(freedom) * 1.959_964
            );
        }
    }

    /// 128 parts are kept as they are; the next one makes pairs of them.
    #[test]
    fn parts_are_kept_up_to_their_number() {
        let all: Vec<(f64, u64)> = (0..128).map(|count| (1.0, count)).collect();
        let mut kept = slices(&all);
        assert_eq!(kept.parts(), all);
        kept.push(5.0, 1000);
        assert_eq!(kept.parts().len(), 65);
        assert_eq!((kept.parts()[0], kept.parts()[63], kept.parts()[64]), ((2.0, 1), (2.0, 253), (5.0, 1000)));
    }

    #[test]
    fn a_sum_at_the_end_of_its_range_is_doubted() {
        let is_doubted =
            [None, Some(0), Some(u64::MAX - 1), Some(u64::MAX)].map(|sum| at_end_of_range(sum) != Validity::MEASURED);
        assert_eq!(is_doubted, [false, false, false, true]);
    }
}
