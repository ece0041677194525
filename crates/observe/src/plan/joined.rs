//! One plan of two, whose events are counted in two ways.

use super::{Plan, SocketPlan};
use crate::selection::Selection;

impl Plan {
    /// What several plans count, as one: for results, which need to know what is counted where. Each plan comes with
    /// the index that each of its events has in `selection`. There is no register access in it; its parts have them.
    pub fn joined<'p>(selection: Selection, parts: impl IntoIterator<Item = (&'p Self, &'p [usize])>) -> Self {
        let mut sockets: Vec<SocketPlan> = Vec::new();
        for (plan, events) in parts {
            for part in &plan.sockets {
                let mut instances = part.instances.clone();
                let counters = instances.iter_mut().flat_map(|instance| &mut instance.counters);
                let own = counters.flat_map(|counter| &mut counter.events);
                own.for_each(|event| *event = events.get(*event).copied().unwrap_or(*event));
                match sockets.iter_mut().find(|known| known.socket == part.socket) {
                    Some(known) => known.instances.extend(instances),
                    None => sockets.push(SocketPlan::without_accesses(part.socket, instances)),
                }
            }
        }
        sockets.sort_by_key(|part| part.socket);
        Self { selection, sockets }
    }
}
