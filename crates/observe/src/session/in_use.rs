//! Whether someone else's counters run in the instances that a plan uses.

use pericore_catalog::{Register, Role, Unit};

use super::SessionError;
use crate::plan::{Plan, Step};

/// Refuses if any control seen is that of a running counter.
pub(super) fn check(plan: &Plan, seen: &[(usize, Step, u64)]) -> Result<(), SessionError> {
    let mut counters = Vec::new();
    for (socket, step, value) in seen {
        let part = &plan.sockets[*socket];
        let instance = &part.instances[step.instance];
        if !is_running(instance.unit, step.register, *value) {
            continue;
        }
        let which = match step.register.role {
            Role::FixedControl => "the fixed counter".to_owned(),
            _ => format!("counter {}", step.member),
        };
        let what = event_of(instance.unit, step.register, *value)
            .map_or_else(String::new, |name| format!(", counting {name}"));
        counters.push(format!(
            "{which} of {} in socket {} ({} = {value:#x}{what})",
            instance.name(),
            part.socket,
            step.register_name()
        ));
    }
    if counters.is_empty() { Ok(()) } else { Err(SessionError::InUse { counters }) }
}

/// True if a control register with this value makes its counter count something.
fn is_running(unit: &'static Unit, register: &'static Register, value: u64) -> bool {
    let enable = register.field("en");
    if enable.is_some_and(|enable| enable.bits.get(value) == 0) {
        return false;
    }
    match register.role {
        Role::FixedControl => enable.is_some(),
        // Enabled with an event select of 0: some tools leave that behind, but where 0 is an event it counts.
        Role::Control => {
            code(register, value) != 0 || (enable.is_some() && unit.events.iter().any(|event| event.config == 0))
        }
        _ => false,
    }
}

fn code(register: &Register, value: u64) -> u64 {
    register.field("ev_sel").map_or(0, |field| field.bits.get(value))
}

fn event_of(unit: &'static Unit, register: &'static Register, value: u64) -> Option<&'static str> {
    if register.role != Role::Control {
        return register.event;
    }
    unit.events.iter().find(|event| u64::from(event.code) == code(register, value)).map(|event| event.name)
}
