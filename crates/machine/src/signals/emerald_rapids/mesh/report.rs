//! What the signals are told of a message: by its source, by every stop that it passes, by the fabric, and by its
//! destination.

use pericore_facts::emerald_rapids::{Message, PATIENCE, Ring};
use pericore_parts::waiting::Stay;

use super::super::lines::binding::Line;
use super::MeshSignals;
use super::grid::MessageWay;
use super::lines::{OwnLines, QueueLines, StopLines, flow};
use super::queues::{Stays, Wait};

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
        let (r, f, slots) = (message.ring as usize, flow(message), message.ring.slots());
        if let Some((unit, index)) = self.units[usize::from(message.from)] {
            let lines = &self.lines.stops[usize::from(unit)];
            self.report_source(lines, message, goal.row, stays.egress, index, pulse);
            if stays.distress > 0 {
                pulse(lines.distress[1], index, stays.distress);
            }
        }
        let mut row = source.row;
        while row != goal.row {
            row = if down { row + 1 } else { row - 1 };
            if let Some((unit, index)) = self.units[self.grid.at(row, source.column)] {
                let lines = &self.lines.stops[usize::from(unit)].vertical[r];
                pulse(lines[usize::from(down)][polarity(message.left)], index, slots);
            }
        }
        if message.is_credited() {
            // The credit goes back the same way.
            while row != source.row {
                row = if down { row - 1 } else { row + 1 };
                if let Some((unit, index)) = self.units[self.grid.at(row, source.column)] {
                    let returning = &self.lines.stops[usize::from(unit)].returning[usize::from(!down)];
                    pulse(returning[polarity(message.returned)], index, 1);
                }
            }
        }
        if way.crosses {
            self.report_fabric(message, self.grid.column_blocks(way), stays.bridge, true, pulse);
        }
        if way.crosses_aside {
            // What does not find room bounces on the horizontal ring: no event is about that.
            self.report_fabric(message, self.grid.row_blocks(way), stays.bridge_aside, false, pulse);
        }
        if along_row && let Some((unit, index)) = self.units[usize::from(message.turn)] {
            let lines = &self.lines.stops[usize::from(unit)];
            report_stop(&lines.turns[f], stays.turning, message.turned - message.ordered, index, pulse);
            if message.ring == Ring::Address && message.is_credited() && stays.turning.stay.full > 0 {
                pulse(lines.distress[0], index, stays.turning.stay.full);
            }
            if stays.ordered > 0 {
                pulse(lines.ordering[usize::from(down)], index, stays.ordered);
            }
        }
        let mut column = source.column;
        while column != goal.column {
            column = if right { column + 1 } else { column - 1 };
            if let Some((unit, index)) = self.units[self.grid.at(goal.row, column)] {
                let lines = &self.lines.stops[usize::from(unit)].horizontal[r];
                pulse(lines[usize::from(right)][polarity(message.turned)], index, slots);
            }
        }
        if let Some((unit, index)) = self.units[usize::from(message.to)] {
            let lines = &self.lines.stops[usize::from(unit)];
            report_stop(&lines.ingress[f], stays.ingress, 0, index, pulse);
            // What an agent sends to its own tile has been on no ring.
            if stays.ingress.stay.is_refused()
                && message.from != message.to
                && let Some([bounced, starved]) = lines.bounces[r][usize::from(along_row)]
            {
                pulse(bounced, index, 1);
                if stays.ingress.outside > 0 {
                    pulse(starved, index, stays.ingress.outside);
                }
            }
        }
    }

    /// What the stop of its source counts of a message.
    fn report_source(
        &self,
        lines: &StopLines,
        message: &Message,
        row: u8,
        egress: Wait,
        index: u16,
        pulse: &mut impl FnMut(Line, u16, u32),
    ) {
        let (r, agent) = (message.ring as usize, usize::from(message.agent));
        report_stop(&lines.egress[r][agent], egress, message.left - message.credited, index, pulse);
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
    }

    /// What the fabric counts of a message: its buffer on the near side, its egress on the far side.
    fn report_fabric(
        &self,
        message: &Message,
        [near, far]: [u16; 2],
        stay: Stay,
        counts_bounces: bool,
        pulse: &mut impl FnMut(Line, u16, u32),
    ) {
        let lines = &self.lines.fabric[flow(message)];
        if let Some(queue) = &lines.queue {
            report(queue, stay, near, pulse);
        }
        if let Some(full) = lines.full.filter(|_| stay.full > 0) {
            pulse(full, near, stay.full);
        }
        if counts_bounces && stay.is_refused() {
            pulse(lines.bounced, near, 1);
        }
        pulse(lines.sent, far, 1);
    }
}

/// Even or odd: that of the cycle in which a message takes its slot (choice, see `catalog/undefined.toml`).
const fn polarity(cycle: u64) -> usize {
    cycle as usize % 2
}

/// What a queue of a stop counts of a message, which the ring had no slot for in `nacked` cycles.
fn report_stop(
    lines: &QueueLines,
    Wait { stay, starved, no_room, .. }: Wait,
    nacked: u64,
    index: u16,
    pulse: &mut impl FnMut(Line, u16, u32),
) {
    report(lines, stay, index, pulse);
    let mut some = |line: Option<Line>, count: u32| {
        if let Some(line) = line.filter(|_| count > 0) {
            pulse(line, index, count);
        }
    };
    some(lines.nacked, u32::from(nacked > 0));
    some(lines.starved, starved);
    some(lines.no_room, no_room);
    some(lines.reserve, u32::from(nacked > PATIENCE.into()));
}

/// What any queue counts of a message.
fn report(lines: &QueueLines, stay: Stay, index: u16, pulse: &mut impl FnMut(Line, u16, u32)) {
    if stay.waited == 0 {
        pulse(lines.bypass, index, 1);
        return;
    }
    pulse(lines.entries, index, 1);
    // What finds no room is not in the queue yet.
    pulse(lines.occupied, index, stay.waited - stay.outside);
    let mut some = |line: Option<Line>, count: u32| {
        if let Some(line) = line.filter(|_| count > 0) {
            pulse(line, index, count);
        }
    };
    some(lines.nonempty, stay.nonempty);
    some(lines.half, stay.half);
    some(lines.full, stay.full);
}

/// What a unit counts of its own egress when it sends a message that holds a credit for its row for `held` cycles.
fn report_own(
    lines: &OwnLines,
    Wait { stay, outside, .. }: Wait,
    held: u32,
    index: u16,
    pulse: &mut impl FnMut(Line, u16, u32),
) {
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
    some(lines.stalled, outside);
    some(lines.held, stay.waited - stay.outside);
    some(lines.transgress, held);
}
