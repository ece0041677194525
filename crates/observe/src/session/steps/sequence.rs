//! A list of steps as it is carried out: flat, in order, in buffers that are kept. While counters stand nothing is
//! looked up and nothing allocated.

use std::ops::Range;

use pericore_registers::{Operation, Outcome, RegisterSpace};

use super::super::Moment;
use super::super::span::Span;
use super::lists::{List, Placed};
use super::state::State;
use crate::plan::{Plan, Step};

/// The steps of one list in all sockets, without instances that have failed, and what came of them the last time.
#[derive(Debug, Default)]
pub struct Sequence {
    steps: Vec<Placed>,
    /// The same, as they go to the registers.
    operations: Vec<Operation>,
    /// Of each the bits that stay as the register holds them.
    keeps: Vec<u64>,
    /// Of each socket of the plan where its steps end, and which one is the first with which a unit stands, or runs.
    sockets: Vec<(usize, usize)>,
    outcomes: Vec<Outcome<u64>>,
    spans: Vec<Span>,
}

impl Sequence {
    /// A list as things stand now.
    pub fn new(plan: &Plan, state: &State, list: List) -> Self {
        let mut sequence = Self::default();
        sequence.compile(plan, state, list);
        sequence
    }

    /// Takes a list's steps as things stand now.
    pub fn compile(&mut self, plan: &Plan, state: &State, list: List) {
        self.steps.clear();
        self.sockets.clear();
        for socket in 0..plan.sockets.len() {
            let start = self.steps.len();
            list.add_steps(plan, state, socket, &mut self.steps);
            let first = start + list.acts_first(&self.steps[start..]);
            self.sockets.push((self.steps.len(), first));
        }
        self.operations.clear();
        self.operations.extend(self.steps.iter().map(|(_, step)| step.operation));
        self.keeps.clear();
        self.keeps.extend(self.steps.iter().map(|(_, step)| step.keeps));
        self.outcomes.reserve(self.steps.len());
        self.spans.reserve(plan.sockets.len());
    }

    /// The steps, by socket.
    pub fn steps(&self) -> &[Placed] {
        &self.steps
    }

    /// The steps, and what came of each the last time.
    pub fn results(&self) -> impl Iterator<Item = (usize, &Step, &Outcome<u64>)> {
        self.steps.iter().zip(&self.outcomes).map(|((socket, step), outcome)| (*socket, step, outcome))
    }

    /// When the first and the last unit of each socket of the plan stood, or ran, by it the last time.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// True if it has a step in a socket of the plan.
    pub fn acts_in(&self, socket: usize) -> bool {
        let start = socket.checked_sub(1).map_or(0, |before| self.sockets[before].0);
        self.sockets[socket].0 > start
    }

    /// Carries all steps out, in order.
    pub fn carry_out(&mut self, space: &mut impl RegisterSpace) {
        self.outcomes.clear();
        self.carry_out_part(space, 0..self.steps.len());
    }

    /// The same, socket by socket, with the time right before the first unit of each stood, or ran, and right after the
    /// last did: whatever comes between is between these.
    pub fn carry_out_timed<S: RegisterSpace>(&mut self, space: &mut S, now: &mut impl FnMut(&mut S) -> Moment) {
        self.outcomes.clear();
        self.spans.clear();
        let mut start = 0;
        for index in 0..self.sockets.len() {
            // Also where one register stops all units: a write that is held up took effect at some time or other.
            let (end, acts) = self.sockets[index];
            self.carry_out_part(space, start..acts);
            let first = now(space);
            self.carry_out_part(space, acts..end);
            self.spans.push(Span { first, last: now(space) });
            start = end;
        }
    }

    /// Carries some steps out, as one list.
    fn carry_out_part(&mut self, space: &mut impl RegisterSpace, range: Range<usize>) {
        if !range.is_empty() {
            space.carry_out_list(&self.operations[range.clone()], &self.keeps[range], &mut self.outcomes);
        }
    }
}

/// What samples and changes of rounds carry out.
#[derive(Debug, Default)]
pub struct Sequences {
    pub freeze: Sequence,
    pub read: Sequence,
    pub resume: Sequence,
    /// Of instances whose events take turns.
    pub freeze_turns: Sequence,
    pub read_turns: Sequence,
    /// To the next round.
    pub switch: Sequence,
    pub resume_turns: Sequence,
}

impl Sequences {
    /// Everything, once it is known which instances answer.
    pub fn new(plan: &Plan, state: &State) -> Self {
        let of = |list| Sequence::new(plan, state, list);
        let mut sequences = Self {
            freeze: of(List::Freeze),
            resume: of(List::Resume),
            freeze_turns: of(List::FreezeTurns),
            resume_turns: of(List::ResumeTurns),
            ..Self::default()
        };
        sequences.compile_round(plan, state);
        sequences
    }

    /// What depends on the round that runs: done when rounds have changed, and counters run again.
    pub fn compile_round(&mut self, plan: &Plan, state: &State) {
        self.read.compile(plan, state, List::Read);
        self.read_turns.compile(plan, state, List::ReadTurns);
        self.switch.compile(plan, state, List::Switch);
    }
}
