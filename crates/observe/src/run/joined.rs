//! Counters of two backends, as one: some units through registers, others through the kernel.

use pericore_metrics::Validity;

use super::Backend;
use crate::plan::Plan;
use crate::selection::Selection;
use crate::session::{Count, Doubt, Moment, Sample, SessionError, Withdrawn};

/// Two samples of one moment that differ by more of their length are in doubt.
const LIMIT: f64 = 0.02;

/// A backend, and the index that each of its events has in the whole selection.
#[derive(Debug)]
pub struct JoinedPart<B> {
    /// It.
    pub backend: B,
    /// The indexes.
    pub events: Vec<usize>,
}

/// One or two backends that count parts of a selection.
#[derive(Debug)]
pub struct Joined<A, B> {
    plan: Plan,
    first: Option<JoinedPart<A>>,
    second: Option<JoinedPart<B>>,
}

impl<A: Backend, B: Backend> Joined<A, B> {
    /// Counts a selection, every event of which is in one of the parts.
    pub fn new(selection: Selection, first: Option<JoinedPart<A>>, second: Option<JoinedPart<B>>) -> Self {
        let first_plan = first.as_ref().map(|part| (part.backend.plan(), &part.events[..]));
        let second_plan = second.as_ref().map(|part| (part.backend.plan(), &part.events[..]));
        let plan = Plan::joined(selection, first_plan.into_iter().chain(second_plan));
        Self { plan, first, second }
    }

    /// The first part's backend.
    pub fn first_mut(&mut self) -> Option<&mut A> {
        self.first.as_mut().map(|part| &mut part.backend)
    }
}

impl<A: Backend, B: Backend> Backend for Joined<A, B> {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn counts_since(&self) -> f64 {
        let first = self.first.as_ref().map(|part| part.backend.counts_since());
        let second = self.second.as_ref().map(|part| part.backend.counts_since());
        match (first, second) {
            (Some(first), Some(second)) => f64::midpoint(first, second),
            (one, other) => one.or(other).unwrap_or(0.0),
        }
    }

    fn sample(&mut self, now: &dyn Fn() -> Moment) -> Sample {
        let first = self.first.as_mut().map(|part| renumbered(part.backend.sample(now), &part.events));
        let second = self.second.as_mut().map(|part| renumbered(part.backend.sample(now), &part.events));
        match (first, second) {
            (Some(first), Some(second)) => self.merged(first, second),
            (one, other) => one.or(other).unwrap_or_default(),
        }
    }

    fn sample_on_overflow(&mut self, now: &dyn Fn() -> Moment) -> Option<Sample> {
        // An overflow stops the counters of registers alone: with those of another backend beside them there is none.
        match (&mut self.first, &mut self.second) {
            (Some(part), None) => Some(renumbered(part.backend.sample_on_overflow(now)?, &part.events)),
            (None, Some(part)) => Some(renumbered(part.backend.sample_on_overflow(now)?, &part.events)),
            _ => None,
        }
    }

    fn has_turns_due(&self) -> bool {
        self.first.as_ref().is_some_and(|part| part.backend.has_turns_due())
            || self.second.as_ref().is_some_and(|part| part.backend.has_turns_due())
    }

    fn rotate(&mut self, now: &dyn Fn() -> Moment) {
        if let Some(part) = self.first.as_mut().filter(|part| part.backend.has_turns_due()) {
            part.backend.rotate(now);
        }
        if let Some(part) = self.second.as_mut().filter(|part| part.backend.has_turns_due()) {
            part.backend.rotate(now);
        }
    }

    fn check(&mut self) {
        if let Some(part) = &mut self.first {
            part.backend.check();
        }
        if let Some(part) = &mut self.second {
            part.backend.check();
        }
    }

    fn stop(self) -> Result<(), SessionError> {
        let first = self.first.map_or(Ok(()), |part| part.backend.stop());
        let second = self.second.map_or(Ok(()), |part| part.backend.stop());
        first.and(second)
    }
}

impl<A, B> Joined<A, B> {
    /// Both samples as one, counts in the plan's order. Its length is the first one's, which stops its counters to be
    /// read.
    fn merged(&self, first: Sample, mut second: Sample) -> Sample {
        let apart = (first.seconds - second.seconds).abs();
        if apart > LIMIT * first.seconds {
            let why = format!(
                "registers were counted for {:.3} ms, and the kernel's counters for {:.3} ms; choose a longer interval",
                first.seconds * 1e3,
                second.seconds * 1e3
            );
            for Count { validity, .. } in &mut second.counts {
                *validity = std::mem::take(validity).and(&Validity::suspect(why.clone()));
            }
        }
        let mut counts = Vec::with_capacity(first.counts.len() + second.counts.len());
        for part in &self.plan.sockets {
            let of_socket = |count: &&Count| count.socket == part.socket;
            counts.extend(first.counts.iter().chain(&second.counts).filter(of_socket).cloned());
        }
        let withdrawn = first.withdrawn.or(second.withdrawn);
        Sample {
            counts,
            withdrawn,
            is_checked: first.is_checked && second.is_checked,
            ..Sample { counts: Vec::new(), withdrawn: None, ..first }
        }
    }
}

/// The sample with its events' indexes in the whole selection.
fn renumbered(mut sample: Sample, events: &[usize]) -> Sample {
    let whole = |event: usize| events.get(event).copied().unwrap_or(event);
    sample.counts.iter_mut().for_each(|count| count.event = whole(count.event));
    sample.withdrawn = sample.withdrawn.map(|Withdrawn { samples, doubts }| {
        let doubts = doubts.into_iter().map(|doubt| Doubt { event: whole(doubt.event), ..doubt });
        Withdrawn { samples, doubts: doubts.collect() }
    });
    sample
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::e5_2600;

    /// Counts one event, as often as was said, and changes rounds by itself unless it is due.
    struct One {
        plan: Plan,
        overflow: Option<u64>,
        is_due: bool,
    }

    fn one(overflow: Option<u64>, is_due: bool) -> One {
        let plan = Plan { selection: Selection::new(e5_2600()), sockets: Vec::new() };
        One { plan, overflow, is_due }
    }

    impl Backend for One {
        fn plan(&self) -> &Plan {
            &self.plan
        }

        fn counts_since(&self) -> f64 {
            0.0
        }

        fn sample(&mut self, _: &dyn Fn() -> Moment) -> Sample {
            Sample::default()
        }

        fn sample_on_overflow(&mut self, _: &dyn Fn() -> Moment) -> Option<Sample> {
            let count = Count {
                event: 0,
                socket: 0,
                instance: 0,
                count: Some(self.overflow.take()?),
                validity: Validity::MEASURED,
                slices: Default::default(),
                standard_error: None,
            };
            Some(Sample { counts: vec![count], ..Sample::default() })
        }

        fn has_turns_due(&self) -> bool {
            self.is_due
        }

        fn rotate(&mut self, _: &dyn Fn() -> Moment) {}

        fn check(&mut self) {}

        fn stop(self) -> Result<(), SessionError> {
            Ok(())
        }
    }

    fn joined(first: Option<One>, second: Option<One>) -> Joined<One, One> {
        let part = |number| move |backend| JoinedPart { backend, events: vec![number] };
        Joined::new(Selection::new(e5_2600()), first.map(part(4)), second.map(part(7)))
    }

    /// Whichever part counts alone, its overflow is a sample, once, under the number that the event has in the whole.
    /// Beside another part none is: that part's counters would not have stopped.
    #[test]
    fn an_overflow_is_a_sample_where_one_part_counts_alone() {
        let now = || Moment::default();
        let of = |joined: &mut Joined<One, One>| {
            let sample = joined.sample_on_overflow(&now)?;
            Some(sample.counts.iter().map(|count| (count.event, count.count)).collect::<Vec<_>>())
        };
        let overflowed = || Some(one(Some(1000), false));
        for (mut alone, event) in [(joined(overflowed(), None), 4), (joined(None, overflowed()), 7)] {
            assert_eq!(of(&mut alone), Some(vec![(event, Some(1000))]));
            assert_eq!(of(&mut alone), None);
        }
        assert_eq!(of(&mut joined(overflowed(), overflowed())), None);
    }

    /// The driver changes rounds where one part waits for that, and leaves those alone that do it by themselves.
    #[test]
    fn turns_are_due_where_they_are_in_a_part() {
        let part = |is_due| Some(one(None, is_due));
        for (first, second, expected) in [
            (part(false), part(false), false),
            (part(true), part(false), true),
            (part(false), part(true), true),
            (part(false), None, false),
            (None, part(true), true),
        ] {
            assert_eq!(joined(first, second).has_turns_due(), expected);
        }
    }
}
