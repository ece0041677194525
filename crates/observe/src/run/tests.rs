//! What the driver asks of counters at which time, with a clock of milliseconds and counters that only note what they are asked.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::*;
use crate::discover::{Presence, Socket, Topology, discover};
use crate::selection::Selection;
use crate::session::{Moment, Options, Session};
use crate::testing::{CPUS, Fake, e5_2600};

/// What happened, in order, each with the millisecond.
type Log = Rc<RefCell<Vec<(u64, &'static str)>>>;

#[derive(Debug, PartialEq)]
enum Trouble {
    Session(String),
    Clock,
    Sink,
}

impl From<SessionError> for Trouble {
    fn from(error: SessionError) -> Self {
        Self::Session(error.to_string())
    }
}

/// Milliseconds. Each wait ends `late` after its time, and the measurement at `end`.
struct Milliseconds {
    now: Cell<u64>,
    late: Vec<u64>,
    end: u64,
    fails_at: u64,
    /// When markers come, in ascending order.
    markers: Vec<u64>,
}

impl Milliseconds {
    fn until(end: u64) -> Self {
        Self { now: Cell::new(0), late: Vec::new(), end, fails_at: u64::MAX, markers: Vec::new() }
    }
}

impl Clock for Milliseconds {
    type Error = Trouble;

    fn ticks_per_second(&self) -> u64 {
        1000
    }

    fn now(&self) -> u64 {
        self.now.get()
    }

    fn moment(&self) -> Moment {
        Moment { seconds: self.now.get() as f64 / 1e3, tsc: 0 }
    }

    fn pass(&mut self, stretch: Stretch) -> Result<Passed, Trouble> {
        let late = if self.late.is_empty() { 0 } else { self.late.remove(0) };
        let until = stretch.until.map_or(self.end, |until| until + late).min(self.end);
        if until >= self.fails_at {
            return Err(Trouble::Clock);
        }
        if let Some(&marker) = self.markers.first().filter(|&&marker| marker < until) {
            self.markers.remove(0);
            self.now.set(marker);
            return Ok(Passed::Marked);
        }
        assert!(until >= self.now.get(), "time goes on");
        self.now.set(until);
        Ok(if until == self.end { Passed::Over } else { Passed::On })
    }
}

struct Noting {
    log: Log,
    plan: Plan,
    started: f64,
    /// When the counter that is waited for overflows.
    overflows: Vec<f64>,
    is_stopped: bool,
}

impl Noting {
    fn note(&self, what: &'static str, now: &dyn Fn() -> Moment) {
        self.log.borrow_mut().push(((now().seconds * 1e3).round() as u64, what));
    }
}

impl Backend for Noting {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn counts_since(&self) -> f64 {
        self.started
    }

    fn sample(&mut self, now: &dyn Fn() -> Moment) -> Sample {
        self.note("sample", now);
        self.started = now().seconds;
        Sample::default()
    }

    fn sample_on_overflow(&mut self, now: &dyn Fn() -> Moment) -> Option<Sample> {
        if self.overflows.first().is_none_or(|&at| now().seconds < at) {
            return None;
        }
        self.overflows.remove(0);
        self.note("overflow", now);
        Some(Sample::default())
    }

    fn rotate(&mut self, now: &dyn Fn() -> Moment) {
        self.note("rotate", now);
    }

    fn check(&mut self) {
        self.log.borrow_mut().push((0, "check"));
    }

    fn stop(mut self) -> Result<(), SessionError> {
        self.is_stopped = true;
        self.log.borrow_mut().push((0, "stop"));
        Ok(())
    }
}

impl Drop for Noting {
    fn drop(&mut self) {
        if !self.is_stopped {
            self.log.borrow_mut().push((0, "dropped"));
        }
    }
}

fn plan(events: &str) -> Plan {
    let mut selection = Selection::new(e5_2600());
    selection.add_events(events).unwrap();
    let mut socket = Socket::new(0, 0, None);
    socket.set_presence(e5_2600().unit("cbo").unwrap(), vec![Presence::Present; 8]);
    Plan::new(&Topology { family: e5_2600(), sockets: vec![socket] }, selection).unwrap()
}

const ONE_ROUND: &str = "cbo0/CLOCKTICKS/";
/// One filter register, two values: they cannot be counted at once.
const TWO_ROUNDS: &str = "cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/";

struct Run {
    ending: Result<(), Trouble>,
    log: Vec<(u64, &'static str)>,
    /// The ends of samples in milliseconds.
    ends: Vec<Option<u64>>,
}

fn noting(events: &str, overflows: &[f64]) -> (Noting, Log) {
    let log = Log::default();
    let overflows = overflows.to_vec();
    (Noting { log: log.clone(), plan: plan(events), started: 0.0, overflows, is_stopped: false }, log)
}

/// The sink refuses after `most` samples.
fn run_with(events: &str, clock: &mut Milliseconds, schedule: Schedule, overflows: &[f64], most: usize) -> Run {
    let (backend, log) = noting(events, overflows);
    let mut ends = Vec::new();
    let ending = drive(backend, clock, &schedule, |taken| {
        if ends.len() == most {
            return Err(Trouble::Sink);
        }
        ends.push(taken.end.map(|end| (end * 1e3).round() as u64));
        Ok(())
    });
    let log = log.borrow().clone();
    Run { ending, log, ends }
}

fn run(events: &str, clock: &mut Milliseconds, schedule: Schedule) -> Run {
    run_with(events, clock, schedule, &[], usize::MAX)
}

const AT_THE_END: Schedule = Schedule::until_the_end(0.010);

#[test]
fn one_sample_at_the_end_is_taken_after_a_check_and_has_no_place_in_a_series() {
    let run = run(ONE_ROUND, &mut Milliseconds::until(70), AT_THE_END);
    assert_eq!(run.ending, Ok(()));
    assert_eq!(run.log, [(0, "check"), (70, "sample"), (0, "stop")]);
    assert_eq!(run.ends, [None]);
}

#[test]
fn intervals_stay_on_their_grid_and_missed_ones_are_left_out() {
    // The second wait ends 25 ms late: the samples of 20 and 40 ms become one, and the next is that of 60 ms, not of 65.
    let mut clock = Milliseconds { late: vec![0, 25], ..Milliseconds::until(90) };
    let run = run(ONE_ROUND, &mut clock, Schedule { interval: Some(0.020), ..AT_THE_END });
    assert_eq!(run.ends, [Some(20), Some(65), Some(80), Some(90)]);
}

#[test]
fn the_end_takes_what_is_left_and_an_interval_that_ends_with_it_is_one_sample() {
    let late = run(ONE_ROUND, &mut Milliseconds::until(50), Schedule { interval: Some(0.020), ..AT_THE_END });
    assert_eq!(late.ends, [Some(20), Some(40), Some(50)]);
    let even = run(ONE_ROUND, &mut Milliseconds::until(40), Schedule { interval: Some(0.020), ..AT_THE_END });
    assert_eq!(even.ends, [Some(20), Some(40)]);
}

/// Intervals of 20 ms are due at 20, 40 and 60 ms; markers cut two of them.
#[test]
fn a_marker_is_a_sample_at_once_and_leaves_the_grid_as_it_is() {
    let mut clock = Milliseconds { markers: vec![7, 33], ..Milliseconds::until(70) };
    let run = run(ONE_ROUND, &mut clock, Schedule { interval: Some(0.020), ..AT_THE_END });
    assert_eq!(run.ends, [Some(7), Some(20), Some(33), Some(40), Some(60), Some(70)]);
}

#[test]
fn a_timeout_and_a_number_of_intervals_end_it() {
    let schedule = Schedule { interval: Some(0.020), timeout: Some(0.050), ..AT_THE_END };
    assert_eq!(run(ONE_ROUND, &mut Milliseconds::until(1000), schedule).ends, [Some(20), Some(40), Some(50)]);
    let schedule = Schedule { interval: Some(0.020), intervals: Some(2), ..AT_THE_END };
    let run = run(ONE_ROUND, &mut Milliseconds::until(1000), schedule);
    assert_eq!(run.ends, [Some(20), Some(40)]);
    assert_eq!(run.log, [(20, "sample"), (0, "check"), (40, "sample"), (0, "stop")]);
}

#[test]
fn rounds_change_on_a_grid_of_their_own_and_not_at_the_end() {
    let schedule = Schedule { interval: Some(0.025), ..AT_THE_END };
    let run = run(TWO_ROUNDS, &mut Milliseconds::until(40), schedule);
    let expected = [(10, "rotate"), (25, "sample"), (30, "rotate"), (0, "check"), (40, "sample"), (0, "stop")];
    assert_eq!(run.log, expected);
}

/// Two rounds: the second begins at 10 ms and stays until 30, the first until 50. So both have the first half of 20 ms
/// as often as the second, whatever the intervals are.
#[test]
fn the_last_round_is_the_first_of_the_next_time_around() {
    let changes = |interval: Option<f64>| {
        let log = run(TWO_ROUNDS, &mut Milliseconds::until(90), Schedule { interval, ..AT_THE_END }).log;
        log.into_iter().filter(|(_, what)| *what == "rotate").map(|(at, _)| at).collect::<Vec<_>>()
    };
    for interval in [None, Some(0.020), Some(0.030)] {
        assert_eq!(changes(interval), [10, 30, 50, 70], "{interval:?}");
    }
}

#[test]
fn what_takes_no_turns_is_not_rotated() {
    let run = run(ONE_ROUND, &mut Milliseconds::until(40), AT_THE_END);
    assert!(run.log.iter().all(|(_, what)| *what != "rotate"), "{:?}", run.log);
}

#[test]
fn what_is_skipped_is_sampled_and_thrown_away_and_everything_begins_after_it() {
    let mut clock = Milliseconds { late: vec![3], ..Milliseconds::until(1000) };
    let (mut backend, log) = noting(ONE_ROUND, &[]);
    assert_eq!(skip(&mut backend, &mut clock, 0.015), Ok(Passed::On));
    let schedule = Schedule { interval: Some(0.020), timeout: Some(0.040), ..AT_THE_END };
    let mut ends = Vec::new();
    let sink = |taken: Taken<'_>| {
        ends.push(taken.end);
        Ok(())
    };
    assert_eq!(drive(backend, &mut clock, &schedule, sink), Ok(()));
    assert_eq!(*log.borrow(), [(18, "sample"), (38, "sample"), (0, "check"), (58, "sample"), (0, "stop")]);
    assert_eq!(ends, [Some(0.020), Some(0.040)]);
}

#[test]
fn an_end_within_what_is_skipped_gives_no_sample() {
    let (mut backend, log) = noting(ONE_ROUND, &[]);
    assert_eq!(skip(&mut backend, &mut Milliseconds::until(10), 0.015), Ok(Passed::Over));
    assert!(log.borrow().is_empty());
}

#[test]
fn overflows_are_looked_for_and_passed_on_beside_the_last_sample() {
    let schedule = Schedule { poll: Some(0.001), ..AT_THE_END };
    let run = run_with(ONE_ROUND, &mut Milliseconds::until(9), schedule, &[0.0035, 0.007], usize::MAX);
    assert_eq!(run.log, [(4, "overflow"), (7, "overflow"), (0, "check"), (9, "sample"), (0, "stop")]);
    assert_eq!(run.ends, [Some(4), Some(7), Some(9)]);
}

#[test]
fn an_error_of_clock_or_sink_ends_it_and_puts_back() {
    let mut clock = Milliseconds { fails_at: 30, ..Milliseconds::until(100) };
    let failed = run(ONE_ROUND, &mut clock, Schedule { interval: Some(0.020), ..AT_THE_END });
    assert_eq!((failed.ending, failed.log.last()), (Err(Trouble::Clock), Some(&(0, "dropped"))));
    let schedule = Schedule { interval: Some(0.020), ..AT_THE_END };
    let full = run_with(ONE_ROUND, &mut Milliseconds::until(100), schedule, &[], 1);
    assert_eq!((full.ending, full.log.last()), (Err(Trouble::Sink), Some(&(0, "dropped"))));
}

/// A CBo's counters have 44 bits, and a cycle of at most 8 GHz may bring 20 entries of the table of requests: 2^44 / (20 * 8e9) s is about 110 s.
#[test]
fn intervals_that_risk_wraps_or_miss_turns_are_told_and_shortened() {
    let plan_of_levels = plan("cbo0/TOR_OCCUPANCY.ALL/");
    let long = Schedule { interval: Some(1e6), ..AT_THE_END };
    let safe = long.risks_wraps(&plan_of_levels).expect("a million seconds are too long");
    assert!(long.without_wraps(&plan_of_levels).interval.unwrap() <= safe / 2.0);
    let short = Schedule { interval: Some(0.5), ..AT_THE_END };
    assert_eq!(short.risks_wraps(&plan_of_levels), None);
    assert_eq!(short.without_wraps(&plan_of_levels), short);
    // Two rounds of 10 ms.
    let hasty = Schedule { interval: Some(0.015), ..AT_THE_END };
    assert_eq!(hasty.misses_turns(&plan(TWO_ROUNDS)), Some(0.020));
    assert_eq!(hasty.misses_turns(&plan(ONE_ROUND)), None);
    assert_eq!(short.misses_turns(&plan(TWO_ROUNDS)), None);
}

/// A clock without ticks of its own has nanoseconds.
#[test]
fn a_clock_ticks_in_nanoseconds() {
    struct Wall;
    impl Clock for Wall {
        type Error = Trouble;
        fn moment(&self) -> Moment {
            Moment { seconds: 1.5, tsc: 0 }
        }
        fn pass(&mut self, _: Stretch) -> Result<Passed, Trouble> {
            Ok(Passed::Over)
        }
    }
    assert_eq!((Wall.ticks_per_second(), Wall.now()), (1_000_000_000, 1_500_000_000));
}

/// A session behind the face of a backend does what it does by itself; no sample comes by an overflow that nobody
/// waits for.
#[test]
fn a_session_is_a_backend() {
    let mut space = Fake::two_sockets();
    let topology = discover(&mut space, e5_2600(), &CPUS, |unit| unit.name == "cbo").unwrap();
    let mut selection = Selection::new(e5_2600());
    selection.add_events("cbo0/LLC_VICTIMS.M_STATE/").unwrap();
    let plan = Plan::new(&topology, selection).unwrap();
    let moment = |seconds: f64| Moment { seconds, tsc: 0 };
    let mut session = Session::start(&mut space, plan, Options::default(), |_| moment(1.0)).unwrap();
    assert!((Backend::counts_since(&session) - 1.0).abs() < 1e-12);
    assert_eq!(Backend::sample_on_overflow(&mut session, &|| moment(2.0)), None);
    session.space_mut().msrs.insert((0, 0xd16), 7);
    let sample = Backend::sample(&mut session, &|| moment(3.0));
    assert_eq!((sample.seconds, sample.counts[0].count), (2.0, Some(7)));
    // Somebody changes the control, and the check before the last sample sees it.
    session.space_mut().msrs.insert((0, 0xd10), 0);
    Backend::check(&mut session);
    let sample = Backend::sample(&mut session, &|| moment(4.0));
    assert!(sample.is_checked && sample.counts[0].validity.to_string().contains("ctl0 of cbo0"));
    Backend::stop(session).unwrap();
    assert!(space.msrs.values().all(|value| *value == 0 || *value == 7));
}
