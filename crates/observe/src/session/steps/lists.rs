//! Which steps a session carries out, as things stand.

use pericore_catalog::Role;

use super::state::State;
use crate::plan::{Plan, Purpose, Step};

/// A step and where it belongs.
pub type Placed = (usize, Step);

/// The lists of steps that a session carries out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    Inspect,
    Attempt,
    Setup,
    Freeze,
    Read,
    Resume,
    /// Of instances whose events take turns only.
    FreezeTurns,
    ReadTurns,
    /// From the round that runs to the next.
    Switch,
    ResumeTurns,
}

impl List {
    /// How many of a socket's steps come before the one with which the first of its units stands, or runs.
    pub fn acts_first(self, steps: &[Placed]) -> usize {
        match self {
            Self::Setup => {
                let first = |is: fn(Purpose) -> bool| steps.iter().position(|(_, step)| is(step.purpose));
                let unfreezes = first(|purpose| purpose == Purpose::Unfreeze);
                // Without a freeze a count begins where its counter is read first.
                let reads = || first(|purpose| matches!(purpose, Purpose::Baseline { .. }));
                unfreezes.or_else(reads).unwrap_or(steps.len())
            }
            _ => 0,
        }
    }

    /// Adds its steps in a socket as things stand now, without instances that have failed.
    pub fn add_steps(self, plan: &Plan, state: &State, socket: usize, all: &mut Vec<Placed>) {
        let part = &plan.sockets[socket];
        let round = |instance: usize| state.instance(socket, instance).round;
        let turns = part.instances.iter().any(|instance| instance.rounds > 1);
        let takes_turns =
            |step: &&Step| part.instances[step.instance].rounds > 1 || (turns && part.gate == Some(step.instance));
        let counter = |step: &Step| step.counter().map(|counter| &part.instances[step.instance].counters[counter]);
        let runs = |step: &&Step| counter(step).is_some_and(|counter| counter.runs_in(round(step.instance)));
        let in_turn = |step: &&Step| counter(step).is_some_and(|counter| counter.round.is_some());
        let mut add = |steps: &mut dyn Iterator<Item = &Step>| {
            let answering = steps.filter(|step| state.instance(socket, step.instance).fault().is_none());
            all.extend(answering.map(|step| (socket, *step)));
        };
        match self {
            Self::Inspect => add(&mut part.inspect.iter()),
            Self::Attempt => add(&mut part.attempt.iter()),
            Self::Setup => add(&mut part.setup.iter()),
            Self::Freeze => add(&mut part.freeze.iter()),
            Self::Read => add(&mut part.read.iter().filter(runs)),
            Self::Resume => add(&mut part.resume.iter()),
            Self::FreezeTurns => add(&mut part.freeze.iter().filter(takes_turns)),
            Self::ReadTurns => add(&mut part.read.iter().filter(runs).filter(in_turn)),
            Self::Switch => {
                let turning = part.instances.iter().enumerate().filter(|(_, instance)| instance.rounds > 1);
                let next = |index: usize, rounds: usize| (round(index) + 1) % rounds;
                add(&mut turning.flat_map(|(index, instance)| &instance.switch[next(index, instance.rounds)]));
            }
            Self::ResumeTurns => add(&mut part.resume.iter().filter(takes_turns)),
        }
    }
}

/// True if a step looks whether somebody else has frozen the socket, and nothing else depends on it.
pub fn only_looks_for_a_freeze(step: &Step) -> bool {
    step.purpose == Purpose::Inspect
        && step.register.role == Role::GlobalControl
        && step.register.field("frz_all").is_some()
}
