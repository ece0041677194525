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
    use std::cell::RefCell;
    use std::rc::Rc;

    use pericore_metrics::Grade;

    use super::*;
    use crate::discover::discover;
    use crate::session::JournalError;
    use crate::testing::{CPUS, Fake, e5_2600};

    /// What backends were asked, by their names.
    type Log = Rc<RefCell<Vec<String>>>;

    /// Counts one event, as often as was logged, and changes rounds by itself unless it is due.
    struct One {
        plan: Plan,
        overflow: Option<u64>,
        is_due: bool,
        since: f64,
        sample: Sample,
        name: &'static str,
        log: Log,
        fails: bool,
    }

    fn one(overflow: Option<u64>, is_due: bool) -> One {
        let plan = Plan { selection: Selection::new(e5_2600()), sockets: Vec::new() };
        let (sample, log) = (Sample::default(), Log::default());
        One { plan, overflow, is_due, since: 0.0, sample, name: "one", log, fails: false }
    }

    impl Backend for One {
        fn plan(&self) -> &Plan {
            &self.plan
        }

        fn counts_since(&self) -> f64 {
            self.since
        }

        fn sample(&mut self, _: &dyn Fn() -> Moment) -> Sample {
            self.sample.clone()
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

        fn rotate(&mut self, _: &dyn Fn() -> Moment) {
            self.log.borrow_mut().push(format!("{} rotates", self.name));
        }

        fn check(&mut self) {
            self.log.borrow_mut().push(format!("{} checks", self.name));
        }

        fn stop(self) -> Result<(), SessionError> {
            self.log.borrow_mut().push(format!("{} stops", self.name));
            let refused = || JournalError::Occupied { path: self.name.to_owned(), holder: String::new() };
            if self.fails { Err(refused().into()) } else { Ok(()) }
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

    /// Both are looked at and stopped, even if the first cannot put everything back; rounds change where they are due.
    #[test]
    fn what_the_whole_does_each_part_does() {
        let log = Log::default();
        let part = |name, is_due, fails| One { name, log: log.clone(), fails, ..one(None, is_due) };
        let logged = || std::mem::take(&mut *log.borrow_mut());
        let now = || Moment::default();
        let end = |first: Option<One>, second: Option<One>| {
            let mut joined = joined(first, second);
            joined.check();
            joined.rotate(&now);
            joined.stop().map_err(|error| error.to_string())
        };
        assert_eq!(end(Some(part("a", true, false)), Some(part("b", false, false))), Ok(()));
        assert_eq!(logged(), ["a checks", "b checks", "a rotates", "a stops", "b stops"]);
        assert_eq!(end(Some(part("a", false, false)), Some(part("b", true, false))), Ok(()));
        assert_eq!(logged(), ["a checks", "b checks", "b rotates", "a stops", "b stops"]);
        assert_eq!(end(None, Some(part("b", true, false))), Ok(()));
        assert_eq!(logged(), ["b checks", "b rotates", "b stops"]);
        for (first, second) in [(true, false), (false, true)] {
            let refused = end(Some(part("a", false, first)), Some(part("b", false, second))).unwrap_err();
            assert!(refused.contains(if first { "a" } else { "b" }), "{refused}");
            assert_eq!(logged()[2..], ["a stops", "b stops"]);
        }
    }

    #[test]
    fn what_both_count_began_halfway_between_them() {
        let since = |since| Some(One { since, ..one(None, false) });
        for (first, second, expected) in
            [(since(3.0), since(3.5), 3.25), (since(3.0), None, 3.0), (None, since(3.5), 3.5), (None, None, 0.0)]
        {
            assert_eq!(joined(first, second).counts_since(), expected);
        }
    }

    /// A part that counts one event in both sockets, with a sample of so many seconds.
    fn counting(counted: [u64; 2], seconds: f64, is_checked: bool) -> One {
        let mut selection = Selection::new(e5_2600());
        selection.add_events("imc0/CAS_COUNT.RD/").unwrap();
        let topology = discover(&mut Fake::two_sockets(), e5_2600(), &CPUS, |unit| unit.name == "imc").unwrap();
        let plan = Plan::new(&topology, selection).unwrap();
        let count = |(socket, count)| Count {
            event: 0,
            socket,
            instance: 0,
            count: Some(count),
            validity: Validity::MEASURED,
            slices: Default::default(),
            standard_error: None,
        };
        let counts = (0..).zip(counted).map(count).collect();
        One { plan, sample: Sample { seconds, counts, is_checked, ..Sample::default() }, ..one(None, false) }
    }

    /// Counts stand socket by socket, those of registers first. Two ways that were read at nearly the same times are
    /// one sample; by more than 2 % of its length the kernel's counts are in doubt, and it lasts as long as registers.
    #[test]
    fn samples_of_two_ways_are_one_unless_their_lengths_lie_apart() {
        let now = || Moment::default();
        for (first, second, is_apart) in
            [(1.0, 1.0, false), (1.0, 1.01, false), (1.0, 0.97, true), (10.0, 10.15, false), (0.1, 0.11, true)]
        {
            let (one, other) = (counting([10, 20], first, true), counting([5, 6], second, true));
            let sample = joined(Some(one), Some(other)).sample(&now);
            let counts: Vec<_> =
                sample.counts.iter().map(|count| (count.socket, count.event, count.count.unwrap())).collect();
            assert_eq!(counts, [(0, 4, 10), (0, 7, 5), (1, 4, 20), (1, 7, 6)]);
            let doubted: Vec<bool> =
                sample.counts.iter().map(|count| count.validity.grade() == Grade::Suspect).collect();
            assert_eq!(doubted, [false, is_apart, false, is_apart], "{first} s and {second} s");
            assert_eq!((sample.seconds, sample.is_checked), (first, true));
        }
        let apart = joined(Some(counting([1, 1], 1.0, true)), Some(counting([1, 1], 1.25, true))).sample(&now);
        let words = apart.counts[1].validity.to_string();
        assert!(words.contains("counted for 1000.000 ms, and the kernel's counters for 1250.000 ms"), "{words}");
    }

    /// Only what both parts have looked at is confirmed. What either withdraws is withdrawn, under the number that the
    /// event has in the whole.
    #[test]
    fn what_one_part_doubts_the_whole_doubts() {
        let now = || Moment::default();
        for (first, second) in [(true, false), (false, true), (false, false)] {
            let parts = [first, second].map(|is_checked| Some(counting([1, 2], 1.0, is_checked)));
            let [first, second] = parts;
            assert!(!joined(first, second).sample(&now).is_checked);
        }
        let doubt = |event| Doubt { event, socket: 1, instance: 0, why: "it was written".to_owned() };
        let doubting = || {
            let mut part = counting([1, 2], 1.0, true);
            part.sample.withdrawn = Some(Withdrawn { samples: 3, doubts: vec![doubt(0)] });
            Some(part)
        };
        let calm = || Some(counting([1, 2], 1.0, true));
        for (first, second, event) in
            [(doubting(), calm(), 4), (calm(), doubting(), 7), (doubting(), None, 4), (None, doubting(), 7)]
        {
            let withdrawn = joined(first, second).sample(&now).withdrawn.unwrap();
            assert_eq!(withdrawn, Withdrawn { samples: 3, doubts: vec![doubt(event)] });
        }
    }
}
