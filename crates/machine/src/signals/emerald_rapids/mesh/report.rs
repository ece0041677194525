//! What the signals are told of a message: by its source, by every stop that it passes, by the fabric, and by its
//! destination.

use pericore_facts::emerald_rapids::{Message, PATIENCE, Ring};
use pericore_parts::waiting::Stay;

use super::super::lines::binding::Line;
use super::MeshSignals;
use super::grid::MessageWay;
use super::lines::{OwnLines, QueueLines, StopLines};
use super::queues::Stays;

impl MeshSignals {
    /// Tells the signals of everyone who saw a message.
    #[inline(never)]
    pub(super) fn report(
        &self,
        message: &Message,
        way: &MessageWay,
        stays: &Stays,
        pulse: &mut impl FnMut(Line, u16, u32),
    ) {
        let MessageWay { source, goal, down, along_row, .. } = *way;
        let right = goal.column > source.column;
        let r = message.ring as usize;
        if let Some((unit, index)) = self.units[usize::from(message.from)] {
            self.report_source(&self.lines.stops[usize::from(unit)], message, goal.row, stays.egress, index, pulse);
        }
        let mut row = source.row;
        while row != goal.row {
            row = if down { row + 1 } else { row - 1 };
            if let Some((unit, index)) = self.units[self.grid.at(row, source.column)] {
                let odd = (row + source.column) % 2;
                pulse(self.lines.stops[usize::from(unit)].vertical[r][usize::from(down)][usize::from(odd)], index, 1);
            }
        }
        if message.is_credited() {
            // The credit goes back the same way.
            while row != source.row {
                row = if down { row - 1 } else { row + 1 };
                if let Some((unit, index)) = self.units[self.grid.at(row, source.column)] {
                    let odd = (row + source.column) % 2;
                    pulse(
                        self.lines.stops[usize::from(unit)].returning[usize::from(!down)][usize::from(odd)],
                        index,
                        1,
                    );
                }
            }
        }
        if way.crosses {
            self.report_fabric(message, self.grid.column_blocks(way), stays.bridge, pulse);
        }
        if way.crosses_aside {
            // What does not find room bounces on the horizontal ring: no event is about that.
            let stay = Stay { refused: false, ..stays.bridge_aside };
            self.report_fabric(message, self.grid.row_blocks(way), stay, pulse);
        }
        if along_row && let Some((unit, index)) = self.units[usize::from(message.turn)] {
            let lines = &self.lines.stops[usize::from(unit)];
            report(&lines.turns[r], stays.turning, index, pulse);
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
            if let Some((unit, index)) = self.units[self.grid.at(goal.row, column)] {
                let odd = (goal.row + column) % 2;
                pulse(
                    self.lines.stops[usize::from(unit)].horizontal[r][usize::from(right)][usize::from(odd)],
                    index,
                    1,
                );
            }
        }
        if let Some((unit, index)) = self.units[usize::from(message.to)] {
            let lines = &self.lines.stops[usize::from(unit)];
            report(&lines.ingress[r], stays.ingress, index, pulse);
            if stays.ingress.refused
                && let Some([bounced, starved]) = lines.bounces[r][usize::from(along_row)]
            {
                pulse(bounced, index, 1);
                pulse(starved, index, stays.ingress.waited);
            }
        }
    }

    /// What the stop of its source counts of a message.
    fn report_source(
        &self,
        lines: &StopLines,
        message: &Message,
        row: u8,
        egress: Stay,
        index: u16,
        pulse: &mut impl FnMut(Line, u16, u32),
    ) {
        let (r, agent) = (message.ring as usize, usize::from(message.agent));
        report(&lines.egress[r][agent], egress, index, pulse);
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
            report_own(own, egress, held, index, pulse);
        }
        if message.released > message.first {
            pulse(lines.throttled, index, (message.released - message.first) as u32);
        }
        if message.ring == Ring::Address && egress.full > 0 {
            pulse(lines.distress[1], index, egress.full);
        }
    }

    /// What the fabric counts of a message: its buffer on the near side, its egress on the far side.
    fn report_fabric(
        &self,
        message: &Message,
        [near, far]: [u16; 2],
        stay: Stay,
        pulse: &mut impl FnMut(Line, u16, u32),
    ) {
        let lines = &self.lines.fabric[message.ring as usize];
        if let Some(queue) = &lines.queue {
            report(queue, stay, near, pulse);
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
fn report(lines: &QueueLines, stay: Stay, index: u16, pulse: &mut impl FnMut(Line, u16, u32)) {
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
fn report_own(lines: &OwnLines, stay: Stay, held: u32, index: u16, pulse: &mut impl FnMut(Line, u16, u32)) {
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
