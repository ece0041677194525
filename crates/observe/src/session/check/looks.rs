//! When a session looks at what its counts depend on.

use pericore_registers::RegisterSpace;

use super::super::Session;
use super::super::sample::Sample;
use super::super::steps::Sequences;
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

    /// Reads what a sample, or a change of rounds, is about to freeze and somebody else may have frozen before.
    pub(in super::super) fn look_at_gates(&mut self, is_change_of_rounds: bool) {
        let Sequences { freeze, freeze_turns, .. } = &self.sequences;
        let sequence = if is_change_of_rounds { freeze_turns } else { freeze };
        for (socket, step) in self.gates.due(sequence.steps(), self.watch.is_requested()) {
            let held = self.space.carry_out(step.operation);
            Gates::judge(&self.plan, &mut self.state, socket, &step, &held);
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
        self.watch.read(&mut self.space);
        self.watch.judge(&self.plan, &mut self.state, when)
    }
}

impl Sample {
    /// Notes what came of its check.
    pub(in super::super) fn note_check(&mut self, checked: Checked) {
        (self.is_checked, self.withdrawn) = (checked.is_checked, checked.withdrawn);
    }
}
