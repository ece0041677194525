//! What a phase asks of memory and links.

use pericore_workload::{LinkConditions, MemoryConditions};

/// What the phase asks for, and what is in force.
#[derive(Debug, Default)]
pub struct PhaseConditions {
    pub memory: MemoryConditions,
    pub links: LinkConditions,
    /// Memory's by socket, and the links'; `None` before a phase has begun.
    pub in_force: Option<(Vec<MemoryConditions>, LinkConditions)>,
}
