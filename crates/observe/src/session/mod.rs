//! Carrying a plan out: look, save, set up, sample, put back.
//!
//! A [`Session`] owns the register space while its counters run. However it ends (stop, error, panic), what it has
//! overwritten is put back.

mod begin;
mod check;
mod entrance;
mod error;
mod files;
mod hold;
mod in_use;
mod journal;
mod leave;
mod left;
mod length;
mod lists;
mod neighbours;
mod on_disk;
mod options;
mod ours;
mod part;
mod prepare;
mod reading;
mod sample;
mod slices;
mod span;
mod state;
mod sum;
mod survey;
mod text;
mod verify;

use std::fs::File;
use std::path::PathBuf;

use pericore_registers::{Address, Operation, Outcome, RegisterSpace};

use crate::plan::{Control, Plan, Purpose, Stands};
pub use check::{Doubt, Withdrawn};
use check::{Gates, Watch, When};
pub use entrance::Entrance;
pub use error::SessionError;
pub use journal::Saved;
use leave::Leaving;
pub use left::Left;
pub use length::Length;
use lists::{List, carry_out, placed};
pub use neighbours::{Neighbour, Neighbourhood, Seen};
pub use on_disk::{Journal, JournalError, JournalFile, Restored};
pub use options::{Guard, Options};
pub use ours::Ours;
pub use prepare::{Manners, Refusal, prepare};
use reading::readable;
use sample::Ran;
pub use sample::{Count, Moment, Sample};
pub use slices::Slices;
pub(crate) use slices::at_end_of_range;
use span::{Since, Span};
use state::{InstanceState, State};
pub use survey::{survey, survey_sockets};

/// Running counters.
#[derive(Debug)]
pub struct Session<S: RegisterSpace> {
    space: S,
    plan: Plan,
    state: State,
    /// What is overwritten, in the order of putting it back, with what of it is ours.
    overwritten: Vec<(Saved, Ours)>,
    /// Controls of others that ran before, and what they held.
    before: Vec<(Address, u64)>,
    /// The journals on disk, once they are written; the open files tell others that this session runs.
    on_disk: Vec<(PathBuf, File)>,
    neighbourhood: Option<Neighbourhood>,
    watch: Watch,
    gates: Gates,
    /// Since when its counters run, for each socket of the plan.
    since: Vec<Since>,
    stands: Stands,
    /// True from the first write until everything is put back.
    is_dirty: bool,
}

impl<S: RegisterSpace> Session<S> {
    /// Looks whether the plan's counters are free, saves what will be overwritten, sets up and starts counting.
    ///
    /// `now` is asked for the time right after counting starts in a socket, before anything else is read. Instances that do not answer are left out; their counts
    /// will be unreadable, with the reason.
    ///
    /// # Errors
    /// [`SessionError`] if a counter is in use, or if a register refuses access. Everything is as before then.
    pub fn start(
        space: S,
        plan: Plan,
        options: Options,
        mut now: impl FnMut(&mut S) -> Moment,
    ) -> Result<Self, SessionError> {
        let state = State::new(&plan);
        let (watch, gates) = (Watch::new(&plan, options.guard), Gates::new(&plan, options.guard));
        let stands = plan.stands();
        let mut session = Self {
            space,
            plan,
            state,
            overwritten: Vec::new(),
            before: Vec::new(),
            on_disk: Vec::new(),
            neighbourhood: None,
            watch,
            gates,
            since: Vec::new(),
            stands,
            is_dirty: false,
        };
        session.inspect(&options)?;
        let for_others = options.neighbourhood.as_ref().filter(|neighbourhood| {
            !options.journal.as_ref().is_some_and(|journal| neighbourhood.holds(&journal.path))
        });
        let for_others = for_others.map(|neighbourhood| neighbourhood.journal(0));
        for JournalFile { path, boot, machine } in for_others.into_iter().chain(options.journal) {
            let file = Journal::of_this_process(boot, machine, session.journal()).write(&path)?;
            session.on_disk.push((path, file));
        }
        // At once: what is read from here on takes time in which the counters run.
        let started = match session.set_up(&mut now) {
            Ok(started) => started,
            Err(error) => {
                // The error says that everything was put back: so that comes first, and its own failure counts more.
                session.put_back()?;
                return Err(error);
            }
        };
        session.since = started.into_iter().map(Since::new).collect();
        session.check(When::RightAfterItsWrite);
        // Until here the caller holds the entrance.
        session.neighbourhood = options.neighbourhood;
        Ok(session)
    }

    /// The plan.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The registers, for whatever has to happen between two samples: a software machine runs its workload here.
    pub const fn space_mut(&mut self) -> &mut S {
        &mut self.space
    }

    /// When the next sample begins, in seconds; the mean over sockets.
    pub fn counts_since(&self) -> f64 {
        span::began(&self.since)
    }

    /// What was overwritten, with the values that will be put back.
    pub fn journal(&self) -> Vec<Saved> {
        self.overwritten.iter().map(|(saved, _)| saved.clone()).collect()
    }

    /// Samples from one check to the next: a change by others is noticed within that many. 0 if nothing is checked.
    pub fn samples_to_notice(&self) -> usize {
        self.watch.samples_to_notice()
    }

    /// Stops the counters, reads each in use once, and lets them go on. `now` is asked for the time in each socket when its counters stand, and again
    /// when they go on: the next sample begins there.
    ///
    /// Counts are those since the last sample, exact across a wrap; those of events that take turns are scaled up. What could
    /// not be read says so in its validity.
    pub fn sample(&mut self, mut now: impl FnMut(&mut S) -> Moment) -> Sample {
        self.look_at_gates(List::Freeze);
        let (frozen, stopped) = self.carry_out_timed(List::Freeze, &mut now);
        self.judge_enables(List::Freeze, &frozen);
        self.read(List::Read);
        let checked = self.check_in_turn();
        let (resumed, started) = self.carry_out_timed(List::Resume, &mut now);
        self.note_doubts(List::Freeze, &frozen, "could not be frozen for reading");
        let mut sample =
            self.close(self.since.iter().zip(&stopped).map(|(since, stopped)| since.until(stopped)).unzip());
        sample.note_check(checked);
        check::mark_stuck(&self.plan, &mut sample);
        check::mark_clocks(&self.plan, &mut sample);
        span::mark(&self.plan, &mut sample, &self.since, &stopped);
        self.note_doubts(List::Resume, &resumed, "did not resume after an earlier reading");
        let go_on = |(started, stopped): (Span, &Span)| {
            let since = Since::new(started);
            if self.stands.for_reading { since } else { since.but_from(stopped.middle()) }
        };
        self.since = started.into_iter().zip(&stopped).map(go_on).collect();
        sample
    }

    /// The sample of an overflow, if the counter that is waited for has overflowed since it was made ready: all counters have stood since the very cycle
    /// in which it did, however late this is called, but for those that nothing stops from outside. They go on afterwards. Nothing if it has not, or
    /// if the plan is not for this.
    ///
    /// The sample's length is that until the reading: no hardware notes when it stopped. So what is divided by it is suspect.
    pub fn sample_on_overflow(&mut self, mut now: impl FnMut(&mut S) -> Moment) -> Option<Sample> {
        let at = self.plan.sockets.iter().position(|part| part.leader.is_some())?;
        let leader = self.plan.sockets[at].leader.clone()?;
        let mut outcomes = Vec::with_capacity(1);
        self.space.batch(&[leader.poll.operation], &mut outcomes);
        let has = readable(&leader.poll, outcomes.first()?).is_ok_and(|status| status & leader.overflowed != 0);
        if !has {
            return None;
        }
        let moment = now(&mut self.space);
        self.read(List::Read);
        let checked = self.check_in_turn();
        let all = Span { first: moment, last: moment };
        let mut sample = self.close(self.since.iter().map(|since| since.until(&all)).unzip());
        sample.stood_before_reading = true;
        sample.note_check(checked);
        let operations: Vec<Operation> = leader.rearm.iter().map(|step| step.operation).collect();
        outcomes.clear();
        self.space.batch(&operations, &mut outcomes);
        let state = self.state.instance_mut(at, leader.instance);
        for error in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
            state.doubt(format!("could not be made ready for the next overflow: {error}"));
        }
        state.set_baseline(leader.counter, Ok(leader.preset));
        let resumed = self.carry_out(List::Resume);
        let goes_on = if self.stands.from_overflow { now(&mut self.space) } else { moment };
        self.since.iter_mut().for_each(|since| *since = since.but_from(goes_on));
        self.note_doubts(List::Resume, &resumed, "did not resume after an overflow");
        Some(sample)
    }

    /// Changes to the next round in each instance whose events take turns; does nothing if none do.
    ///
    /// `now` is asked for the time when the counters stand, and again when the next round begins. Call it at even intervals,
    /// each much shorter than a sample.
    pub fn rotate(&mut self, mut now: impl FnMut(&mut S) -> Moment) {
        if self.plan.rounds() == 1 {
            return;
        }
        self.look_at_gates(List::FreezeTurns);
        let (frozen, stopped) = self.carry_out_timed(List::FreezeTurns, &mut now);
        self.judge_enables(List::FreezeTurns, &frozen);
        self.read(List::ReadTurns);
        self.note_doubts(List::FreezeTurns, &frozen, "could not be frozen for a change of rounds");
        let ran: Vec<Ran> =
            self.since.iter_mut().zip(&stopped).map(|(since, stopped)| since.end_turn(stopped)).collect();
        sample::close(&self.plan, &mut self.state, &ran);
        for (socket, part) in self.plan.sockets.iter().enumerate() {
            for (index, instance) in part.instances.iter().enumerate() {
                let state = self.state.instance_mut(socket, index);
                state.round = (state.round + 1) % instance.rounds;
            }
        }
        let changed = self.carry_out(List::Switch);
        self.set_baselines(List::Switch, &changed);
        self.note_doubts(List::Switch, &changed, "refused a change of rounds");
        self.note_written(List::Switch);
        let (resumed, started) = self.carry_out_timed(List::ResumeTurns, &mut now);
        self.note_doubts(List::ResumeTurns, &resumed, "did not resume after a change of rounds");
        for ((since, stopped), started) in self.since.iter_mut().zip(&stopped).zip(started) {
            since.begin_turn(stopped, started, self.stands.for_turns);
        }
    }

    /// Stops counting and puts back every control and filter that was overwritten.
    ///
    /// # Errors
    /// [`SessionError::Restore`] with all registers that refused.
    pub fn stop(mut self) -> Result<(), SessionError> {
        self.put_back()
    }

    /// What was read, as a sample of so long in each socket.
    fn close(&mut self, (lengths, ran): (Vec<Length>, Vec<Ran>)) -> Sample {
        sample::close(&self.plan, &mut self.state, &ran);
        sample::take(&self.plan, &mut self.state, &lengths)
    }

    /// Remembers what controls and filters hold now.
    fn note_written(&mut self, list: List) {
        for (_, step) in placed(&self.plan, &self.state, list) {
            self.watch.note(&step);
        }
    }

    /// Reads counters.
    fn read(&mut self, list: List) {
        let outcomes = self.carry_out(list);
        for ((socket, step), outcome) in placed(&self.plan, &self.state, list).into_iter().zip(&outcomes) {
            if let Purpose::Count { counter } = step.purpose {
                let value = readable(&step, outcome);
                self.state.instance_mut(socket, step.instance).record(counter, value);
            }
        }
    }

    fn put_back(&mut self) -> Result<(), SessionError> {
        // A journal whose registers refuse stays for `pericore restore`, also when the session is dropped after that.
        let on_disk = std::mem::take(&mut self.on_disk);
        let remove = |on_disk: Vec<(PathBuf, File)>| on_disk.iter().try_for_each(|(path, _)| Journal::remove(path));
        if !self.is_dirty {
            // Nothing was overwritten: a journal that stayed would tell others of a session that was killed.
            return Ok(remove(on_disk)?);
        }
        self.is_dirty = false;
        // Whoever sets up now must not see half of it. A lock that cannot be had is no reason to leave registers as they are.
        let entrance = self.neighbourhood.take().and_then(|neighbourhood| neighbourhood.enter_to_put_back().ok());
        let controls: Vec<(u16, Control)> = self
            .plan
            .sockets
            .iter()
            .flat_map(|part| part.controls.iter().map(|control| (part.socket, *control)))
            .collect();
        let leaving = Leaving { saved: &self.overwritten, controls: &controls, before: &self.before };
        leaving.put_back(&mut self.space)?;
        let removed = remove(on_disk);
        drop(entrance);
        Ok(removed?)
    }

    /// Carries out one list of steps in all sockets, without instances that have failed, as one batch.
    fn carry_out(&mut self, list: List) -> Vec<Outcome<u64>> {
        let steps = placed(&self.plan, &self.state, list);
        let mut outcomes = Vec::with_capacity(steps.len());
        carry_out(&mut self.space, &steps, &mut outcomes);
        outcomes
    }

    /// The same, and when the first and the last unit of each socket of the plan stood, or ran, by it. One socket comes after the other.
    fn carry_out_timed(
        &mut self,
        list: List,
        now: &mut impl FnMut(&mut S) -> Moment,
    ) -> (Vec<Outcome<u64>>, Vec<Span>) {
        let steps = placed(&self.plan, &self.state, list);
        let mut outcomes = Vec::with_capacity(steps.len());
        let mut rest = &steps[..];
        let mut spans = Vec::with_capacity(self.plan.sockets.len());
        for socket in 0..self.plan.sockets.len() {
            let (own, others) = rest.split_at(rest.partition_point(|(of, _)| *of == socket));
            rest = others;
            let (first, last) = own.split_at(list.acts_first(own));
            let [first, last] = [first, last].map(|steps| {
                carry_out(&mut self.space, steps, &mut outcomes);
                now(&mut self.space)
            });
            spans.push(Span { first, last });
        }
        (outcomes, spans)
    }

    /// Marks instances in which a step of the list was refused.
    fn note_doubts(&mut self, list: List, outcomes: &[Outcome<u64>], what: &str) {
        for ((socket, step), outcome) in placed(&self.plan, &self.state, list).into_iter().zip(outcomes) {
            // A counter that could not be read speaks for itself.
            let Some(error) = outcome.as_ref().err().filter(|_| step.counter().is_none()) else { continue };
            let part = &self.plan.sockets[socket];
            let is_whole = part.gate == Some(step.instance);
            let concerns = |instance| instance == step.instance || (is_whole && part.gate_stops(instance));
            for instance in (0..part.instances.len()).filter(|&instance| concerns(instance)) {
                self.state.instance_mut(socket, instance).doubt(format!("{what}: {error}"));
            }
        }
    }
}

impl<S: RegisterSpace> Drop for Session<S> {
    fn drop(&mut self) {
        // Nobody is left to tell; `stop` reports what could not be put back.
        let _ = self.put_back();
    }
}

/// Samples within which a session on this plan notices a change of its controls by others; 0 if it never does.
pub fn samples_to_notice(plan: &Plan, guard: Guard) -> usize {
    Watch::new(plan, guard).samples_to_notice()
}

/// Reads that a session on this plan makes beside those of counters: before it freezes them for a sample, and in a check.
pub fn looks(plan: &Plan) -> (usize, usize) {
    (Gates::reads(plan), Watch::new(plan, Guard::All).len())
}

#[cfg(test)]
mod tests;
