//! What lasts: how much of it there is, and who observes it.

use pericore_facts::emerald_rapids::{
    COMPLETIONS, INBOUND_DATA, INBOUND_READS, OWN_CREDITS, Shape, TAKER_CREDITS, UnitInstance,
};

use super::lines::Lines;
use super::lines::binding::Line;
use super::lines::levels::{DeepLine, LevelLines, LevelNumber, LevelRow};

/// A level of all instances of a unit.
#[derive(Debug, Clone)]
pub struct SignalLevel {
    pub lines: LevelLines,
    /// Where that of the unit's first instance is.
    base: usize,
    /// Instances of a socket.
    per_socket: u16,
    /// Entries that fill it.
    pub room: u64,
}

/// A level of an instance.
#[derive(Debug, Clone, Copy)]
pub struct LevelEntries {
    pub live: u32,
    pub observed: bool,
}

/// All levels.
#[derive(Debug, Clone)]
pub struct LevelSignals {
    pub levels: Vec<SignalLevel>,
    pub entries: Vec<LevelEntries>,
}

impl LevelSignals {
    /// Empty ones, that everybody observes until somebody asks.
    pub fn new(rows: Vec<LevelRow>, lines: &Lines, shape: &Shape) -> Self {
        let mut next = 0;
        let level = |LevelRow { unit, lines }| {
            let (base, per_socket) = (next, shape.instances(&unit));
            next += usize::from(per_socket * shape.sockets);
            SignalLevel { lines, base, per_socket, room: u64::MAX }
        };
        let mut levels: Vec<SignalLevel> = rows.into_iter().map(level).collect();
        for (queue, room) in lines.memory.queues.iter().zip(shape.pending) {
            queue.iter().for_each(|level| levels[usize::from(level.0)].room = room);
        }
        for (level, room) in [
            (lines.devices.inbound_reads, INBOUND_READS.into()),
            (lines.devices.data_inside, INBOUND_DATA.into()),
            (lines.links.outstanding, COMPLETIONS.into()),
            // Both halves of a channel.
            (lines.memory.powered_down, 2),
            (lines.memory.refreshing, 2),
        ] {
            levels[usize::from(level.0)].room = room;
        }
        // Credits in use, of which the signals show that none is left.
        lines
            .links
            .own_gone
            .as_flattened()
            .iter()
            .for_each(|level| levels[usize::from(level.0)].room = OWN_CREDITS.into());
        for (level, credits) in lines.links.takers_busy.iter().zip(TAKER_CREDITS) {
            levels[usize::from(level.0)].room = credits.into();
        }
        Self { levels, entries: vec![LevelEntries { live: 0, observed: true }; next] }
    }

    #[inline]
    pub fn place(&self, LevelNumber(level): LevelNumber, (socket, index): UnitInstance) -> usize {
        let SignalLevel { base, per_socket, .. } = self.levels[usize::from(level)];
        base + usize::from(socket * per_socket + index)
    }

    /// Entries that there are.
    pub fn live(&self, level: LevelNumber, instance: UnitInstance) -> u32 {
        self.entries[self.place(level, instance)].live
    }

    /// True if somebody observes a level.
    #[inline]
    pub fn is_observed(&self, level: LevelNumber, instance: UnitInstance) -> bool {
        self.entries[self.place(level, instance)].observed
    }

    /// Somebody does now, or nobody; true if there is somebody where there was none.
    pub fn set_observed(&mut self, level: LevelNumber, instance: UnitInstance, observed: bool) -> bool {
        let place = self.place(level, instance);
        observed & !std::mem::replace(&mut self.entries[place].observed, observed)
    }

    /// The signals of a level.
    pub fn lines(&self, LevelNumber(level): LevelNumber) -> &LevelLines {
        &self.levels[usize::from(level)].lines
    }

    /// The occupancies of a level's signals by tag, of which there are so many or as many as were counted.
    pub fn occupancy(
        &self,
        level: LevelNumber,
        instance: UnitInstance,
        live: Option<u64>,
        mut add: impl FnMut(Line, u64, u64),
    ) {
        let SignalLevel { lines: LevelLines { each, full, nonempty, deep }, room, .. } =
            &self.levels[usize::from(level.0)];
        let live = live.unwrap_or_else(|| self.live(level, instance).into());
        each.iter().flatten().for_each(|line| add(*line, line.tag(), live));
        full.iter().for_each(|line| add(*line, line.tag(), (live >= *room).into()));
        nonempty.iter().for_each(|line| add(*line, line.tag(), (live > 0).into()));
        deep.iter().for_each(|deep| {
            (0..DeepLine::NUMBERS).for_each(|than| add(deep.line, deep.tag(than), (live > than).into()))
        });
    }
}
