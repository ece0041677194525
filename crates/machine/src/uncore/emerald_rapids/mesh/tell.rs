//! What the signals are told of a message: by its source, by every stop that it passes, by the fabric, and by its destination.

use pericore_hardware::signal::SignalSink;

use super::lines::{OwnLines, QueueLines, StopLines};
use super::net::Stays;
use super::queue::Stay;
use super::way::Way;
use super::{Account, Mesh};
use crate::ledger::emerald_rapids::{Message, PATIENCE, Ring};
use crate::uncore::emerald_rapids::binding::Line;
use crate::uncore::emerald_rapids::layout::{COLUMNS, ROWS};

/// Stops of a mesh and the blocks of fabric between its dies, one bit each: tiles by number, then the upper die's blocks by column, then
/// the lower die's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen(u128);

const TILES: u8 = ROWS * COLUMNS;
const _: () = assert!((TILES + 2 * COLUMNS) as u32 <= u128::BITS);

impl Seen {
    const NOTHING: Self = Self(0);
    /// Everything.
    pub const ALL: Self = Self(u128::MAX);

    fn add(&mut self, bit: usize) {
        self.0 |= 1 << bit;
    }

    /// True if there is anything at all.
    #[inline]
    pub fn is_anything(self) -> bool {
        self != Self::NOTHING
    }

    /// True if a message comes past any of them.
    pub fn meets(self, way: &Way<'_>) -> bool {
        self.0 & Self::of(way).0 != 0
    }

    /// What sees a message.
    fn of(way: &Way<'_>) -> Self {
        let Way { source, goal, column, .. } = *way;
        let (top, bottom) = (source.row.min(goal.row), source.row.max(goal.row));
        let (left, right) = (source.column.min(goal.column), source.column.max(goal.column));
        let mut seen = Self::NOTHING;
        (top..=bottom).for_each(|row| seen.add(Mesh::at(row, source.column)));
        (left..=right).for_each(|column| seen.add(Mesh::at(goal.row, column)));
        if column.crosses {
            seen.add(usize::from(TILES + source.column));
            seen.add(usize::from(TILES + COLUMNS + source.column));
        }
        seen
    }
}

impl Mesh {
    /// Asks where counters listen; to be done whenever counters may have been programmed.
    pub fn listen<S: SignalSink>(&mut self, account: &Account, sink: &S) {
        for (socket, heard) in (0..).zip(&mut self.heard) {
            let hears = |lines: &[Line], index: u16| {
                let wire = |line: &Line| line.wire(account.stride, socket, index);
                // Where nobody listens at all, one question does.
                lines.first().is_some_and(|line| sink.hears_any(wire(line).instance))
                    && lines.iter().any(|line| sink.hears(wire(line)))
            };
            *heard = Seen::NOTHING;
            for (tile, unit) in self.units.iter().enumerate() {
                if unit.is_some_and(|(unit, index)| hears(&self.stops[usize::from(unit)].signals, index)) {
                    heard.add(tile);
                }
            }
            for block in 0..2 * COLUMNS {
                if self.fabric.iter().any(|lines| hears(&lines.signals, block.into())) {
                    heard.add(usize::from(TILES + block));
                }
            }
        }
    }

    /// Tells the signals of everyone who saw a message.
    #[inline(never)]
    pub(super) fn tell(&self, message: &Message, way: &Way<'_>, stays: &Stays, pulse: &mut impl FnMut(Line, u16, u32)) {
        let Way { source, goal, .. } = *way;
        let (down, right, along_row) = (way.column.down, goal.column > source.column, !way.row.is_empty());
        let r = message.ring as usize;
        if let Some((unit, index)) = self.units[usize::from(message.from)] {
            self.tell_source(&self.stops[usize::from(unit)], message, goal.row, stays.egress, index, pulse);
        }
        let mut row = source.row;
        while row != goal.row {
            row = if down { row + 1 } else { row - 1 };
            if let Some((unit, index)) = self.units[Self::at(row, source.column)] {
                let odd = (row + source.column) % 2;
                pulse(self.stops[usize::from(unit)].vertical[r][usize::from(down)][usize::from(odd)], index, 1);
            }
        }
        if message.is_credited() {
            // The credit goes back the same way.
            while row != source.row {
                row = if down { row - 1 } else { row + 1 };
                if let Some((unit, index)) = self.units[Self::at(row, source.column)] {
                    let odd = (row + source.column) % 2;
                    pulse(self.stops[usize::from(unit)].returning[usize::from(!down)][usize::from(odd)], index, 1);
                }
            }
        }
        if way.column.crosses {
            self.tell_fabric(message, way, stays.bridge, pulse);
        }
        if along_row && let Some((unit, index)) = self.units[usize::from(message.turn)] {
            let lines = &self.stops[usize::from(unit)];
            tell(&lines.turns[r], stays.turning, index, pulse);
            if message.ring == Ring::Address && stays.turning.full > 0 {
                pulse(lines.distress[0], index, stays.turning.full);
            }
            if message.ordered > message.reached {
                let line = lines.ordering[usize::from(down)];
                pulse(line, index, (message.ordered - message.reached) as u32);
            }
        }
        let mut column = source.column;
        while column != goal.column {
            column = if right { column + 1 } else { column - 1 };
            if let Some((unit, index)) = self.units[Self::at(goal.row, column)] {
                let odd = (goal.row + column) % 2;
                pulse(self.stops[usize::from(unit)].horizontal[r][usize::from(right)][usize::from(odd)], index, 1);
            }
        }
        if let Some((unit, index)) = self.units[usize::from(message.to)] {
            let lines = &self.stops[usize::from(unit)];
            tell(&lines.ingress[r], stays.ingress, index, pulse);
            if stays.ingress.refused
                && let Some([bounced, starved]) = lines.bounces[r][usize::from(along_row)]
            {
                pulse(bounced, index, 1);
                pulse(starved, index, stays.ingress.waited);
            }
        }
    }

    /// What the stop of its source counts of a message.
    fn tell_source(
        &self,
        lines: &StopLines,
        message: &Message,
        row: u8,
        egress: Stay,
        index: u16,
        pulse: &mut impl FnMut(Line, u16, u32),
    ) {
        let (r, agent) = (message.ring as usize, usize::from(message.agent));
        tell(&lines.egress[r][agent], egress, index, pulse);
        if message.is_credited() {
            let path = usize::from(message.ring == Ring::Block);
            let [taken, held, missed] = lines.credits[path][agent][usize::from(row)];
            pulse(taken, index, 1);
            pulse(held, index, (message.returned - message.left) as u32);
            if message.credited > message.released {
                pulse(missed, index, (message.credited - message.released) as u32);
            }
        }
        if let Some(own) = &lines.own[r][agent] {
            let held = if message.is_credited() { (message.returned - message.left) as u32 } else { 0 };
            tell_own(own, egress, held, index, pulse);
        }
        if message.released > message.first {
            pulse(lines.throttled, index, (message.released - message.first) as u32);
        }
        if message.ring == Ring::Address && egress.full > 0 {
            pulse(lines.distress[1], index, egress.full);
        }
    }

    /// What the fabric counts of a message: its buffer on the near side, its egress on the far side.
    fn tell_fabric(&self, message: &Message, way: &Way<'_>, stay: Stay, pulse: &mut impl FnMut(Line, u16, u32)) {
        let lines = &self.fabric[message.ring as usize];
        let (upper, lower) = (u16::from(way.source.column), u16::from(way.source.column + COLUMNS));
        let (near, far) = if way.column.down { (upper, lower) } else { (lower, upper) };
        if let Some(queue) = &lines.queue {
            tell(queue, stay, near, pulse);
        }
        if stay.full > 0 {
            pulse(lines.full, near, stay.full);
        }
        if stay.refused {
            pulse(lines.bounced, near, 1);
        }
        pulse(lines.sent, far, 1);
    }
}

/// What a queue counts of a message.
fn tell(lines: &QueueLines, stay: Stay, index: u16, pulse: &mut impl FnMut(Line, u16, u32)) {
    if stay.waited == 0 {
        pulse(lines.bypass, index, 1);
        return;
    }
    pulse(lines.entries, index, 1);
    pulse(lines.occupied, index, stay.waited);
    let mut some = |line: Option<Line>, count: u32| {
        if let Some(line) = line.filter(|_| count > 0) {
            pulse(line, index, count);
        }
    };
    let starved = stay.waited.saturating_sub(PATIENCE);
    some(lines.nonempty, stay.nonempty);
    some(lines.half, stay.half);
    some(lines.full, stay.full);
    some(lines.refused, u32::from(stay.refused));
    some(lines.starved, starved);
    some(lines.no_room, if stay.refused { starved } else { 0 });
    some(lines.reserve, u32::from(starved > 0));
}

/// What a unit counts of its own egress when it sends a message that holds a credit for its row for `held` cycles.
fn tell_own(lines: &OwnLines, stay: Stay, held: u32, index: u16, pulse: &mut impl FnMut(Line, u16, u32)) {
    pulse(lines.entries, index, 1);
    let mut some = |line: Option<Line>, count: u32| {
        if let Some(line) = line.filter(|_| count > 0) {
            pulse(line, index, count);
        }
    };
    some(Some(lines.nonempty), stay.nonempty);
    some(lines.full, stay.full);
    some(lines.zero, stay.full);
    some(lines.returned, 1);
    some(lines.stalled, if stay.refused { stay.waited } else { 0 });
    some(lines.held, stay.waited);
    some(lines.transgress, held);
}
