//! Counts of parts of an interval, and what they say about the whole of it.

/// Most parts that are kept; beyond that neighbours are added up two by two, which keeps the estimate sound and memory
/// bounded.
const MOST: usize = 128;

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
    /// what the uncounted rest would have added: v T (T - t) / t for T seconds of which t were counted.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn standard_error(&self, whole: f64) -> Option<f64> {
        let parts: Vec<(f64, f64)> =
            self.parts.iter().filter(|part| part.0 > 0.0).map(|part| (part.0, part.1 as f64)).collect();
        let counted: f64 = parts.iter().map(|part| part.0).sum();
        if parts.len() < 2 || counted <= 0.0 {
            return None;
        }
        let rate = parts.iter().map(|part| part.1).sum::<f64>() / counted;
        let residuals: f64 = parts.iter().map(|(seconds, count)| (count - rate * seconds).powi(2) / seconds).sum();
        let per_second = residuals / (parts.len() - 1) as f64;
        Some((per_second * whole * (whole - counted).max(0.0) / counted).sqrt())
    }
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
    fn a_steady_rate_has_no_error_and_one_part_tells_nothing() {
        assert_eq!(slices(&[(1.0, 10), (2.0, 20), (1.0, 10)]).standard_error(8.0), Some(0.0));
        assert_eq!(slices(&[(1.0, 10)]).standard_error(8.0), None);
    }

    #[test]
    fn the_error_is_that_of_a_random_half() {
        // Parts of 1 s with 8 and 12: rate 10, variance (4 + 4) / 1 = 8 per second; 4 s of which 2 were counted.
        let error = slices(&[(1.0, 8), (1.0, 12)]).standard_error(4.0).unwrap();
        assert!((error - (8.0_f64 * 4.0 * 2.0 / 2.0).sqrt()).abs() < 1e-9, "{error}");
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
}
