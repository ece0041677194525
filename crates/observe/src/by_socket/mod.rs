//! Registers by socket: each socket of a plan is frozen, read, resumed and rotated by a thread of its own, on a CPU of
//! that socket, and waits for no other.
//!
//! A thread holds a [`Session`] on its socket's part of the plan. What belongs to all of them is here: the journal,
//! which has the registers of every socket before the first is written, and the right to set up and put back.

mod merge;
#[cfg(test)]
mod tests;
mod turns;
mod worker;

use std::panic::resume_unwind;

use pericore_registers::RegisterSpace;

use crate::plan::Plan;
use crate::run::Backend;
use crate::session::{HeldJournals, Moment, Options, OtherSessions, Sample, Session, SessionError};
use merge::merged;
pub use turns::TurnLength;
use turns::Turns;
pub use worker::WorkerClock;
use worker::{Panic, Replies, SocketRun, SocketThread, WorkerSetup};

/// Counters by registers, a thread for each socket.
#[derive(Debug)]
pub struct SocketThreads<S: RegisterSpace + 'static> {
    plan: Plan,
    workers: Vec<SocketThread<S>>,
    journals: HeldJournals,
    other_sessions: Option<OtherSessions>,
    began: f64,
}

impl<S: RegisterSpace + 'static> SocketThreads<S> {
    /// Looks whether the plan's counters are free, saves what will be overwritten, sets up and starts counting, each
    /// socket in a thread of its own. `registers` is called in each of them, with its socket, and gives the registers;
    /// it is where a thread takes its place on a CPU. A plan that waits for an overflow has one thread, as the overflow
    /// in one socket is the end of the sample in all.
    ///
    /// # Errors
    /// As [`Session::start`], and [`SessionError::Thread`]. Everything is as before then.
    pub fn start(
        plan: Plan,
        options: Options,
        turns: TurnLength,
        clock: &WorkerClock,
        registers: impl Fn(u16) -> S + Send + Clone + 'static,
    ) -> Result<Self, SessionError> {
        let mut workers = Vec::new();
        let mut looks = Vec::new();
        for plan in parts(&plan) {
            let turns = Turns::new(turns, plan.rounds());
            let setup = WorkerSetup { plan, options: options.clone(), turns, clock: clock.clone() };
            let (worker, looked) = SocketThread::spawn(setup, registers.clone())?;
            workers.push(worker);
            looks.push(looked);
        }
        let looks: Vec<_> = workers.iter_mut().zip(looks).map(|(worker, looked)| worker.reply(looked)).collect();
        let saved = all_or_first(looks)?.concat();
        let journals = options.write_journals(&saved)?;
        let mut threads = Self { plan, workers, journals, other_sessions: None, began: 0.0 };
        let begun = threads.of_all(|running| running.begin());
        if let Err(error) = all_or_first(begun) {
            // The error says that everything was put back: so that comes first, and its own failure counts more.
            threads.put_back().0?;
            return Err(error);
        }
        threads.note_began();
        // Until here the caller holds the entrance.
        threads.other_sessions = options.other_sessions;
        Ok(threads)
    }

    /// Has each thread do something with its session, at the same time; what comes of it, by socket.
    pub fn each<T: Send + 'static>(&mut self, what: impl Fn(&mut Session<S>) -> T + Send + Clone + 'static) -> Vec<T> {
        self.of_all(move |running| what(&mut running.session))
    }

    fn of_all<T: Send + 'static>(&mut self, order: impl Fn(&mut SocketRun<S>) -> T + Send + Clone + 'static) -> Vec<T> {
        // All are on their way before the first reply is waited for.
        let replies: Vec<Replies<T>> = self.workers.iter().map(|worker| worker.order(order.clone())).collect();
        self.workers.iter_mut().zip(replies).map(|(worker, replies)| worker.reply(replies)).collect()
    }

    fn note_began(&mut self) {
        let began = self.each(|session| session.counts_since());
        #[expect(clippy::cast_precision_loss, reason = "sockets are few")]
        let number = began.len().max(1) as f64;
        self.began = began.iter().sum::<f64>() / number;
    }

    /// Ends all threads, which put everything back; the journals go if that is done. With the panic of a thread that
    /// nobody has met yet: as it ended, it has put back.
    fn put_back(&mut self) -> (Result<(), SessionError>, Option<Panic>) {
        let journals = std::mem::take(&mut self.journals);
        let workers = std::mem::take(&mut self.workers);
        if workers.is_empty() {
            return (journals.remove().map_err(SessionError::from), None);
        }
        // Nobody may set up while half of it is put back. A lock that cannot be had is no reason to leave registers as
        // they are.
        let entrance = self.other_sessions.take().and_then(|known| known.enter_to_put_back().ok());
        let ends: Vec<_> = workers.iter().map(|worker| worker.order(SocketRun::put_back)).collect();
        let ends: Vec<_> = workers.into_iter().zip(ends).map(|(worker, end)| worker.end(&end)).collect();
        // A journal whose registers refuse stays for `pericore restore`.
        let removed = if ends.iter().all(|end| end.is_put_back) { journals.remove() } else { Ok(()) };
        drop(entrance);
        let (outcomes, panics): (Vec<_>, Vec<_>) = ends.into_iter().map(|end| (end.outcome, end.panic)).unzip();
        let outcome = all_or_first(outcomes.into_iter().flatten().collect());
        (outcome.and_then(|_| Ok(removed?)), panics.into_iter().flatten().next())
    }
}

impl<S: RegisterSpace + 'static> Backend for SocketThreads<S> {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn counts_since(&self) -> f64 {
        self.began
    }

    fn sample(&mut self, _: &dyn Fn() -> Moment) -> Sample {
        let samples = self.of_all(SocketRun::sample);
        self.note_began();
        merged(samples)
    }

    fn sample_on_overflow(&mut self, _: &dyn Fn() -> Moment) -> Option<Sample> {
        let samples = self.of_all(SocketRun::sample_on_overflow);
        let sample = merged(samples.into_iter().collect::<Option<_>>()?);
        self.note_began();
        Some(sample)
    }

    fn rotate(&mut self, _: &dyn Fn() -> Moment) {
        self.of_all(SocketRun::rotate);
    }

    /// Each thread changes its rounds by itself.
    fn has_turns_due(&self) -> bool {
        false
    }

    fn check(&mut self) {
        self.each(Session::check_controls);
    }

    fn stop(mut self) -> Result<(), SessionError> {
        let (outcome, panic) = self.put_back();
        panic.map_or(outcome, |panic| resume_unwind(panic))
    }
}

impl<S: RegisterSpace + 'static> Drop for SocketThreads<S> {
    fn drop(&mut self) {
        // Nobody is left to report to.
        let _ = self.put_back();
    }
}

/// The parts of a plan that have a thread each.
fn parts(plan: &Plan) -> Vec<Plan> {
    let waits = plan.sockets.iter().any(|part| part.leader.is_some());
    if waits || plan.sockets.is_empty() {
        return vec![plan.clone()];
    }
    let alone =
        |part: &crate::plan::SocketPlan| Plan { selection: plan.selection.clone(), sockets: vec![part.clone()] };
    plan.sockets.iter().map(alone).collect()
}

/// What came of all sockets, or the first error; of counters in use all are named.
fn all_or_first<T>(outcomes: Vec<Result<T, SessionError>>) -> Result<Vec<T>, SessionError> {
    let (mut done, mut errors) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        match outcome {
            Ok(value) => done.push(value),
            Err(error) => errors.push(error),
        }
    }
    let mut in_use = Vec::new();
    for error in &errors {
        if let SessionError::InUse { counters } = error {
            in_use.extend(counters.iter().cloned());
        }
    }
    match errors.into_iter().next() {
        None => Ok(done),
        Some(SessionError::InUse { .. }) => Err(SessionError::InUse { counters: in_use }),
        Some(error) => Err(error),
    }
}
