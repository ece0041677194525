//! The account at one instant, and what it says about events.

use pericore_engine::Tick;

use super::cells::Cells;
use super::places::Places;
use super::{Clocks, Gauge, Shape, names};
use crate::ledger::Question;

/// The account at one instant.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub(super) now: Tick,
    pub(super) clocks: Clocks,
    pub(super) shape: Shape,
    pub(super) places: Places,
    pub(super) cells: Cells,
}

impl Snapshot {
    /// When it was taken: everything before this tick is in it.
    pub const fn now(&self) -> Tick {
        self.now
    }

    /// An event's count from the beginning of time up to the snapshot, by the guide's names. `instance` is numbered over the
    /// machine's sockets. `None` if the ledger has no truth for the event.
    pub fn value(&self, instance: u16, question: Question<'_>) -> Option<u64> {
        names::value(self, instance, question)
    }

    /// As [`Snapshot::value`], by socket and the instance within it.
    pub fn count(&self, socket: u16, instance: u16, question: Question<'_>) -> Option<u64> {
        let per_socket = self.shape.instances(question.unit);
        let number = (instance < per_socket).then_some(socket * per_socket + instance)?;
        self.value(number, question)
    }

    /// What an event counted since an earlier snapshot.
    pub fn since(&self, earlier: &Self, instance: u16, question: Question<'_>) -> Option<u64> {
        let before = earlier.value(instance, question)?;
        Some(self.value(instance, question)? - before)
    }

    pub(super) fn deed(&self, deed: usize, socket: u16, index: u16) -> u64 {
        self.cells.deeds[self.places.deeds[deed].of(socket, index)]
    }

    pub(super) fn level(&self, level: usize, socket: u16, index: u16) -> &Gauge {
        &self.cells.levels[self.places.levels[level].of(socket, index)]
    }
}
