//! Who listens, and what stands in the queues of an instance when somebody begins to.
//!
//! How many entries there are is one number for signals and ledger, as it is where a level is full: only what is said of it differs.

use super::account::{Account, LevelLines};
use super::binding::Line;
use crate::ledger::emerald_rapids::deeds::{LEVELS, LevelId, unit_of};
use crate::signal::{SignalSink, Tick};
use crate::uncore::levels::Standing;

impl Account {
    /// Asks where counters listen; to be done whenever counters may have been programmed.
    pub fn listen<S: SignalSink>(&mut self, now: Tick, sink: &mut S) {
        for instance in 0..self.heard.len() as u16 {
            let hears = sink.hears_any(instance);
            if hears {
                self.stands(instance, now, sink);
            }
            self.heard[usize::from(instance)] = hears;
        }
    }

    /// Says what stands on the wires of an instance, if that was left unsaid.
    pub fn stands<S: SignalSink>(&self, instance: u16, now: Tick, sink: &mut S) {
        if self.heard[usize::from(instance)] {
            return;
        }
        let (socket, unit, index) = self.places[usize::from(instance)];
        let mut standing = Standing::default();
        for (level, lines) in (0..).zip(&self.levels).filter(|&(level, _)| unit_of(LEVELS[usize::from(level)]) == unit)
        {
            for (line, count) in self.counts(level, lines, socket, index) {
                standing.add(line.wire(self.stride, socket, index), line.tag(), count);
            }
        }
        let tor = self.requests.tor.wire(self.stride, socket, index);
        if tor.instance == instance {
            for (class, count) in self.ledger.in_table(socket, index) {
                standing.add(tor, self.requests.tor_tag(class), count);
            }
        }
        standing.say(now, sink);
    }

    /// The lines of a level, and what stands on each.
    fn counts(&self, level: LevelId, lines: &LevelLines, socket: u16, index: u16) -> impl Iterator<Item = (Line, u32)> {
        let live = self.ledger.live(level, socket, index);
        let each = lines.each.map(|line| (line, live as u32));
        let full = (lines.full, u32::from(live >= self.ledger.room(level)));
        let nonempty = (lines.nonempty, u32::from(live > 0));
        each.into_iter().chain([full, nonempty]).filter_map(|(line, count)| Some((line?, count)))
    }
}
