//! A sample: counts since the one before, each with its validity.

use std::collections::BTreeMap;

use pericore_metrics::Validity;

use super::InstanceState;
use super::check::Withdrawn;
use super::length::Length;
use super::slices::{Slices, at_end_of_range};
use super::steps::{CounterState, State};
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
    /// Length in seconds, the mean over the sockets.
    pub seconds: f64,
    /// Length in cycles of the time-stamp counter, the mean over the sockets.
    pub tsc_cycles: u64,
    /// The lengths of the sockets, if they are not all the same.
    pub sockets: BTreeMap<u16, Length>,
    /// True if the counters stood for an unknown part of it, so that the length is too long.
    pub stood_before_reading: bool,
    /// Seconds for which counters were paused besides: to be read when it began, and to change rounds in it. What
    /// happened then is in no count. Of the sockets the longest.
    pub paused: f64,
    /// One count for each event in each instance that counts it.
    pub counts: Vec<Count>,
    /// True if all that it depends on was looked at after its counts were read: what was measured is confirmed then.
    /// Else a later sample does so.
    pub is_checked: bool,
    /// Samples before this one that are in doubt by now.
    pub withdrawn: Option<Withdrawn>,
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
    /// For a scaled count the parts of the interval that it was scaled up from.
    pub slices: Slices,
    /// For a scaled count its standard error, from the variation between the parts; none if they are too few.
    pub standard_error: Option<f64>,
}

impl Sample {
    /// The share of the time in which counters were paused.
    pub fn share_paused(&self) -> f64 {
        let whole = self.seconds + self.paused;
        if whole > 0.0 { self.paused / whole } else { 0.0 }
    }

    /// What others have done meanwhile to registers that counts depend on, each once, in the words of the counts'
    /// validity.
    pub fn doubts_by_others(&self) -> Vec<String> {
        let mut doubts: Vec<String> = Vec::new();
        for doubt in self.counts.iter().map(|count| count.validity.to_string()) {
            if (doubt.contains("someone else") || doubt.contains("somebody else")) && !doubts.contains(&doubt) {
                doubts.push(doubt);
            }
        }
        doubts
    }

    /// Marks what a later sample withdraws of this one; true if there is anything.
    pub fn withdraw(&mut self, withdrawn: &Withdrawn) -> bool {
        let mut any = false;
        for count in &mut self.counts {
            if let Some(doubt) = withdrawn.validity_of(count.event, count.socket, count.instance) {
                count.validity = std::mem::take(&mut count.validity).and(&doubt);
                any = true;
            }
        }
        any
    }

    /// The same with other counts, which are known for certain, in the same order; where there is none, there is no
    /// number.
    #[must_use]
    pub fn with_truth(&self, truths: impl IntoIterator<Item = Option<u64>>) -> Self {
        let counts = self.counts.iter().zip(truths).map(|(count, truth)| {
            let validity =
                truth.map_or_else(|| Validity::unreadable("the truth", "nobody knows it"), |_| Validity::MEASURED);
            Count { count: truth, validity, slices: Slices::default(), standard_error: None, ..count.clone() }
        });
        Self { counts: counts.collect(), ..self.clone() }
    }
}

/// How long a socket's counters have run since the readings before, in seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ran {
    /// Those that run all the time; nothing if they run on.
    pub(super) always: Option<f64>,
    /// Of these, those that stood while rounds changed.
    pub(super) in_all_turns: f64,
    /// Those that take turns, in the last one.
    pub(super) turn: f64,
}

/// Turns the readings in `state` of all counters that run, or only of those that take turns, into slices since the
/// readings before. There is one of `ran` for each socket of the plan.
pub(super) fn close(plan: &Plan, state: &mut State, ran: &[Ran]) {
    for ((socket, part), &Ran { always, in_all_turns, turn }) in plan.sockets.iter().enumerate().zip(ran) {
        for (index, instance) in part.instances.iter().enumerate() {
            let instance_state = state.instance_mut(socket, index);
            let round = instance_state.round;
            let fails = instance_state.fault().is_some();
            for (number, counter) in instance.counters.iter().enumerate() {
                let seconds = match counter.round {
                    Some(_) => Some(turn),
                    None if counter.control.is_some() && part.stops_for_turns(index) => always.map(|_| in_all_turns),
                    None => always,
                };
                let Some(seconds) = seconds.filter(|_| counter.runs_in(round) && !fails) else { continue };
                let readings = instance_state.counter_mut(number);
                let which = || {
                    let register = counter.register.member_name(counter.member);
                    format!("{register} of {} in socket {}", instance.name(), part.socket)
                };
                match difference(readings, counter, seconds, which) {
                    Ok((count, validity)) => {
                        readings.slices.push(seconds, count);
                        readings.validity = std::mem::take(&mut readings.validity).and(&validity);
                    }
                    Err(validity) => readings.validity = std::mem::take(&mut readings.validity).and(&validity),
                }
            }
        }
    }
}

/// Turns the slices in `state` into counts of a sample, and begins anew. There is one of `lengths` for each socket of
/// the plan.
pub(super) fn take(plan: &Plan, state: &mut State, lengths: &[Length]) -> Sample {
    let sockets = plan.sockets.iter().map(|part| part.socket);
    let mut sample = Sample::of_sockets(sockets.zip(lengths.iter().copied()));
    for ((socket, part), &Length { seconds, .. }) in plan.sockets.iter().enumerate().zip(lengths) {
        for (index, instance) in part.instances.iter().enumerate() {
            let instance_state = state.instance_mut(socket, index);
            for event in instance.events() {
                sample.counts.push(count(part.socket, instance, instance_state, event, seconds));
            }
            for number in 0..instance.counters.len() {
                let readings = instance_state.counter_mut(number);
                readings.slices = Slices::default();
                readings.validity = Validity::MEASURED;
            }
        }
    }
    sample
}

/// An event's count from all counters that serve it in turn.
fn count(socket: u16, instance: &InstancePlan, state: &mut InstanceState, event: usize, seconds: f64) -> Count {
    let nothing = |validity| Count {
        event,
        socket,
        instance: instance.number,
        count: None,
        validity,
        slices: Slices::default(),
        standard_error: None,
    };
    if let Some(why) = state.fault() {
        return nothing(Validity::unreadable(format!("{} in socket {socket}", instance.name()), why));
    }
    let mut validity = match state.doubts() {
        Some(why) => Validity::suspect(format!("{} {why}", instance.name())),
        None => Validity::MEASURED,
    };
    let mut slices = Slices::default();
    for (number, _) in instance.counters.iter().enumerate().filter(|(_, counter)| counter.events.contains(&event)) {
        let readings = state.counter_mut(number);
        slices.extend(&readings.slices);
        validity = validity.and(&readings.validity);
        if let Some(doubt) = &readings.doubt {
            validity = validity.and(&Validity::suspect(doubt.clone()));
        }
    }
    let of_event = instance.counters.iter().filter(|counter| counter.events.contains(&event));
    if let Some(doubt) = of_event.filter_map(|counter| counter.register.doubt).next() {
        validity = validity.and(&Validity::suspect(doubt));
    }
    if !validity.grade().has_number() {
        return nothing(validity);
    }
    let counted = slices.count();
    let duty = if seconds > 0.0 { slices.seconds() / seconds } else { 1.0 };
    if duty > 1.0 - 1e-9 {
        let validity = validity.and(&at_end_of_range(Some(counted)));
        let standard_error = None;
        return Count { count: Some(counted), slices: Slices::default(), standard_error, ..nothing(validity) };
    }
    if slices.is_empty() || duty <= 0.0 {
        let why = format!("its turn among {} rounds did not come; measure longer", instance.rounds);
        return nothing(validity.and(&Validity::not_defined(why)));
    }
    let scaled = slices.scaled_up(seconds);
    let standard_error = slices.standard_error(seconds);
    let validity = Validity::scaled(duty).and(&validity).and(&at_end_of_range(Some(scaled)));
    Count { count: Some(scaled), slices, standard_error, ..nothing(validity) }
}

/// The increments since the reading before, which it replaces.
fn difference(
    readings: &mut CounterState,
    counter: &CounterUse,
    seconds: f64,
    which: impl Fn() -> String,
) -> Result<(u64, Validity), Validity> {
    let current = readings.current.take();
    let before = readings.last.take();
    let (now, before) = match (current, before) {
        (Some(Ok(now)), Some(before)) => (now, before),
        (Some(Ok(now)), None) => {
            readings.last = Some(now);
            return Err(Validity::unreadable(which(), "the reading before this one failed"));
        }
        (Some(Err(why)), _) => return Err(Validity::unreadable(which(), why)),
        (None, _) => return Err(Validity::unreadable(which(), "it was not read")),
    };
    readings.last = Some(now);
    if seconds > counter.safe_seconds {
        return Err(Validity::wrapped_unknown(which()));
    }
    let bits = counter.bits();
    let mut validity = Validity::MEASURED;
    if now & !bits.mask() != 0 {
        validity = Validity::suspect(format!("{} has reserved bits set ({now:#x})", which()));
    }
    let counted = bits.get(now).wrapping_sub(bits.get(before)) & bits.max();
    if counter.control.is_some() && is_beyond(counted, counter, seconds) {
        let why = format!("{} rose by {counted} in {seconds} s, faster than any clock: someone else wrote it", which());
        validity = validity.and(&Validity::suspect(why));
    }
    Ok((counted, validity))
}

/// True if a counter cannot have counted so much in so short a time: what is written into it shows, if it went back.
#[expect(clippy::cast_precision_loss, reason = "a bound with room")]
fn is_beyond(counted: u64, counter: &CounterUse, seconds: f64) -> bool {
    /// What no document says of an event's increments has room here, and so have times that are told coarsely.
    const ROOM: f64 = 4.0;
    const LEAST: f64 = 1.0 / 1024.0;
    let share = (ROOM * seconds / counter.safe_seconds).max(LEAST);
    counted as f64 > share * counter.bits().max() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::Doubt;

    fn count(event: usize, number: Option<u64>, validity: Validity) -> Count {
        let slices = Slices::default();
        Count { event, socket: 0, instance: 1, count: number, validity, slices, standard_error: Some(1.0) }
    }

    #[test]
    fn a_share_is_of_the_sample_and_its_pauses() {
        let of = |seconds, paused| Sample { seconds, paused, ..Sample::default() }.share_paused();
        assert_eq!([of(3.0, 1.0), of(1.0, 0.0), of(0.0, 2.0), of(0.0, 0.0)], [0.25, 0.0, 1.0, 0.0]);
    }

    /// What somebody else did is listed once; faults of the machine are not in that list.
    #[test]
    fn doubts_by_others_are_listed_once() {
        let counts = [
            Validity::suspect("someone else wrote it"),
            Validity::suspect("it is stuck"),
            Validity::suspect("someone else wrote it"),
            Validity::unreadable("cbo1", "left to somebody else"),
            Validity::MEASURED,
        ];
        let counts = counts.into_iter().map(|validity| count(0, None, validity)).collect();
        let doubts = Sample { counts, ..Sample::default() }.doubts_by_others();
        assert_eq!(doubts.len(), 2, "{doubts:?}");
        assert!(doubts[0].contains("someone else wrote it") && doubts[1].contains("left to somebody else"));
    }

    #[test]
    fn what_is_withdrawn_of_a_sample_is_marked() {
        let doubt = |event| Doubt { event, socket: 0, instance: 1, why: "it was frozen".to_owned() };
        let counts = vec![count(4, Some(1), Validity::MEASURED), count(5, Some(2), Validity::suspect("odd"))];
        let mut sample = Sample { counts, ..Sample::default() };
        assert!(!sample.withdraw(&Withdrawn { samples: 1, doubts: vec![doubt(6)] }));
        assert!(sample.counts[0].validity == Validity::MEASURED);
        assert!(sample.withdraw(&Withdrawn { samples: 1, doubts: vec![doubt(5)] }));
        let texts: Vec<String> = sample.counts.iter().map(|count| count.validity.to_string()).collect();
        assert_eq!(texts[1], "suspect: odd; suspect: withdrawn: it was frozen");
        assert!(sample.counts[0].validity == Validity::MEASURED);
    }

    /// What is known for certain has neither doubts nor errors; what nobody knows has no number.
    #[test]
    fn true_counts_stand_in_the_place_of_counts() {
        let mut scaled = count(4, Some(10), Validity::scaled(0.5));
        scaled.slices.push(1.0, 5);
        let counts = vec![scaled, count(5, Some(2), Validity::MEASURED)];
        let sample = Sample { seconds: 2.0, counts, is_checked: true, ..Sample::default() };
        let truth = sample.with_truth([Some(11), None]);
        assert_eq!((truth.seconds, truth.is_checked), (2.0, true));
        let [known, unknown] = &truth.counts[..] else { panic!("two counts") };
        assert_eq!((known.event, known.count, known.standard_error), (4, Some(11), None));
        assert!(known.validity == Validity::MEASURED && known.slices.is_empty());
        assert_eq!((unknown.event, unknown.count), (5, None));
        assert!(unknown.validity.to_string().contains("nobody knows it"));
    }

    /// A counter of 48 bits of which no clock makes more than a quarter in its safe time: a CBo's counts 44 bits.
    #[test]
    fn a_difference_needs_two_readings_in_time() {
        let cbo = crate::testing::e5_2600().unit("cbo").unwrap();
        let register = cbo.register(pericore_catalog::Role::Counter).unwrap();
        let control = cbo.register(pericore_catalog::Role::Control).map(|control| (control, 0));
        let counter = CounterUse { register, member: 0, control, events: vec![0], round: None, safe_seconds: 100.0 };
        let of = |last: Option<u64>, current: Option<Result<u64, String>>, seconds: f64| {
            let mut readings = CounterState { last, current, ..CounterState::default() };
            let found = difference(&mut readings, &counter, seconds, || "ctr0".to_owned());
            assert_eq!(readings.current, None);
            let found = found.map(|(count, validity)| (count, validity.to_string()));
            (found.map_err(|validity| validity.to_string()), readings.last)
        };
        let measured = |count| Ok((count, Validity::MEASURED.to_string()));
        assert_eq!(of(Some(5), Some(Ok(12)), 1.0), (measured(7), Some(12)));
        assert_eq!(of(Some((1 << 44) - 3), Some(Ok(4)), 100.0), (measured(7), Some(4)));
        let refused = |last, current, seconds, words: &str, left| {
            let (found, last) = of(last, current, seconds);
            let text = found.unwrap_err();
            assert!(text.contains(words), "{text}");
            assert_eq!(last, left);
        };
        refused(None, Some(Ok(12)), 1.0, "the reading before this one failed", Some(12));
        refused(Some(5), None, 1.0, "it was not read", None);
        refused(Some(5), Some(Err("gone".to_owned())), 1.0, "gone", None);
        refused(Some(5), Some(Ok(12)), 100.5, "ctr0", Some(12));
        // Bit 50 is none of a counter of 44 bits.
        let (found, _) = of(Some(5), Some(Ok(1 << 50 | 12)), 1.0);
        let (count, words) = found.unwrap();
        assert!(count == 7 && words.contains("has reserved bits set (0x400000000000c)"), "{words}");
        // In a hundredth of its safe time a counter makes 4 % of its range at most, and a thousandth always.
        for (seconds, counted, is_beyond) in
            [(1.0, (1_u64 << 44) / 26, false), (1.0, (1 << 44) / 24, true), (0.0, 1 << 33, false), (0.0, 1 << 35, true)]
        {
            let (found, _) = of(Some(0), Some(Ok(counted)), seconds);
            let words = found.unwrap().1;
            assert_eq!(words.contains("faster than any clock: someone else wrote it"), is_beyond, "{counted}: {words}");
        }
    }
}
