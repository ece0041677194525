//! Whether someone else changes the controls, filters and gates that counts depend on.

use std::collections::HashMap;

use pericore_catalog::Role;
use pericore_registers::{Address, Operation, Outcome, RegisterSpace};

use super::super::options::Guard;
use super::super::steps::{State, readable};
use super::gates::{concerned, enables, is_gate, stops};
use super::withdrawn::Doubt;
use crate::plan::{InstancePlan, Plan, Purpose, SocketPlan, Step, lasting};

/// Samples from one check to the next.
pub const BETWEEN: u64 = 20;

/// The registers that counts depend on, and what they should hold.
#[derive(Debug)]
pub struct Watch {
    guard: Guard,
    pub(super) watched: Vec<Watched>,
    /// Where the registers stand there by address: a session begins with a thousand writes, and each is noted.
    places: HashMap<Address, Vec<usize>>,
    /// The reads of all of them, and what the last ones gave. The buffers are kept: a check is made while counters
    /// stand.
    operations: Vec<Operation>,
    outcomes: Vec<Outcome<u64>>,
    /// The same of those that changes of rounds write.
    pub(super) turn_operations: Vec<Operation>,
    pub(super) turn_outcomes: Vec<Outcome<u64>>,
    /// Samples since the last check.
    unchecked: u64,
    /// True if the next sample is to be checked, whatever its turn.
    is_requested: bool,
}

#[derive(Debug)]
pub struct Watched {
    pub(super) socket: usize,
    pub(super) step: Step,
    /// Bits that read back as written.
    pub(super) mask: u64,
    /// What was written last; none if nothing was.
    pub(super) expected: Option<u64>,
    /// What it held before the first write.
    pub(super) found: Option<u64>,
    /// True if changes of rounds may write it.
    pub(super) takes_turns: bool,
    /// Of a gate that no sample writes: the enables that it must have. It must not be frozen.
    gate: Option<u64>,
}

/// What is made of a register that was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Nobody had time to change it.
    RightAfterItsWrite,
    /// The session has run since.
    Later,
}

impl Watch {
    pub fn new(plan: &Plan, guard: Guard) -> Self {
        let parts = plan.sockets.iter().enumerate();
        let watched = parts
            .flat_map(|(socket, part)| part.inspect.iter().filter_map(move |step| Watched::new(socket, part, step)));
        let mut watch = Self {
            guard,
            watched: watched.collect(),
            places: HashMap::new(),
            operations: Vec::new(),
            outcomes: Vec::new(),
            turn_operations: Vec::new(),
            turn_outcomes: Vec::new(),
            unchecked: 0,
            is_requested: false,
        };
        watch.find_places();
        watch
    }

    fn find_places(&mut self) {
        self.places.clear();
        for (place, watched) in self.watched.iter().enumerate() {
            self.places.entry(watched.step.operation.address()).or_default().push(place);
        }
    }

    fn retain(&mut self, keep: impl FnMut(&Watched) -> bool) {
        self.watched.retain(keep);
        self.find_places();
    }

    pub fn samples_to_notice(&self) -> usize {
        match self.guard {
            Guard::InTurn if self.watched.is_empty() => 0,
            Guard::InTurn => BETWEEN as usize,
            Guard::All => 1,
            Guard::Off => 0,
        }
    }

    /// Registers that a check reads.
    pub fn len(&self) -> usize {
        self.watched.len()
    }

    /// Remembers what a step has written.
    pub fn note(&mut self, step: &Step) {
        let Operation::Write { address, width, value } = step.operation else { return };
        if let Some(first) = self.places.get(&address).and_then(|places| places.first()) {
            let watched = &mut self.watched[*first];
            // A lower half is written by itself.
            watched.expected = Some(watched.expected.unwrap_or(0) & !width.mask() | value);
        }
    }

    /// What a gate was found to hold before the first write: one that stops counters then is no change.
    pub fn found(&mut self, step: &Step, value: u64) {
        let Some(places) = self.places.get(&step.operation.address()) else { return };
        let mut has_stopped = false;
        for place in places {
            let watched = &mut self.watched[*place];
            watched.found = Some(value);
            has_stopped |= watched.is_stopped(step, value);
        }
        if has_stopped {
            let address = step.operation.address();
            self.retain(|watched| watched.step.operation.address() != address || !watched.is_stopped(step, value));
        }
    }

    /// The next sample is to be checked.
    pub fn request(&mut self) {
        self.is_requested = true;
    }

    pub const fn is_requested(&self) -> bool {
        self.is_requested
    }

    /// Begins the check of a sample, if one is due; tells how many samples before it have had none.
    pub fn begin_check(&mut self) -> Option<u64> {
        let is_due = match self.guard {
            Guard::All => true,
            Guard::InTurn => self.unchecked + 1 >= BETWEEN,
            Guard::Off => false,
        };
        if std::mem::take(&mut self.is_requested) || is_due {
            return Some(std::mem::take(&mut self.unchecked));
        }
        self.unchecked += 1;
        None
    }

    /// Leaves out what belongs to instances that do not answer; all that is looked at later is known by then.
    pub fn leave_out(&mut self, is_dead: impl Fn(usize, usize) -> bool) {
        self.retain(|watched| !is_dead(watched.socket, watched.step.instance));
        self.operations = self.watched.iter().map(|watched| watched.step.operation).collect();
        self.outcomes.reserve(self.operations.len());
        self.prepare_turns();
    }

    /// Reads all registers.
    pub fn read(&mut self, space: &mut impl RegisterSpace) {
        self.outcomes.clear();
        if !self.operations.is_empty() {
            space.batch(&self.operations, &mut self.outcomes);
        }
    }

    /// Compares what was read with what was written, and marks the counts that a difference spoils. Tells those that
    /// were in no doubt before.
    pub fn judge(&self, plan: &Plan, state: &mut State, when: When) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        for (watched, outcome) in self.watched.iter().zip(&self.outcomes) {
            let part = &plan.sockets[watched.socket];
            let Some(why) = watched.complaint(part, outcome, when) else { continue };
            for (instance, counter) in watched.spoils(part) {
                let readings = state.instance_mut(watched.socket, instance).counter_mut(counter);
                if readings.doubt.is_some() {
                    continue;
                }
                readings.doubt = Some(why.clone());
                let InstancePlan { number, counters, .. } = &part.instances[instance];
                doubts.extend(counters[counter].events.iter().map(|&event| Doubt {
                    event,
                    socket: part.socket,
                    instance: *number,
                    why: why.clone(),
                }));
            }
        }
        doubts
    }
}

impl Watched {
    pub(super) fn new(socket: usize, part: &SocketPlan, step: &Step) -> Option<Self> {
        let is_saved = step.purpose == Purpose::Save;
        let address = step.operation.address();
        let mut switches = part.instances[step.instance].switch.iter().flatten();
        let takes_turns = switches.any(|step| step.operation.address() == address);
        let mask = lasting(step.register);
        let plain = Self { socket, step: *step, mask, expected: None, found: None, takes_turns, gate: None };
        if is_gate(step.register) {
            // What each sample writes is looked at before that.
            let is_written = part.freeze.iter().any(|step| step.operation.address() == address);
            let enables = enables(part, step);
            return (!is_written).then_some(Self { gate: Some(enables), takes_turns: false, ..plain });
        }
        let is_setting = matches!(step.register.role, Role::Control | Role::FixedControl | Role::Filter);
        (is_saved && is_setting && plain.mask != 0).then_some(plain)
    }

    /// True for a gate that is looked at alone and stops counters if it holds this value.
    fn is_stopped(&self, step: &Step, value: u64) -> bool {
        self.step.purpose == Purpose::Inspect && self.gate.is_some_and(|enables| stops(step.register, enables, value))
    }

    /// What is wrong with the register's value, if anything is.
    fn complaint(&self, part: &SocketPlan, outcome: &Outcome<u64>, when: When) -> Option<String> {
        let instance = &part.instances[self.step.instance];
        let register = || self.step.register_name();
        let place = || format!("{} in socket {}", instance.name(), part.socket);
        let value = match (readable(&self.step, outcome), when) {
            (Ok(value), _) => value,
            (Err(_), When::RightAfterItsWrite) => return None,
            (Err(why), When::Later) => {
                return Some(format!("nobody knows what {} of {} holds by now ({why})", register(), place()));
            }
        };
        if let Some(enables) = self.gate {
            let is_stopped = stops(self.step.register, enables, value);
            return is_stopped
                .then(|| format!("someone else stopped counters of {} ({} = {value:#x})", place(), register()));
        }
        let expected = self.expected? & self.mask;
        if (value ^ expected) & self.mask == 0 {
            return None;
        }
        let (register, place) = (register(), place());
        Some(match when {
            When::RightAfterItsWrite => format!(
                "{register} of {place} reads {value:#x} right after {expected:#x} was written: the write was dropped, \
                 or comes late"
            ),
            When::Later => format!("someone else changed {register} of {place} from {expected:#x} to {value:#x}"),
        })
    }

    /// The counters whose counts depend on it.
    fn spoils(&self, part: &SocketPlan) -> Vec<(usize, usize)> {
        if self.gate.is_some() {
            return concerned(part, &self.step);
        }
        let register = self.step.register;
        let counters = part.instances[self.step.instance].counters.iter().enumerate();
        let depends = counters.filter(|(_, counter)| {
            let is_its_control = counter.member == self.step.member
                && counter.control.is_some_and(|(control, _)| control.id == register.id);
            is_its_control || register.role == Role::Filter
        });
        depends.map(|(number, _)| (self.step.instance, number)).collect()
    }
}
