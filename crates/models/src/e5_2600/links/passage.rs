//! From a link's ring stop to input-output: each of the three message classes that devices take has one credit there
//! (event texts of R3QPI), and what finds it taken waits.

use pericore_engine::Tick;
use pericore_facts::e5_2600::E5Reader;

use super::io_side::{FROM_LINK, Passage, PassageId, Waiting};
use super::packet::PORTS;
use crate::e5_2600::Model;
use crate::e5_2600::event::Event;
use pericore_facts::e5_2600::{E5Fact, IoClass, Refused, UncoreUse};

impl Model {
    /// A packet that came over a link is for input-output.
    pub(in crate::e5_2600) fn begin_passage<R: E5Reader>(
        &mut self,
        link: u16,
        class: IoClass,
        waiting: Waiting,
        reader: &mut R,
    ) {
        let passage = self.links.passages.add(Passage { link, class, waiting });
        let port = &mut self.links.ports[usize::from(link)];
        // Until it has the credit, it stays where it came from the link.
        port.crossing[class.of_packets() as usize] -= 1;
        let side = &mut port.io;
        side.waiting[class as usize].push_back(passage);
        if side.taken[class as usize] {
            reader.read(self.now, E5Fact::Refuses(Refused::LinkIo(link, class)));
        } else {
            self.next_passage(link, class, reader);
        }
    }

    /// The oldest packet of a class takes the credit and goes.
    fn next_passage<R: E5Reader>(&mut self, link: u16, class: IoClass, reader: &mut R) {
        let port = &mut self.links.ports[usize::from(link)];
        let Some(passage) = port.io.waiting[class as usize].pop_front() else { return };
        port.io.taken[class as usize] = true;
        port.crossing[class.of_packets() as usize] += 1;
        self.begins(UncoreUse::LinkIoCredit(link, class), reader);
        self.wheel.schedule(self.now + self.latency.stop_to_stop, Event::Passage.of(passage));
    }

    /// A packet from a link comes to the input-output stop.
    pub(in crate::e5_2600) fn passage_arrives<R: E5Reader>(&mut self, passage: PassageId, reader: &mut R) {
        let Passage { link, class, .. } = self.links.passages.0[passage];
        self.device_packet(usize::from(link / PORTS), class, FROM_LINK | passage, reader);
    }

    /// Input-output takes a packet that came from a link, and has all of it at `until`: the credit is free again.
    pub(in crate::e5_2600) fn passage_ends<R: E5Reader>(&mut self, passage: PassageId, until: Tick, reader: &mut R) {
        let Passage { link, class, waiting } = self.links.passages.remove(passage);
        self.links.ports[usize::from(link)].io.taken[class as usize] = false;
        self.ends(UncoreUse::LinkIoCredit(link, class), reader);
        self.next_passage(link, class, reader);
        match waiting {
            Waiting::Device(thread) => self.device_done(usize::from(link / PORTS), thread, reader),
            Waiting::Far(access) => self.wheel.schedule(until, Event::Far.of(access)),
        }
    }
}
