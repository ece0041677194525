//! Counters of the kernel as a backend of [`run`](crate::run): started, read and stopped in our own rounds.
//!
//! Only what counts in the current round is started, so the kernel has no reason to make our events take turns with
//! each other. Where it does because of others, a count is scaled up from the time in which it was on a counter.

use std::io;

use pericore_metrics::Validity;

use super::error::KernelError;
use super::open::{Group, open_all};
use super::prepare::{KernelCounter, KernelPlan};
use super::system_call::{GroupReading, LinuxPerf, PerfEvents};
use crate::linux::Root;
use crate::plan::{InstancePlan, Plan};
use crate::run::Backend;
use crate::session::{Count, Moment, Sample, SessionError, Slices, at_end_of_range, mark_stuck};

/// In a second.
const NANOSECONDS: f64 = 1e9;

/// A group that was started for so much longer or shorter than its sample lasted, as a share of it, is in doubt.
const LIMIT: f64 = 0.02;

/// Counters of the kernel that run.
#[derive(Debug)]
pub struct KernelCounters<P: PerfEvents = LinuxPerf> {
    perf: P,
    plan: Plan,
    requests: Vec<KernelCounter>,
    groups: Vec<Group<P::Counter>>,
    /// What each group held when it was read last.
    last: Vec<GroupReading>,
    /// What was counted since the last sample, for each group and counter of it.
    tallies: Vec<Vec<Tally>>,
    /// The round that runs, for each instance of each socket.
    rounds: Vec<Vec<usize>>,
    since: Moment,
}

/// What a counter has counted since the last sample.
#[derive(Debug, Clone, Default)]
struct Tally {
    /// Time on a counter, and counts.
    slices: Slices,
    /// Seconds in which it was started.
    enabled: f64,
    /// True if the kernel had it off its counter for a part of that.
    is_shared: bool,
    /// Why there is no number.
    lost: Option<String>,
}

impl KernelCounters {
    /// Opens and starts all counters of a plan. `now` is asked for the time when they count.
    ///
    /// # Errors
    /// [`KernelError`] with what stands in the way; nothing is left open then.
    pub fn start(root: &Root, plan: KernelPlan, now: impl Fn() -> Moment) -> Result<Self, KernelError> {
        Self::start_with(LinuxPerf, root, plan, now)
    }
}

impl<P: PerfEvents> KernelCounters<P> {
    /// The same through a stand-in of the kernel.
    ///
    /// # Errors
    /// As [`KernelCounters::start`].
    pub fn start_with(
        mut perf: P,
        root: &Root,
        plan: KernelPlan,
        now: impl Fn() -> Moment,
    ) -> Result<Self, KernelError> {
        let groups = open_all(&mut perf, root, &plan)?;
        let empty =
            |group: &Group<P::Counter>| GroupReading { counts: vec![0; group.files.len()], ..Default::default() };
        let tallies = groups.iter().map(|group| vec![Tally::default(); group.files.len()]).collect();
        let KernelPlan { plan, counters } = plan;
        let rounds = plan.sockets.iter().map(|part| vec![0; part.instances.len()]).collect();
        let last = groups.iter().map(empty).collect();
        let mut this = Self { perf, plan, requests: counters, groups, last, tallies, rounds, since: Moment::default() };
        let before = now();
        let started = this.each(|perf, group| perf.start(&group.files[0]));
        if let Some((group, error)) = started.into_iter().find_map(|(group, done)| Some((group, done.err()?))) {
            let pmu = this.groups[group].pmu.clone();
            return Err(KernelError::System { label: "start".to_owned(), pmu, why: error.to_string() });
        }
        this.since = middle(before, now());
        Ok(this)
    }

    /// What the kernel was asked for.
    pub fn requests(&self) -> &[KernelCounter] {
        &self.requests
    }

    fn runs(&self, group: &Group<P::Counter>) -> bool {
        group.round.is_none_or(|round| self.rounds[group.socket][group.instance] == round)
    }

    /// Does something with each group that runs.
    fn each<T>(&mut self, mut act: impl FnMut(&mut P, &Group<P::Counter>) -> T) -> Vec<(usize, T)> {
        let mut done = Vec::new();
        for (number, group) in self.groups.iter().enumerate() {
            if group.round.is_none_or(|round| self.rounds[group.socket][group.instance] == round) {
                done.push((number, act(&mut self.perf, group)));
            }
        }
        done
    }

    /// Reads the groups that run, or only those of them that take turns, into their tallies.
    fn read(&mut self, only_turns: bool) {
        let chosen: Vec<usize> = (0..self.groups.len())
            .filter(|&number| self.runs(&self.groups[number]) && (!only_turns || self.groups[number].round.is_some()))
            .collect();
        for number in chosen {
            let group = &self.groups[number];
            let reading = self.perf.read(&group.files[0], group.files.len());
            let tallies = &mut self.tallies[number];
            match reading {
                Ok(Some(reading)) => {
                    note(tallies, &self.last[number], &reading);
                    self.last[number] = reading;
                }
                Ok(None) => lose(tallies, &format!("the kernel has taken the counters of {} away", group.pmu)),
                Err(error) => lose(tallies, &lost(&group.pmu, &error)),
            }
        }
    }

    fn take(&mut self, from: Moment, to: Moment) -> Sample {
        let seconds = (to.seconds - from.seconds).max(0.0);
        let always = self.groups.iter().zip(&self.tallies).filter(|(group, _)| group.round.is_none());
        let unevenness = Unevenness::new(seconds, always.flat_map(|(_, tallies)| tallies).map(|tally| tally.enabled));
        let mut counts = Vec::new();
        for (socket, part) in self.plan.sockets.iter().enumerate() {
            for (index, instance) in part.instances.iter().enumerate() {
                let own: Vec<(&Group<P::Counter>, &Vec<Tally>)> = self
                    .groups
                    .iter()
                    .zip(&self.tallies)
                    .filter(|(group, _)| (group.socket, group.instance) == (socket, index))
                    .collect();
                for event in instance.events() {
                    let serving = own.iter().flat_map(|(group, tallies)| {
                        let of_group = group.counters.iter().zip(*tallies);
                        let serves = |counter: usize| instance.counters[counter].events.contains(&event);
                        of_group
                            .filter(move |(counter, _)| counter.is_some_and(serves))
                            .map(|(_, tally)| (group.pmu.as_str(), tally))
                    });
                    counts.push(count(part.socket, instance, event, &unevenness, &serving.collect::<Vec<_>>()));
                }
            }
        }
        self.tallies.iter_mut().flatten().for_each(|tally| *tally = Tally::default());
        Sample { seconds, tsc_cycles: to.tsc.wrapping_sub(from.tsc), counts, is_checked: true, ..Sample::default() }
    }
}

/// Adds what a group has counted from one reading to the next.
#[expect(clippy::cast_precision_loss, reason = "times of a run")]
fn note(tallies: &mut [Tally], before: &GroupReading, now: &GroupReading) {
    let enabled = now.enabled.saturating_sub(before.enabled);
    let running = now.running.saturating_sub(before.running);
    for ((tally, now), before) in tallies.iter_mut().zip(&now.counts).zip(&before.counts) {
        tally.enabled += enabled as f64 / NANOSECONDS;
        tally.is_shared |= running < enabled;
        if running > 0 {
            tally.slices.push(running as f64 / NANOSECONDS, now.wrapping_sub(*before));
        }
    }
}

fn lose(tallies: &mut [Tally], why: &str) {
    tallies.iter_mut().for_each(|tally| tally.lost = Some(why.to_owned()));
}

fn lost(pmu: &str, error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENODEV) => format!("{pmu} has disappeared: its driver was unloaded, or its CPU went offline"),
        _ => format!("{pmu} cannot be read: {error}"),
    }
}

/// An event's count from all counters that serve it in turn.
fn count(
    socket: u16,
    instance: &InstancePlan,
    event: usize,
    unevenness: &Unevenness,
    tallies: &[(&str, &Tally)],
) -> Count {
    let seconds = unevenness.seconds;
    let nothing = |validity| Count {
        event,
        socket,
        instance: instance.number,
        count: None,
        validity,
        slices: Slices::default(),
        standard_error: None,
    };
    if let Some(why) = tallies.iter().find_map(|(_, tally)| tally.lost.as_ref()) {
        return nothing(Validity::unreadable(format!("{} in socket {socket}", instance.name()), why.clone()));
    }
    let mut slices = Slices::default();
    tallies.iter().for_each(|(_, tally)| slices.extend(&tally.slices));
    let pmu = tallies.first().map_or("", |(pmu, _)| *pmu);
    let enabled: f64 = tallies.iter().map(|(_, tally)| tally.enabled).sum();
    let is_shared = tallies.iter().any(|(_, tally)| tally.is_shared);
    let takes_turns =
        instance.rounds > 1 && instance.counters.iter().any(|c| c.events.contains(&event) && c.round.is_some());
    if slices.is_empty() {
        let why = match (enabled > 0.0, takes_turns) {
            (true, _) => format!("others use the counters of {pmu}, and the kernel gave this event no turn"),
            (false, true) => format!("its turn among {} rounds did not come; measure longer", instance.rounds),
            (false, false) => format!("{pmu} did not count: its CPU is offline, or its driver was unloaded"),
        };
        return nothing(Validity::not_defined(why));
    }
    let counted = slices.count();
    if !takes_turns && !is_shared {
        let validity = at_end_of_range(Some(counted)).and(&unevenness.of(enabled));
        return Count { count: Some(counted), ..nothing(validity) };
    }
    let duty = if seconds > 0.0 { (slices.seconds() / seconds).min(1.0) } else { 1.0 };
    let scaled = slices.scaled_up(seconds);
    let standard_error = slices.standard_error(seconds);
    let validity = Validity::scaled(duty).and(&at_end_of_range(Some(scaled)));
    Count { count: Some(scaled), slices, standard_error, ..nothing(validity) }
}

/// How far groups that always run differ from the length of their sample: they are started and read one after the
/// other.
struct Unevenness {
    /// Of the sample.
    seconds: f64,
    /// By so much at most.
    most: f64,
}

impl Unevenness {
    fn new(seconds: f64, enabled: impl Iterator<Item = f64>) -> Self {
        Self { seconds, most: enabled.map(|enabled| (enabled - seconds).abs()).fold(0.0, f64::max) }
    }

    /// What is to be said of a counter that was started for so many seconds. The words are the same for all, so that
    /// a sum says them once.
    fn of(&self, enabled: f64) -> Validity {
        if (enabled - self.seconds).abs() <= LIMIT * self.seconds {
            return Validity::MEASURED;
        }
        Validity::suspect(format!(
            "the kernel's counters were read one after the other, and some ran {:.3} ms longer or shorter than {:.3} \
             ms; choose a longer interval",
            self.most * 1e3,
            self.seconds * 1e3
        ))
    }
}

fn middle(from: Moment, to: Moment) -> Moment {
    Moment { seconds: f64::midpoint(from.seconds, to.seconds), tsc: from.tsc.midpoint(to.tsc) }
}

impl<P: PerfEvents> Backend for KernelCounters<P> {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn counts_since(&self) -> f64 {
        self.since.seconds
    }

    fn sample(&mut self, now: &dyn Fn() -> Moment) -> Sample {
        let before = now();
        self.read(false);
        let read = middle(before, now());
        let mut sample = self.take(self.since, read);
        mark_stuck(&self.plan, &mut sample);
        self.since = read;
        sample
    }

    fn sample_on_overflow(&mut self, _: &dyn Fn() -> Moment) -> Option<Sample> {
        // The kernel's uncore PMUs have no interrupt for their users.
        None
    }

    fn rotate(&mut self, _: &dyn Fn() -> Moment) {
        let turns: Vec<(usize, io::Result<()>)> = self.each(|perf, group| match group.round {
            Some(_) => perf.stop(&group.files[0]),
            None => Ok(()),
        });
        self.fail_where(turns, "could not be stopped");
        self.read(true);
        for (part, rounds) in self.plan.sockets.iter().zip(&mut self.rounds) {
            for (instance, round) in part.instances.iter().zip(rounds) {
                *round = (*round + 1) % instance.rounds.max(1);
            }
        }
        let turns = self.each(|perf, group| match group.round {
            Some(_) => perf.start(&group.files[0]),
            None => Ok(()),
        });
        self.fail_where(turns, "could not be started");
    }

    fn check(&mut self) {
        // The kernel keeps its counters from others: nothing of ours can change.
    }

    fn stop(self) -> Result<(), SessionError> {
        // Closing the counters gives them back.
        Ok(())
    }
}

impl<P: PerfEvents> KernelCounters<P> {
    fn fail_where(&mut self, outcomes: Vec<(usize, io::Result<()>)>, what: &str) {
        for (number, error) in outcomes.into_iter().filter_map(|(number, done)| Some((number, done.err()?))) {
            let pmu = &self.groups[number].pmu;
            lose(&mut self.tallies[number], &format!("{pmu} {what} for a change of rounds: {error}"));
        }
    }
}
