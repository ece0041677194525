//! Messages of the block ring come in two halves.
//!
//! The mesh brings half a line in a cycle. A header lies in the first half; that of a message that is not coherent
//! and has data has its byte enables in the second (assumption). What has no line may be sent before its second half
//! has come, which somebody then has to wait for.

use pericore_engine::Tick;

use super::{LinkFact, Readers};
use crate::uncore::emerald_rapids::Model;
use crate::uncore::emerald_rapids::event::Event;
use pericore_facts::emerald_rapids::{BlockHalves, Limbo, LinkClass};

/// Marks the event of a message that leaves the FIFO of those that are complete.
const ENDS: u16 = 1 << 8;

impl Model {
    /// A message of the block ring is slotted: when all of it that its flit needs is here.
    pub(super) fn slot_block<R: Readers>(&mut self, number: u16, id: u16, reader: &mut R) -> Tick {
        let super::Packet { sent, halves: [first, second], .. } = self.links.packets[id];
        let (now, line) = (self.now, sent.message.has_line());
        let both = sent.message.class() == LinkClass::Bypass;
        let needs = if line || both { second } else { first };
        let gate = &self.links.gates[usize::from(number)];
        let delayed = needs > now + self.times.uclk || gate.ready > now + self.times.uclk;
        let here = [first <= now, second <= now];
        self.at_link(number, LinkFact::SlotsBlock(BlockHalves { line, both, here, delayed }), reader);
        if !line && !both && second > now {
            self.at_link(number, LinkFact::Limbo(Limbo::Begins), reader);
            self.wheel.schedule(second, Event::Limbo.of(number));
        }
        needs
    }

    /// The second half of a message that was sent has come, or it leaves the FIFO of those.
    pub(in super::super) fn limbo<R: Readers>(&mut self, subject: u16, reader: &mut R) {
        let number = subject & !ENDS;
        if subject & ENDS != 0 {
            self.at_link(number, LinkFact::Limbo(Limbo::Ends), reader);
            return;
        }
        let gate = &mut self.links.gates[usize::from(number)];
        gate.limbo = gate.limbo.max(self.now) + self.times.uclk;
        let ends = gate.limbo;
        self.at_link(number, LinkFact::Limbo(Limbo::Completes), reader);
        self.wheel.schedule(ends, Event::Limbo.of(number | ENDS));
    }
}
