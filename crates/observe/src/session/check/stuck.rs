//! Counters that stand still where they should not.

use std::collections::BTreeMap;

use pericore_catalog::{Measure, Role};
use pericore_metrics::Validity;

use super::super::sample::{Count, Sample};
use crate::plan::Plan;
use crate::selection::EventSource;

/// Instances of a socket that must count an event before one that does not is doubted.
const LEAST_OTHERS: usize = 3;

/// What each of them must have counted: far from chance.
const LEAST_COUNT: u64 = 1000;

/// Cycles of the time-stamp counter in which every clock ticks.
const LEAST_CYCLES: u64 = 1000;

/// What the instances of a socket have counted of an event.
#[derive(Clone, Copy)]
struct Alike {
    stopped: usize,
    moving: usize,
    /// The least of those that move.
    least: u64,
}

/// Doubts a count of 0 where a clock was counted, and in a single instance of a socket while all others like it
/// counted much.
pub fn mark(plan: &Plan, sample: &mut Sample) {
    if !sample.counts.iter().any(|count| count.count == Some(0)) {
        return;
    }
    let mut all: BTreeMap<(usize, u16), Alike> = BTreeMap::new();
    for Count { event, socket, count, .. } in &sample.counts {
        let known = all.entry((*event, *socket)).or_insert(Alike { stopped: 0, moving: 0, least: u64::MAX });
        match count {
            Some(0) => known.stopped += 1,
            Some(count) => {
                known.moving += 1;
                known.least = known.least.min(*count);
            }
            // What has no number says nothing.
            None => {}
        }
    }
    let lasts = sample.seconds > 0.0 && sample.tsc_cycles >= LEAST_CYCLES;
    for count in sample.counts.iter_mut().filter(|count| count.count == Some(0)) {
        let event = &plan.selection.events[count.event];
        let place = format!("{}{} in socket {}", event.unit.name, count.instance, count.socket);
        let Alike { stopped, moving, least } = all[&(count.event, count.socket)];
        let why = if is_clock(&event.source) && lasts {
            format!("the clock of {place} stands still: the counter is stuck, or the unit is powered down")
        } else if stopped == 1 && moving >= LEAST_OTHERS && least >= LEAST_COUNT {
            format!(
                "{place} counted nothing while its {moving} neighbours counted at least {least} each: stuck, or unused"
            )
        } else {
            continue;
        };
        count.validity = std::mem::take(&mut count.validity).and(&Validity::suspect(why));
    }
}

/// True if the count is one of cycles, whatever happens.
pub fn is_clock(source: &EventSource) -> bool {
    match source {
        EventSource::Programmed(programming) => {
            programming.event.is_some_and(|event| is_of_cycles(event.measure) && programming.control == event.config)
        }
        EventSource::Fixed(register) => register.role == Role::FixedCounter,
        EventSource::FreeRunning { register, .. } => is_of_cycles(register.measure),
    }
}

const fn is_of_cycles(measure: Measure) -> bool {
    matches!(measure, Measure::Clock | Measure::HalfClock)
}
