//! Who listens, and what stands in the queues of an instance when somebody begins to.
//!
//! What stands is what the ledger keeps: the entries of each level, and of the table of requests by class. It is no second account: that it
//! agrees with the arrivals and departures that were said one by one is for a test to show (`tests/levels.rs`). Only what cores have sent to
//! an ingress queue is in the requests themselves.

use pericore_hardware::signal::{SignalSink, Tick, Wiring};

use super::account::Account;
use super::binding::Line;
use super::level_lines::LevelLines;
use super::request::{Pool, Request};
use crate::ledger::emerald_rapids::deeds::{LEVELS, LevelId, unit_of};
use crate::ledger::emerald_rapids::{INGRESS, LevelSpot};
use crate::uncore::levels::Standing;

/// The unit of the table of requests, which is the level behind all others.
const TABLE_UNIT: &str = "cha";

/// What counters listen to.
#[derive(Debug)]
pub struct Hearing {
    /// By machine-wide number of the instance: anything at all.
    any: Vec<bool>,
    /// By place of the level.
    levels: Vec<bool>,
    /// By number of the agent over the machine: its table of requests.
    tables: Vec<bool>,
    /// Agents of a socket.
    agents: u16,
    /// By instance: socket, unit, number in the socket.
    places: Vec<(u16, usize, u16)>,
    /// By unit: its levels.
    of_units: Vec<Vec<LevelId>>,
}

impl Hearing {
    /// Everything is heard, until somebody asks. All instances have so many levels together.
    pub fn new(wiring: &Wiring, levels: usize) -> Self {
        let family = wiring.family();
        let agents = family.unit(TABLE_UNIT).map_or(0, |unit| unit.instances);
        let mut of_units = vec![Vec::new(); family.units.len()];
        for (level, name) in (0..).zip(LEVELS.iter().map(|name| unit_of(name)).chain([TABLE_UNIT])) {
            if let Some(unit) = family.unit_index(name) {
                of_units[unit].push(level);
            }
        }
        Self {
            any: vec![true; wiring.instances().into()],
            levels: vec![true; levels],
            tables: vec![true; (agents * wiring.sockets()).into()],
            agents,
            places: (0..wiring.instances()).map(|number| wiring.locate(number)).collect(),
            of_units,
        }
    }

    /// True if what an instance has to say need be said, but for levels.
    #[inline]
    pub fn hears(&self, instance: u16) -> bool {
        self.any[usize::from(instance)]
    }

    /// True if that holds for a level.
    #[inline]
    pub fn hears_level(&self, spot: LevelSpot) -> bool {
        self.levels[spot.place as usize]
    }

    /// True if it holds for an agent's table of requests.
    #[inline]
    pub fn hears_table(&self, socket: u16, cha: u16) -> bool {
        self.tables[usize::from(socket * self.agents + cha)]
    }
}

impl Account {
    /// Asks where counters listen; to be done whenever counters may have been programmed.
    /// True if somebody hears levels that nobody has heard before.
    pub fn listen<S: SignalSink>(&mut self, now: Tick, pool: &Pool, sink: &mut S) -> bool {
        let mut anew = false;
        for instance in 0..self.hearing.any.len() as u16 {
            self.hearing.any[usize::from(instance)] = sink.hears_any(instance);
            if self.listen_to_levels(instance, sink) {
                anew = true;
                self.stands(instance, now, pool, sink);
            }
        }
        anew
    }

    /// Asks which levels of an instance a sink hears; true if it has not heard all of them before.
    fn listen_to_levels<S: SignalSink>(&mut self, instance: u16, sink: &S) -> bool {
        let Hearing { any, levels, tables, agents, places, of_units } = &mut self.hearing;
        let (any, (socket, unit, index)) = (any[usize::from(instance)], places[usize::from(instance)]);
        let hears = |line: Line| sink.hears(line.wire(self.stride, socket, index));
        let mut anew = false;
        for &level in &of_units[unit] {
            let (before, heard) = match self.levels.get(usize::from(level)) {
                Some(lines) => {
                    let place = self.ledger.level(level, socket, index).place as usize;
                    (&mut levels[place], any && lines.all().any(hears))
                }
                None => (&mut tables[usize::from(socket * *agents + index)], any && hears(self.requests.tor)),
            };
            anew |= heard && !*before;
            *before = heard;
        }
        anew
    }

    /// Says what stands on the wires of an instance, as far as it may have been left unsaid.
    pub fn stands<S: SignalSink>(&self, instance: u16, now: Tick, pool: &Pool, sink: &mut S) {
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
            let live = if level == INGRESS {
                let here = |request: &&Request| (request.socket.into(), request.cha.into()) == (socket, index);
                pool.in_ingress(now).filter(here).count() as u64
            } else {
                self.ledger.live(level, socket, index)
            };
            each.iter().flatten().for_each(|line| add(*line, line.tag(), live));
            full.iter().for_each(|line| add(*line, line.tag(), (live >= self.ledger.room(level)).into()));
            nonempty.iter().for_each(|line| add(*line, line.tag(), (live > 0).into()));
        }
        standing.say(now, sink);
    }
}
