//! Who counts already: looked at before anything is planned for good. Only reads.

use pericore_catalog::Role;
use pericore_registers::{Operation, RegisterSpace};

use super::steps::{List, Sequence, State, Unreadable, only_looks_for_a_freeze, readable};
use super::{SessionError, in_use};
use crate::discover::{Socket, Topology};
use crate::plan::{Occupied, Plan, Purpose, Step};

/// Looks which counters others have running in the instances of a plan, for [`Plan::beside`].
///
/// # Errors
/// [`SessionError::Access`] if the user lacks rights. Registers that do not answer are the session's to report.
pub fn survey(space: &mut impl RegisterSpace, plan: &Plan) -> Result<Occupied, SessionError> {
    Ok(in_use::occupied(plan, &look(space, plan)?))
}

/// Refuses if a counter of the plan runs for somebody else, or a filter would change under one.
///
/// # Errors
/// [`SessionError::InUse`]; [`SessionError::Access`] if the user lacks rights.
pub(super) fn check_free(space: &mut impl RegisterSpace, plan: &Plan) -> Result<(), SessionError> {
    in_use::check(plan, &look(space, plan)?)
}

/// Carries out the plan's first reads.
fn look(space: &mut impl RegisterSpace, plan: &Plan) -> Result<Vec<(usize, Step, u64)>, SessionError> {
    let mut sequence = Sequence::new(plan, &State::new(plan), List::Inspect);
    sequence.carry_out(space);
    let mut seen = Vec::new();
    for (socket, step, outcome) in sequence.results() {
        match readable(step, outcome) {
            Ok(value) => seen.push((socket, *step, value)),
            Err(Unreadable::Denied(_)) if only_looks_for_a_freeze(step) => {}
            Err(Unreadable::Denied(error)) => return Err(error.into()),
            Err(Unreadable::Fault(_)) => {}
        }
    }
    Ok(seen)
}

/// Looks at every control of every unit in sockets whose units were all discovered: where nobody else counts at all, the socket's freeze disturbs
/// nobody. Sockets of which some unit was not looked for are left out, and families without such a freeze.
///
/// # Errors
/// [`SessionError::Access`] if the user lacks rights.
pub fn survey_sockets(space: &mut impl RegisterSpace, topology: &Topology) -> Result<Occupied, SessionError> {
    let mut occupied = Occupied::default();
    let freezes = |register: &pericore_catalog::Register| register.field("frz_all").is_some();
    let family = topology.family;
    if !family.units.iter().any(|unit| unit.register(Role::GlobalControl).is_some_and(freezes)) {
        return Ok(occupied);
    }
    for socket in &topology.sockets {
        let controlled = family.units.iter().filter(|unit| unit.register(Role::Control).is_some());
        if controlled.clone().any(|unit| socket.presence(unit).is_empty() && unit.instances > 0) {
            continue;
        }
        let steps = controls(socket, topology);
        let operations: Vec<Operation> = steps.iter().map(|(_, _, step)| step.operation).collect();
        let mut outcomes = Vec::with_capacity(operations.len());
        space.batch(&operations, &mut outcomes);
        for ((unit, number, step), outcome) in steps.into_iter().zip(&outcomes) {
            match readable(&step, outcome) {
                Ok(value) if only_looks_for_a_freeze(&step) => {
                    if step.register.field("frz_all").is_some_and(|field| field.bits.get(value) != 0) {
                        occupied.note_frozen(socket.number);
                    }
                }
                Ok(value) if in_use::is_running(unit, step.register, value) => {
                    let counter = (step.register.role == Role::Control).then_some(step.member);
                    occupied.note(socket.number, unit, number, counter);
                }
                Err(Unreadable::Denied(error)) => return Err(error.into()),
                // What does not answer does not count.
                Ok(_) | Err(Unreadable::Fault(_)) => {}
            }
        }
        occupied.note_surveyed(socket.number);
    }
    Ok(occupied)
}

/// Reads of all controls of a socket, and of its freeze.
fn controls(socket: &Socket, topology: &Topology) -> Vec<(&'static pericore_catalog::Unit, u16, Step)> {
    let mut steps = Vec::new();
    for unit in topology.family.units {
        for number in socket.present(unit) {
            let controls = unit.with_role(Role::Control).chain(unit.with_role(Role::FixedControl));
            let freezes = unit.with_role(Role::GlobalControl).filter(|register| register.field("frz_all").is_some());
            for register in controls.chain(freezes) {
                for member in 0..register.count {
                    let Ok(place) = socket.locate(unit, number, register, member) else { continue };
                    steps.push((
                        *unit,
                        number,
                        Step {
                            operation: place.read(),
                            purpose: Purpose::Inspect,
                            instance: 0,
                            register,
                            member,
                            keeps: 0,
                        },
                    ));
                }
            }
        }
    }
    steps
}
