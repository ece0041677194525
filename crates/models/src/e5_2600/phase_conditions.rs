//! What a phase asks of memory and links.

use pericore_workload::{LinkConditions, MemoryConditions};

use crate::e5_2600::parameters::MOST_SOCKETS;

/// What the phase asks for, and what is in force.
#[derive(Debug, Default)]
pub struct PhaseConditions {
    pub memory: MemoryConditions,
    pub links: LinkConditions,
    /// Memory's by socket, and the links'; `None` before a phase has begun.
    pub in_force: Option<([MemoryConditions; MOST_SOCKETS as usize], LinkConditions)>,
}
