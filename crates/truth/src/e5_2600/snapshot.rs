//! The account of a machine at one instant.

use pericore_engine::{Clocks, Tick};

use super::cells::Cells;
use super::home::HomeCells;
use super::links::LinkCells;
use super::shape::{Opcodes, Shape};
use crate::ChannelCells;

/// The account at one instant.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub(super) now: Tick,
    pub(super) clocks: Clocks,
    pub(super) opcodes: Opcodes,
    pub(super) shape: Shape,
    pub(super) cells: Cells,
}

impl Snapshot {
    /// When it was taken: everything before this tick is in it.
    pub const fn now(&self) -> Tick {
        self.now
    }

    /// True if nothing is in any queue, and all credits are there: so it must be when all has drained.
    pub fn is_empty(&self) -> bool {
        let Cells { slices, homes, links, devices, agents, channels, .. } = &self.cells;
        let states = slices
            .iter()
            .flat_map(|cells| cells.states.iter().chain([&cells.throttle]))
            .chain(agents.iter().flat_map(|cells| &cells.holds));
        let io = devices.iter().flat_map(|cells| cells.egress.iter().chain(&cells.ingress).chain(&cells.credits));
        let pending = channels.iter().flat_map(|cells| &cells.queues);
        states.chain(io).chain(pending).all(|census| census.live == 0)
            && homes.iter().all(HomeCells::is_empty)
            && links.iter().all(LinkCells::is_empty)
    }

    /// The law of queues: what entries that came and went make of a queue's occupancy is what their records make of it.
    pub fn is_sound(&self) -> bool {
        self.cells.channels.iter().all(ChannelCells::is_sound) && self.cells.links.iter().all(LinkCells::is_sound)
    }
}
