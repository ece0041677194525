//! How a session begins: look, save, set up.

use pericore_catalog::Role;
use pericore_registers::{AccessError, Operation, RegisterSpace};

use super::check::{Gates, Watch, When};
use super::on_disk::HeldJournals;
use super::ours::Writes;
use super::span::{Since, Span};
use super::steps::{List, Sequence, Sequences, State, Unreadable, only_looks_for_a_freeze, readable, set_baselines};
use super::{Moment, Options, Ours, Saved, Session, SessionError, in_use};
use crate::plan::{Plan, Purpose, Step};

impl<S: RegisterSpace> Session<S> {
    /// Looks whether the plan's counters are free, saves what will be overwritten, sets up and starts counting.
    ///
    /// `now` is asked for the time right after counting starts in a socket, before anything else is read. Instances
    /// that do not answer are left out; their counts will be unreadable, with the reason.
    ///
    /// # Errors
    /// [`SessionError`] if a counter is in use, or if a register refuses access. Everything is as before then.
    pub fn start(
        space: S,
        plan: Plan,
        options: Options,
        mut now: impl FnMut(&mut S) -> Moment,
    ) -> Result<Self, SessionError> {
        let mut session = Self::look(space, plan, &options)?;
        session.on_disk = options.write_journals(&session.journal())?;
        session.begin(&mut now)?;
        // Until here the caller holds the entrance.
        session.other_sessions = options.other_sessions;
        Ok(session)
    }

    /// Looks whether the plan's counters are free, and saves what will be overwritten. Writes nothing.
    pub(crate) fn look(space: S, plan: Plan, options: &Options) -> Result<Self, SessionError> {
        let state = State::new(&plan);
        let (watch, gates) = (Watch::new(&plan, options.guard), Gates::new(&plan, options.guard));
        let paused = plan.paused();
        let mut session = Self {
            space,
            plan,
            state,
            overwritten: Vec::new(),
            before: Vec::new(),
            on_disk: HeldJournals::default(),
            other_sessions: None,
            sequences: Sequences::default(),
            watch,
            gates,
            since: Vec::new(),
            paused,
            is_dirty: false,
        };
        session.inspect(options)?;
        session.sequences = Sequences::new(&session.plan, &session.state);
        session.watch.leave_out(|socket, instance| session.state.instance(socket, instance).fault().is_some());
        Ok(session)
    }

    /// Sets up and starts counting, once what will be overwritten is in a journal.
    pub(crate) fn begin(&mut self, now: &mut impl FnMut(&mut S) -> Moment) -> Result<(), SessionError> {
        // At once: what is read from here on takes time in which the counters run.
        let started = match self.attempt().and_then(|()| self.set_up(now)) {
            Ok(started) => started,
            Err(error) => {
                // The error says that everything was put back: so that comes first, and its own failure counts more.
                self.put_back()?;
                return Err(error);
            }
        };
        self.since = started.into_iter().map(Since::new).collect();
        self.check(When::RightAfterItsWrite);
        Ok(())
    }

    pub(super) fn inspect(&mut self, options: &Options) -> Result<(), SessionError> {
        let mut sequence = Sequence::new(&self.plan, &self.state, List::Inspect);
        sequence.carry_out(&mut self.space);
        let mut seen = Vec::new();
        let mut faults = Vec::new();
        for (socket, step, outcome) in sequence.results() {
            match readable(step, outcome) {
                Ok(value) => seen.push((socket, *step, value)),
                // Rights to look at the socket's freeze are not asked for where nothing else needs them.
                Err(Unreadable::Denied(_)) if only_looks_for_a_freeze(step) => {}
                Err(Unreadable::Denied(error)) => return Err(error.into()),
                Err(Unreadable::Fault(why)) => faults.push((socket, step.instance, why)),
            }
        }
        for (socket, instance, why) in faults {
            self.state.instance_mut(socket, instance).fail(why);
        }
        seen.retain(|(socket, step, _)| self.state.instance(*socket, step.instance).fault().is_none());
        if !options.take_over {
            in_use::check(&self.plan, &seen)?;
        }
        seen.iter().for_each(|(_, step, value)| self.watch.found(step, *value));
        for (socket, step, value) in seen.iter().filter(|(_, step, _)| step.purpose == Purpose::Inspect) {
            let is_set = |name: &str| step.register.field(name).is_none_or(|field| field.bits.get(*value) != 0);
            if step.register.role == Role::UnitControl && is_set("frz") && is_set("frz_en") {
                let why = format!("is frozen by someone else ({} = {value:#x})", step.register_name());
                self.state.instance_mut(*socket, step.instance).doubt(why);
            }
        }
        for (socket, step, value) in seen.iter().filter(|(_, step, _)| only_looks_for_a_freeze(step)) {
            if step.register.field("frz_all").is_some_and(|field| field.bits.get(*value) != 0) {
                self.doubt_whole_socket(*socket, step, *value);
            }
        }
        let is_running = |socket: usize, step: &Step, value: u64| {
            let unit = self.plan.sockets[socket].instances[step.instance].unit;
            in_use::is_running(unit, step.register, value)
        };
        let running = seen.iter().filter(|(socket, step, value)| is_running(*socket, step, *value));
        self.before = running.map(|(_, step, value)| (step.operation.address(), *value)).collect();
        let saved = seen.iter().filter(|(_, step, _)| step.purpose == Purpose::Save);
        let writes: Vec<Writes<'_>> = self.plan.sockets.iter().map(Writes::new).collect();
        let overwritten = |(socket, step, value): &(usize, Step, u64)| {
            let ours = Ours::of(&writes[*socket], step);
            (Saved::new(&self.plan, *socket, step, *value, ours.written()), ours)
        };
        self.overwritten = saved.map(overwritten).collect();
        Ok(())
    }

    /// Writes to a free control in each way to registers what it holds. Who may not write hears it here, where nothing
    /// is changed.
    pub(super) fn attempt(&mut self) -> Result<(), SessionError> {
        let mut sequence = Sequence::new(&self.plan, &self.state, List::Attempt);
        sequence.carry_out(&mut self.space);
        // What else goes wrong is told of the registers that a set-up writes.
        let denied = |error: &&AccessError| matches!(error, AccessError::Permission { .. });
        let refused = sequence.results().find_map(|(.., outcome)| outcome.as_ref().err().filter(denied));
        refused.map_or(Ok(()), |error| Err(SessionError::NoWrites(error.clone())))
    }

    /// Says of every count that the socket's freeze stops that somebody else has set it.
    fn doubt_whole_socket(&mut self, socket: usize, step: &Step, value: u64) {
        let part = &self.plan.sockets[socket];
        let why = format!(
            "all counters of socket {} are frozen by someone else ({} of {} = {value:#x})",
            part.socket,
            step.register_name(),
            part.instances[step.instance].name()
        );
        for (index, instance) in part.instances.iter().enumerate() {
            let obey = (0..).zip(&instance.counters).filter(|(_, counter)| counter.control.is_some());
            for (number, _) in obey.filter(|_| !instance.is_isolated()) {
                // The same words for all, so that a sum says them once.
                self.state.instance_mut(socket, index).counter_mut(number).doubt.get_or_insert_with(|| why.clone());
            }
        }
    }

    /// Sets everything up, socket by socket, and tells when the first unit and the last one of each began to count.
    pub(super) fn set_up(&mut self, now: &mut impl FnMut(&mut S) -> Moment) -> Result<Vec<Span>, SessionError> {
        self.is_dirty = true;
        let mut sequence = Sequence::new(&self.plan, &self.state, List::Setup);
        sequence.carry_out_timed(&mut self.space, now);
        set_baselines(&self.plan, &mut self.state, &sequence, true);
        sequence.steps().iter().for_each(|(_, step)| self.watch.note(step));
        let refused = sequence.results().find_map(|(socket, step, outcome)| {
            let error = outcome.as_ref().err().filter(|_| step.counter().is_none())?;
            Some((socket, *step, error))
        });
        let Some((socket, step, error)) = refused else { return Ok(sequence.spans().to_vec()) };
        // What took no write at all needs none to be put back, and would refuse that one too.
        let writes = || {
            let all = sequence.results().filter(|(_, step, _)| matches!(step.operation, Operation::Write { .. }));
            all.map(|(_, step, outcome)| (step.operation.address(), outcome.is_ok()))
        };
        self.overwritten.retain(|(saved, _)| {
            let mut of_register = writes().filter(|(address, _)| *address == saved.address).peekable();
            of_register.peek().is_none() || of_register.any(|(_, took)| took)
        });
        let part = &self.plan.sockets[socket];
        Err(SessionError::SetUp {
            socket: part.socket,
            instance: part.instances[step.instance].name(),
            register: step.register_name(),
            purpose: step.purpose,
            error: error.clone(),
        })
    }
}
