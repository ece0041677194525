//! A list of steps as it is carried out: flat, in order, in buffers that are kept. While counters stand nothing is
//! looked up and nothing allocated.

use std::iter;
use std::ops::Range;

use pericore_registers::{AccessError, Operation, Outcome, RegisterSpace};

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
    /// Of each socket of the plan where its steps end, and where its first unit stands, or runs.
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

    /// Carries all steps out, in order.
    pub fn carry_out(&mut self, space: &mut impl RegisterSpace) {
        self.outcomes.clear();
        self.carry_out_part(space, 0..self.steps.len());
    }

    /// The same, socket by socket, with the time when the first and the last unit of each stood, or ran.
    pub fn carry_out_timed<S: RegisterSpace>(&mut self, space: &mut S, now: &mut impl FnMut(&mut S) -> Moment) {
        self.outcomes.clear();
        self.spans.clear();
        let mut start = 0;
        for index in 0..self.sockets.len() {
            let (end, acts) = self.sockets[index];
            self.carry_out_part(space, start..acts);
            let first = now(space);
            self.carry_out_part(space, acts..end);
            self.spans.push(Span { first, last: now(space) });
            start = end;
        }
    }

    /// Carries some steps out: what keeps bits of others by itself, all between as one batch.
    fn carry_out_part(&mut self, space: &mut impl RegisterSpace, range: Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let step = &self.steps[at].1;
            if step.keeps != 0 {
                self.outcomes.extend(iter::once(write_own_bits(space, step)));
                at += 1;
                continue;
            }
            let keeping = self.steps[at..range.end].iter().position(|(_, step)| step.keeps != 0);
            let end = keeping.map_or(range.end, |keeping| at + keeping);
            space.batch(&self.operations[at..end], &mut self.outcomes);
            at = end;
        }
    }
}

/// Writes a register whose other bits belong to others: it is read right before. The outcome is what it held.
fn write_own_bits(space: &mut impl RegisterSpace, step: &Step) -> Outcome<u64> {
    let Operation::Write { address, width, value } = step.operation else { return space.carry_out(step.operation) };
    let held = space.read(address, width)?;
    if held == width.mask() {
        let message = format!("{} reads as all ones", step.register_name());
        return Err(AccessError::Io { address, message });
    }
    space.write(address, width, held & step.keeps | value)?;
    Ok(held)
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
