//! A sample: counts since the one before, each with its validity.

use pericore_metrics::Validity;

use super::InstanceState;
use super::state::State;
use crate::plan::{CounterUse, InstancePlan, Plan};

/// A point in time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moment {
    /// Seconds since some fixed point; virtual on a software machine.
    pub seconds: f64,
    /// The time-stamp counter.
    pub tsc: u64,
}

/// Counts of an interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    /// Length in seconds.
    pub seconds: f64,
    /// Length in cycles of the time-stamp counter.
    pub tsc_cycles: u64,
    /// One count for each event in each instance that counts it.
    pub counts: Vec<Count>,
}

/// A count of an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Count {
    /// Index in the selection's events.
    pub event: usize,
    /// Socket.
    pub socket: u16,
    /// Instance within the socket.
    pub instance: u16,
    /// Increments in the interval; none if `validity` says that there is no number.
    pub count: Option<u64>,
    /// How far the number can be trusted.
    pub validity: Validity,
}

impl Sample {
    /// Adds a later interval of the same plan.
    pub fn add(&mut self, other: &Self) {
        self.seconds += other.seconds;
        self.tsc_cycles = self.tsc_cycles.saturating_add(other.tsc_cycles);
        if self.counts.is_empty() {
            self.counts.clone_from(&other.counts);
            return;
        }
        for (count, later) in self.counts.iter_mut().zip(&other.counts) {
            debug_assert_eq!((count.event, count.socket, count.instance), (later.event, later.socket, later.instance));
            count.count = count.count.zip(later.count).map(|(a, b)| a.saturating_add(b));
            count.validity = std::mem::take(&mut count.validity).and(&later.validity);
        }
    }
}

/// Turns the readings in `state` into counts since `last`.
pub(super) fn take(plan: &Plan, state: &mut State, last: Moment, moment: Moment) -> Sample {
    let seconds = (moment.seconds - last.seconds).max(0.0);
    let mut counts = Vec::new();
    for (socket, part) in plan.sockets.iter().enumerate() {
        for (index, instance) in part.instances.iter().enumerate() {
            let instance_state = state.instance_mut(socket, index);
            for (number, counter) in instance.counters.iter().enumerate() {
                let (count, validity) = difference(part.socket, instance, instance_state, number, counter, seconds);
                counts.extend(counter.events.iter().map(|&event| Count {
                    event,
                    socket: part.socket,
                    instance: instance.number,
                    count,
                    validity: validity.clone(),
                }));
            }
        }
    }
    Sample { seconds, tsc_cycles: moment.tsc.wrapping_sub(last.tsc), counts }
}

fn difference(
    socket: u16,
    instance: &InstancePlan,
    state: &mut InstanceState,
    number: usize,
    counter: &CounterUse,
    seconds: f64,
) -> (Option<u64>, Validity) {
    let which =
        || format!("{} of {} in socket {socket}", counter.register.member_name(counter.member), instance.name());
    if let Some(why) = state.fault() {
        return (None, Validity::unreadable(format!("{} in socket {socket}", instance.name()), why));
    }
    let doubt = state.doubts().map(|why| Validity::suspect(format!("{} {why}", instance.name())));
    let readings = state.counter_mut(number);
    let current = readings.current.take();
    let before = readings.last.take();
    let (now, before) = match (current, before) {
        (Some(Ok(now)), Some(before)) => (now, before),
        (Some(Ok(now)), None) => {
            readings.last = Some(now);
            return (None, Validity::unreadable(which(), "the reading before this one failed"));
        }
        (Some(Err(why)), _) => return (None, Validity::unreadable(which(), why)),
        (None, _) => return (None, Validity::unreadable(which(), "it was not read")),
    };
    readings.last = Some(now);
    if seconds > counter.safe_seconds {
        return (None, Validity::wrapped_unknown(which()));
    }
    let bits = counter.bits();
    let mut validity = doubt.unwrap_or_default();
    if now & !bits.mask() != 0 {
        validity = validity.and(&Validity::suspect(format!("{} has reserved bits set ({now:#x})", which())));
    }
    (Some(bits.get(now).wrapping_sub(bits.get(before)) & bits.max()), validity)
}
