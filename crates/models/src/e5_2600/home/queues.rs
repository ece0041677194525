//! The queues of a home agent towards the rings: for the address and for the data ring, with two scheduler banks each.
//!
//! A message is in a queue while the ring has other messages of the home agent to take, or its link has no entry for
//! it. Those that can go at once are in none.

use pericore_facts::e5_2600::{E5Reader, UncoreUse};

use crate::e5_2600::Model;

/// Banks of a queue.
const BANKS: u32 = 2;

impl Model {
    /// A message about a line begins or ends to wait in a home agent's queue for the address or the data ring.
    pub(in crate::e5_2600) fn home_queues<R: E5Reader>(
        &self,
        home: u8,
        data: bool,
        line: u32,
        begins: bool,
        reader: &mut R,
    ) {
        // Neighbouring lines take turns (assumption: no document says what a bank takes).
        self.switch(UncoreUse::HomeEgress(home, data, (line % BANKS) as u8), begins, reader);
    }
}
