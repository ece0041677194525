//! The account at one instant.

use pericore_engine::Tick;

use super::cells::Cells;
use super::expanders::ExpanderCells;
use super::home::UnitCells;
use super::links::LinkCells;
use super::platform::SystemCells;
use super::stacks::StackCells;
use pericore_facts::emerald_rapids::{Clocks, Shape};

/// The account at one instant.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub(super) now: Tick,
    pub(super) clocks: Clocks,
    pub(super) shape: Shape,
    pub(super) cells: Cells,
}

impl Snapshot {
    /// When it was taken: everything before this tick is in it.
    pub const fn now(&self) -> Tick {
        self.now
    }

    /// True if nothing is under way in the machine, by the records of all that came and went.
    pub fn is_at_rest(&self) -> bool {
        let Cells { stacks, links, expanders, systems, agents, memory_units, .. } = &self.cells;
        stacks.iter().all(StackCells::is_at_rest)
            && links.iter().all(LinkCells::is_at_rest)
            && expanders.iter().all(ExpanderCells::is_at_rest)
            && systems.iter().all(SystemCells::is_at_rest)
            && memory_units.iter().all(UnitCells::is_at_rest)
            && agents.iter().all(|agent| agent.caching.is_at_rest() && agent.tor.iter().all(|stay| stay.live == 0))
    }

    /// True if each package has so many cores, and is in one state, as its regulators are.
    pub fn has_cores(&self, cores: u64) -> bool {
        self.cells.power.iter().all(|package| package.is_sound(cores))
    }
}
