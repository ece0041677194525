//! What a session remembers of each instance between samples.

use pericore_metrics::Validity;

use super::reading::Unreadable;
use super::slices::Slices;
use crate::plan::Plan;

/// All instances, by socket and index in the socket's plan.
#[derive(Debug)]
pub(super) struct State {
    sockets: Vec<Vec<InstanceState>>,
}

/// An instance.
#[derive(Debug, Default)]
pub(super) struct InstanceState {
    fault: Option<String>,
    doubt: Option<String>,
    /// The round that runs.
    pub(super) round: usize,
    counters: Vec<CounterState>,
}

/// A counter.
#[derive(Debug, Clone, Default)]
pub(super) struct CounterState {
    /// The last reading, raw; none if it failed.
    pub(super) last: Option<u64>,
    /// The reading of the current sample, or why there is none.
    pub(super) current: Option<Result<u64, String>>,
    /// What was counted since the last sample.
    pub(super) slices: Slices,
    /// What is to be said of it.
    pub(super) validity: Validity,
    /// Why the counter is in doubt for good.
    pub(super) doubt: Option<String>,
}

impl State {
    pub(super) fn new(plan: &Plan) -> Self {
        let instance =
            |counters: usize| InstanceState { counters: vec![CounterState::default(); counters], ..Default::default() };
        let socket =
            |part: &crate::plan::SocketPlan| part.instances.iter().map(|i| instance(i.counters.len())).collect();
        Self { sockets: plan.sockets.iter().map(socket).collect() }
    }

    pub(super) fn instance(&self, socket: usize, instance: usize) -> &InstanceState {
        &self.sockets[socket][instance]
    }

    pub(super) fn instance_mut(&mut self, socket: usize, instance: usize) -> &mut InstanceState {
        &mut self.sockets[socket][instance]
    }
}

impl InstanceState {
    /// Why the instance is left out of everything.
    pub(super) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Why all its counts are in doubt.
    pub(super) fn doubts(&self) -> Option<&str> {
        self.doubt.as_deref()
    }

    pub(super) fn fail(&mut self, why: String) {
        self.fault.get_or_insert(why);
    }

    pub(super) fn doubt(&mut self, why: String) {
        self.doubt.get_or_insert(why);
    }

    pub(super) fn set_baseline(&mut self, counter: usize, value: Result<u64, Unreadable>) {
        self.counters[counter].last = value.ok();
    }

    pub(super) fn record(&mut self, counter: usize, value: Result<u64, Unreadable>) {
        self.counters[counter].current = Some(value.map_err(|unreadable| match unreadable {
            Unreadable::Denied(error) => error.to_string(),
            Unreadable::Fault(why) => why,
        }));
    }

    pub(super) fn counter_mut(&mut self, counter: usize) -> &mut CounterState {
        &mut self.counters[counter]
    }
}
