//! What can carry one thing at a time: a data port of the global queue, a link.

use std::collections::VecDeque;

use pericore_engine::Tick;
use pericore_facts::nehalem::{Class, Use};

/// Something that is carried for some time, and what happens then.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    pub ticks: Tick,
    pub then: u32,
    pub class: Option<Class>,
}

/// Carries one load after the other.
#[derive(Debug, Default)]
pub struct Carrier {
    /// When it began to carry, without a pause since.
    pub since: Tick,
    /// When the load under way ends, exactly; the model notices at the next edge.
    pub end: Tick,
    pub current: Option<Load>,
    pub queue: VecDeque<Load>,
}

impl Carrier {
    /// Carries its first load.
    pub const fn begin(&mut self, load: Load, now: Tick) {
        (self.since, self.end) = (now, now + load.ticks);
        self.current = Some(load);
    }

    /// True if nothing is carried.
    pub const fn is_idle(&self) -> bool {
        self.current.is_none()
    }

    /// Since when it carries, if it does.
    pub fn since(&self) -> Option<Tick> {
        self.current.map(|_| self.since)
    }
}

/// A link in one direction: its sender.
#[derive(Debug, Default)]
pub struct Link {
    pub carrier: Carrier,
    pub credits: [u8; Class::COUNT],
    pub waiting: [VecDeque<u32>; Class::COUNT],
    /// Since when messages of a class wait.
    pub stalled: [Tick; Class::COUNT],
}

impl Link {
    /// An idle link with all its credits.
    pub fn new(credits: [u8; Class::COUNT]) -> Self {
        Self { credits, ..Self::default() }
    }

    /// What of it is in use, since when.
    pub fn uses(&self, number: u8) -> impl Iterator<Item = (Use, Tick)> {
        let sends = self.carrier.since().map(|since| (Use::Link(number), since));
        let stalled = Class::ALL.into_iter().filter(|&class| !self.waiting[class as usize].is_empty());
        sends.into_iter().chain(stalled.map(move |class| (Use::NoCredit(number, class), self.stalled[class as usize])))
    }

    /// True if nothing is carried or waits.
    pub fn is_idle(&self) -> bool {
        self.carrier.is_idle() && self.waiting.iter().all(VecDeque::is_empty)
    }
}
