//! The register accesses of a socket: guide 2.1.1 (setting up) and 2.1.2 (reading), with the catalogue's fields.

use pericore_catalog::{Register, Role, Unit};
use pericore_registers::Operation;

use super::{InstancePlan, PlanError, Purpose, SocketPlan, Step};
use crate::discover::Socket;
use crate::selection::Selection;

/// All lists of steps for the instances of a socket.
///
/// Each phase runs through all instances before the next begins, so that counting starts and stops everywhere at
/// nearly the same time.
pub(super) fn socket_plan(
    socket: &Socket,
    mut instances: Vec<InstancePlan>,
    selection: &Selection,
) -> Result<SocketPlan, PlanError> {
    let mut phases = Phases::default();
    for (index, instance) in instances.iter_mut().enumerate() {
        let mut writer = Writer { socket, instance, index, selection, phases: &mut phases };
        let gate = writer.write()?;
        if instance.rounds > 1 {
            let writer = Writer { socket, instance, index, selection, phases: &mut phases };
            let switch = (0..instance.rounds).map(|round| writer.switch(round, gate.is_some()));
            instance.switch = switch.collect::<Result<_, _>>()?;
        }
    }
    let Phases { inspect, setup, freeze, read, resume } = phases;
    let setup = setup.into_iter().flatten().collect();
    Ok(SocketPlan { socket: socket.number, instances, inspect, setup, freeze, read, resume })
}

/// Steps in the making; `setup` by phase.
#[derive(Default)]
struct Phases {
    inspect: Vec<Step>,
    setup: [Vec<Step>; 9],
    freeze: Vec<Step>,
    read: Vec<Step>,
    resume: Vec<Step>,
}

/// Phases of the set-up, in order; the letters are those of guide 2.1.1.
#[derive(Clone, Copy)]
enum Phase {
    /// a
    EnableFreeze,
    /// b
    Freeze,
    /// Units without a freeze: off until the end.
    Disable,
    /// The note of d.
    Filter,
    /// c and d
    Select,
    /// e
    Reset,
    Baseline,
    /// Units without a freeze start here, right before the others (the note of f).
    SelectLate,
    /// f
    Unfreeze,
}

struct Writer<'a> {
    socket: &'a Socket,
    instance: &'a InstancePlan,
    index: usize,
    selection: &'a Selection,
    phases: &'a mut Phases,
}

impl Writer<'_> {
    fn write(&mut self) -> Result<Option<Gate>, PlanError> {
        let unit = self.instance.unit;
        let is_programmed = self.instance.counters.iter().any(|counter| counter.control.is_some());
        // A freeze or reset would disturb whoever counts beside us.
        let is_ours = is_programmed && !self.instance.taken.any();
        let gate = if is_ours { Gate::of(self.instance) } else { None };
        if is_programmed {
            self.inspect(unit, gate.as_ref())?;
        }
        if let Some(gate) = &gate {
            let frozen = self.step(gate.register, 0, Some(gate.frozen), Purpose::Freeze)?;
            let running = self.step(gate.register, 0, Some(gate.running), Purpose::Unfreeze)?;
            let obeying = self.step(gate.register, 0, Some(gate.running), Purpose::EnableFreeze)?;
            // Without a freeze enable the first write would do nothing but unfreeze.
            if gate.register.field("frz_en").is_some() {
                self.at(Phase::EnableFreeze, obeying);
            }
            self.at(Phase::Freeze, frozen);
            self.at(Phase::Unfreeze, running);
            self.phases.freeze.push(frozen);
            self.phases.resume.push(running);
        }
        for (register, value) in self.filter_values(Some(0)) {
            let step = self.step(register, 0, Some(value), Purpose::Filter)?;
            self.at(Phase::Filter, step);
        }
        self.counters(gate.as_ref())?;
        Ok(gate)
    }

    /// The steps from any round to this one. With a freeze they are carried out while the unit stands; without one the
    /// counters are off from the first step to the last.
    fn switch(&self, round: usize, stands: bool) -> Result<Vec<Step>, PlanError> {
        let mut steps = Vec::new();
        let turns = || self.instance.counters.iter().enumerate().filter(|(_, counter)| counter.round.is_some());
        let chosen = |member: u8| turns().any(|(_, counter)| counter.member == member && counter.runs_in(round));
        let mut seen = Vec::new();
        for (_, counter) in turns() {
            let Some((control, _)) = counter.control else { continue };
            let stays = stands && chosen(counter.member);
            if !stays && !seen.contains(&counter.member) {
                steps.push(self.step(control, counter.member, Some(0), Purpose::Disable)?);
            }
            seen.push(counter.member);
        }
        for (register, value) in self.filter_values(Some(round)) {
            steps.push(self.step(register, 0, Some(value), Purpose::Filter)?);
        }
        let of_round: Vec<_> = turns().filter(|(_, counter)| counter.runs_in(round)).collect();
        let select = |steps: &mut Vec<Step>| -> Result<(), PlanError> {
            for (_, counter) in &of_round {
                if let Some((control, value)) = counter.control {
                    steps.push(self.step(control, counter.member, Some(value), Purpose::Select)?);
                }
            }
            Ok(())
        };
        if stands {
            select(&mut steps)?;
        }
        for (index, counter) in &of_round {
            let purpose = Purpose::Baseline { counter: *index };
            steps.push(self.step(counter.register, counter.member, None, purpose)?);
        }
        if !stands {
            select(&mut steps)?;
        }
        Ok(steps)
    }

    /// Reads what is about to be overwritten, and every control of the unit: a freeze or reset would disturb whoever
    /// uses another counter of it. The order is that of putting things back.
    fn inspect(&mut self, unit: &'static Unit, gate: Option<&Gate>) -> Result<(), PlanError> {
        let instance = self.instance;
        for register in unit.with_role(Role::Control).chain(unit.with_role(Role::FixedControl)) {
            for member in 0..register.count {
                let is_ours = instance.counters.iter().any(|counter| {
                    counter.member == member
                        && counter.control.is_some_and(|(control, _)| std::ptr::eq(control, register))
                });
                let purpose = if is_ours { Purpose::Save } else { Purpose::Inspect };
                let step = self.step(register, member, None, purpose)?;
                self.phases.inspect.push(step);
            }
        }
        let filters = self.filter_values(None).into_iter().map(|(register, _)| register);
        for register in filters.chain(gate.map(|gate| gate.register)) {
            let step = self.step(register, 0, None, Purpose::Save)?;
            self.phases.inspect.push(step);
        }
        Ok(())
    }

    /// Each filter register in use in a round (or in any) with the value that all its events agree on.
    fn filter_values(&self, round: Option<usize>) -> Vec<(&'static Register, u64)> {
        let mut values: Vec<(&'static Register, u64)> = Vec::new();
        let in_round = |counter: &&super::CounterUse| round.is_none_or(|round| counter.runs_in(round));
        let events = self.instance.counters.iter().filter(in_round).flat_map(|counter| &counter.events);
        for filter in events.filter_map(|&event| self.selection.events[event].programming()).flat_map(|p| &p.filters) {
            match values.iter_mut().find(|(register, _)| std::ptr::eq(*register, filter.register)) {
                Some((_, value)) => *value = filter.field.bits.set(*value, filter.value),
                None => values.push((filter.register, filter.field.bits.set(0, filter.value))),
            }
        }
        values
    }

    fn counters(&mut self, gate: Option<&Gate>) -> Result<(), PlanError> {
        let reset = gate.and_then(|gate| Some((gate.register, gate.reset?)));
        if let Some((register, value)) = reset {
            let step = self.step(register, 0, Some(value), Purpose::Reset)?;
            self.at(Phase::Reset, step);
        }
        let instance = self.instance;
        for (index, counter) in instance.counters.iter().enumerate() {
            let read = self.step(counter.register, counter.member, None, Purpose::Count { counter: index })?;
            self.phases.read.push(read);
            if !counter.runs_in(0) {
                continue;
            }
            if let Some((control, value)) = counter.control {
                let select = self.step(control, counter.member, Some(value), Purpose::Select)?;
                if gate.is_some() {
                    self.at(Phase::Select, select);
                } else {
                    let off = self.step(control, counter.member, Some(0), Purpose::Disable)?;
                    self.at(Phase::Disable, off);
                    self.at(Phase::SelectLate, select);
                }
                if reset.is_none() {
                    let zero = self.step(counter.register, counter.member, Some(0), Purpose::Reset)?;
                    self.at(Phase::Reset, zero);
                }
            }
            let baseline = self.step(counter.register, counter.member, None, Purpose::Baseline { counter: index })?;
            self.at(Phase::Baseline, baseline);
        }
        Ok(())
    }

    fn at(&mut self, phase: Phase, step: Step) {
        self.phases.setup[phase as usize].push(step);
    }

    /// A write of `value`, or a read without one.
    fn step(
        &self,
        register: &'static Register,
        member: u8,
        value: Option<u64>,
        purpose: Purpose,
    ) -> Result<Step, PlanError> {
        let place = self.socket.locate(self.instance.unit, self.instance.number, register, member)?;
        let operation = match value {
            Some(value) => Operation::Write { address: place.address, width: place.width, value },
            None => Operation::Read { address: place.address, width: place.width },
        };
        Ok(Step { operation, purpose, instance: self.index, register, member })
    }
}

/// A register's values that stop the unit's counters, zero them and let them run.
struct Gate {
    register: &'static Register,
    frozen: u64,
    running: u64,
    /// Frozen, and counters zeroed; none if the unit cannot.
    reset: Option<u64>,
}

impl Gate {
    /// The unit control, or where counters need a socket-wide enable as well, the global control.
    fn of(instance: &InstancePlan) -> Option<Self> {
        let unit = instance.unit;
        let mask = |register: &Register, name: &str| register.field(name).map(|field| field.bits.mask());
        if let Some(register) = unit.register(Role::UnitControl) {
            let freeze = mask(register, "frz")?;
            let running = mask(register, "frz_en").unwrap_or(0);
            let frozen = running | freeze;
            return Some(Self {
                register,
                frozen,
                running,
                reset: mask(register, "rst_ctrs").map(|reset| frozen | reset),
            });
        }
        let register = unit.register(Role::GlobalControl)?;
        let enables = instance.counters.iter().filter_map(|counter| match counter.register.role {
            Role::FixedCounter => mask(register, &format!("en_fc{}", counter.member)),
            _ => mask(register, &format!("en_pc{}", counter.member)),
        });
        let running = enables.reduce(|all, one| all | one)?;
        Some(Self { register, frozen: 0, running, reset: None })
    }
}
