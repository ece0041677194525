//! When a session looks at what its counts depend on.

use pericore_registers::{Operation, Outcome, RegisterSpace};

use super::super::Session;
use super::super::lists::{List, placed};
use super::super::sample::Sample;
use super::gates::Gates;
use super::watch::When;
use super::withdrawn::{Doubt, Withdrawn};

/// What came of a sample's turn to be checked.
#[derive(Debug, Default)]
pub struct Checked {
    /// True if it was: all that it and the samples before depend on was looked at, after their counts were read.
    pub is_checked: bool,
    /// What the check says of those before.
    pub withdrawn: Option<Withdrawn>,
}

impl<S: RegisterSpace> Session<S> {
    /// Looks at everything that the counts depend on with the next sample, which says what has changed. Meant for the
    /// last one.
    pub fn check_controls(&mut self) {
        self.watch.request();
    }

    /// Reads what the next list of steps freezes and somebody else may have frozen before.
    pub(in super::super) fn look_at_gates(&mut self, list: List) {
        let steps = placed(&self.plan, &self.state, list);
        let due = self.gates.due(&steps, self.watch.is_requested());
        let outcomes = self.read_all(due.iter().map(|(_, step)| step.operation).collect());
        for (placed, held) in due.iter().zip(&outcomes) {
            Gates::judge(&self.plan, &mut self.state, placed, held);
        }
    }

    /// The same of enables, which were read with the write that took ours away.
    pub(in super::super) fn judge_enables(&mut self, list: List, outcomes: &[Outcome<u64>]) {
        for (placed, held) in placed(&self.plan, &self.state, list).iter().zip(outcomes) {
            if placed.1.keeps != 0 && held.is_ok() {
                Gates::judge(&self.plan, &mut self.state, placed, held);
            }
        }
    }

    /// Checks what the counts that were just read depend on, if it is time.
    pub(in super::super) fn check_in_turn(&mut self) -> Checked {
        let Some(samples) = self.watch.begin_check() else { return Checked::default() };
        let doubts = self.check(When::Later);
        let has_withdrawn = samples > 0 && !doubts.is_empty();
        Checked { is_checked: true, withdrawn: has_withdrawn.then_some(Withdrawn { samples, doubts }) }
    }

    /// Reads every control, filter and gate again.
    pub(in super::super) fn check(&mut self, when: When) -> Vec<Doubt> {
        let state = &self.state;
        let due = self.watch.all(|socket, instance| state.instance(socket, instance).fault().is_none());
        let outcomes = self.read_all(due.iter().map(|&index| self.watch.reading(index)).collect());
        let judged = due.into_iter().zip(outcomes);
        judged
            .flat_map(|(index, outcome)| self.watch.judge(&self.plan, &mut self.state, index, &outcome, when))
            .collect()
    }

    fn read_all(&mut self, operations: Vec<Operation>) -> Vec<Outcome<u64>> {
        let mut outcomes = Vec::with_capacity(operations.len());
        if !operations.is_empty() {
            self.space.batch(&operations, &mut outcomes);
        }
        outcomes
    }
}

impl Sample {
    /// Notes what came of its check.
    pub(in super::super) fn note_check(&mut self, checked: Checked) {
        (self.is_checked, self.withdrawn) = (checked.is_checked, checked.withdrawn);
    }
}
