//! Which steps a session carries out, as things stand.

use pericore_catalog::Role;
use pericore_registers::{AccessError, Operation, Outcome, RegisterSpace};

use super::state::State;
use crate::plan::{Plan, Purpose, Step};

/// A step and where it belongs.
pub(super) type Placed = (usize, Step);

/// The lists of steps that a session carries out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Inspect,
    Setup,
    Freeze,
    Read,
    Resume,
    /// Of instances whose events take turns only.
    FreezeTurns,
    ReadTurns,
    Switch,
    ResumeTurns,
}

impl List {
    /// How many of a socket's steps it takes until the first of its units stands, or runs.
    pub(super) fn acts_first(self, steps: &[Placed]) -> usize {
        match self {
            Self::Setup => {
                let first = steps.iter().position(|(_, step)| step.purpose == Purpose::Unfreeze);
                first.map_or(steps.len(), |first| first + 1)
            }
            _ => steps.len().min(1),
        }
    }
}

/// True if a step looks whether somebody else has frozen the socket, and nothing else depends on it.
pub(super) fn only_looks_for_a_freeze(step: &Step) -> bool {
    step.purpose == Purpose::Inspect
        && step.register.role == Role::GlobalControl
        && step.register.field("frz_all").is_some()
}

/// The steps of one list in all sockets as things stand now, without instances that have failed.
pub(super) fn placed(plan: &Plan, state: &State, list: List) -> Vec<Placed> {
    let mut all = Vec::new();
    for (socket, part) in plan.sockets.iter().enumerate() {
        let turns = part.instances.iter().any(|instance| instance.rounds > 1);
        let takes_turns =
            |step: &&Step| part.instances[step.instance].rounds > 1 || (turns && part.gate == Some(step.instance));
        let counter = |step: &Step| step.counter().map(|counter| &part.instances[step.instance].counters[counter]);
        let runs = |step: &&Step| {
            counter(step).is_some_and(|counter| counter.runs_in(state.instance(socket, step.instance).round))
        };
        let switches = || {
            let turning = part.instances.iter().enumerate().filter(|(_, instance)| instance.rounds > 1);
            turning.flat_map(|(index, instance)| &instance.switch[state.instance(socket, index).round])
        };
        let steps: Box<dyn Iterator<Item = &Step>> = match list {
            List::Inspect => Box::new(part.inspect.iter()),
            List::Setup => Box::new(part.setup.iter()),
            List::Freeze => Box::new(part.freeze.iter()),
            List::Read => Box::new(part.read.iter().filter(runs)),
            List::Resume => Box::new(part.resume.iter()),
            List::FreezeTurns => Box::new(part.freeze.iter().filter(takes_turns)),
            List::ReadTurns => {
                let in_turn = |step: &&Step| counter(step).is_some_and(|counter| counter.round.is_some());
                Box::new(part.read.iter().filter(runs).filter(in_turn))
            }
            List::Switch => Box::new(switches()),
            List::ResumeTurns => Box::new(part.resume.iter().filter(takes_turns)),
        };
        all.extend(
            steps.filter(|step| state.instance(socket, step.instance).fault().is_none()).map(|step| (socket, *step)),
        );
    }
    all
}

/// Carries steps out, in order. What keeps bits of others is read right before it is written: its outcome is what it
/// held.
pub(super) fn carry_out(space: &mut impl RegisterSpace, steps: &[Placed], outcomes: &mut Vec<Outcome<u64>>) {
    for run in steps.chunk_by(|(_, one), (_, next)| one.keeps == 0 && next.keeps == 0) {
        match run {
            [(_, step @ Step { operation: Operation::Write { address, width, value }, keeps, .. })] if *keeps != 0 => {
                let (address, width) = (*address, *width);
                let written = space.read(address, width).and_then(|held| {
                    if held == width.mask() {
                        let message = format!("{} reads as all ones", step.register_name());
                        return Err(AccessError::Io { address, message });
                    }
                    space.write(address, width, held & keeps | value)?;
                    Ok(held)
                });
                outcomes.push(written);
            }
            _ => {
                let operations: Vec<Operation> = run.iter().map(|(_, step)| step.operation).collect();
                space.batch(&operations, outcomes);
            }
        }
    }
}
