//! Carrying a plan out: look, save, set up, sample, put back.
//!
//! A [`Session`] owns the register space while its counters run. However it ends (stop, error, panic), what it has
//! overwritten is put back.

mod error;
mod in_use;
mod journal;
mod sample;
mod state;

use pericore_registers::{AccessError, AddressSpace, Operation, Outcome, RegisterSpace, Width};

use crate::plan::{Plan, Purpose, Step};
pub use error::SessionError;
pub use journal::Saved;
pub use sample::{Count, Moment, Sample};
use state::{InstanceState, State};

/// How a session treats others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Use counters even if someone else has them running.
    pub take_over: bool,
}

/// Running counters.
#[derive(Debug)]
pub struct Session<S: RegisterSpace> {
    space: S,
    plan: Plan,
    state: State,
    journal: Vec<Saved>,
    last: Moment,
    /// True from the first write until everything is put back.
    is_dirty: bool,
}

/// A step and where it belongs.
type Placed<'p> = (usize, &'p Step);

impl<S: RegisterSpace> Session<S> {
    /// Looks whether the plan's counters are free, saves what will be overwritten, sets up and starts counting.
    ///
    /// `now` is asked for the time right after counting starts. Instances that do not answer are left out; their counts
    /// will be unreadable, with the reason.
    ///
    /// # Errors
    /// [`SessionError`] if a counter is in use, or if a register refuses access. Everything is as before then.
    pub fn start(
        space: S,
        plan: Plan,
        options: Options,
        now: impl FnOnce(&mut S) -> Moment,
    ) -> Result<Self, SessionError> {
        let state = State::new(&plan);
        let mut session = Self { space, plan, state, journal: Vec::new(), last: Moment::default(), is_dirty: false };
        session.inspect(options)?;
        session.set_up()?;
        session.last = now(&mut session.space);
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

    /// What was overwritten, with the values that will be put back.
    pub fn journal(&self) -> &[Saved] {
        &self.journal
    }

    /// Stops the counters, reads each in use once, and lets them go on. `now` is asked for the time while they stand.
    ///
    /// Counts are those since the last sample, exact across a wrap. What could not be read says so in its validity.
    pub fn sample(&mut self, now: impl FnOnce(&mut S) -> Moment) -> Sample {
        let frozen = self.carry_out(|plan| &plan.freeze);
        let moment = now(&mut self.space);
        let read = self.carry_out(|plan| &plan.read);
        let resumed = self.carry_out(|plan| &plan.resume);
        self.note_doubts(&frozen, "could not be frozen for reading");
        for ((socket, step), outcome) in placed(&self.plan, &self.state, |plan| &plan.read).into_iter().zip(&read) {
            if let Purpose::Count { counter } = step.purpose {
                let value = readable(step, outcome);
                self.state.instance_mut(socket, step.instance).record(counter, value);
            }
        }
        let sample = sample::take(&self.plan, &mut self.state, self.last, moment);
        self.note_doubts(&resumed, "did not resume after an earlier reading");
        self.last = moment;
        sample
    }

    /// Stops counting and puts back every control and filter that was overwritten.
    ///
    /// # Errors
    /// [`SessionError::Restore`] with all registers that refused.
    pub fn stop(mut self) -> Result<(), SessionError> {
        self.put_back()
    }

    fn inspect(&mut self, options: Options) -> Result<(), SessionError> {
        let outcomes = self.carry_out(|plan| &plan.inspect);
        let steps = placed(&self.plan, &self.state, |plan| &plan.inspect);
        let mut seen = Vec::new();
        let mut faults = Vec::new();
        for (&(socket, step), outcome) in steps.iter().zip(&outcomes) {
            match readable(step, outcome) {
                Ok(value) => seen.push((socket, *step, value)),
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
        let saved = seen.iter().filter(|(_, step, _)| step.purpose == Purpose::Save);
        self.journal = saved.map(|(socket, step, value)| Saved::new(&self.plan, *socket, step, *value)).collect();
        Ok(())
    }

    fn set_up(&mut self) -> Result<(), SessionError> {
        self.is_dirty = true;
        let outcomes = self.carry_out(|plan| &plan.setup);
        for ((socket, step), outcome) in placed(&self.plan, &self.state, |plan| &plan.setup).into_iter().zip(&outcomes)
        {
            match (step.purpose, outcome) {
                (Purpose::Baseline { counter }, outcome) => {
                    let value = readable(step, outcome);
                    self.state.instance_mut(socket, step.instance).set_baseline(counter, value);
                }
                (_, Err(error)) => {
                    let part = &self.plan.sockets[socket];
                    return Err(SessionError::SetUp {
                        socket: part.socket,
                        instance: part.instances[step.instance].name(),
                        register: step.register_name(),
                        purpose: step.purpose,
                        error: error.clone(),
                    });
                }
                (_, Ok(_)) => {}
            }
        }
        Ok(())
    }

    fn put_back(&mut self) -> Result<(), SessionError> {
        if !self.is_dirty {
            return Ok(());
        }
        self.is_dirty = false;
        // A unit that cannot be frozen still stops when its controls are put back.
        self.carry_out(|plan| &plan.freeze);
        let writes: Vec<Operation> = self.journal.iter().map(Saved::restoring).collect();
        let mut outcomes = Vec::with_capacity(writes.len());
        self.space.batch(&writes, &mut outcomes);
        let refused = |(saved, outcome): (&Saved, Outcome<u64>)| outcome.err().map(|error| (saved.clone(), error));
        let failures: Vec<(Saved, AccessError)> = self.journal.iter().zip(outcomes).filter_map(refused).collect();
        match failures.first() {
            None => Ok(()),
            Some((first, error)) => {
                Err(SessionError::Restore { refused: failures.len(), first: first.to_string(), error: error.clone() })
            }
        }
    }

    /// Carries out one list of steps in all sockets, without instances that have failed, as one batch.
    fn carry_out(&mut self, list: impl Fn(&crate::plan::SocketPlan) -> &Vec<Step>) -> Vec<Outcome<u64>> {
        let operations: Vec<Operation> =
            placed(&self.plan, &self.state, list).into_iter().map(|(_, step)| step.operation).collect();
        let mut outcomes = Vec::with_capacity(operations.len());
        if !operations.is_empty() {
            self.space.batch(&operations, &mut outcomes);
        }
        outcomes
    }

    /// Marks instances whose freeze or unfreeze was refused.
    fn note_doubts(&mut self, outcomes: &[Outcome<u64>], what: &str) {
        // Both lists run through the same instances in the same order.
        let steps = placed(&self.plan, &self.state, |plan| &plan.freeze);
        let refused: Vec<(usize, usize, String)> = steps
            .iter()
            .zip(outcomes)
            .filter_map(|((socket, step), outcome)| {
                let error = outcome.as_ref().err()?;
                Some((*socket, step.instance, format!("{what}: {error}")))
            })
            .collect();
        for (socket, instance, doubt) in refused {
            self.state.instance_mut(socket, instance).doubt(doubt);
        }
    }
}

impl<S: RegisterSpace> Drop for Session<S> {
    fn drop(&mut self) {
        // Nobody is left to tell; `stop` reports what could not be put back.
        let _ = self.put_back();
    }
}

/// The steps of one list in all sockets, without instances that have failed.
fn placed<'p>(
    plan: &'p Plan,
    state: &State,
    list: impl Fn(&'p crate::plan::SocketPlan) -> &'p Vec<Step>,
) -> Vec<Placed<'p>> {
    let in_socket =
        |(socket, part): (usize, &'p crate::plan::SocketPlan)| list(part).iter().map(move |step| (socket, step));
    let all = plan.sockets.iter().enumerate().flat_map(in_socket);
    all.filter(|(socket, step)| state.instance(*socket, step.instance).fault().is_none()).collect()
}

/// Why a register gave no value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Unreadable {
    /// The user lacks rights: a matter of the whole session.
    Denied(AccessError),
    /// The hardware did not answer.
    Fault(String),
}

/// The value that a step has read, unless it cannot be one.
fn readable(step: &Step, outcome: &Outcome<u64>) -> Result<u64, Unreadable> {
    match (outcome, step.operation) {
        (Err(error @ AccessError::Permission { .. }), _) => Err(Unreadable::Denied(error.clone())),
        (Err(error), _) => Err(Unreadable::Fault(error.to_string())),
        // What is absent or powered down on PCI and MMIO answers all ones; no register of ours can hold that.
        (Ok(value), Operation::Read { address, width })
            if address.space() != AddressSpace::Msr && *value == width.mask() && width >= Width::B4 =>
        {
            Err(Unreadable::Fault(format!("{} reads as all ones", step.register_name())))
        }
        (Ok(value), _) => Ok(*value),
    }
}

#[cfg(test)]
mod tests;
