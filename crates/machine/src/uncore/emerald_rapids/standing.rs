//! Who listens, and what stands in the queues of an instance when somebody begins to.
//!
//! What stands is what the ledger keeps: the entries of each level, and of the table of requests by class. It is no second account: that it
//! agrees with the arrivals and departures that were said one by one is for a test to show (`tests/levels.rs`).

use super::account::Account;
use super::binding::Line;
use super::level_lines::LevelLines;
use crate::ledger::emerald_rapids::deeds::{LEVELS, LevelId, unit_of};
use crate::signal::{SignalSink, Tick, Wiring};
use crate::uncore::levels::Standing;

/// The table of requests, as a level beside the others.
pub const TABLE: LevelId = LEVELS.len() as LevelId;
/// Its unit.
const TABLE_UNIT: &str = "cha";

const WORDS: usize = LEVELS.len() / 64 + 1;

/// What counters listen to.
#[derive(Debug)]
pub struct Hearing {
    /// By machine-wide number of the instance: anything at all.
    any: Vec<bool>,
    /// By the same: levels, one bit each.
    levels: Vec<[u64; WORDS]>,
    /// By level: the first instance that has it.
    first: Vec<u16>,
    /// Instances of a socket.
    per_socket: u16,
    /// By instance: socket, unit, number in the socket.
    places: Vec<(u16, usize, u16)>,
    /// By unit: its levels.
    of_units: Vec<Vec<LevelId>>,
}

impl Hearing {
    /// Everything is heard, until somebody asks.
    pub fn new(wiring: &Wiring) -> Self {
        let units = wiring.family().units;
        let mut hearing = Self {
            any: vec![true; wiring.instances().into()],
            levels: vec![[u64::MAX; WORDS]; wiring.instances().into()],
            first: Vec::with_capacity(LEVELS.len() + 1),
            per_socket: wiring.instances() / wiring.sockets(),
            places: (0..wiring.instances()).map(|number| wiring.locate(number)).collect(),
            of_units: vec![Vec::new(); units.len()],
        };
        for (level, name) in (0..).zip(LEVELS.iter().map(|name| unit_of(name)).chain([TABLE_UNIT])) {
            let unit = units.iter().position(|unit| unit.name == name).unwrap_or_default();
            hearing.of_units[unit].push(level);
            hearing.first.push(wiring.instance(0, unit, 0));
        }
        hearing
    }

    /// True if what an instance has to say need be said, but for levels.
    #[inline]
    pub fn hears(&self, instance: u16) -> bool {
        self.any[usize::from(instance)]
    }

    /// True if that holds for a level of an instance of its unit.
    #[inline]
    pub fn hears_level(&self, level: LevelId, socket: u16, index: u16) -> bool {
        let instance = self.first[usize::from(level)] + socket * self.per_socket + index;
        self.levels[usize::from(instance)][usize::from(level) / 64] >> (level % 64) & 1 == 1
    }
}

impl Account {
    /// Asks where counters listen; to be done whenever counters may have been programmed.
    pub fn listen<S: SignalSink>(&mut self, now: Tick, sink: &mut S) {
        for instance in 0..self.hearing.any.len() as u16 {
            let number = usize::from(instance);
            self.hearing.any[number] = sink.hears_any(instance);
            let heard = if self.hearing.any[number] { self.heard_levels(instance, sink) } else { [0; WORDS] };
            let before = std::mem::replace(&mut self.hearing.levels[number], heard);
            if heard.iter().zip(before).any(|(heard, before)| heard & !before != 0) {
                self.stands(instance, now, sink);
            }
        }
    }

    /// The levels of an instance that a sink hears.
    fn heard_levels<S: SignalSink>(&self, instance: u16, sink: &S) -> [u64; WORDS] {
        let (socket, unit, index) = self.hearing.places[usize::from(instance)];
        let hears = |line: Line| sink.hears(line.wire(self.stride, socket, index));
        let mut heard = [0; WORDS];
        for &level in &self.hearing.of_units[unit] {
            let here = match self.levels.get(usize::from(level)) {
                Some(lines) => lines.all().any(hears),
                None => hears(self.requests.tor),
            };
            heard[usize::from(level) / 64] |= u64::from(here) << (level % 64);
        }
        heard
    }

    /// Says what stands on the wires of an instance, as far as it may have been left unsaid.
    pub fn stands<S: SignalSink>(&self, instance: u16, now: Tick, sink: &mut S) {
        let (socket, unit, index) = self.hearing.places[usize::from(instance)];
        let mut standing = Standing::default();
        let mut add = |line: Line, tag: u64, count: u64| {
            standing.add(line.wire(self.stride, socket, index), tag, count as u32);
        };
        for &level in &self.hearing.of_units[unit] {
            let Some(LevelLines { each, full, nonempty }) = self.levels.get(usize::from(level)) else {
                for (class, count) in self.ledger.in_table(socket, index) {
                    add(self.requests.tor, self.requests.tor_tag(class), count);
                }
                continue;
            };
            let live = self.ledger.live(level, socket, index);
            each.iter().flatten().for_each(|line| add(*line, line.tag(), live));
            full.iter().for_each(|line| add(*line, line.tag(), (live >= self.ledger.room(level)).into()));
            nonempty.iter().for_each(|line| add(*line, line.tag(), (live > 0).into()));
        }
        standing.say(now, sink);
    }
}
