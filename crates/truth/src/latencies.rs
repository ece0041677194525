//! How long each read took, by its record: not only the mean that counters give.

/// Cycles that are told apart; longer reads are in one bucket.
const MOST: usize = 1 << 16;

/// Reads by the whole cycles that each took.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    /// Reads of each number of cycles.
    counts: Vec<u64>,
    reads: u64,
    cycles: u64,
    most: u64,
}

impl Latencies {
    /// Adds a read.
    pub fn add(&mut self, cycles: u64) {
        let bucket = usize::try_from(cycles).unwrap_or(MOST).min(MOST);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.reads += 1;
        self.cycles += cycles;
        self.most = self.most.max(cycles);
    }

    /// How many reads there were.
    pub const fn reads(&self) -> u64 {
        self.reads
    }

    /// Cycles of all, added up.
    pub const fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Cycles of the longest.
    pub const fn most(&self) -> u64 {
        self.most
    }

    /// Reads by cycles, in rising order, without those that there are none of.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        (0..).zip(self.counts.iter().copied()).filter(|(_, reads)| *reads > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::Latencies;

    /// Of 1, 2, …, 100 cycles and one of a million.
    #[test]
    fn reads_are_counted_by_their_cycles() {
        let mut latencies = Latencies::default();
        assert_eq!((latencies.reads(), latencies.counts().count()), (0, 0));
        (1..=100).rev().for_each(|cycles| latencies.add(cycles));
        latencies.add(1_000_000);
        assert_eq!((latencies.reads(), latencies.cycles(), latencies.most()), (101, 5_050 + 1_000_000, 1_000_000));
        let expected = (1..=100).map(|cycles| (cycles, 1)).chain([(65_536, 1)]);
        assert!(latencies.counts().eq(expected));
        latencies.add(7);
        assert_eq!(latencies.counts().find(|(cycles, _)| *cycles == 7), Some((7, 2)));
    }
}
