//! The side of a link's ring stop towards input-output, and the packets on their way there.

use std::collections::VecDeque;

use pericore_engine::Pool;
use pericore_facts::e5_2600::IoClass;

use super::far_access::FarId;

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
pub struct Passage {
    pub link: u16,
    pub class: IoClass,
    pub waiting: Waiting,
}

/// The packets on their way from links to input-output.
#[derive(Debug)]
pub struct Passages(pub Pool<Passage>);

impl Passages {
    /// None.
    pub fn new() -> Self {
        Self(Pool::new(0))
    }

    /// One begins.
    pub fn add(&mut self, passage: Passage) -> PassageId {
        let id = self.0.add(passage);
        // Devices have so many requests under way at most, and a core has one.
        assert!(id < !FROM_LINK, "{id} packets are on their way to devices: more than have a number");
        id
    }

    /// It ends.
    pub fn remove(&mut self, id: PassageId) -> Passage {
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
    pub waiting: [VecDeque<PassageId>; IoClass::COUNT],
    /// The credit is taken.
    pub taken: [bool; IoClass::COUNT],
}
