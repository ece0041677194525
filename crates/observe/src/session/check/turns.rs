//! Controls and filters that a change of rounds is about to write: where somebody else has written one since, it is
//! theirs, and the instance gives way; where one cannot be read, nobody knows.

use pericore_registers::{Outcome, RegisterSpace};

use super::super::steps::{State, Unreadable, readable};
use super::watch::{Watch, Watched};
use crate::plan::{Plan, SocketPlan};

impl Watch {
    /// Notes what has to be looked at, once it is known which instances answer.
    pub(super) fn prepare_turns(&mut self) {
        let reads = self.in_turns().map(|watched| watched.step.operation);
        self.turn_operations = reads.collect();
        self.turn_outcomes.reserve(self.turn_operations.len());
    }

    fn in_turns(&self) -> impl Iterator<Item = &Watched> {
        self.watched.iter().filter(|watched| watched.takes_turns)
    }

    /// Looks, at what cannot be read a second time; true if somebody else has, or may have written any.
    pub fn are_turns_taken(&mut self, space: &mut impl RegisterSpace) -> bool {
        self.turn_outcomes.clear();
        if self.turn_operations.is_empty() {
            return false;
        }
        space.batch(&self.turn_operations, &mut self.turn_outcomes);
        let in_turns = self.watched.iter().filter(|watched| watched.takes_turns);
        for (watched, outcome) in in_turns.zip(&mut self.turn_outcomes) {
            if readable(&watched.step, outcome).is_err() {
                *outcome = space.carry_out(watched.step.operation);
            }
        }
        self.in_turns().zip(&self.turn_outcomes).any(|(watched, outcome)| watched.taken(outcome).is_some())
    }

    /// Leaves every instance alone in which that is so, for the rest of the session.
    pub fn give_way(&self, state: &mut State) {
        for (watched, outcome) in self.in_turns().zip(&self.turn_outcomes) {
            let Some(taken) = watched.taken(outcome) else { continue };
            let register = watched.step.register_name();
            let why = match taken {
                Ok(value) => {
                    format!("it was left to somebody else, who has taken {register} (= {value:#x}) for another use")
                }
                Err(why) => {
                    format!("it was left alone before its next round: somebody else may have taken {register} ({why})")
                }
            };
            state.instance_mut(watched.socket, watched.step.instance).fail(why);
        }
    }
}

impl Watched {
    /// What the register holds, if that is neither what was written last nor what was found at first, or why it cannot
    /// be told.
    fn taken(&self, outcome: &Outcome<u64>) -> Option<Result<u64, Unreadable>> {
        let known = self.expected.or(self.found)?;
        match readable(&self.step, outcome) {
            Ok(value) => ((value ^ known) & self.mask != 0).then_some(Ok(value)),
            Err(why) => Some(Err(why)),
        }
    }
}

/// Reads that a change of rounds makes, at most, to see whether somebody else has taken what it writes.
pub fn reads(plan: &Plan) -> usize {
    let of_part = |part: &SocketPlan| {
        let watched = part.inspect.iter().filter_map(|step| Watched::new(0, part, step));
        watched.filter(|watched| watched.takes_turns).count()
    };
    plan.sockets.iter().map(of_part).sum()
}
