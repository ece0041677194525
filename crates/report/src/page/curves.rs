//! The rows of a recording over time, as a page has them.

use super::timeline::Timeline;
use crate::row::Report;

/// Numbers of an hour at a sample a second that a page has room for, so that it stays below 1 MB: in rows of all
/// together, and of instances. A day has four times as much.
const ROOM: (usize, usize) = (45_000, 60_000);

/// Rows of all together and of instances, over time.
#[derive(Debug)]
pub struct Curves {
    pub(super) all: Timeline,
    pub(super) units: Timeline,
}

impl Curves {
    /// Of one of so many recordings on one page.
    pub const fn of_one_of(recordings: usize) -> Self {
        Self { all: Timeline::with_room(ROOM.0 / recordings), units: Timeline::with_room(ROOM.1 / recordings) }
    }

    /// Adds an interval: its rows of all together, and of instances.
    pub fn add(&mut self, all: &Report, units: &Report) {
        self.all.add(all);
        self.units.add(units);
    }
}
