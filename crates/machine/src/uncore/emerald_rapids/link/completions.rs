//! What M3UPI sends to memory when a line goes out that memory has sent past its agent, straight to the link.

use pericore_facts::emerald_rapids::{LinkFact, Readers, Ring};

use crate::uncore::emerald_rapids::Model;
use crate::uncore::emerald_rapids::event::Event;

impl Model {
    /// A line from memory is slotted: memory gets a completion.
    pub(super) fn notify_memory<R: Readers>(&mut self, number: u16, id: u16, reader: &mut R) {
        let super::Packet { from, link, memory, .. } = self.links.packets[id];
        let Some(memory) = memory else { return };
        self.links.gates[usize::from(number)].completions -= 1;
        self.at_link(number, LinkFact::Completion(true), reader);
        let gate = self.places.m3upi[usize::from(link)];
        let arrives = self.mesh_send(from, Ring::AcknowledgeAgents, 0, gate, memory, reader);
        self.wheel.schedule(arrives, Event::Completion.of(number));
    }

    /// Memory has taken a completion.
    pub(in super::super) fn completion<R: Readers>(&mut self, number: u16, reader: &mut R) {
        self.links.gates[usize::from(number)].completions += 1;
        self.at_link(number, LinkFact::Completion(false), reader);
        self.pump_link(number, reader);
    }
}
