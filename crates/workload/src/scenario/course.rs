//! How far a model has come in a scenario.

use pericore_engine::Tick;

use super::{Conditions, Phase, Scenario, Workload};

/// Nanoseconds between looks whether a phase's last requests are done.
const LOOK: u64 = 200;

/// The phases of a scenario and the one that runs.
#[derive(Debug)]
pub struct Course {
    phases: Vec<Phase>,
    current: usize,
    /// When the phase ends, whatever is done.
    deadline: Tick,
    /// The phase's time is over: its threads only finish what they have begun.
    ending: bool,
    /// The next phase waits to be released, and the work of this one is done.
    held: bool,
    parked: bool,
    ticks_per_second: u64,
}

impl Course {
    /// Before the first phase.
    pub fn new(scenario: Scenario, ticks_per_second: u64) -> Self {
        Self {
            phases: scenario.phases,
            current: 0,
            deadline: Tick::MAX,
            ending: false,
            held: false,
            parked: false,
            ticks_per_second,
        }
    }

    /// Ticks of so many nanoseconds.
    pub const fn ticks(&self, nanoseconds: u64) -> Tick {
        (nanoseconds as u128 * self.ticks_per_second as u128 / 1_000_000_000) as Tick
    }

    /// Ticks of so many picoseconds.
    pub const fn pause(&self, picoseconds: u64) -> Tick {
        (picoseconds as u128 * self.ticks_per_second as u128 / 1_000_000_000_000) as Tick
    }

    /// Begins the phase whose turn it is: what the cores and devices do in it, and what else holds. `None` after the last.
    pub fn begin(&mut self, now: Tick) -> Option<(Option<Workload>, Conditions)> {
        let phase = self.phases.get(self.current)?;
        let length = phase.nanoseconds.map(|length| self.ticks(length).max(1));
        let content = (phase.workload.clone(), phase.conditions.clone());
        self.ending = false;
        self.deadline = length.map_or(Tick::MAX, |length| now + length);
        Some(content)
    }

    /// Ticks that the phase that runs lasts at most.
    pub const fn length(&self, now: Tick) -> Tick {
        self.deadline.saturating_sub(now)
    }

    /// Ends the phase that runs; the next waits until it is released.
    pub const fn hold(&mut self, now: Tick) {
        self.deadline = now;
        self.held = true;
    }

    /// The phase that was to end has ended, and the next waits.
    pub const fn is_parked(&self) -> bool {
        self.parked
    }

    /// Lets the next phase begin.
    pub const fn release(&mut self) {
        self.held = false;
        self.parked = false;
    }

    /// The phase that begins takes over the threads of the one before.
    pub fn goes_on(&self) -> bool {
        self.phases.get(self.current).is_some_and(|phase| phase.goes_on)
    }

    /// True if nothing comes after the phase that runs, and it ends by itself. Errands do not: with more of them something might always
    /// be under way, so that they must end with the phase.
    pub fn is_last_and_open(&self) -> bool {
        let recurs = self.phases.get(self.current).is_some_and(|phase| !phase.conditions.errands.is_empty());
        self.current + 1 >= self.phases.len() && self.deadline == Tick::MAX && !recurs
    }

    /// True if the last phase is over.
    pub const fn is_over(&self) -> bool {
        self.current >= self.phases.len()
    }

    /// When to look next whether the phase is over.
    pub fn next_look(&self, now: Tick, pause: bool) -> Tick {
        let look = if self.only_waits(pause) { Tick::MAX } else { now + self.ticks(LOOK) };
        if self.ending { look.min(now + self.ticks(LOOK)) } else { look.min(self.deadline) }
    }

    /// True once, when the phase's time is over.
    pub const fn expires(&mut self, now: Tick) -> bool {
        let expires = now >= self.deadline && !self.ending;
        self.ending |= expires;
        expires
    }

    /// In a pause nobody works, and nothing but time ends it. A phase of no work that has no length, either, is over at once.
    const fn only_waits(&self, pause: bool) -> bool {
        pause && self.deadline != Tick::MAX
    }

    /// Ends the phase if its work is done, or its time if it is a pause, and nothing is under way. True if so.
    pub const fn ends(&mut self, pause: bool, at_rest: bool) -> bool {
        let over = at_rest && (self.ending || !self.only_waits(pause));
        self.parked = over && self.held;
        let ends = over && !self.held;
        if ends {
            self.current += 1;
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::Course;
    use crate::{Limits, Scenario};

    #[test]
    fn phases_end_with_their_work_or_their_time() {
        let text = "phase a\nworkload stream\nphase b\nidle 1us\nphase c\nworkload chase\nfor 2us\n";
        let scenario = Scenario::parse(text, &Limits::of_tests()).unwrap();
        let mut course = Course::new(scenario, 10_000_000_000);
        assert!(course.begin(0).unwrap().0.is_some());
        assert_eq!((course.is_last_and_open(), course.next_look(50, false)), (false, 2050));
        assert!(!course.ends(false, false) && course.ends(false, true));
        assert!(course.begin(3000).unwrap().0.is_none());
        assert_eq!(course.next_look(3000, true), 13_000);
        assert!(!course.expires(12_999) && !course.ends(true, true));
        assert!(course.expires(13_000) && !course.expires(13_000), "once");
        assert!(!course.ends(true, false), "something is under way");
        assert_eq!(course.next_look(13_000, true), 15_000);
        assert!(course.ends(true, true));
        assert!(course.begin(16_000).is_some());
        assert_eq!((course.next_look(35_000, false), course.is_last_and_open()), (36_000, false));
        assert!(course.ends(false, true) && course.is_over() && course.begin(40_000).is_none());
    }

    #[test]
    fn a_phase_with_errands_does_not_end_by_itself() {
        for (errands, open) in [("", true), ("msi every 1us\n", false)] {
            let text = format!("phase a\nworkload chase\n{errands}");
            let mut course = Course::new(Scenario::parse(&text, &Limits::of_tests()).unwrap(), 10_000_000_000);
            assert!(course.begin(0).is_some());
            assert_eq!(course.is_last_and_open(), open);
            assert!(course.ends(false, true) && course.is_over());
        }
    }

    #[test]
    fn a_phase_of_no_work_and_no_length_is_over_at_once() {
        let text = "phase a\nworkload idle\nphase b\nworkload chase\n";
        let mut course = Course::new(Scenario::parse(text, &Limits::of_tests()).unwrap(), 10_000_000_000);
        assert!(course.begin(0).is_some());
        assert_eq!(course.next_look(50, true), 2050);
        assert!(!course.ends(true, false) && course.ends(true, true));
    }
}
