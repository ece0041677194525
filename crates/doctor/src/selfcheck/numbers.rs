//! Which register answers behind which address. Each counter has a number, from 1, and counts in the runs of the bits
//! that are set in it: no two counters count in the same runs. The runs in which an address has moved are the number of
//! the counter behind it, however many addresses are wrong at once.

use pericore_registers::RegisterSpace;

use super::tested::Run;
use super::tested::{Bench, TestedCounter};
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
    let mut state = vec![Numbered::Sound; bench.counters.len()];
    bench.set(|number, _| held(number));
    let values = bench.read();
    for (number, (tested, value)) in bench.counters.iter().zip(&values).enumerate() {
        let problem = match value {
            Err(error) => Some(format!("{} cannot be read: {error}", tested.name())),
            Ok(value) if *value == tested.bits.set(0, held(number)) => None,
            Ok(value) => Some(other_value(bench.counters.as_slice(), number, tested, *value)),
        };
        if let Some(problem) = problem {
            state[number] = Numbered::Reported;
            verdicts.differs(tested.unit.name, problem, ADDRESS);
        }
    }
    let bits = usize::BITS - bench.counters.len().leading_zeros();
    let mut moved = vec![0_usize; bench.counters.len()];
    for bit in 0..bits {
        let runs = |number: usize| (number + 1) >> bit & 1 == 1;
        bench.set(|number, _| held(number));
        let run = bench.run(bench.window() * PART, runs);
        for (number, value) in run.values.iter().enumerate() {
            let start = bench.counters[number].bits.set(0, held(number));
            moved[number] |= usize::from(value.as_ref().is_ok_and(|value| *value != start)) << bit;
        }
        controls(bench, &run, runs, &mut state, verdicts);
    }
    idle_instances(bench, &moved, &mut state, verdicts);
    for (number, tested) in bench.counters.iter().enumerate() {
        if state[number] == Numbered::Sound && moved[number] != number + 1 {
            state[number] = Numbered::Reported;
            let text = match bench.counters.get(moved[number].wrapping_sub(1)) {
                None if moved[number] == 0 => format!("{} never moves while it counts cycles", tested.name()),
                Some(other) => format!(
                    "the address of {} leads to {}: it counts when that one does ({} and {})",
                    tested.name(),
                    other.name(),
                    tested.source,
                    other.source
                ),
                None => format!(
                    "{} counts while it is switched off, or stands while it is on ({})",
                    tested.name(),
                    tested.source
                ),
            };
            verdicts.differs(tested.unit.name, text, if moved[number] == 0 { STUCK } else { ADDRESS });
        }
    }
    state
}

/// What a counter is set to.
const fn held(number: usize) -> u64 {
    (number as u64 + 1) * APART
}

/// Words for a value that is not the one that was written.
fn other_value(counters: &[TestedCounter], number: usize, tested: &TestedCounter, value: u64) -> String {
    let wrote = tested.bits.set(0, held(number));
    let holder = counters.iter().enumerate().find(|(other, tested)| tested.bits.set(0, held(*other)) == value);
    match holder {
        Some((_, other)) => format!(
            "what is written to {} is lost, and it reads what {} was set to: one address for both ({} and {})",
            tested.name(),
            other.name(),
            tested.source,
            other.source
        ),
        None => {
            format!(
                "{} reads {value:#x} after {wrote:#x} was written while it stood ({})",
                tested.name(),
                tested.source
            )
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
    for (number, (tested, value)) in bench.counters.iter().zip(&run.controls).enumerate() {
        let (lasting, selected) = tested.selected;
        let expected = if runs(number) { selected } else { 0 };
        let Ok(value) = value else { continue };
        if state[number] == Numbered::Sound && value & lasting != expected {
            state[number] = Numbered::Reported;
            let text = format!(
                "the control of {} reads {value:#x} where {expected:#x} was written ({})",
                tested.name(),
                tested.source
            );
            verdicts.differs(tested.unit.name, text, ADDRESS);
        }
    }
}

/// Instances of which nothing moves.
fn idle_instances<S: RegisterSpace>(
    bench: &Bench<'_, S, impl TestTime<S>>,
    moved: &[usize],
    state: &mut [Numbered],
    verdicts: &mut Verdicts,
) {
    for place in 0..bench.places {
        let of_place: Vec<usize> = (0..moved.len()).filter(|&number| bench.counters[number].place == place).collect();
        let rests = |number: &usize| moved[*number] == 0 && state[*number] == Numbered::Sound;
        if of_place.len() > 1 && of_place.iter().all(rests) {
            let tested = &bench.counters[of_place[0]];
            let text = format!(
                "none of the {} counters of {} moves while they count cycles: it is frozen, or its clock stands",
                of_place.len(),
                tested.instance
            );
            verdicts.differs(tested.unit.name, text, FROZEN);
            of_place.iter().for_each(|&number| state[number] = Numbered::Reported);
        }
    }
}
