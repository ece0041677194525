//! Clocks of like units tick alike: one that differs shows that its unit stood for a part of the time, although all
//! is as it was by now.

use std::collections::BTreeMap;

use pericore_metrics::{Grade, Validity};

use super::super::sample::{Count, Sample};
use super::stuck::is_clock;
use crate::plan::{Plan, instance_name};

/// A clock that has one tick in so many more or less than another differs.
const SHARE: u64 = 100;

/// Ticks from which on one in [`SHARE`] is no chance: units start and stop one after the other.
const LEAST: u64 = 20 * SHARE;

/// Doubts the counts of an instance whose clock was counted, and differs from those of its neighbours in the socket.
/// Of two that differ nobody knows which is right. Only clocks that are stopped to be read: of others, each
/// is read a moment after the one before, and on a busy machine that may be long. Units that have a freeze each also
/// start and stop one after the other: `apart` says for what share of the sample the units of a socket may have run
/// longer than each other by that.
pub fn mark(plan: &Plan, sample: &mut Sample, apart: impl Fn(u16) -> f64) {
    let mut alike: BTreeMap<(usize, u16), Vec<(u16, u64)>> = BTreeMap::new();
    for count in sample.counts.iter().filter(|count| count.validity.grade() == Grade::Measured) {
        if let (Some(ticks @ 1..), true) = (count.count, is_stopped_to_be_read(plan, count)) {
            alike.entry((count.event, count.socket)).or_default().push((count.instance, ticks));
        }
    }
    let mut off: Vec<(&str, u16, u16, Validity)> = Vec::new();
    for ((event, socket), clocks) in alike {
        let unit = plan.selection.events[event].unit;
        let mut sorted: Vec<u64> = clocks.iter().map(|(_, ticks)| *ticks).collect();
        sorted.sort_unstable();
        let (least, middle) = (sorted[0], sorted[sorted.len() / 2]);
        if middle < LEAST {
            continue;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "casts saturate; a bound"
        )]
        let room = middle / SHARE + (middle as f64 * apart(socket)) as u64;
        for (number, ticks) in clocks {
            let from = if sorted.len() == 2 { middle.max(least) - least } else { ticks.abs_diff(middle) };
            if from >= room {
                let why = format!(
                    "the clock of {} in socket {socket} ticked {ticks} times, others like it {middle} times: \
                     someone else stopped one for a part of the time, or it was powered down",
                    instance_name(unit, number)
                );
                off.push((unit.name, socket, number, Validity::suspect(why)));
            }
        }
    }
    for count in &mut sample.counts {
        let unit = plan.selection.events[count.event].unit.name;
        let own = off
            .iter()
            .find(|(name, socket, number, _)| (*name, *socket, *number) == (unit, count.socket, count.instance));
        if let Some((.., why)) = own {
            count.validity = std::mem::take(&mut count.validity).and(why);
        }
    }
}

/// True if a count is one of a clock that is stopped to be read.
fn is_stopped_to_be_read(plan: &Plan, count: &Count) -> bool {
    is_clock(&plan.selection.events[count.event].source)
        && plan.stops_to_read(count.event, count.socket, count.instance)
}
