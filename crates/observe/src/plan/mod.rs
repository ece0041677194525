//! From a selection and a topology to an explicit plan: which counter counts what, and every register access, in order.
//!
//! Planning is pure: the same selection on the same topology gives the same plan, and nothing is read or written.

mod assign;
mod bound;
mod conflict;
mod cost;
mod error;
mod gate;
mod instance;
mod joined;
mod occupied;
mod operations;
mod paused;
mod rounds;
mod sampling;
mod scope;
mod step;

use pericore_catalog::{Register, Unit};
use pericore_registers::Operation;

use crate::discover::{Socket, Topology};
use crate::selection::Selection;
pub use assign::{Demand, Misfit, Reason, assign};
pub use bound::{Bound, Why};
pub use conflict::{Conflict, why_not};
pub use cost::Cost;
pub use error::PlanError;
pub use gate::lasting;
pub(crate) use gate::resets;
pub use gate::{Freeze, freezes_sockets};
use instance::Planner;
pub use instance::rounds_of;
pub use occupied::{Occupied, Taken};
pub use paused::Paused;
pub use rounds::{BUDGET, Rounds, Seat, spread};
pub use sampling::{Leader, Trigger};
pub use scope::{Control, controls_of};
pub use step::{Purpose, Step, halves};

/// No uncore clock is faster: the bound for how soon a counter can wrap.
const FASTEST_CLOCK_HZ: f64 = 5e9;

/// What a session will do.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What was asked for.
    pub selection: Selection,
    /// One part for each socket.
    pub sockets: Vec<SocketPlan>,
}

/// What a session will do in a socket: lists of steps, each to be carried out in order.
#[derive(Debug, Clone)]
pub struct SocketPlan {
    /// Socket.
    pub socket: u16,
    /// The instances in use; steps refer to them by index.
    pub instances: Vec<InstancePlan>,
    /// The instance whose register freezes the whole socket, if that is how counters are stopped.
    pub gate: Option<usize>,
    /// Reads before the first write: what will be overwritten, and whether a counter is in use already.
    pub inspect: Vec<Step>,
    /// The first writes, one for each way to registers: a free control takes the value that it holds. What is refused
    /// here was not begun.
    pub attempt: Vec<Step>,
    /// Guide 2.1.1, a to f: from freezing to the start of counting, with the first round of each instance.
    pub setup: Vec<Step>,
    /// Guide 2.1.2: stops the counters for reading.
    pub freeze: Vec<Step>,
    /// Reads each counter in use, once; of counters that take turns only those of the round that runs.
    pub read: Vec<Step>,
    /// Lets the counters go on.
    pub resume: Vec<Step>,
    /// The counter whose overflows are waited for, if samples come by overflow.
    pub leader: Option<Leader>,
    /// Every control that a gate or filter of the plan concerns, ours and those of others: looked at before these are put back.
    pub controls: Vec<Control>,
}

/// An instance in use.
#[derive(Debug, Clone)]
pub struct InstancePlan {
    /// Unit.
    pub unit: &'static Unit,
    /// Instance within the socket.
    pub number: u16,
    /// Its counters in use; one that takes turns stands here once for each round.
    pub counters: Vec<CounterUse>,
    /// Rounds that take turns: 1 if everything is counted all the time.
    pub rounds: usize,
    /// No plan for this instance has fewer rounds.
    pub bound: Bound,
    /// For each round the steps that change to it, while the counters stand; empty if there is one round.
    pub switch: Vec<Vec<Step>>,
    /// What others use of the instance.
    pub taken: Taken,
    /// How its counters are reached.
    pub through: Through,
}

/// How counters are reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Through {
    /// By their registers.
    #[default]
    Registers,
    /// By the kernel's driver.
    Kernel,
}

impl Through {
    /// Name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Registers => "registers",
            Self::Kernel => "kernel",
        }
    }
}

/// A counter in use.
#[derive(Debug, Clone)]
pub struct CounterUse {
    /// The counter's register array.
    pub register: &'static Register,
    /// Member of the array.
    pub member: u8,
    /// The control register array and the value to write, enable bit included; none for a free-running counter.
    pub control: Option<(&'static Register, u64)>,
    /// Indexes in [`Selection::events`] of the events that the counter serves.
    pub events: Vec<usize>,
    /// The round in which it is counted; none if it always is.
    pub round: Option<usize>,
    /// Seconds within which the counter cannot wrap twice.
    pub safe_seconds: f64,
}

impl SocketPlan {
    fn without_accesses(socket: u16, instances: Vec<InstancePlan>) -> Self {
        Self {
            socket,
            instances,
            gate: None,
            inspect: Vec::new(),
            attempt: Vec::new(),
            setup: Vec::new(),
            freeze: Vec::new(),
            read: Vec::new(),
            resume: Vec::new(),
            leader: None,
            controls: Vec::new(),
        }
    }
}

impl InstancePlan {
    /// The first instance of a unit, without counters.
    fn idle(unit: &'static Unit) -> Self {
        Self {
            unit,
            number: 0,
            counters: Vec::new(),
            rounds: 1,
            bound: Bound::ONE,
            switch: Vec::new(),
            taken: Taken::default(),
            through: Through::Registers,
        }
    }

    /// Unit and number: `cbo3`; a unit with one instance goes by its name.
    pub fn name(&self) -> String {
        instance_name(self.unit, self.number)
    }

    /// The events that are counted here, each once, as indexes in [`Selection::events`]: counts of a sample come in this order.
    pub fn events(&self) -> Vec<usize> {
        let mut events: Vec<usize> = Vec::new();
        for event in self.counters.iter().flat_map(|counter| &counter.events) {
            if !events.contains(event) {
                events.push(*event);
            }
        }
        events
    }
}

impl CounterUse {
    /// True if the counter runs in a round of its instance.
    pub fn runs_in(&self, round: usize) -> bool {
        self.round.is_none_or(|own| own == round)
    }

    /// The bits of the register that count.
    pub fn bits(&self) -> pericore_catalog::BitRange {
        let whole = pericore_catalog::BitRange::new(self.register.width.clamp(1, 64) - 1, 0);
        self.register.field("event_count").map_or(whole, |field| field.bits)
    }
}

impl Plan {
    /// Gives each event of the selection a counter in each instance that answers, in as few rounds as can be, and lists
    /// all accesses.
    ///
    /// # Errors
    /// [`PlanError`] if a unit does not answer anywhere, or if an event or group does not fit its counters and filters.
    pub fn new(topology: &Topology, selection: Selection) -> Result<Self, PlanError> {
        Self::beside(topology, selection, &Occupied::default())
    }

    /// The same, without the counters that others use; instances in which others count are neither frozen nor reset.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn beside(topology: &Topology, selection: Selection, occupied: &Occupied) -> Result<Self, PlanError> {
        Self::with_freeze(topology, selection, occupied, Freeze::Cheapest)
    }

    /// The same, and a choice of whether counters are stopped for reading.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn with_freeze(
        topology: &Topology,
        selection: Selection,
        occupied: &Occupied,
        freeze: Freeze,
    ) -> Result<Self, PlanError> {
        if selection.events.is_empty() {
            return Err(PlanError::NothingToCount);
        }
        let mut planner = Planner::new(&selection);
        let mut sockets = Vec::with_capacity(topology.sockets.len());
        for socket in &topology.sockets {
            let mut instances = planner.instances(topology.family, socket, occupied)?;
            if instances.is_empty() {
                continue;
            }
            let gate = gate::socket_gate(topology.family, socket, &instances, occupied, freeze);
            let others = if gate.is_none() { gate::foreign_gate(topology.family, &instances) } else { None };
            let mut placed = |(unit, gate)| (index_of(&mut instances, unit), gate);
            let (whole, others) = (gate.map(&mut placed), others.map(&mut placed));
            let stopping = operations::Stopping { freeze, whole, others };
            sockets.push(operations::socket_plan(topology.family, socket, instances, &selection, stopping)?);
        }
        check_presence(topology, &selection)?;
        Ok(Self { selection, sockets })
    }

    /// Gives each event a counter in each instance that there is, to be reached through the kernel: there is no
    /// register access in it, and no counter wraps.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn of_counters(topology: &Topology, selection: Selection) -> Result<Self, PlanError> {
        if selection.events.is_empty() {
            return Err(PlanError::NothingToCount);
        }
        let mut planner = Planner::new(&selection);
        let mut sockets = Vec::with_capacity(topology.sockets.len());
        for socket in &topology.sockets {
            let mut instances = planner.instances(topology.family, socket, &Occupied::default())?;
            if instances.is_empty() {
                continue;
            }
            for instance in &mut instances {
                instance.through = Through::Kernel;
                instance.counters.iter_mut().for_each(|counter| counter.safe_seconds = f64::INFINITY);
            }
            sockets.push(SocketPlan::without_accesses(socket.number, instances));
        }
        check_presence(topology, &selection)?;
        Ok(Self { selection, sockets })
    }

    /// The longest time between two samples in which no counter in use can wrap twice.
    pub fn safe_interval(&self) -> f64 {
        let counters = self.sockets.iter().flat_map(|socket| &socket.instances).flat_map(|instance| &instance.counters);
        counters.map(|counter| counter.safe_seconds).fold(f64::INFINITY, f64::min)
    }

    /// Rounds after which every event has had its turn: 1 if everything is counted all the time.
    pub fn rounds(&self) -> usize {
        self.instances().map(|instance| instance.rounds).max().unwrap_or(1)
    }

    /// All instances in use.
    pub fn instances(&self) -> impl Iterator<Item = &InstancePlan> {
        self.sockets.iter().flat_map(|socket| &socket.instances)
    }

    /// Every access that a session may make once it has begun, or undo at its end; some more than once.
    pub fn operations(&self) -> impl Iterator<Item = Operation> {
        let of_socket = |part: &'_ SocketPlan| -> Vec<Step> {
            let switches = part.instances.iter().flat_map(|instance| instance.switch.iter().flatten());
            let overflow = part.leader.iter().flat_map(|leader| leader.rearm.iter().chain([&leader.poll]));
            let lists = [&part.inspect, &part.attempt, &part.setup, &part.freeze, &part.read, &part.resume];
            lists.into_iter().flatten().chain(switches).chain(overflow).copied().collect()
        };
        let controls = self.sockets.iter().flat_map(|part| &part.controls).map(|control| control.place.read());
        self.sockets.iter().flat_map(of_socket).map(|step| step.operation).chain(controls)
    }
}

/// Unit and number: `cbo3`; a unit with one instance goes by its name.
pub fn instance_name(unit: &Unit, number: u16) -> String {
    if unit.instances > 1 { format!("{}{number}", unit.name) } else { unit.name.to_owned() }
}

/// The index of a unit's first instance, which is added without counters if it is not in use.
fn index_of(instances: &mut Vec<InstancePlan>, unit: &'static Unit) -> usize {
    let known = instances.iter().position(|instance| instance.unit.id == unit.id && instance.number == 0);
    known.unwrap_or_else(|| {
        instances.push(InstancePlan::idle(unit));
        instances.len() - 1
    })
}

fn check_presence(topology: &Topology, selection: &Selection) -> Result<(), PlanError> {
    for event in &selection.events {
        let answers =
            |socket: &Socket| socket.present(event.unit).iter().any(|&n| event.instance.is_none_or(|i| i == n));
        if !topology.sockets.iter().any(answers) {
            return Err(PlanError::absent(topology, event));
        }
    }
    Ok(())
}

fn safe_seconds(counter: &CounterUse, increment: u16) -> f64 {
    2_f64.powi(i32::from(counter.bits().width)) / (f64::from(increment.max(1)) * FASTEST_CLOCK_HZ)
}

#[cfg(test)]
mod tests;
