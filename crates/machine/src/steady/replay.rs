//! Brings counters to a time of the live machine: signal by signal where something is new, by whole windows where all is known.

use std::sync::Arc;

use pericore_engine::Tick;
use pericore_hardware::chassis::Chassis;
use pericore_hardware::pmon::Bank;
use pericore_registers::Operation;

use super::orbit::{Mark, Orbit, Tracked};
use super::recording::{Emission, Recording};

/// No counter takes so many increments in a cell.
const MOST_IN_A_CELL: u64 = 1 << 32;

/// Repeats a window on a chassis, for as much of it as somebody looks at.
///
/// Instances do not hear each other, so each is brought up to date when software touches it. Only a counter whose overflow freezes
/// others ties them together: while it may wrap, all go in one order.
#[derive(Debug)]
pub struct Replay {
    recording: Arc<Recording>,
    /// By machine-wide instance number.
    tracked: Vec<Tracked>,
    started: bool,
    /// For values of counters before a step.
    before: Vec<u64>,
}

impl Replay {
    /// At tick 0 of a chassis after reset.
    pub fn new(recording: Arc<Recording>) -> Self {
        let instances = 0..recording.instances();
        let tracked = instances.map(|_| Tracked::default()).collect();
        Self { recording, tracked, started: false, before: Vec::new() }
    }

    /// Prepares an access at tick `to`: the instances that it reaches have heard everything before `to`. Times must not go back.
    /// The chassis must be of the family and the sockets that the window was recorded on, and have no delayed or foreign writes.
    pub fn advance(&mut self, chassis: &mut Chassis, operation: &Operation, to: Tick) {
        let (address, width, writes) = match *operation {
            Operation::Read { address, width } => (address, width, false),
            Operation::Write { address, width, .. } => (address, width, true),
        };
        let touched: [Option<_>; 2] = {
            let mut touched = chassis.touched(address, width);
            [touched.next(), touched.next()]
        };
        let bank = chassis.bank_mut();
        if !std::mem::replace(&mut self.started, true) {
            // Free-running counters listen from the start.
            (0..self.recording.instances()).for_each(|number| self.refresh_levels(bank, number));
        }
        self.advance_armed(bank, to);
        for (number, slot) in touched.into_iter().flatten() {
            // Software stops one unit after the other and takes one time for all of them: what the last ones have to catch up must not lie between,
            // so all do when the first is written to. And a write may reach others by itself.
            if writes && !bank.is_counter(number, slot) {
                (0..self.recording.instances()).for_each(|other| self.bring(bank, other, to));
            }
            self.bring(bank, number, to);
            if writes && !bank.is_counter(number, slot) {
                // A counter may start to listen to what nobody has listened to.
                self.refresh_levels(bank, number);
            }
        }
    }

    /// Makes all levels of an instance right, also those that nobody listens to.
    fn refresh_levels(&self, bank: &mut Bank, number: u16) {
        let at = self.tracked[usize::from(number)].at;
        bank.set_levels(number, &self.recording.levels_at(number, at), at);
    }

    /// Brings an instance to a tick.
    fn bring(&mut self, bank: &mut Bank, number: u16, to: Tick) {
        if !self.hears(bank, number) {
            let tracked = &mut self.tracked[usize::from(number)];
            tracked.at = to.max(tracked.at);
            return;
        }
        while self.tracked[usize::from(number)].at < to {
            if !self.leap(bank, number, to) {
                self.step(bank, number, to);
            }
        }
    }

    /// True if an instance listens to anything.
    fn hears(&mut self, bank: &Bank, number: u16) -> bool {
        let tracked = &mut self.tracked[usize::from(number)];
        tracked.notice(bank.revision(number));
        let hears = bank.hears_signals(number);
        if !hears {
            tracked.marks = None;
        }
        hears
    }

    fn next_border(&self, at: Tick) -> Tick {
        (at / self.recording.cell() + 1) * self.recording.cell()
    }

    /// Goes to the last border of cells up to `to`, if the orbit is known and the border is ahead.
    fn leap(&mut self, bank: &mut Bank, number: u16, to: Tick) -> bool {
        let cell = self.recording.cell();
        let tracked = &mut self.tracked[usize::from(number)];
        let Some(orbit) = tracked.orbit.as_ref().filter(|_| to / cell * cell > tracked.at) else { return false };
        let (target, cells) = (to / cell, u64::from(self.recording.cells()));
        let window_start = tracked.at / self.recording.window() * cells;
        let gains: Vec<u128> = (0..tracked.gained.len())
            .map(|counter| {
                let until_now = orbit.gained(counter, window_start) + u128::from(tracked.gained[counter]);
                orbit.gained(counter, target) - until_now
            })
            .collect();
        let (mark, levels) = (orbit.mark(target % cells), self.recording.levels(number, (target % cells) as u32));
        bank.leap(number, &mark.states, &gains, levels, target * cell);
        tracked.gained.clone_from(&mark.gained);
        tracked.at = target * cell;
        true
    }

    /// Tells an instance everything up to `to`, or up to the next border of cells.
    fn step(&mut self, bank: &mut Bank, number: u16, to: Tick) {
        let from = self.tracked[usize::from(number)].at;
        let end = to.min(self.next_border(from));
        bank.counter_values(number, from, &mut self.before);
        let start = from - from % self.recording.window();
        for emission in self.recording.emissions_between(number, from, end) {
            self.recording.tell(bank, number, *emission, start);
        }
        let before = std::mem::take(&mut self.before);
        self.account(bank, number, &before, end);
        self.before = before;
    }

    /// Notes what a step up to `end` has brought.
    fn account(&mut self, bank: &mut Bank, number: u16, before: &[u64], end: Tick) {
        let tracked = &mut self.tracked[usize::from(number)];
        tracked.at = end;
        tracked.notice(bank.revision(number));
        let mut after = Vec::with_capacity(before.len());
        bank.counter_values(number, end, &mut after);
        tracked.gained.resize(before.len(), 0);
        for (((gained, mask), after), before) in
            tracked.gained.iter_mut().zip(bank.counter_masks(number)).zip(&after).zip(before)
        {
            *gained += after.wrapping_sub(*before) & mask;
        }
        if end.is_multiple_of(self.recording.window()) {
            self.turn(bank, number);
        } else if end.is_multiple_of(self.recording.cell())
            && let Some(marks) = &mut tracked.marks
        {
            marks.push(Mark { states: bank.save_counters(number, end), gained: tracked.gained.clone() });
        }
    }

    /// A window is over for an instance: its levels go back to where they were at its start.
    fn turn(&mut self, bank: &mut Bank, number: u16) {
        let tracked = &mut self.tracked[usize::from(number)];
        bank.set_levels(number, self.recording.levels(number, 0), tracked.at);
        let nothing = vec![0; tracked.gained.len()];
        let gained = std::mem::replace(&mut tracked.gained, nothing.clone());
        if tracked.orbit.is_some() {
            return;
        }
        let mut here = Mark { states: bank.save_counters(number, tracked.at), gained };
        tracked.orbit = tracked.marks.take().and_then(|marks| Orbit::close(marks, &here));
        if tracked.orbit.is_none() {
            here.gained = nothing;
            tracked.marks = Some(vec![here]);
        }
    }

    /// Brings the instances to a tick whose counters freeze or interrupt when they wrap, and, where that may happen, all others.
    fn advance_armed(&mut self, bank: &mut Bank, to: Tick) {
        let armed = bank.armed_instances();
        let Some(mut now) = armed.iter().map(|&number| self.tracked[usize::from(number)].at).max() else { return };
        armed.iter().for_each(|&number| self.bring(bank, number, now));
        while now < to {
            let safe = armed.iter().map(|&number| self.safe_until(bank, number, now, to)).min().unwrap_or(to);
            if safe > now {
                armed.iter().for_each(|&number| self.bring(bank, number, safe));
                now = safe;
            } else {
                (0..self.recording.instances()).for_each(|number| self.bring(bank, number, now));
                now = self.step_together(bank, now, to);
            }
        }
    }

    /// A tick up to which no armed counter of an instance wraps: `to`, or a border of cells, or `now`.
    fn safe_until(&mut self, bank: &mut Bank, number: u16, now: Tick, to: Tick) -> Tick {
        let cell = self.recording.cell();
        let room = bank.room(number, now);
        if room.is_empty() {
            return to;
        }
        if !self.hears(bank, number) {
            let wrap = bank.wraps_at(number);
            return if wrap > to { to } else { (wrap.saturating_sub(1) / cell * cell).max(now) };
        }
        let tracked = &self.tracked[usize::from(number)];
        let Some(orbit) = &tracked.orbit else {
            let roomy = room.iter().all(|&(_, room)| room > MOST_IN_A_CELL);
            return if roomy { to.min(self.next_border(now)) } else { now };
        };
        let window_start = now / self.recording.window() * u64::from(self.recording.cells());
        let fits = |border: u64| {
            room.iter().all(|&(counter, room)| {
                let until_now = orbit.gained(counter, window_start) + u128::from(tracked.gained[counter]);
                orbit.gained(counter, border) - until_now < u128::from(room)
            })
        };
        // The last border that fits, among those from the one behind `now` to the first one at or behind `to`.
        let (mut fitting, mut beyond) = (now / cell, to.div_ceil(cell) + 1);
        while beyond - fitting > 1 {
            let middle = fitting.midpoint(beyond);
            if fits(middle) { fitting = middle } else { beyond = middle }
        }
        (fitting * cell).clamp(now, to)
    }

    /// Tells all instances everything up to `to`, or up to the next border of cells, in the order in which it was recorded. Gives
    /// the tick reached.
    fn step_together(&mut self, bank: &mut Bank, now: Tick, to: Tick) -> Tick {
        let end = to.min(self.next_border(now));
        let mut values: Vec<(u16, Vec<u64>)> = Vec::new();
        let mut told: Vec<(u16, Emission)> = Vec::new();
        for number in 0..self.recording.instances() {
            if self.hears(bank, number) {
                let mut before = Vec::new();
                bank.counter_values(number, now, &mut before);
                values.push((number, before));
                told.extend(self.recording.emissions_between(number, now, end).iter().map(|said| (number, *said)));
            }
        }
        told.sort_unstable_by_key(|(_, emission)| emission.order);
        let start = now - now % self.recording.window();
        for (number, emission) in told {
            self.recording.tell(bank, number, emission, start);
        }
        bank.reach_armed(end);
        for (number, before) in values {
            self.account(bank, number, &before, end);
        }
        (0..self.recording.instances()).for_each(|number| self.bring(bank, number, end));
        end
    }
}
