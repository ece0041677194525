//! When each request was in a slice's queue and in its table: the truth of counts that are shaped by a threshold or by edges.
//!
//! Such a count needs the level of a queue in every cycle, which sums of stays do not give. So the stays themselves are kept, but only
//! when asked for: they grow with the run.

use super::record::{Opcodes, Record, RequestKind};
use crate::engine::{NEVER, Period};
use crate::signal::Tick;

/// Which requests of a slice make up a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Requests in the queue from the ring: `RxR_OCCUPANCY.IRQ`.
    RequestQueue,
    /// Requests in the table that carry this opcode, of all or only those that missed: `TOR_OCCUPANCY.OPCODE`, `.MISS_OPCODE`.
    Table {
        /// The opcode.
        opcode: u64,
        /// Only those that missed.
        missed: bool,
    },
}

/// A level over time, in cycles of the slice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shaped {
    /// Cycles in which the level was at least the threshold.
    pub cycles: u64,
    /// How often it rose to the threshold from below.
    pub rises: u64,
}

/// From one cycle on, up to another and without it.
type Stay = (u64, u64);

#[derive(Debug, Clone, Copy)]
struct Kept {
    slice: u16,
    kind: RequestKind,
    missed: bool,
    queue: Option<Stay>,
    table: Option<Stay>,
}

/// The stays of all requests that have ended.
#[derive(Debug, Clone, Default)]
pub struct Stays(Vec<Kept>);

impl Stays {
    /// Adds those of a request that has ended.
    pub(super) fn add(&mut self, record: &Record, clock: Period) {
        let cycles = |from: Tick, to: Tick| {
            (from != NEVER && to != NEVER)
                .then(|| (clock.cycles(from), clock.cycles(to)))
                .filter(|(from, to)| from < to)
        };
        let queue = cycles(record.ingress_in, record.ingress_out).filter(|_| record.kind != RequestKind::Snoop);
        let table = cycles(record.tor_in, record.tor_out);
        self.0.push(Kept { slice: record.slice, kind: record.kind, missed: record.miss, queue, table });
    }

    /// A slice's level, held against a threshold, from the time when the stays began to be kept.
    pub(super) fn shaped(&self, slice: u16, level: Level, opcodes: &Opcodes, threshold: u64) -> Shaped {
        let stay = |kept: &Kept| match level {
            Level::RequestQueue => kept.queue,
            Level::Table { opcode, missed } => {
                kept.table.filter(|_| opcodes.of(kept.kind) == Some(opcode) && (kept.missed || !missed))
            }
        };
        let of_slice = self.0.iter().filter(|kept| kept.slice == slice);
        shape(of_slice.filter_map(stay), threshold)
    }
}

/// Cycles with at least so many stays at once, and how often that begins.
fn shape(stays: impl Iterator<Item = Stay>, threshold: u64) -> Shaped {
    let mut changes: Vec<(u64, i64)> = stays.flat_map(|(from, to)| [(from, 1), (to, -1)]).collect();
    changes.sort_unstable();
    let (mut shaped, mut live, mut since, mut at) = (Shaped::default(), 0_i64, None, 0);
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

#[cfg(test)]
mod tests {
    use super::{Shaped, shape};

    #[test]
    fn stays_that_touch_are_one() {
        let stays = [(20, 25), (10, 15), (15, 18), (12, 16)];
        assert_eq!(shape(stays.into_iter(), 1), Shaped { cycles: 8 + 5, rises: 2 });
    }

    #[test]
    fn a_higher_threshold_sees_only_what_overlaps() {
        let stays = [(10, 15), (12, 16), (14, 20), (15, 17)];
        assert_eq!(shape(stays.into_iter(), 3), Shaped { cycles: 2, rises: 1 });
        assert_eq!(shape([].into_iter(), 1), Shaped::default());
    }
}
