//! Sampling by overflow: a counter that starts so many short of its end stops all others in the very cycle in which it has counted them.
//!
//! Emerald Rapids 1.4.0.2 and the sampling example of the guide; Nehalem SDM 18.8.2. The E5-2600 has no such freeze.

use pericore_catalog::{Field, FieldAccess, Register, Role, Unit};
use pericore_registers::Operation;

use super::{Plan, PlanError, Purpose, SocketPlan, Step};
use crate::discover::{Socket, Topology};

/// When a sample is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trigger {
    /// The socket in which everything happens.
    pub socket: u16,
    /// Index in the selection of the event that is waited for; it must be counted in one instance of the socket.
    pub event: usize,
    /// So many of it.
    pub period: u64,
}

/// The counter that tells when a sample is due.
#[derive(Debug, Clone)]
pub struct Leader {
    /// Index of its instance in the socket's plan.
    pub instance: usize,
    /// Its index in that.
    pub counter: usize,
    /// What it starts from.
    pub preset: u64,
    /// Reads whether it has overflowed.
    pub poll: Step,
    /// The bit that says so.
    pub overflowed: u64,
    /// Makes it ready for the next time, while all counters stand.
    pub rearm: Vec<Step>,
}

impl Plan {
    /// The part of the plan in one socket, with samples at the overflows of one event. The socket must be frozen as a whole, so nobody else may
    /// count in it.
    ///
    /// # Errors
    /// [`PlanError::NoSampling`] with the reason.
    pub fn sampled(mut self, topology: &Topology, trigger: Trigger) -> Result<Self, PlanError> {
        let refuse = |why: &str| {
            let label = self.selection.events.get(trigger.event).map_or_else(String::new, |event| event.label.clone());
            PlanError::NoSampling { label, why: why.to_owned() }
        };
        let at = self.sockets.iter().position(|part| part.socket == trigger.socket);
        let socket = topology.sockets.iter().find(|socket| socket.number == trigger.socket);
        let (Some(at), Some(socket)) = (at, socket) else { return Err(refuse("it is not counted in that socket")) };
        let part = &self.sockets[at];
        if part.instances.iter().any(|instance| instance.rounds > 1) {
            return Err(refuse("events take turns; ask for fewer"));
        }
        let of_event = part.instances.iter().enumerate().flat_map(|(index, instance)| {
            let counters = instance.counters.iter().enumerate().filter(|(_, c)| c.events.contains(&trigger.event));
            counters.map(move |(counter, _)| (index, counter))
        });
        let [(instance, counter)] = of_event.collect::<Vec<_>>()[..] else {
            return Err(refuse("name one instance of its unit"));
        };
        let planned = &part.instances[instance];
        let (unit, used) = (planned.unit, &planned.counters[counter]);
        let Some((control, value)) = used.control.filter(|(control, _)| control.role == Role::Control) else {
            return Err(refuse("it is not counted by a programmable counter"));
        };
        if trigger.period == 0 || trigger.period > used.bits().max() {
            return Err(refuse("the period does not fit the counter"));
        }
        let writer = Writer { socket, part, instance };
        let found = if part.gate.is_some() && control.field("frz_ovf").is_some() {
            writer.by_socket(topology, unit, control, used.member)
        } else if unit.register(Role::OverflowControl).is_some() && !planned.taken.any() {
            writer.by_enables(unit, control, used.member)
        } else {
            None
        };
        let Some(Ways { arm, enable, poll, overflowed, clear }) = found else {
            return Err(refuse(
                "its overflow cannot stop the counters of the socket here: somebody else counts there, the family has no such freeze, \
                 or all events are in one block, which the plan stops by itself; then count something in a second block, such as its clock",
            ));
        };
        let preset = used.bits().max() - (trigger.period - 1);
        let write = |register, member, value| writer.step(register, member, Some(value), Purpose::Reset);
        let mut rearm = vec![write(used.register, used.member, preset)?];
        for (register, member, value) in clear {
            rearm.push(write(register, member, value)?);
        }
        let poll = writer.step(poll.0, poll.1, None, Purpose::Inspect)?;
        let armed = value | arm;
        let mut part = self.sockets.swap_remove(at);
        part.instances[instance].counters[counter].control = Some((control, armed));
        let is_select = |step: &Step| {
            step.instance == instance && step.purpose == Purpose::Select && step.register.id == control.id
        };
        let member = part.instances[instance].counters[counter].member;
        for step in part.setup.iter_mut().filter(|step| is_select(step) && step.member == member) {
            add(step, arm);
        }
        if let Some((register, bits)) = enable {
            let is_gate = |step: &&mut Step| step.purpose == Purpose::Unfreeze && step.register.id == register.id;
            part.setup.iter_mut().chain(&mut part.resume).filter(is_gate).for_each(|step| add(step, bits));
        }
        // After all resets, and before the first reading.
        let first = part.setup.iter().position(|step| matches!(step.purpose, Purpose::Baseline { .. }));
        let first = first.unwrap_or(part.setup.len());
        part.setup.splice(first..first, rearm.iter().copied());
        part.leader = Some(Leader { instance, counter, preset, poll, overflowed, rearm });
        self.sockets = vec![part];
        Ok(self)
    }
}

/// How an overflow stops, shows and is cleared.
struct Ways {
    /// Bits of the counter's control.
    arm: u64,
    /// Bits of the register that lets counters go on.
    enable: Option<(&'static Register, u64)>,
    poll: (&'static Register, u8),
    overflowed: u64,
    clear: Vec<(&'static Register, u8, u64)>,
}

struct Writer<'a> {
    socket: &'a Socket,
    part: &'a SocketPlan,
    instance: usize,
}

impl Writer<'_> {
    /// The unit tells the U-Box, which freezes the socket; both status registers must be clear before it can again.
    fn by_socket(&self, topology: &Topology, unit: &'static Unit, control: &Register, member: u8) -> Option<Ways> {
        if self.part.instances[self.instance].is_isolated() {
            return None;
        }
        let status = unit.register(Role::UnitStatus)?;
        let overflowed = status.field("ov")?.bits.mask() & 1 << member;
        let units = topology.family.units.iter();
        let global = units.filter_map(|unit| unit.register(Role::GlobalStatus)).find(|r| r.field("ov").is_some())?;
        let all = (0..global.count).map(|member| (global, member, clearing(global)));
        let clear = std::iter::once((status, 0, clearing(status))).chain(all).collect();
        Some(Ways { arm: bits(control, "frz_ovf")?, enable: None, poll: (status, 0), overflowed, clear })
    }

    /// The interrupt of the overflow disables all counters of the one unit there is.
    fn by_enables(&self, unit: &'static Unit, control: &Register, member: u8) -> Option<Ways> {
        let (status, clear) = (unit.register(Role::GlobalStatus)?, unit.register(Role::OverflowControl)?);
        let enable = unit.register(Role::GlobalControl)?;
        let cleared =
            bits(clear, &format!("clr_ovf_pc{member}"))? | bits(clear, "clr_ovf_pmi")? | bits(clear, "clr_chg")?;
        Some(Ways {
            arm: bits(control, "pmi_en")?,
            enable: Some((enable, bits(enable, "pmi_frz")?)),
            poll: (status, 0),
            overflowed: bits(status, &format!("ovf_pc{member}"))?,
            clear: vec![(clear, 0, cleared)],
        })
    }

    fn step(
        &self,
        register: &'static Register,
        member: u8,
        value: Option<u64>,
        purpose: Purpose,
    ) -> Result<Step, PlanError> {
        // The global status belongs to the instance that freezes the socket.
        let of_leader = |register: &Register| {
            let unit = self.part.instances[self.instance].unit;
            unit.registers.iter().any(|own| own.id == register.id)
        };
        let instance = if of_leader(register) { self.instance } else { self.part.gate.unwrap_or(self.instance) };
        let at = &self.part.instances[instance];
        let place = self.socket.locate(at.unit, at.number, register, member)?;
        let operation = value.map_or_else(|| place.read(), |value| place.write(value));
        Ok(Step { operation, purpose, instance, register, member, keeps: 0 })
    }
}

/// The bits that a written 1 clears.
fn clearing(register: &Register) -> u64 {
    let clears = |field: &&Field| field.access == FieldAccess::ReadWriteOneClears;
    register.fields.iter().filter(clears).fold(0, |mask, field| mask | field.bits.mask())
}

fn bits(register: &Register, name: &str) -> Option<u64> {
    register.field(name).map(|field| field.bits.mask())
}

/// Adds bits to a write that has any: the upper half of a control, which goes first beside a lower half of 0, stays as it is.
fn add(step: &mut Step, bits: u64) {
    if let Operation::Write { value, .. } = &mut step.operation
        && (*value & 0xffff_ffff != 0 || bits > 0xffff_ffff)
    {
        *value |= bits;
        step.keeps &= !bits;
    }
}
