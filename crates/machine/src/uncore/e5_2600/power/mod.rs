//! The power unit of a socket: frequency and voltage, C-states of the cores, and what bounds them.
//!
//! A frequency change takes its time: up, the voltage rises first; down, the frequency falls first. Cores without work ask for the
//! C-state of the phase; one that was woken soon after its last sleep is given a lighter state than it asks for. The model's own clocks keep
//! their nominal rate whatever the frequency is: only the power unit's events see the change.

mod bounds;
mod cores;
#[cfg(test)]
mod tests;
mod wires;

use bounds::Decision;
use cores::CoreUnit;
use pericore_hardware::signal::{SignalSink, Tick};

use crate::ledger::e5_2600::{Ledger, PowerFact};
use crate::workload::Conditions;
pub use wires::PowerWires;

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
    socket: u16,
    wires: PowerWires,
    /// Ticks in a microsecond.
    ticks_per_microsecond: u64,
    ratio: u8,
    decision: Decision,
    ramp: Ramp,
    ramp_until: Tick,
    cores: Vec<CoreUnit>,
    moving: u8,
    all_asleep: bool,
}

/// Where the power unit's changes go.
struct Out<'a, S> {
    socket: u16,
    wires: &'a PowerWires,
    now: Tick,
    sink: &'a mut S,
    ledger: &'a mut Ledger,
}

impl<S: SignalSink> Out<'_, S> {
    fn fact(&mut self, fact: PowerFact, on: bool) {
        let wire = self.wires.fact(fact);
        if on {
            self.sink.enter(wire, 0, self.now)
        } else {
            self.sink.leave(wire, 0, self.now)
        }
        self.ledger.power_fact(self.socket, fact, on, self.now);
    }

    fn runs_at(&mut self, ratio: u8, on: bool) {
        let (wire, shift) = self.wires.frequency;
        let tag = u64::from(ratio) << shift;
        if on {
            self.sink.enter(wire, tag, self.now)
        } else {
            self.sink.leave(wire, tag, self.now)
        }
        self.ledger.runs_at(self.socket, ratio, on, self.now);
    }
}

impl PowerUnit {
    /// A socket at its nominal frequency, all cores awake.
    pub fn new(socket: u16, wires: PowerWires, cores: u8, ticks_per_second: u64) -> Self {
        let decision = Decision::of(&Conditions::default().frequency);
        Self {
            socket,
            wires,
            ticks_per_microsecond: ticks_per_second / 1_000_000,
            ratio: decision.ratio,
            decision,
            ramp: Ramp::Steady,
            ramp_until: Tick::MAX,
            cores: (0..cores).map(CoreUnit::new).collect(),
            moving: 0,
            all_asleep: false,
        }
    }

    /// Emits what holds from the start.
    pub fn start<S: SignalSink>(&mut self, sink: &mut S, ledger: &mut Ledger) {
        let mut out = Out { socket: self.socket, wires: &self.wires, now: 0, sink, ledger };
        out.runs_at(self.ratio, true);
        self.decision.facts().for_each(|fact| out.fact(fact, true));
        self.cores.iter().for_each(|core| core.start(&mut out));
    }

    /// A phase begins: `busy` are the cores that have work, one bit each.
    pub fn begin<S: SignalSink>(
        &mut self,
        conditions: &Conditions,
        busy: u8,
        now: Tick,
        sink: &mut S,
        ledger: &mut Ledger,
    ) {
        let mut out = Out { socket: self.socket, wires: &self.wires, now, sink, ledger };
        let decision = Decision::of(&conditions.frequency);
        for fact in Decision::ALL {
            let (before, after) = (self.decision.holds(fact), decision.holds(fact));
            if before != after {
                out.fact(fact, after);
            }
        }
        self.decision = decision;
        let ticks = |nanoseconds: u64| nanoseconds * self.ticks_per_microsecond / 1000;
        let wake = conditions.wake.map(ticks);
        for core in &mut self.cores {
            core.plan(conditions.sleep, wake, busy >> core.number() & 1 == 1, now);
        }
        self.step(now, sink, ledger);
    }

    /// The tick of the next change.
    pub fn next_tick(&self) -> Tick {
        self.cores.iter().map(CoreUnit::next_tick).fold(self.ramp_until, Tick::min)
    }

    /// When a core that has work executes.
    pub fn awake_at(&self, core: u8) -> Tick {
        self.cores.get(usize::from(core)).map_or(0, CoreUnit::awake_at)
    }

    /// Makes the changes that are due.
    pub fn step<S: SignalSink>(&mut self, now: Tick, sink: &mut S, ledger: &mut Ledger) {
        let mut out = Out { socket: self.socket, wires: &self.wires, now, sink, ledger };
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
fn next_ramp<S: SignalSink>(ramp: Ramp, ratio: &mut u8, wanted: u8, out: &mut Out<'_, S>) -> (Ramp, u64) {
    let steps = |from: u8, to: u8| u64::from(from.abs_diff(to)) * VOLTAGE_STEP;
    match ramp {
        Ramp::Steady if wanted > *ratio => {
            out.fact(PowerFact::VoltageRises, true);
            out.fact(PowerFact::VoltageMoves, true);
            (Ramp::Rising(wanted), steps(*ratio, wanted))
        }
        Ramp::Steady => {
            out.runs_at(*ratio, false);
            out.fact(PowerFact::FrequencyMoves, true);
            (Ramp::Changing { to: wanted, falls: *ratio - wanted }, FREQUENCY_CHANGE)
        }
        Ramp::Rising(to) => {
            out.fact(PowerFact::VoltageRises, false);
            out.fact(PowerFact::VoltageMoves, false);
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
            out.fact(PowerFact::VoltageMoves, true);
            (Ramp::Falling, u64::from(falls) * VOLTAGE_STEP)
        }
        Ramp::Falling => {
            out.fact(PowerFact::VoltageFalls, false);
            out.fact(PowerFact::VoltageMoves, false);
            (Ramp::Steady, 0)
        }
    }
}
