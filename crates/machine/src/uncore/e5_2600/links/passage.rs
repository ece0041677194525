//! From a link's ring stop to input-output: each of the three message classes that devices take has one credit there (event texts
//! of R3QPI), and what finds it taken waits.

use std::collections::VecDeque;

use pericore_engine::Pool;
use pericore_hardware::signal::{SignalSink, Tick};

use super::far::FarId;
use crate::ledger::e5_2600::IoClass;
use crate::uncore::e5_2600::Model;
use crate::uncore::e5_2600::event::Event;

/// Index of a passage.
pub type PassageId = u16;

/// Marks the numbers of passages among those of the threads that wait for a packet of the input-output stop.
pub const FROM_LINK: PassageId = 1 << 15;

/// Who waits for a packet.
#[derive(Debug, Clone, Copy)]
pub enum Waiting {
    /// The thread of a device.
    Device(u16),
    /// An access of another socket's core.
    Far(FarId),
}

/// A packet on its way to input-output.
#[derive(Debug, Clone, Copy)]
struct Passage {
    link: u16,
    class: IoClass,
    waiting: Waiting,
}

/// The packets on their way from links to input-output.
#[derive(Debug)]
pub struct Passages(Pool<Passage>);

impl Passages {
    /// None.
    pub fn new() -> Self {
        Self(Pool::new(0))
    }

    fn add(&mut self, passage: Passage) -> PassageId {
        let id = self.0.add(passage);
        // Devices have so many requests under way at most, and a core has one.
        assert!(id < !FROM_LINK, "{id} packets are on their way to devices: more than have a number");
        id
    }

    fn remove(&mut self, id: PassageId) -> Passage {
        let passage = self.0[id];
        self.0.remove(id);
        passage
    }

    /// True if there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A ring stop's side towards input-output, by class.
#[derive(Debug, Default)]
pub struct IoSide {
    waiting: [VecDeque<PassageId>; IoClass::COUNT],
    /// The credit is taken.
    taken: [bool; IoClass::COUNT],
}

impl Model {
    /// A packet that came over a link is for input-output.
    pub(super) fn begin_passage<S: SignalSink>(&mut self, link: u16, class: IoClass, waiting: Waiting, sink: &mut S) {
        let passage = self.links.passages.add(Passage { link, class, waiting });
        let side = &mut self.links.ports[usize::from(link)].io;
        side.waiting[class as usize].push_back(passage);
        if side.taken[class as usize] {
            let (wire, tag) = self.links.wires[usize::from(link)].io_rejected[class as usize];
            sink.pulse(wire, tag, self.now, 1);
            self.ledger.link_io_rejected(link, class);
        } else {
            self.next_passage(link, class, sink);
        }
    }

    /// The oldest packet of a class takes the credit and goes.
    fn next_passage<S: SignalSink>(&mut self, link: u16, class: IoClass, sink: &mut S) {
        let side = &mut self.links.ports[usize::from(link)].io;
        let Some(passage) = side.waiting[class as usize].pop_front() else { return };
        side.taken[class as usize] = true;
        let wires = &self.links.wires[usize::from(link)];
        let ((acquired, got), (used, holds)) = (wires.io_acquired[class as usize], wires.io_used[class as usize]);
        sink.pulse(acquired, got, self.now, 1);
        sink.enter(used, holds, self.now);
        self.ledger.link_io_credit(link, class, true, self.now);
        self.wheel.schedule(self.now + self.latency.stop_to_stop, Event::Passage.of(passage));
    }

    /// A packet from a link comes to the input-output stop.
    pub(in crate::uncore::e5_2600) fn passage_arrives<S: SignalSink>(&mut self, passage: PassageId, sink: &mut S) {
        let Passage { link, class, .. } = self.links.passages.0[passage];
        self.device_packet(usize::from(link / super::PORTS), class, FROM_LINK | passage, sink);
    }

    /// Input-output takes a packet that came from a link, and has all of it at `until`: the credit is free again.
    pub(in crate::uncore::e5_2600) fn passage_ends<S: SignalSink>(
        &mut self,
        passage: PassageId,
        until: Tick,
        sink: &mut S,
    ) {
        let Passage { link, class, waiting } = self.links.passages.remove(passage);
        self.links.ports[usize::from(link)].io.taken[class as usize] = false;
        let (wire, tag) = self.links.wires[usize::from(link)].io_used[class as usize];
        sink.leave(wire, tag, self.now);
        self.ledger.link_io_credit(link, class, false, self.now);
        self.next_passage(link, class, sink);
        match waiting {
            Waiting::Device(thread) => self.device_done(usize::from(link / super::PORTS), thread, sink),
            Waiting::Far(access) => self.wheel.schedule(until, Event::Far.of(access)),
        }
    }
}
