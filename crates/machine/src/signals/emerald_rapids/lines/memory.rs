//! The lines of memory channels.

use super::binding::Line;
use super::levels::{LevelNumber, LevelRow};
use crate::signals::table::lines;

/// By half of the channel.
type Halves<T> = [T; 2];

lines! {
    /// Memory channels.
    MemoryLines<LevelRow> in "memory" {
        /// By lane.
        activates: [Halves<Line>; 3],
        precharges: [Halves<Line>; 3],
        idle: Halves<Line>,
        all: Halves<Line>,
        /// In good time, forced.
        refreshes: [Halves<Line>; 2],
        /// By reads and writes, what is preferred: reads, writes.
        modes: [[Halves<Line>; 2]; 2],
        /// By reads and writes: in their turn, or starved.
        ages: [[Halves<Line>; 2]; 2],
        /// Isochronous reads.
        critical_columns: Halves<Line>,
        /// By queue: in their turn, and isochronous.
        low: [Halves<Line>; 2],
        critical_entries: [Halves<Line>; 2],
        preempted: [Halves<Line>; 2],
        forwards: Halves<Line>,
        merges: Halves<Line>,
        /// By what is preferred from now on: reads, writes.
        changes: [Halves<Line>; 2],
        switches: [Halves<Line>; 2],
        corrected: Line,
        /// By queue.
        queues: [Halves<LevelNumber>; 2],
        buffers: Halves<LevelNumber>,
        /// Of both halves.
        buffer: LevelNumber,
        /// Reads, writes.
        preferred: [LevelNumber; 2],
        /// By rank.
        throttled: [LevelNumber; 2],
        critical: LevelNumber,
        refreshing: LevelNumber,
        /// By half and rank.
        clock_on: Halves<[LevelNumber; 2]>,
        /// Both halves.
        powered_down: LevelNumber,
    }
}
