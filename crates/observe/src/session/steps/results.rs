//! What came of steps, taken into the state.

use pericore_registers::RegisterSpace;

use super::reading::readable;
use super::sequence::Sequence;
use super::state::State;
use crate::plan::{Plan, Purpose};

/// Reads counters.
pub fn read(sequence: &mut Sequence, space: &mut impl RegisterSpace, state: &mut State) {
    sequence.carry_out(space);
    record(sequence, state);
}

/// Takes what a list has read of counters.
pub fn record(sequence: &Sequence, state: &mut State) {
    for (socket, step, outcome) in sequence.results() {
        if let Purpose::Count { counter } = step.purpose {
            state.instance_mut(socket, step.instance).record(counter, readable(step, outcome));
        }
    }
}

/// Marks instances in which a step was refused.
pub fn note_doubts(plan: &Plan, state: &mut State, sequence: &Sequence, what: &str) {
    for (socket, step, outcome) in sequence.results() {
        // A counter that could not be read speaks for itself.
        let Some(error) = outcome.as_ref().err().filter(|_| step.counter().is_none()) else { continue };
        let part = &plan.sockets[socket];
        let is_whole = part.gate == Some(step.instance);
        let is_meant = |instance| instance == step.instance || (is_whole && part.gate_stops(instance));
        for instance in (0..part.instances.len()).filter(|&instance| is_meant(instance)) {
            state.instance_mut(socket, instance).doubt(format!("{what}: {error}"));
        }
    }
}

/// Takes what the baselines of a list read; after a set-up, counters that stand must hold what it put there.
pub fn set_baselines(plan: &Plan, state: &mut State, sequence: &Sequence, is_setup: bool) {
    for (socket, step, outcome) in sequence.results() {
        let Purpose::Baseline { counter } = step.purpose else { continue };
        let value = readable(step, outcome);
        let part = &plan.sockets[socket];
        let instance = &part.instances[step.instance];
        let was_reset = is_setup && instance.counters[counter].control.is_some();
        let preset = part.leader.as_ref().filter(|l| (l.instance, l.counter) == (step.instance, counter));
        let right = preset.map_or(0, |leader| leader.preset);
        let state = state.instance_mut(socket, step.instance);
        if let (true, true, Ok(held)) = (was_reset, part.stops(step.instance), &value)
            && *held != right
        {
            let (name, place) = (step.register_name(), instance.name());
            let why = format!("{name} of {place} in socket {} held {held:#x} right after its reset", part.socket);
            state.counter_mut(counter).doubt.get_or_insert(why);
        }
        state.set_baseline(counter, value);
    }
}
