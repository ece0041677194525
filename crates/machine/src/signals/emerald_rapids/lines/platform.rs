//! The lines of power units and system agents.

use pericore_facts::emerald_rapids::{CState, PackageCondition, SystemMessage};

use super::binding::Line;
use super::levels::{LevelNumber, LevelRow};
use crate::signals::table::lines;

lines! {
    /// Power units.
    PowerLines<LevelRow> in "power" {
        cores: [LevelNumber; CState::COUNT],
        /// Any core; all of them.
        changing: [LevelNumber; 2],
        demoted: Line,
        conditions: [LevelNumber; PackageCondition::COUNT],
    }
}

lines! {
    /// System agents.
    SystemLines<LevelRow> in "system" {
        taken: [Line; SystemMessage::COUNT],
        none_ready: Line,
        /// Messages without an answer, with one, over links.
        queues: [LevelNumber; 3],
        holds: LevelNumber,
        /// Ingress; data and acknowledgements on their way out.
        empty: [LevelNumber; 3],
        full: [LevelNumber; 2],
    }
}
