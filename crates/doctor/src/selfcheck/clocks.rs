//! How fast counters count cycles: within an instance alike, the instances of a clock in a socket alike, and each
//! clock within what the part's documents give it.

use std::collections::BTreeMap;

use pericore_observe::plan::Plan;
use pericore_observe::session::Moment;
use pericore_registers::RegisterSpace;

use super::numbers::Numbered;
use super::rated::Rated;
use super::tested::Bench;
use super::time::TestTime;
use super::verdict::Verdicts;

/// Rates this far apart are not those of one clock.
const SHARE: f64 = 0.01;

/// A start or stop that took more than this part of the run tells nothing; then the run is made again.
const ROUGH: f64 = 0.1;
const TRIES: u32 = 4;

const COUNTER: &str = "do not use the counter; send this report with --bundle FILE";
const CLOCK: &str =
    "what is divided by this clock is wrong (shares of cycles, utilizations); send this report with --bundle FILE";

/// The least and the greatest rate that a count can stand for, in Hz.
pub type Rate = (f64, f64);

/// Compares all clocks; the rate of each counter.
pub fn check<S: RegisterSpace>(
    bench: &mut Bench<'_, S, impl TestTime<S>>,
    plan: &Plan,
    state: &mut [Numbered],
    verdicts: &mut Verdicts,
) -> Vec<Rate> {
    let mut run = bench.run(0.0, |_| false);
    for longer in 0..TRIES {
        bench.set(|_, _| 0);
        run = bench.run(bench.window() * f64::from(1 << longer), |_| true);
        let rough = |[before, after, stop, stopped]: &[_; 4]| is_rough(before, after, stop, stopped);
        if !run.spans.iter().any(rough) {
            break;
        }
    }
    let count = |number: usize| run.values[number].as_ref().map_or(0, |value| bench.counters[number].bits.get(*value));
    let ticks: Vec<u64> = (0..bench.counters.len()).map(count).collect();
    let rates: Vec<Rate> =
        bench.counters.iter().zip(&ticks).map(|(tested, ticks)| rate(&run.spans[tested.place], *ticks)).collect();
    let tsc = run.spans.first().map_or(0.0, |[before, _, _, stopped]| {
        let cycles = stopped.tsc.saturating_sub(before.tsc);
        cycles as f64 / (stopped.seconds - before.seconds).max(f64::MIN_POSITIVE)
    });
    let sound: Vec<usize> = (0..ticks.len()).filter(|&number| state[number] == Numbered::Sound).collect();
    let mut of_instances: BTreeMap<(u16, &str), Vec<(usize, Rate)>> = BTreeMap::new();
    for place in 0..bench.places {
        let of_place: Vec<usize> =
            sound.iter().copied().filter(|&number| bench.counters[number].place == place).collect();
        let Some(&first) = of_place.first() else { continue };
        let middle = median(of_place.iter().map(|&number| rates[number]).collect());
        for &number in of_place.iter().filter(|&&number| apart(rates[number], middle)) {
            let tested = &bench.counters[number];
            let text = format!(
                "{} counts {} cycles a second, the other counters of the instance {} ({})",
                tested.name(),
                hertz(rates[number]),
                hertz(middle),
                tested.source
            );
            verdicts.differs(tested.unit.name, text, COUNTER);
            state[number] = Numbered::Reported;
        }
        let tested = &bench.counters[first];
        of_instances.entry((tested.socket, tested.unit.clock)).or_default().push((first, middle));
    }
    sockets(bench, plan, &of_instances, tsc, verdicts);
    rates
}

/// An instance by one of its counters, and its rate.
type OfInstance = (usize, Rate);

/// Compares the instances of each clock with one another, and with what documents have.
fn sockets<S: RegisterSpace>(
    bench: &Bench<'_, S, impl TestTime<S>>,
    plan: &Plan,
    of_instances: &BTreeMap<(u16, &str), Vec<OfInstance>>,
    tsc: f64,
    verdicts: &mut Verdicts,
) {
    let rated = Rated::of(plan.selection.family);
    let mut constant: BTreeMap<&str, (u16, Rate)> = BTreeMap::new();
    for ((socket, clock), instances) in of_instances {
        let middle = median(instances.iter().map(|(_, rate)| *rate).collect());
        let range = rated.clock(clock);
        // Links that lead nowhere have no clock that anybody could know.
        let is_known = plan.sockets.len() > 1 || range.is_none_or(|range| !range.is_of_links);
        let range = range.filter(|_| is_known);
        for (number, rate) in instances {
            let tested = &bench.counters[*number];
            let runs = format!("the {clock} of {} runs at {}", tested.instance, hertz(*rate));
            if apart(*rate, middle) {
                let text = format!("{runs}, that of others in the socket at {}", hertz(middle));
                verdicts.differs(tested.unit.name, text, CLOCK);
            } else if let Some(range) = range.filter(|range| !range.holds(*rate)) {
                verdicts.differs(tested.unit.name, format!("{runs}; {range}"), CLOCK);
            }
        }
        let unit = bench.counters[instances[0].0].unit.name;
        match (constant.get(clock), range.is_some_and(|range| range.is_constant)) {
            (Some((other, rate)), true) if apart(middle, *rate) => {
                let rates = (hertz(middle), hertz(*rate));
                let text = format!(
                    "the {clock} of socket {socket} runs at {}, that of socket {other} at {}",
                    rates.0, rates.1
                );
                verdicts.differs(unit, text, CLOCK);
            }
            (None, true) => {
                constant.insert(clock, (*socket, middle));
            }
            _ => {}
        }
        let (count, rate) = (instances.len(), hertz(middle));
        let share =
            if tsc > 0.0 { format!(", {:.3} of the time-stamp counter", middle.0 / tsc) } else { String::new() };
        let plural = if count == 1 { "" } else { "s" };
        let described = format!("{count} instance{plural} of socket {socket} at {rate}{share}");
        let is_alone = count == 1 && !(range.is_some_and(|range| range.is_constant) && plan.sockets.len() > 1);
        if middle.1 > middle.0 * (1.0 + ROUGH) {
            verdicts.unknown(clock, format!("{described}: this machine was too busy, try again when less runs"));
        } else if !is_known {
            verdicts.unknown(
                clock,
                format!("{described}: links lead nowhere where there is one socket, whatever their clock is"),
            );
        } else if is_alone && range.is_none_or(|range| !range.is_rated()) {
            verdicts.unknown(
                clock,
                format!("{described}: nothing else runs at this clock, and no document has its frequency"),
            );
        } else {
            verdicts.agrees(clock, described);
        }
    }
}

fn is_rough(before: &Moment, after: &Moment, stop: &Moment, stopped: &Moment) -> bool {
    let unknown = after.seconds - before.seconds + stopped.seconds - stop.seconds;
    unknown > ROUGH * (stop.seconds - after.seconds)
}

/// A counter's rate, if it ran from somewhere in the start to somewhere in the stop.
fn rate([before, after, stop, stopped]: &[Moment; 4], ticks: u64) -> Rate {
    let ticks = ticks as f64;
    let (longest, shortest) = (stopped.seconds - before.seconds, stop.seconds - after.seconds);
    (ticks / longest.max(f64::MIN_POSITIVE), ticks / shortest.max(f64::MIN_POSITIVE))
}

/// The rate in the middle.
fn median(mut rates: Vec<Rate>) -> Rate {
    rates.sort_by(|one, other| one.0.total_cmp(&other.0));
    rates.get(rates.len() / 2).copied().unwrap_or_default()
}

/// True if two rates cannot be those of one clock.
fn apart(one: Rate, other: Rate) -> bool {
    let (low, high) = if one.0 <= other.0 { (one, other) } else { (other, one) };
    low.1 * (1.0 + SHARE) < high.0
}

/// A rate in words.
fn hertz((low, high): Rate) -> String {
    if high > low * (1.0 + ROUGH) {
        return format!("{:.1} to {:.1} MHz", low / 1e6, high / 1e6);
    }
    format!("{:.1} MHz", f64::midpoint(low, high) / 1e6)
}
