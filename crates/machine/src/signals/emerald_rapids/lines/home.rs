//! The lines of home agents, and of where mesh and memory meet.

use super::binding::Line;
use super::levels::{LevelNumber, LevelRow};
use crate::signals::table::lines;

/// By half of a unit.
type Halves<T> = [T; 2];

lines! {
    /// Home agents, and where mesh and memory meet.
    HomeLines<LevelRow> in "home" {
        /// By what is requested, by whom.
        requested: [[Line; 2]; 3],
        /// In their turn, and isochronous.
        read: [Line; 2],
        /// To memory at once, or not.
        bypass: [Line; 2],
        prefetch_sent: Halves<Line>,
        prefetch_without_credit: Halves<Line>,
        prefetch_without_port: Halves<Line>,
        /// Of lines, of parts, and isochronous ones of lines.
        writes: [Line; 3],
        /// By reads and writes, unit.
        without_credit: [[Line; 4]; 2],
        /// The other socket is not requested, and is.
        looked: [Line; 2],
        /// By a read, and by one of the other socket of a line that this one has.
        changed: [Line; 2],
        /// Where mesh and memory meet: reads come.
        came: Line,
        tracked: Halves<Line>,
        /// In their turn, and isochronous.
        reads: [Halves<Line>; 2],
        writes_tracked: Halves<Line>,
        /// Of lines, of parts, and isochronous ones of lines.
        written: [Halves<Line>; 3],
        /// By who sends prefetches: agents, the other socket.
        prefetched: [Halves<Line>; 2],
        merged: [Line; 2],
        prefetch_taken: Line,
        prefetch_squashed: Line,
        prefetch_lost: [Halves<Line>; 2],
        /// By sender, beyond its threshold.
        dropped: [Halves<Line>; 2],
        no_room: Halves<Line>,
        writes_wait: Halves<Line>,
        back_to_back: Halves<Line>,
        cam_full: Halves<Line>,
        prefetch_done: Halves<Line>,
        not_prefetched: Halves<Line>,
        /// By directory state.
        found: [[Line; 2]; 3],
        /// By directory state, from and to.
        changes: [[Option<Line>; 3]; 3],
        tracker: Halves<LevelNumber>,
        posted: Halves<LevelNumber>,
        write_tracker: Halves<LevelNumber>,
        nonposted: Halves<LevelNumber>,
        prefetches: Halves<LevelNumber>,
        read_waits: LevelNumber,
        no_write_credit: Halves<LevelNumber>,
        no_special_credit: Halves<LevelNumber>,
        /// Data goes onto the mesh at once, or not.
        sent: [Line; 2],
        not_direct: Line,
        /// For want of a credit to its agent; to the link.
        sent_away: [Line; 2],
    }
}
