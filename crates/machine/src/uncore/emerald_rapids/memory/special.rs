//! Isochronous requests at the memory controllers: they have credits of their own, so that nothing else fills the
//! queues before them.

use pericore_dram::Pending;

use super::super::Model;
use super::super::request::{Request, RequestId};
use super::seen_of;
use pericore_facts::emerald_rapids::{Fact, MemoryUnitFact, Readers};

impl Model {
    /// Takes the credit of an isochronous request. False if it has to wait for one.
    pub(super) fn take_special<R: Readers>(&mut self, request: RequestId, reader: &mut R) -> bool {
        let Request { socket, place, writes, .. } = self.pool[request];
        let queue = usize::from(writes);
        let number = self.subchannel(socket, place);
        let credits = &mut self.credits[number];
        if credits.special[queue] == 0 {
            credits.waiting_special[queue].push_back(request);
            return false;
        }
        credits.special[queue] -= 1;
        if writes && credits.special[queue] == 0 {
            self.report_special(number, true, reader);
        }
        true
    }

    /// A subchannel gives the credit of an isochronous request back.
    pub(super) fn give_special<R: Readers>(&mut self, number: usize, queue: Pending, reader: &mut R) {
        let credits = &mut self.credits[number];
        if let Some(next) = credits.waiting_special[queue as usize].pop_front() {
            self.announce(next);
            return;
        }
        credits.special[queue as usize] += 1;
        if queue == Pending::Writes && credits.special[queue as usize] == 1 {
            self.report_special(number, false, reader);
        }
    }

    /// The event is of the channel: one of its subchannels has no credit for an isochronous write.
    fn report_special<R: Readers>(&self, number: usize, gone: bool, reader: &mut R) {
        if self.credits[number ^ 1].special[Pending::Writes as usize] > 0 {
            let (unit, half) = seen_of(number);
            reader.read(self.now, Fact::MemoryUnit(unit, MemoryUnitFact::NoSpecialCredit(half, gone)));
        }
    }
}
