//! The power unit of a socket: frequency and voltage, C-states of the cores, and what bounds them.
//!
//! A frequency change takes its time: up, the voltage rises first; down, the frequency falls first. Cores without work
//! ask for the C-state of the phase; one that was woken soon after its last sleep is given a lighter state than it asks
//! for. Cores run at the frequency once it has changed; ring, slices and home agents keep their nominal clock, which
//! real ones do not. What cores and memory do takes power and heats the package; what that allows bounds the frequency
//! and holds memory back.

mod bounds;
mod budget;
mod cores;

use bounds::Decision;
pub use bounds::RATIOS;
use budget::Budget;
pub use budget::Sensed;
use cores::CoreUnit;
use pericore_engine::Tick;
use pericore_facts::e5_2600::{E5Fact, E5Reader, PowerFact, PowerState};
use pericore_parts::heat::LOOK;
use pericore_workload::{Conditions, FrequencyBounds, MemoryConditions};

/// Nanoseconds of a frequency change, in which the clocks lock anew (assumption: the usual order of such loops).
const FREQUENCY_CHANGE: u64 = 10_000;
/// Nanoseconds of voltage change for a step of 100 MHz (assumption: about 10 mV a step at 10 mV/us).
const VOLTAGE_STEP: u64 = 1000;

/// Where a change of frequency stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ramp {
    Steady,
    /// The voltage rises for a higher frequency.
    Rising(u8),
    /// The clocks lock to a new ratio.
    Changing {
        to: u8,
        falls: u8,
    },
    /// The voltage follows a lower frequency.
    Falling,
}

/// The power unit of a socket.
#[derive(Debug)]
pub struct PowerUnit {
    socket: u8,
    /// What holds, since when.
    held: Vec<(PowerState, Tick)>,
    /// Ticks in a microsecond.
    ticks_per_microsecond: u64,
    ratio: u8,
    decision: Decision,
    ramp: Ramp,
    ramp_until: Tick,
    cores: Vec<CoreUnit>,
    moving: u8,
    all_asleep: bool,
    /// What the phase asks for.
    bounds: FrequencyBounds,
    budget: Budget,
    /// When the next look at the sensors is due.
    look_at: Tick,
}

/// Where the power unit's changes go.
struct Out<'a, R> {
    socket: u8,
    now: Tick,
    held: &'a mut Vec<(PowerState, Tick)>,
    reader: &'a mut R,
}

impl<R: E5Reader> Out<'_, R> {
    fn switch(&mut self, state: PowerState, on: bool) {
        if on {
            self.held.push((state, self.now));
            self.reader.read(self.now, E5Fact::Enters(self.socket, state));
        } else if let Some(place) = self.held.iter().position(|(held, _)| *held == state) {
            let (_, since) = self.held.swap_remove(place);
            self.reader.read(self.now, E5Fact::Leaves(self.socket, state, since));
        }
    }

    fn fact(&mut self, fact: PowerFact, on: bool) {
        self.switch(PowerState::Socket(fact), on);
    }

    fn runs_at(&mut self, ratio: u8, on: bool) {
        self.switch(PowerState::Ratio(ratio), on);
    }
}

impl PowerUnit {
    /// A socket at its nominal frequency, all cores awake.
    pub fn new(socket: u8, cores: u8, ticks_per_second: u64) -> Self {
        let decision = Decision::of(&Conditions::default().frequency);
        Self {
            socket,
            held: Vec::new(),
            ticks_per_microsecond: ticks_per_second / 1_000_000,
            ratio: decision.ratio,
            decision,
            ramp: Ramp::Steady,
            ramp_until: Tick::MAX,
            cores: (0..cores).map(CoreUnit::new).collect(),
            moving: 0,
            all_asleep: false,
            bounds: FrequencyBounds::default(),
            budget: Budget::new(),
            look_at: Tick::MAX,
        }
    }

    /// Emits what holds from the start.
    pub fn start<R: E5Reader>(&mut self, reader: &mut R) {
        let mut out = Out { socket: self.socket, now: 0, held: &mut self.held, reader };
        out.runs_at(self.ratio, true);
        self.decision.facts().for_each(|fact| out.fact(fact, true));
        self.cores.iter().for_each(|core| core.start(&mut out));
    }

    /// A phase begins: `busy` are the cores that have work, one bit each, and `sensed` is what works in it.
    pub fn begin<R: E5Reader>(&mut self, conditions: &Conditions, busy: u8, sensed: Sensed, now: Tick, reader: &mut R) {
        self.bounds = conditions.frequency;
        self.budget.begin(conditions.air, sensed);
        self.watch(sensed, now);
        self.decide(now, reader);
        let ticks = |nanoseconds: u64| nanoseconds * self.ticks_per_microsecond / 1000;
        let wake = conditions.wake.map(ticks);
        for core in &mut self.cores {
            core.plan(conditions.sleep, wake, busy >> core.number() & 1 == 1, now);
        }
        self.change(now, reader);
    }

    /// Looks at the sensors from now on, if it does not yet.
    pub fn watch(&mut self, sensed: Sensed, now: Tick) {
        if self.look_at == Tick::MAX {
            self.budget.resume(sensed);
            self.look_at = now + LOOK * self.ticks_per_microsecond;
        }
    }

    /// Decides anew how fast cores run.
    fn decide<R: E5Reader>(&mut self, now: Tick, reader: &mut R) {
        let mut out = Out { socket: self.socket, now, held: &mut self.held, reader };
        let decision = Decision::of(&self.budget.bound(&self.bounds));
        for fact in Decision::ALL {
            let (before, after) = (self.decision.holds(fact), decision.holds(fact));
            if before != after {
                out.fact(fact, after);
            }
        }
        self.decision = decision;
    }

    /// A look at the sensors. True if a core has just become hot.
    fn look<R: E5Reader>(&mut self, sensed: Sensed, now: Tick, reader: &mut R) -> bool {
        let before = self.budget.is_hot();
        let rests = self.budget.look(&self.bounds, self.decision.ratio, sensed);
        self.look_at = if rests { Tick::MAX } else { now + LOOK * self.ticks_per_microsecond };
        self.decide(now, reader);
        !before && self.budget.is_hot()
    }

    /// What the unit makes of a phase's settings of its memory. It `rests` while the whole machine sleeps.
    pub fn memory(&self, phase: &MemoryConditions, rests: bool) -> MemoryConditions {
        self.budget.memory(phase, rests)
    }

    /// True if all its cores sleep, and its devices have nothing to do.
    pub const fn is_asleep(&self) -> bool {
        self.all_asleep && !self.budget.has_devices_at_work()
    }

    /// Reports what holds as if it ended now.
    pub fn under_way<R: E5Reader>(&self, now: Tick, reader: &mut R) {
        for &(state, since) in &self.held {
            reader.read(now, E5Fact::Leaves(self.socket, state, since));
        }
    }

    /// The frequency that the cores run at, in 100 MHz.
    pub const fn ratio(&self) -> u8 {
        self.ratio
    }

    /// The tick of the next change.
    pub fn next_tick(&self) -> Tick {
        self.cores.iter().map(CoreUnit::next_tick).fold(self.ramp_until.min(self.look_at), Tick::min)
    }

    /// When a core that has work executes.
    pub fn awake_at(&self, core: u8) -> Tick {
        self.cores.get(usize::from(core)).map_or(0, |core| core.awake_at(self.ticks_per_microsecond))
    }

    /// Makes the changes that are due. True if a core has just become hot.
    pub fn step<R: E5Reader>(&mut self, sensed: Sensed, now: Tick, reader: &mut R) -> bool {
        let becomes_hot = self.look_at <= now && self.look(sensed, now, reader);
        self.change(now, reader);
        becomes_hot
    }

    fn change<R: E5Reader>(&mut self, now: Tick, reader: &mut R) {
        let mut out = Out { socket: self.socket, now, held: &mut self.held, reader };
        let microsecond = self.ticks_per_microsecond;
        for core in &mut self.cores {
            core.step(microsecond, &mut out);
        }
        let moving = self.cores.iter().filter(|core| core.moves()).fold(0, |mask, core| mask | 1 << core.number());
        if (moving != 0) != (self.moving != 0) {
            out.fact(PowerFact::AnyCoreMoves, moving != 0);
        }
        self.moving = moving;
        let all_asleep = self.cores.iter().all(CoreUnit::is_asleep);
        if all_asleep != self.all_asleep {
            // In a package C-state memory draws little, and its supply drops phases.
            out.fact(PowerFact::PhaseShedding, all_asleep);
            self.all_asleep = all_asleep;
        }
        while self.ramp_until <= now || self.ramp == Ramp::Steady && self.decision.ratio != self.ratio {
            let (next, nanoseconds) = next_ramp(self.ramp, &mut self.ratio, self.decision.ratio, &mut out);
            self.ramp = next;
            self.ramp_until = if next == Ramp::Steady { Tick::MAX } else { now + nanoseconds * microsecond / 1000 };
        }
    }
}

/// The stage after this one, and how long it takes in nanoseconds.
fn next_ramp<R: E5Reader>(ramp: Ramp, ratio: &mut u8, wanted: u8, out: &mut Out<'_, R>) -> (Ramp, u64) {
    let steps = |from: u8, to: u8| u64::from(from.abs_diff(to)) * VOLTAGE_STEP;
    match ramp {
        Ramp::Steady if wanted > *ratio => {
            out.fact(PowerFact::VoltageRises, true);
            (Ramp::Rising(wanted), steps(*ratio, wanted))
        }
        Ramp::Steady => {
            out.runs_at(*ratio, false);
            out.fact(PowerFact::FrequencyMoves, true);
            (Ramp::Changing { to: wanted, falls: *ratio - wanted }, FREQUENCY_CHANGE)
        }
        Ramp::Rising(to) => {
            out.fact(PowerFact::VoltageRises, false);
            out.runs_at(*ratio, false);
            out.fact(PowerFact::FrequencyMoves, true);
            (Ramp::Changing { to, falls: 0 }, FREQUENCY_CHANGE)
        }
        Ramp::Changing { to, falls } => {
            *ratio = to;
            out.fact(PowerFact::FrequencyMoves, false);
            out.runs_at(to, true);
            if falls == 0 {
                return (Ramp::Steady, 0);
            }
            out.fact(PowerFact::VoltageFalls, true);
            (Ramp::Falling, u64::from(falls) * VOLTAGE_STEP)
        }
        Ramp::Falling => {
            out.fact(PowerFact::VoltageFalls, false);
            (Ramp::Steady, 0)
        }
    }
}
