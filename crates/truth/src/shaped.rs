//! A level over time behind a counter's threshold: the truth of counts that are shaped by thresholds and edges.

/// What a counter with a threshold makes of a level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shaped {
    /// Cycles in which the level was at least the threshold.
    pub cycles: u64,
    /// How often it rose to the threshold from below: what a counter of edges gives.
    pub rises: u64,
}

impl Shaped {
    /// Of a level that changes so often, each time in a cycle and by so much, up to the last change. The order does not
    /// matter.
    pub fn of(changes: impl Iterator<Item = (u64, i64)>, threshold: u64) -> Self {
        let mut changes: Vec<(u64, i64)> = changes.collect();
        changes.sort_unstable();
        let (mut shaped, mut live, mut since, mut at) = (Self::default(), 0_i64, None, 0);
        while let Some(&(cycle, _)) = changes.get(at) {
            // All that changes in a cycle is one change.
            while let Some(&(_, change)) = changes.get(at).filter(|(of, _)| *of == cycle) {
                live += change;
                at += 1;
            }
            let reached = live.unsigned_abs() >= threshold;
            match since {
                None if reached => {
                    shaped.rises += 1;
                    since = Some(cycle);
                }
                Some(from) if !reached => {
                    shaped.cycles += cycle - from;
                    since = None;
                }
                _ => {}
            }
        }
        shaped
    }
}

#[cfg(test)]
mod tests {
    use super::Shaped;

    fn of(stays: &[(u64, u64)], threshold: u64) -> Shaped {
        Shaped::of(stays.iter().flat_map(|&(from, to)| [(from, 1), (to, -1)]), threshold)
    }

    #[test]
    fn stays_that_touch_are_one() {
        assert_eq!(of(&[(20, 25), (10, 15), (15, 18), (12, 16)], 1), Shaped { cycles: 8 + 5, rises: 2 });
    }

    #[test]
    fn a_higher_threshold_sees_only_what_overlaps() {
        assert_eq!(of(&[(10, 15), (12, 16), (14, 20), (15, 17)], 3), Shaped { cycles: 2, rises: 1 });
        assert_eq!(of(&[], 1), Shaped::default());
    }
}
