//! What the host can be told early of where totals are.

use pericore_engine::host::prefetch;
use pericore_facts::emerald_rapids::{Class, Found, UnitInstance};

use super::Ledger;

impl Ledger {
    /// Tells the host that a request is about to come to its agent.
    #[inline]
    pub(super) fn prefetch_arrival(&self, (socket, cha): UnitInstance, class: Class) {
        let agent = &self.cells.agents[usize::from(socket * self.agents_of_socket + cha)];
        prefetch(&agent.caching.ingress);
        prefetch(&agent.tor[class.index()]);
        agent.lookups[class.kind as usize].as_chunks::<{ Found::COUNT / 2 }>().0.iter().for_each(prefetch);
    }

    /// Tells the host that it is about to end there.
    #[inline]
    pub(super) fn prefetch_end(&self, (socket, cha): UnitInstance, class: Class) {
        let agent = &self.cells.agents[usize::from(socket * self.agents_of_socket + cha)];
        prefetch(&agent.tor[class.index()]);
    }
}
