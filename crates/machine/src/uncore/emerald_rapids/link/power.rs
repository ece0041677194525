//! Power states of the links: some lanes rest (L0p), or the whole link is shut down (L1) and trains anew when it is needed.

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{LinkFact, LinkWidth, Readers, WIDENING};

use super::{LINKS, peer};
use crate::uncore::emerald_rapids::Model;
use crate::uncore::emerald_rapids::event::Event;

/// Uncore cycles without a message after which a direction rests some of its lanes, and after which its sender asks for a shut-down
/// (assumptions: 4 us, 8 us. With 1 us one thread's dependent loads found lanes at rest, and took longer than under a
/// light load: on silicon they do not).
const REST: Tick = 10_000;
const SHUT_DOWN: Tick = 20_000;
/// Uncore cycles to come back from a shut-down (assumption).
const TRAINING: Tick = 500;

/// States of all links, by the number of the sender.
#[derive(Debug)]
pub struct PowerStates {
    width: Vec<LinkWidth>,
    /// When the last message was sent.
    used: Vec<Tick>,
    /// The tick of the look that counts; others are stale.
    watched: Vec<Tick>,
    /// All lanes are about to be at work.
    widening: Vec<bool>,
}

impl PowerStates {
    /// All at full width.
    pub fn new(links: usize) -> Self {
        Self {
            width: vec![LinkWidth::Full; links],
            used: vec![0; links],
            watched: vec![0; links],
            widening: vec![false; links],
        }
    }
}

impl Model {
    pub(super) fn width(&self, number: u16) -> LinkWidth {
        self.links.power.width[usize::from(number)]
    }

    /// Changes how wide a direction is.
    fn set_width<R: Readers>(&mut self, number: u16, to: LinkWidth, reader: &mut R) {
        self.report_idle(number, self.now, reader);
        let from = std::mem::replace(&mut self.links.power.width[usize::from(number)], to);
        if from == LinkWidth::Off {
            let gate = &mut self.links.gates[usize::from(number)];
            gate.reported = gate.reported.max(self.now);
        }
        self.at_link(number, LinkFact::Width(Some(from), to), reader);
    }

    /// A message is to go out: how long the link needs until it can.
    pub(super) fn wake_link<R: Readers>(&mut self, number: u16, reader: &mut R) -> Tick {
        let now = self.now;
        self.links.power.used[usize::from(number)] = now;
        match self.width(number) {
            LinkWidth::Full => 0,
            LinkWidth::Half if self.links.power.widening[usize::from(number)] => 0,
            LinkWidth::Half => {
                self.links.power.widening[usize::from(number)] = true;
                self.watch_link(number, REST);
                let wait = Tick::from(WIDENING) * self.times.uclk;
                self.wheel.schedule(now + wait, Event::Widened.of(number));
                wait
            }
            LinkWidth::Off => {
                let wait = TRAINING * self.times.uclk;
                for end in [number, peer(number)] {
                    self.set_width(end, LinkWidth::Full, reader);
                    self.at_link(end, LinkFact::Trains(true), reader);
                    self.watch_link(end, REST);
                    self.links.gates[usize::from(end)].hold_until(now + wait);
                    self.wheel.schedule(now + wait, Event::Trained.of(end));
                }
                0
            }
        }
    }

    /// All lanes of a direction are at work again.
    pub(in super::super) fn widened<R: Readers>(&mut self, number: u16, reader: &mut R) {
        self.links.power.widening[usize::from(number)] = false;
        self.set_width(number, LinkWidth::Full, reader);
    }

    /// A link's physical layer has trained.
    pub(in super::super) fn trained<R: Readers>(&mut self, number: u16, reader: &mut R) {
        self.at_link(number, LinkFact::Trains(false), reader);
    }

    fn watch_link(&mut self, number: u16, cycles: Tick) {
        let at = self.now + cycles * self.times.uclk;
        self.links.power.watched[usize::from(number)] = at;
        self.wheel.schedule(at, Event::LinkIdle.of(number));
    }

    fn idle_cycles(&self, number: u16) -> Tick {
        (self.now - self.links.power.used[usize::from(number)]) / self.times.uclk
    }

    /// A direction may have been idle for long enough to rest. A link that is off is not looked at any more.
    pub(in super::super) fn link_idle<R: Readers>(&mut self, number: u16, reader: &mut R) {
        if self.links.power.watched[usize::from(number)] != self.now {
            return;
        }
        let idle = self.idle_cycles(number);
        match self.width(number) {
            LinkWidth::Full if idle >= REST => {
                self.set_width(number, LinkWidth::Half, reader);
                self.watch_link(number, SHUT_DOWN - REST);
            }
            LinkWidth::Full => self.watch_link(number, REST - idle),
            LinkWidth::Half if idle >= SHUT_DOWN => {
                let other = usize::from(peer(number));
                if self.width(peer(number)) == LinkWidth::Half && !self.links.power.widening[other] {
                    self.at_link(number, LinkFact::ShutsDown(true), reader);
                    self.set_width(number, LinkWidth::Off, reader);
                    self.set_width(peer(number), LinkWidth::Off, reader);
                } else {
                    // The other end still has something to send.
                    self.at_link(number, LinkFact::ShutsDown(false), reader);
                    self.watch_link(number, SHUT_DOWN);
                }
            }
            LinkWidth::Half | LinkWidth::Off => {}
        }
    }

    /// Emits what holds of the links from the start: all at full power.
    pub(in super::super) fn start_links<R: Readers>(&mut self, reader: &mut R) {
        if self.sockets < 2 {
            return;
        }
        for number in 0..2 * u16::from(LINKS) {
            self.at_link(number, LinkFact::Width(None, LinkWidth::Full), reader);
            self.watch_link(number, REST);
        }
    }
}
