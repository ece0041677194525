//! What the host can be told early of where totals are.

use super::deeds::{self, Deed};
use super::{Class, Found, INGRESS, Ledger};
use crate::host::prefetch;

/// An entry of an agent's table is free again.
const ENTRY_FREED: Deed = deeds::deed("cha/DIRECT_GO.HA_TOR_DEALLOC");

impl Ledger {
    /// Tells the host that a request is about to come to its agent.
    #[inline]
    pub fn prefetch_arrival(&self, socket: u16, cha: u16, class: Class) {
        let agent = &self.cells.agents[usize::from(socket * self.agents_of_socket + cha)];
        prefetch(&self.cells.levels[self.level_places[usize::from(INGRESS)].0.of(socket, cha)]);
        prefetch(&agent.tor[class.index()]);
        agent.lookups[class.kind as usize].as_chunks::<{ Found::COUNT / 2 }>().0.iter().for_each(prefetch);
    }

    /// Tells the host that it is about to end there.
    #[inline]
    pub fn prefetch_end(&self, socket: u16, cha: u16, class: Class) {
        let agent = &self.cells.agents[usize::from(socket * self.agents_of_socket + cha)];
        prefetch(&agent.tor[class.index()]);
        prefetch(&self.cells.deeds[self.deed_places[usize::from(ENTRY_FREED)].of(socket, cha)]);
    }
}
