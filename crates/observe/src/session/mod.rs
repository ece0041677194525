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
mod meeting;
mod neighbours;
mod on_disk;
mod options;
mod ours;
mod part;
mod prepare;
mod sample;
mod slices;
mod span;
mod steps;
mod sum;
mod survey;
mod text;
mod verify;

use pericore_registers::{Address, RegisterSpace};

use crate::plan::{Control, Paused, Plan};
pub(crate) use check::mark_stuck;
pub use check::{Doubt, Withdrawn};
use check::{Gates, Watch};
pub use entrance::Entrance;
pub use error::SessionError;
pub use journal::Saved;
use leave::Leaving;
pub use leave::REVOKED;
pub use left::Left;
pub use length::Length;
pub use meeting::MeetingPlace;
pub use neighbours::{Neighbour, OtherSessions, Seen};
pub(crate) use on_disk::HeldJournals;
pub use on_disk::{Journal, JournalError, JournalFile, Restored};
pub use options::{Guard, Options};
pub use ours::Ours;
pub use prepare::{Manners, Refusal, prepare};
use sample::Ran;
pub use sample::{Count, Moment, Sample};
pub(crate) use slices::at_end_of_range;
pub use slices::{NORMAL, Slices, student};
use span::{Since, Span};
use steps::{InstanceState, List, Sequences, State, note_doubts, read, readable, record, set_baselines};
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
    /// The journals on disk, once they are written.
    on_disk: HeldJournals,
    other_sessions: Option<OtherSessions>,
    sequences: Sequences,
    watch: Watch,
    gates: Gates,
    /// Since when its counters run, for each socket of the plan.
    since: Vec<Since>,
    paused: Paused,
    /// True from the first write until everything is put back.
    is_dirty: bool,
}

impl<S: RegisterSpace> Session<S> {
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

    /// Seconds for which counters were paused since the last sample began: to be read for it, and to change rounds
    /// since. Of the sockets the longest.
    pub fn paused(&self) -> f64 {
        self.since.iter().map(Since::paused).fold(0.0, f64::max)
    }

    /// What was overwritten, with the values that will be put back.
    pub fn journal(&self) -> Vec<Saved> {
        self.overwritten.iter().map(|(saved, _)| saved.clone()).collect()
    }

    /// Samples from one check to the next: a change by others is noticed within that many. 0 if nothing is checked.
    pub fn samples_to_notice(&self) -> usize {
        self.watch.samples_to_notice()
    }

    /// Stops the counters, reads each in use once, and lets them go on. `now` is asked for the time in each socket when
    /// its counters stand, and again when they go on: the next sample begins there.
    ///
    /// Counts are those since the last sample, exact across a wrap; those of events that take turns are scaled up. What
    /// could not be read says so in its validity.
    pub fn sample(&mut self, mut now: impl FnMut(&mut S) -> Moment) -> Sample {
        self.look_at_gates(false);
        self.sequences.freeze.carry_out_timed(&mut self.space, &mut now);
        Gates::judge_enables(&self.plan, &mut self.state, &self.sequences.freeze);
        if self.paused.for_reading {
            read(&mut self.sequences.read, &mut self.space, &mut self.state);
        } else {
            // How long counters took that run on tells how far theirs are right.
            let Sequences { freeze, read, .. } = &mut self.sequences;
            read.carry_out_timed(&mut self.space, &mut now);
            record(read, &mut self.state);
            for ((since, stopped), read) in self.since.iter_mut().zip(freeze.spans()).zip(read.spans()) {
                since.read_until(stopped, read.last);
            }
        }
        let checked = self.check_in_turn();
        self.sequences.resume.carry_out_timed(&mut self.space, &mut now);
        let Sequences { freeze, resume, .. } = &self.sequences;
        note_doubts(&self.plan, &mut self.state, freeze, "could not be frozen for reading");
        let (stopped, started) = (freeze.spans(), resume.spans());
        let mut sample = close(&self.plan, &mut self.state, &self.since, stopped);
        sample.note_check(checked);
        mark_stuck(&self.plan, &mut sample);
        sample.paused = self.paused();
        let parts = || self.plan.sockets.iter().zip(self.since.iter().zip(stopped));
        check::mark_clocks(&self.plan, &mut sample, |socket| {
            let of_socket = parts().find(|(part, _)| part.socket == socket);
            of_socket.map_or(0.0, |(_, (since, stopped))| since.apart(stopped))
        });
        span::mark(&self.plan, &mut sample, &self.since, stopped);
        note_doubts(&self.plan, &mut self.state, resume, "did not resume after an earlier reading");
        for (at, (since, (stopped, started))) in self.since.iter_mut().zip(stopped.iter().zip(started)).enumerate() {
            *since = since.next(stopped, *started, (!self.paused.for_reading).then(|| stopped.middle()));
            if freeze.acts_in(at) {
                since.pause(stopped, started);
            }
        }
        sample
    }

    /// The sample of an overflow, if the counter that is waited for has overflowed since it was made ready: all
    /// counters have stood since the very cycle in which it did, however late this is called, but for those that
    /// nothing stops from outside. They go on afterwards. Nothing if it has not, or if the plan is not for this.
    ///
    /// The sample's length is that until the reading: no hardware notes when it stopped. So what is divided by it is
    /// suspect.
    pub fn sample_on_overflow(&mut self, mut now: impl FnMut(&mut S) -> Moment) -> Option<Sample> {
        let at = self.plan.sockets.iter().position(|part| part.leader.is_some())?;
        let leader = self.plan.sockets[at].leader.as_ref()?;
        let status = self.space.carry_out(leader.poll.operation);
        let has = readable(&leader.poll, &status).is_ok_and(|status| status & leader.overflowed != 0);
        if !has {
            return None;
        }
        let moment = now(&mut self.space);
        read(&mut self.sequences.read, &mut self.space, &mut self.state);
        let checked = self.check_in_turn();
        let leader = self.plan.sockets[at].leader.as_ref()?;
        let mut refused = None;
        for step in &leader.rearm {
            refused = refused.or(self.space.carry_out(step.operation).err());
        }
        self.sequences.resume.carry_out(&mut self.space);
        let goes_on = if self.paused.from_overflow { now(&mut self.space) } else { moment };
        let stopped = vec![Span { first: moment, last: moment }; self.since.len()];
        let mut sample = close(&self.plan, &mut self.state, &self.since, &stopped);
        sample.stood_before_reading = true;
        sample.note_check(checked);
        let state = self.state.instance_mut(at, leader.instance);
        if let Some(error) = refused {
            state.doubt(format!("could not be made ready for the next overflow: {error}"));
        }
        state.set_baseline(leader.counter, Ok(leader.preset));
        self.since.iter_mut().for_each(|since| *since = since.but_from(goes_on));
        note_doubts(&self.plan, &mut self.state, &self.sequences.resume, "did not resume after an overflow");
        Some(sample)
    }

    /// Changes to the next round in each instance whose events take turns; does nothing if none do.
    ///
    /// `now` is asked for the time when the counters stand, and again when the next round begins. Call it at even
    /// intervals, each much shorter than a sample.
    pub fn rotate(&mut self, mut now: impl FnMut(&mut S) -> Moment) {
        if self.plan.rounds() == 1 {
            return;
        }
        self.look_at_gates(true);
        let Self { space, state, plan, watch, .. } = self;
        let Sequences { freeze_turns, read_turns, switch, resume_turns, .. } = &mut self.sequences;
        // Before counters stand: what is looked at here costs no time of theirs.
        let gives_way = watch.are_turns_taken(space);
        if gives_way {
            watch.give_way(state);
            switch.compile(plan, state, List::Switch);
        }
        freeze_turns.carry_out_timed(space, &mut now);
        Gates::judge_enables(plan, state, freeze_turns);
        if self.paused.in_turn {
            read(read_turns, space, state);
        } else {
            read_turns.carry_out_timed(space, &mut now);
            record(read_turns, state);
        }
        switch.carry_out(space);
        resume_turns.carry_out_timed(space, &mut now);
        // They run again: from here on there is time.
        note_doubts(plan, state, freeze_turns, "could not be frozen for a change of rounds");
        let (stopped, started) = (freeze_turns.spans(), resume_turns.spans());
        let ran: Vec<Ran> =
            self.since.iter_mut().zip(stopped).map(|(since, stopped)| since.end_turn(stopped)).collect();
        if !self.paused.in_turn {
            for ((since, stopped), read) in self.since.iter_mut().zip(stopped).zip(read_turns.spans()) {
                since.turn_read_until(stopped, read.last);
            }
        }
        sample::close(plan, state, &ran);
        set_baselines(plan, state, switch, false);
        note_doubts(plan, state, switch, "refused a change of rounds");
        switch.steps().iter().for_each(|(_, step)| watch.note(step));
        note_doubts(plan, state, resume_turns, "did not resume after a change of rounds");
        for (at, (since, (stopped, started))) in self.since.iter_mut().zip(stopped.iter().zip(started)).enumerate() {
            since.begin_turn(stopped, *started, self.paused.for_turns);
            if freeze_turns.acts_in(at) {
                since.pause(stopped, started);
            }
        }
        state.next_round(plan);
        if gives_way {
            self.sequences = Sequences::new(plan, state);
        } else {
            self.sequences.compile_round(plan, state);
        }
    }

    /// Stops counting and puts back every control and filter that was overwritten.
    ///
    /// # Errors
    /// [`SessionError::Restore`] with all registers that refused.
    pub fn stop(mut self) -> Result<(), SessionError> {
        self.put_back()
    }

    pub(crate) fn put_back(&mut self) -> Result<(), SessionError> {
        // A journal whose registers refuse stays for `pericore restore`, also when the session is dropped after that.
        let on_disk = std::mem::take(&mut self.on_disk);
        if !self.is_dirty {
            // Nothing was overwritten: a journal that stayed would tell others of a session that was killed.
            return Ok(on_disk.remove()?);
        }
        self.is_dirty = false;
        // Whoever sets up now must not see half of it. A lock that cannot be had is no reason to leave registers as
        // they are.
        let entrance = self.other_sessions.take().and_then(|other_sessions| other_sessions.enter_to_put_back().ok());
        let controls: Vec<(u16, Control)> = self
            .plan
            .sockets
            .iter()
            .flat_map(|part| part.controls.iter().map(|control| (part.socket, *control)))
            .collect();
        let leaving = Leaving { saved: &self.overwritten, controls: &controls, before: &self.before };
        leaving.put_back(&mut self.space)?;
        let removed = on_disk.remove();
        drop(entrance);
        Ok(removed?)
    }
}

impl<S: RegisterSpace> Drop for Session<S> {
    fn drop(&mut self) {
        // Nobody is left to tell; `stop` reports what could not be put back.
        let _ = self.put_back();
    }
}

/// What was read, as a sample from the last start to this stop.
fn close(plan: &Plan, state: &mut State, since: &[Since], stopped: &[Span]) -> Sample {
    let (lengths, ran): (Vec<Length>, Vec<Ran>) =
        since.iter().zip(stopped).map(|(since, stopped)| since.until(stopped)).unzip();
    sample::close(plan, state, &ran);
    sample::take(plan, state, &lengths)
}

/// Samples within which a session on this plan notices a change of its controls by others; 0 if it never does.
pub fn samples_to_notice(plan: &Plan, guard: Guard) -> usize {
    Watch::new(plan, guard).samples_to_notice()
}

/// Reads that a session on this plan makes beside those of counters: before it freezes them for a sample, and in a
/// check.
pub fn looks(plan: &Plan) -> (usize, usize) {
    (Gates::reads(plan), Watch::new(plan, Guard::All).len())
}

/// Reads that a change of rounds on this plan makes beside those of counters, before it writes controls and filters.
pub fn looks_at_turns(plan: &Plan) -> usize {
    check::reads_for_turns(plan)
}

#[cfg(test)]
mod tests;
