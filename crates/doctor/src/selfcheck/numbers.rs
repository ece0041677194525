//! Which register answers behind which address. Every counter has a number, from 1, and counts in the runs that are
//! those of its number's bits: so what a counter has moved in spells the number of the one that is really there,
//! however many addresses are wrong at once.

use pericore_registers::RegisterSpace;

use super::probe::Run;
use super::probe::{Bench, TestedCounter};
use super::time::TestTime;
use super::verdict::Verdicts;

/// Counters stand at their number times this before they are read back: far apart, and within any width.
const APART: u64 = 1 << 12;

/// A run of this part of the window is long enough to see a counter move.
const PART: f64 = 0.125;

const ADDRESS: &str = "compare the addresses with the documents of this part, and send this report with --bundle FILE";
const STUCK: &str = "do not use the counter; send this report with --bundle FILE";
const FROZEN: &str =
    "look for a tool or firmware that holds the unit (freeze, power saving), and check again when it is gone";

/// What is known of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbered {
    /// It is itself, and counts.
    Sound,
    /// Something was said of it already.
    Reported,
}

/// Looks at all counters.
pub fn check<S: RegisterSpace>(bench: &mut Bench<'_, S, impl TestTime<S>>, verdicts: &mut Verdicts) -> Vec<Numbered> {
    bench.stop_all();
    let mut state = vec![Numbered::Sound; bench.probes.len()];
    bench.set(|number, _| held(number));
    let values = bench.read();
    for (number, (probe, value)) in bench.probes.iter().zip(&values).enumerate() {
        let problem = match value {
            Err(error) => Some(format!("{} cannot be read: {error}", probe.name())),
            Ok(value) if *value == probe.bits.set(0, held(number)) => None,
            Ok(value) => Some(other_value(bench.probes.as_slice(), number, probe, *value)),
        };
        if let Some(problem) = problem {
            state[number] = Numbered::Reported;
            verdicts.differs(probe.unit.name, problem, ADDRESS);
        }
    }
    let bits = usize::BITS - bench.probes.len().leading_zeros();
    let mut moved = vec![0_usize; bench.probes.len()];
    for bit in 0..bits {
        let runs = |number: usize| (number + 1) >> bit & 1 == 1;
        bench.set(|number, _| held(number));
        let run = bench.run(bench.window() * PART, runs);
        for (number, value) in run.values.iter().enumerate() {
            let start = bench.probes[number].bits.set(0, held(number));
            moved[number] |= usize::from(value.as_ref().is_ok_and(|value| *value != start)) << bit;
        }
        controls(bench, &run, runs, &mut state, verdicts);
    }
    idle_boxes(bench, &moved, &mut state, verdicts);
    for (number, probe) in bench.probes.iter().enumerate() {
        if state[number] == Numbered::Sound && moved[number] != number + 1 {
            state[number] = Numbered::Reported;
            let text = match bench.probes.get(moved[number].wrapping_sub(1)) {
                None if moved[number] == 0 => format!("{} never moves while it counts cycles", probe.name()),
                Some(other) => format!(
                    "the address of {} leads to {}: it counts when that one does ({} and {})",
                    probe.name(),
                    other.name(),
                    probe.source,
                    other.source
                ),
                None => format!(
                    "{} counts while it is switched off, or stands while it is on ({})",
                    probe.name(),
                    probe.source
                ),
            };
            verdicts.differs(probe.unit.name, text, if moved[number] == 0 { STUCK } else { ADDRESS });
        }
    }
    state
}

/// What a counter is set to.
const fn held(number: usize) -> u64 {
    (number as u64 + 1) * APART
}

/// Words for a value that is not the one that was written.
fn other_value(probes: &[TestedCounter], number: usize, probe: &TestedCounter, value: u64) -> String {
    let wrote = probe.bits.set(0, held(number));
    let holder = probes.iter().enumerate().find(|(other, probe)| probe.bits.set(0, held(*other)) == value);
    match holder {
        Some((_, other)) => format!(
            "what is written to {} is lost, and it reads what {} was set to: one address for both ({} and {})",
            probe.name(),
            other.name(),
            probe.source,
            other.source
        ),
        None => {
            format!("{} reads {value:#x} after {wrote:#x} was written while it stood ({})", probe.name(), probe.source)
        }
    }
}

/// Whether the controls held what they were set to.
fn controls<S: RegisterSpace>(
    bench: &Bench<'_, S, impl TestTime<S>>,
    run: &Run,
    runs: impl Fn(usize) -> bool,
    state: &mut [Numbered],
    verdicts: &mut Verdicts,
) {
    for (number, (probe, value)) in bench.probes.iter().zip(&run.controls).enumerate() {
        let (lasting, selected) = probe.selected;
        let expected = if runs(number) { selected } else { 0 };
        let Ok(value) = value else { continue };
        if state[number] == Numbered::Sound && value & lasting != expected {
            state[number] = Numbered::Reported;
            let text = format!(
                "the control of {} reads {value:#x} where {expected:#x} was written ({})",
                probe.name(),
                probe.source
            );
            verdicts.differs(probe.unit.name, text, ADDRESS);
        }
    }
}

/// Instances of which nothing moves.
fn idle_boxes<S: RegisterSpace>(
    bench: &Bench<'_, S, impl TestTime<S>>,
    moved: &[usize],
    state: &mut [Numbered],
    verdicts: &mut Verdicts,
) {
    for place in 0..bench.places {
        let of_place: Vec<usize> = (0..moved.len()).filter(|&number| bench.probes[number].place == place).collect();
        let rests = |number: &usize| moved[*number] == 0 && state[*number] == Numbered::Sound;
        if of_place.len() > 1 && of_place.iter().all(rests) {
            let probe = &bench.probes[of_place[0]];
            let text = format!(
                "none of the {} counters of {} moves while they count cycles: it is frozen, or its clock stands",
                of_place.len(),
                probe.instance
            );
            verdicts.differs(probe.unit.name, text, FROZEN);
            of_place.iter().for_each(|&number| state[number] = Numbered::Reported);
        }
    }
}
