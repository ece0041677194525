//! What a session remembers of each instance between samples.

use pericore_metrics::Validity;

use super::super::slices::Slices;
use super::reading::Unreadable;
use crate::plan::Plan;

/// All instances, by socket and index in the socket's plan.
#[derive(Debug)]
pub struct State {
    sockets: Vec<Vec<InstanceState>>,
}

/// An instance.
#[derive(Debug, Default)]
pub struct InstanceState {
    fault: Option<String>,
    doubt: Option<String>,
    /// The round that runs.
    pub round: usize,
    counters: Vec<CounterState>,
}

/// A counter.
#[derive(Debug, Clone, Default)]
pub struct CounterState {
    /// The last reading, raw; none if it failed.
    pub last: Option<u64>,
    /// The reading of the current sample, or why there is none.
    pub current: Option<Result<u64, String>>,
    /// What was counted since the last sample.
    pub slices: Slices,
    /// What is to be said of it.
    pub validity: Validity,
    /// Why the counter is in doubt for good.
    pub doubt: Option<String>,
}

impl State {
    pub fn new(plan: &Plan) -> Self {
        let instance =
            |counters: usize| InstanceState { counters: vec![CounterState::default(); counters], ..Default::default() };
        let socket =
            |part: &crate::plan::SocketPlan| part.instances.iter().map(|i| instance(i.counters.len())).collect();
        Self { sockets: plan.sockets.iter().map(socket).collect() }
    }

    pub fn instance(&self, socket: usize, instance: usize) -> &InstanceState {
        &self.sockets[socket][instance]
    }

    pub fn instance_mut(&mut self, socket: usize, instance: usize) -> &mut InstanceState {
        &mut self.sockets[socket][instance]
    }

    /// Notes that the next round runs in each instance.
    pub fn next_round(&mut self, plan: &Plan) {
        for (part, states) in plan.sockets.iter().zip(&mut self.sockets) {
            for (instance, state) in part.instances.iter().zip(states) {
                state.round = (state.round + 1) % instance.rounds;
            }
        }
    }
}

impl InstanceState {
    /// Why the instance is left out of everything.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Why all its counts are in doubt.
    pub fn doubts(&self) -> Option<&str> {
        self.doubt.as_deref()
    }

    pub fn fail(&mut self, why: String) {
        self.fault.get_or_insert(why);
    }

    pub fn doubt(&mut self, why: String) {
        self.doubt.get_or_insert(why);
    }

    pub fn set_baseline(&mut self, counter: usize, value: Result<u64, Unreadable>) {
        self.counters[counter].last = value.ok();
    }

    pub fn record(&mut self, counter: usize, value: Result<u64, Unreadable>) {
        self.counters[counter].current = Some(value.map_err(|unreadable| match unreadable {
            Unreadable::Denied(error) => error.to_string(),
            Unreadable::Fault(why) => why,
        }));
    }

    pub fn counter_mut(&mut self, counter: usize) -> &mut CounterState {
        &mut self.counters[counter]
    }
}
