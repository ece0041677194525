//! The register accesses of a socket: guide 2.1.1 (setting up) and 2.1.2 (reading), with the catalogue's fields.

use std::cell::RefCell;

use pericore_catalog::{Family, Register, Role, Unit};
use pericore_registers::Operation;

use super::gate::{Freeze, Gate, Stop, resets};
use super::{CounterUse, InstancePlan, PlanError, Purpose, SocketPlan, Step, controls_of};
use crate::discover::{Place, Socket};
use crate::selection::Selection;

/// How a socket's counters are stopped.
#[derive(Clone, Copy)]
pub(super) struct Stopping {
    pub(super) freeze: Freeze,
    /// The socket's freeze, if it is used: the index of the instance that has it, and its register.
    pub(super) whole: Option<(usize, Gate)>,
    /// The socket's freeze, if it is not used and still stops what is counted when somebody else has set it.
    pub(super) others: Option<(usize, Gate)>,
}

/// All lists of steps for the instances of a socket.
///
/// Each phase runs through all instances before the next begins, so that counting starts and stops everywhere at
/// nearly the same time.
pub(super) fn socket_plan(
    family: &Family,
    socket: &Socket,
    mut instances: Vec<InstancePlan>,
    selection: &Selection,
    stopping: Stopping,
) -> Result<SocketPlan, PlanError> {
    let mut phases = Phases::default();
    for (index, instance) in instances.iter_mut().enumerate() {
        let stop = Stop::of(instance, stopping.freeze, stopping.whole.is_some());
        let mut writer =
            Writer { socket, instance, index, selection, stop, places: RefCell::default(), phases: &mut phases };
        writer.write()?;
        if instance.rounds > 1 {
            let writer =
                Writer { socket, instance, index, selection, stop, places: RefCell::default(), phases: &mut phases };
            instance.switch = writer.switches()?;
        }
    }
    if let Some((index, gate)) = stopping.whole.or(stopping.others) {
        let instance = &instances[index];
        let mut writer = Writer {
            socket,
            instance,
            index,
            selection,
            stop: Stop::Never,
            places: RefCell::default(),
            phases: &mut phases,
        };
        if stopping.whole.is_some() {
            writer.whole(&gate)?;
        } else {
            let look = writer.step(gate.register, 0, None, Purpose::Inspect)?;
            writer.phases.inspect.push(look);
        }
    }
    let Phases { inspect, setup, freeze, read, resume } = phases;
    let setup = setup.into_iter().flatten().collect();
    let gate = stopping.whole.map(|(index, _)| index);
    let is_saved = |of: usize, roles: &[Role]| {
        let mut saved = inspect.iter().filter(|step| step.purpose == Purpose::Save && step.instance == of);
        saved.any(|step| roles.contains(&step.register.role))
    };
    let shares = [Role::UnitControl, Role::GlobalControl, Role::Filter];
    let shared: Vec<(&str, u16)> = instances
        .iter()
        .enumerate()
        .filter(|(index, _)| is_saved(*index, &shares))
        .map(|(_, instance)| (instance.unit.name, instance.number))
        .collect();
    let controls = controls_of(family, socket, |unit, number| gate.is_some() || shared.contains(&(unit.name, number)));
    let number = socket.number;
    let attempt = first_writes(&inspect);
    let leader = None;
    Ok(SocketPlan { socket: number, instances, gate, inspect, attempt, setup, freeze, read, resume, leader, controls })
}

/// For each way to registers a write that changes nothing: to a control of a counter that is free, which reads back as
/// it was written.
fn first_writes(inspect: &[Step]) -> Vec<Step> {
    let mut first: Vec<Step> = Vec::new();
    let is_control = |step: &&Step| {
        step.purpose == Purpose::Save && matches!(step.register.role, Role::Control | Role::FixedControl)
    };
    for step in inspect.iter().filter(is_control) {
        let Operation::Read { address, width } = step.operation else { continue };
        if first.iter().any(|known| known.operation.address().space() == address.space()) {
            continue;
        }
        let operation = Operation::Write { address, width, value: 0 };
        first.push(Step {
            operation,
            purpose: Purpose::Attempt,
            keeps: width.mask() & !resets(step.register),
            ..*step
        });
    }
    first
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
    stop: Stop,
    places: RefCell<Vec<(&'static Register, u8, Place)>>,
    phases: &'a mut Phases,
}

impl Writer<'_> {
    fn write(&mut self) -> Result<(), PlanError> {
        if self.instance.counters.iter().any(|counter| counter.control.is_some()) {
            self.inspect()?;
            match self.stop {
                Stop::Own { gate, for_reading } => self.own(&gate, for_reading)?,
                Stop::Whole(Some(gate)) if gate.reset.is_none() => {
                    let running = self.gate(&gate, gate.running, Purpose::EnableFreeze)?;
                    self.at(Phase::EnableFreeze, running);
                }
                Stop::Whole(_) | Stop::Never => {}
            }
        }
        for (register, value) in self.filter_values(Some(0)) {
            let step = self.step(register, 0, Some(value), Purpose::Filter)?;
            self.at(Phase::Filter, step);
        }
        self.counters()
    }

    /// The steps of a freeze of the instance's own.
    fn own(&mut self, gate: &Gate, for_reading: bool) -> Result<(), PlanError> {
        let frozen = self.gate(gate, gate.frozen, Purpose::Freeze)?;
        let running = self.gate(gate, gate.running, Purpose::Unfreeze)?;
        // Without a freeze enable the first write would do nothing but unfreeze.
        if gate.needs_enable {
            let obeying = self.gate(gate, gate.running, Purpose::EnableFreeze)?;
            self.at(Phase::EnableFreeze, obeying);
        }
        self.at(Phase::Freeze, frozen);
        self.at(Phase::Unfreeze, running);
        if for_reading {
            self.phases.freeze.push(frozen);
            self.phases.resume.push(running);
        }
        Ok(())
    }

    /// The steps of the socket's freeze: it stops the counters before all others do, and lets them go last.
    fn whole(&mut self, gate: &Gate) -> Result<(), PlanError> {
        let saved = self.step(gate.register, 0, None, Purpose::Save)?;
        self.phases.inspect.push(saved);
        let frozen = self.gate(gate, gate.frozen, Purpose::Freeze)?;
        let running = self.gate(gate, gate.running, Purpose::Unfreeze)?;
        self.phases.setup[Phase::EnableFreeze as usize].insert(0, frozen);
        self.at(Phase::Unfreeze, running);
        self.phases.freeze.insert(0, frozen);
        self.phases.resume.push(running);
        Ok(())
    }

    /// For each round the steps from any other to it. With a freeze they are carried out while the unit stands; without one the
    /// counters are off from the first step to the last.
    fn switches(&self) -> Result<Vec<Vec<Step>>, PlanError> {
        let mut rounds: Vec<Vec<usize>> = vec![Vec::new(); self.instance.rounds];
        // Counters that take turns, each once.
        let mut turning: Vec<(&'static Register, u8)> = Vec::new();
        for (index, counter) in self.instance.counters.iter().enumerate() {
            let (Some(round), Some((control, _))) = (counter.round, counter.control) else { continue };
            rounds[round].push(index);
            if !turning.iter().any(|(_, member)| *member == counter.member) {
                turning.push((control, counter.member));
            }
        }
        rounds.iter().map(|of_round| self.switch(of_round, &turning)).collect()
    }

    /// The steps to the round of these counters.
    fn switch(&self, of_round: &[usize], turning: &[(&'static Register, u8)]) -> Result<Vec<Step>, PlanError> {
        let paused = self.stop.paused();
        let counters = || of_round.iter().map(|&index| (index, &self.instance.counters[index]));
        let mut steps = Vec::new();
        for &(control, member) in turning {
            if !paused || !counters().any(|(_, counter)| counter.member == member) {
                steps.push(self.step(control, member, Some(0), Purpose::Disable)?);
            }
        }
        // What counts all the time may need a filter as well.
        let always = self.instance.counters.iter().take_while(|counter| counter.round.is_none());
        for (register, value) in self.filters_of(counters().map(|(_, counter)| counter).chain(always)) {
            steps.push(self.step(register, 0, Some(value), Purpose::Filter)?);
        }
        let select = |steps: &mut Vec<Step>| -> Result<(), PlanError> {
            for (_, counter) in counters() {
                if let Some((control, value)) = counter.control {
                    steps.extend(self.select(control, counter.member, value)?);
                }
            }
            Ok(())
        };
        if paused {
            select(&mut steps)?;
        }
        for (index, counter) in counters() {
            let purpose = Purpose::Baseline { counter: index };
            steps.push(self.step(counter.register, counter.member, None, purpose)?);
        }
        if !paused {
            select(&mut steps)?;
        }
        Ok(steps)
    }

    /// Reads what is about to be overwritten, and every control of the unit: a freeze or reset would disturb whoever
    /// uses another counter of it. The order is that of putting things back.
    fn inspect(&mut self) -> Result<(), PlanError> {
        let unit: &'static Unit = self.instance.unit;
        let instance = self.instance;
        for register in unit.with_role(Role::Control).chain(unit.with_role(Role::FixedControl)) {
            for member in 0..register.count {
                let is_ours = instance.counters.iter().any(|counter| {
                    counter.member == member && counter.control.is_some_and(|(control, _)| control.id == register.id)
                });
                let purpose = if is_ours { Purpose::Save } else { Purpose::Inspect };
                let step = self.step(register, member, None, purpose)?;
                self.phases.inspect.push(step);
            }
        }
        let gate = self.stop.gate().map(|gate| gate.register);
        // What somebody else has frozen would count nothing.
        if let (None, Some(register)) = (gate, unit.register(Role::UnitControl)) {
            let step = self.step(register, 0, None, Purpose::Inspect)?;
            self.phases.inspect.push(step);
        }
        let filters = self.filter_values(None).into_iter().map(|(register, _)| register);
        for register in filters.chain(gate) {
            let step = self.step(register, 0, None, Purpose::Save)?;
            self.phases.inspect.push(step);
        }
        Ok(())
    }

    /// Each filter register in use in a round (or in any) with the value that all its events agree on.
    fn filter_values(&self, round: Option<usize>) -> Vec<(&'static Register, u64)> {
        let counters = self.instance.counters.iter();
        self.filters_of(counters.filter(|counter| round.is_none_or(|round| counter.runs_in(round))))
    }

    fn filters_of<'c>(&self, counters: impl Iterator<Item = &'c CounterUse>) -> Vec<(&'static Register, u64)> {
        let mut values: Vec<(&'static Register, u64)> = Vec::new();
        let events = counters.flat_map(|counter| &counter.events);
        for filter in events.filter_map(|&event| self.selection.events[event].programming()).flat_map(|p| &p.filters) {
            match values.iter_mut().find(|(register, _)| register.id == filter.register.id) {
                Some((_, value)) => *value = filter.field.bits.set(*value, filter.value),
                None => values.push((filter.register, filter.field.bits.set(0, filter.value))),
            }
        }
        values
    }

    fn counters(&mut self) -> Result<(), PlanError> {
        let stop = self.stop;
        let reset = stop.gate().and_then(|gate| {
            // Under the socket's freeze the unit's own must be off.
            let held = if matches!(stop, Stop::Whole(_)) { gate.running } else { gate.frozen };
            Some((gate, held | gate.reset?))
        });
        let instance = self.instance;
        if let Some((gate, value)) = reset.filter(|_| instance.counters.iter().any(|counter| counter.control.is_some()))
        {
            let step = self.gate(gate, value, Purpose::Reset)?;
            self.at(Phase::Reset, step);
        }
        for (index, counter) in instance.counters.iter().enumerate() {
            let read = self.step(counter.register, counter.member, None, Purpose::Count { counter: index })?;
            self.phases.read.push(read);
            if !counter.runs_in(0) {
                continue;
            }
            if let Some((control, value)) = counter.control {
                let select = self.select(control, counter.member, value)?;
                if stop.stands_at_first() {
                    select.into_iter().for_each(|step| self.at(Phase::Select, step));
                } else {
                    let off = self.step(control, counter.member, Some(0), Purpose::Disable)?;
                    self.at(Phase::Disable, off);
                    select.into_iter().for_each(|step| self.at(Phase::SelectLate, step));
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

    /// The writes of a control value. A control of 8 bytes in configuration space takes two cycles, the lower half first, and counts as soon as that
    /// selects an event: so the upper half goes first, beside a lower half of 0.
    fn select(&self, control: &'static Register, member: u8, value: u64) -> Result<Vec<Step>, PlanError> {
        let whole = self.step(control, member, Some(value), Purpose::Select)?;
        Ok(super::step::halves(whole.operation).map(|operation| Step { operation, ..whole }).collect())
    }

    /// A write of the gate's own bits.
    fn gate(&self, gate: &Gate, value: u64, purpose: Purpose) -> Result<Step, PlanError> {
        Ok(Step { keeps: gate.keeps, ..self.step(gate.register, 0, Some(value), purpose)? })
    }

    fn at(&mut self, phase: Phase, step: Step) {
        self.phases.setup[phase as usize].push(step);
    }

    /// Where a register is; looked for once.
    fn place(&self, register: &'static Register, member: u8) -> Result<Place, PlanError> {
        let mut known = self.places.borrow_mut();
        let found = known.iter().find(|(known, of, _)| known.id == register.id && *of == member);
        if let Some((.., place)) = found {
            return Ok(*place);
        }
        let place = self.socket.locate(self.instance.unit, self.instance.number, register, member)?;
        known.push((register, member, place));
        Ok(place)
    }

    /// A write of `value`, or a read without one.
    fn step(
        &self,
        register: &'static Register,
        member: u8,
        value: Option<u64>,
        purpose: Purpose,
    ) -> Result<Step, PlanError> {
        let place = self.place(register, member)?;
        let operation = value.map_or_else(|| place.read(), |value| place.write(value));
        Ok(Step { operation, purpose, instance: self.index, register, member, keeps: 0 })
    }
}
