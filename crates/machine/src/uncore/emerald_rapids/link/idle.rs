//! What a link sends when it has nothing to send.
//!
//! Its slots follow each other as long as there is something. Then the flit that it is in is filled with empty slots,
//! and idle flits follow, one in a cycle of the link, half as many where half of its lanes rest. They are told when
//! they are over: what a direction sends shows when it sends something again, or changes its width, which it does
//! within microseconds.

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{LinkFact, LinkWidth, Readers};

use super::building::SLOTS;
use super::peer;
use crate::uncore::emerald_rapids::Model;

impl Model {
    /// Tells what a direction has sent until `until`, when it was idle.
    pub(super) fn report_idle<R: Readers>(&mut self, number: u16, until: Tick, reader: &mut R) {
        let (slot, cycle) = (self.times.link_slot, self.clocks.upiclk.ticks());
        let width = self.width(number);
        let gate = &mut self.links.gates[usize::from(number)];
        let from = gate.ready.max(gate.reported);
        if until <= from {
            return;
        }
        gate.reported = until;
        let left = std::mem::take(&mut gate.slots) % SLOTS as u64;
        let empty = if left == 0 { 0 } else { SLOTS as u64 - left };
        let cycle = match width {
            LinkWidth::Full => cycle,
            LinkWidth::Half => 2 * cycle,
            LinkWidth::Off => return,
        };
        let flits = (until - from).saturating_sub(empty * slot) / cycle;
        if empty == 0 && flits == 0 {
            return;
        }
        for (end, received) in [(number, false), (peer(number), true)] {
            self.at_link(end, LinkFact::Idles { empty: empty as u8, flits: flits as u32, received }, reader);
        }
    }
}
