//! The queues of a home agent towards the rings of addresses, acknowledgements and data, with two scheduler banks each.
//!
//! A message is in a queue while the ring has other messages of the home agent to take, or its link has no entry for
//! it. Those that can go at once are in none.

use pericore_facts::e5_2600::{E5Reader, RingKind, UncoreUse};

use crate::e5_2600::Model;

/// Banks of a queue.
const BANKS: u32 = 2;

impl Model {
    /// A message about a line begins or ends to wait in a home agent's queue for a ring.
    pub(in crate::e5_2600) fn home_queues<R: E5Reader>(
        &self,
        home: u8,
        ring: RingKind,
        line: u32,
        begins: bool,
        reader: &mut R,
    ) {
        // Neighbouring lines take turns (assumption: no document says what a bank takes).
        self.switch(UncoreUse::HomeEgress(home, ring, (line % BANKS) as u8), begins, reader);
    }
}
