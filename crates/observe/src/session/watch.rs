//! Whether someone else changes the controls and filters in use.

use pericore_catalog::Role;
use pericore_registers::{Operation, Outcome};

use super::Guard;
use super::state::State;
use crate::plan::{Plan, Purpose, Step, lasting};

/// The controls and filters in use, and what they should hold.
#[derive(Debug)]
pub(super) struct Watch {
    guard: Guard,
    watched: Vec<Watched>,
    next: usize,
}

#[derive(Debug)]
struct Watched {
    socket: usize,
    step: Step,
    /// Bits that read back as written.
    mask: u64,
    /// What was written last; none if nothing was.
    expected: Option<u64>,
}

impl Watch {
    pub(super) fn new(plan: &Plan, guard: Guard) -> Self {
        let mut watched = Vec::new();
        for (socket, part) in plan.sockets.iter().enumerate() {
            for step in part.inspect.iter().filter(|step| step.purpose == Purpose::Save) {
                let mask = lasting(step.register);
                let is_setting = matches!(step.register.role, Role::Control | Role::FixedControl | Role::Filter);
                if is_setting && mask != 0 {
                    watched.push(Watched { socket, step: *step, mask, expected: None });
                }
            }
        }
        Self { guard, watched, next: 0 }
    }

    pub(super) const fn samples_to_notice(&self) -> usize {
        match self.guard {
            Guard::InTurn => self.watched.len(),
            Guard::All => 1,
            Guard::Off => 0,
        }
    }

    /// Remembers what a step has written.
    pub(super) fn note(&mut self, step: &Step) {
        let Operation::Write { address, width, value } = step.operation else { return };
        if let Some(watched) = self.watched.iter_mut().find(|watched| watched.step.operation.address() == address) {
            // A lower half is written by itself.
            watched.expected = Some(watched.expected.unwrap_or(0) & !width.mask() | value);
        }
    }

    pub(super) const fn guard(&self) -> Guard {
        self.guard
    }

    /// Which registers to look at now, of instances that answer.
    pub(super) fn due(&mut self, which: Guard, answers: impl Fn(usize, usize) -> bool) -> Vec<usize> {
        let count = self.watched.len();
        let candidates: Vec<usize> = (0..count)
            .map(|offset| (self.next + offset) % count)
            .filter(|&index| answers(self.watched[index].socket, self.watched[index].step.instance))
            .collect();
        match which {
            Guard::All => candidates,
            Guard::Off => Vec::new(),
            Guard::InTurn => {
                let Some(&first) = candidates.first() else { return Vec::new() };
                self.next = (first + 1) % count;
                vec![first]
            }
        }
    }

    pub(super) fn reading(&self, index: usize) -> Operation {
        self.watched[index].step.operation
    }

    /// Compares what was read with what was written, and marks the counts that a difference spoils. `fresh` if nobody had time to change it.
    pub(super) fn judge(&mut self, plan: &Plan, state: &mut State, index: usize, outcome: &Outcome<u64>, fresh: bool) {
        let watched = &mut self.watched[index];
        let (Some(expected), Ok(value)) = (watched.expected, outcome) else { return };
        if (value ^ expected) & watched.mask == 0 {
            return;
        }
        let part = &plan.sockets[watched.socket];
        let instance = &part.instances[watched.step.instance];
        let (register, expected) = (watched.step.register_name(), expected & watched.mask);
        let place = format!("{} in socket {}", instance.name(), part.socket);
        let doubt = if fresh {
            format!(
                "{register} of {place} reads {value:#x} right after {expected:#x} was written: the write was dropped, or comes late"
            )
        } else {
            format!("someone else changed {register} of {place} from {expected:#x} to {value:#x}")
        };
        let register = watched.step.register;
        for (number, counter) in instance.counters.iter().enumerate() {
            let is_its_control = counter.member == watched.step.member
                && counter.control.is_some_and(|(control, _)| std::ptr::eq(control, register));
            if is_its_control || register.role == Role::Filter {
                let readings = state.instance_mut(watched.socket, watched.step.instance).counter_mut(number);
                readings.doubt.get_or_insert_with(|| doubt.clone());
            }
        }
    }
}
