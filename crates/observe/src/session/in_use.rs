//! Whether someone else's counters run in the instances that a plan uses.

use pericore_catalog::{Register, Role, Unit};

use pericore_registers::Operation;

use super::SessionError;
use crate::plan::{InstancePlan, Occupied, Plan, Purpose, SocketPlan, Step};

/// The counters that others have running in the instances of a plan, from the values that its `inspect` steps have seen.
pub(super) fn occupied(plan: &Plan, seen: &[(usize, Step, u64)]) -> Occupied {
    let mut occupied = Occupied::default();
    for (socket, step, value) in seen {
        let part = &plan.sockets[*socket];
        let instance = &part.instances[step.instance];
        if is_running(instance.unit, step.register, *value) {
            let counter = (step.register.role == Role::Control).then_some(step.member);
            occupied.note(part.socket, instance.unit, instance.number, counter);
        }
    }
    occupied
}

/// Refuses if any control seen is that of a running counter that the plan does not leave alone, or if a filter would change under
/// counters of others.
pub(super) fn check(plan: &Plan, seen: &[(usize, Step, u64)]) -> Result<(), SessionError> {
    let mut counters = Vec::new();
    for (socket, step, value) in seen {
        let part = &plan.sockets[*socket];
        let instance = &part.instances[step.instance];
        if step.register.role == Role::Filter && instance.taken.any() && changes(instance, part, step, *value) {
            counters.push(format!(
                "{} of {} in socket {} (= {value:#x}), beside counters of another tool that may use it",
                step.register_name(),
                instance.name(),
                part.socket
            ));
            continue;
        }
        if !is_running(instance.unit, step.register, *value) {
            continue;
        }
        let is_known = match step.register.role {
            Role::FixedControl => instance.taken.fixed,
            _ => instance.taken.counters >> step.member.min(15) & 1 == 1,
        };
        if is_known && step.purpose == Purpose::Inspect {
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

/// True if some step writes another value to the register than it holds.
fn changes(instance: &InstancePlan, part: &SocketPlan, seen: &Step, value: u64) -> bool {
    let mut steps = part.setup.iter().chain(instance.switch.iter().flatten());
    steps.any(|step| match step.operation {
        Operation::Write { address, value: new, .. } => address == seen.operation.address() && new != value,
        Operation::Read { .. } => false,
    })
}

/// True if a control register with this value makes its counter count something.
pub(super) fn is_running(unit: &'static Unit, register: &'static Register, value: u64) -> bool {
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

/// True if a running counter with this control value may depend on a filter of its unit.
pub(super) fn may_use_a_filter(unit: &'static Unit, register: &'static Register, value: u64) -> bool {
    let code = code(register, value);
    let mut events = unit.events.iter().filter(|event| u64::from(event.code) == code).peekable();
    let is_set = |name: &str| register.field(name).is_some_and(|field| field.bits.get(value) != 0);
    register.role == Role::Control
        && (events.peek().is_none() || is_set("tid_en") || events.any(|event| !event.filters.is_empty()))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn register(family: &str, unit: &str, name: &str) -> (&'static Unit, &'static Register) {
        let unit = pericore_catalog::family(family).unwrap().unit(unit).unwrap();
        (unit, unit.registers.iter().find(|register| register.name == name).unwrap())
    }

    /// A CBo's control: ev_sel in bits 7:0, en in bit 22; a channel's fixed one has en alone (guide, 2.3, 2.5). R2PCIe
    /// has no event 0, and a CBo's clock is 0. A CHA of Emerald Rapids has no enable (1.9). Filters and counters run
    /// nothing.
    #[test]
    fn a_control_runs_its_counter_if_it_is_enabled_and_selects_something() {
        for (family, unit, name, value, runs) in [
            ("e5-2600", "cbo", "ctl", 0x40_0334, true),
            ("e5-2600", "cbo", "ctl", 0x40_0000, true),
            ("e5-2600", "cbo", "ctl", 0x00_0334, false),
            ("e5-2600", "cbo", "ctl", 0, false),
            ("e5-2600", "r2pcie", "ctl", 0x40_0001, true),
            ("e5-2600", "r2pcie", "ctl", 0x40_0000, false),
            ("e5-2600", "r2pcie", "ctl", 0x00_0001, false),
            ("e5-2600", "imc", "fixed_ctl", 0x40_0000, true),
            ("e5-2600", "imc", "fixed_ctl", 0x0f_ffff, false),
            ("e5-2600", "imc", "ctr", 0x40_0334, false),
            ("e5-2600", "cbo", "unit_ctl", 0x40_0334, false),
            ("e5-2600", "cbo", "filter", 0x40_0334, false),
            ("emerald-rapids", "cha", "ctl", 0x01, true),
            ("emerald-rapids", "cha", "ctl", 0xff00, false),
            ("nehalem", "uncore", "fixed_ctl", 1, true),
            ("nehalem", "uncore", "fixed_ctl", 0xe, false),
        ] {
            let (of, register) = register(family, unit, name);
            assert_eq!(is_running(of, register, value), runs, "{family} {unit} {name} {value:#x}");
        }
    }

    /// TOR_INSERTS (0x35) takes the opcode filter, the clock takes none unless it is told to count a thread (bit 19),
    /// and of a code that is in no document nobody knows.
    #[test]
    fn who_may_use_a_filter_keeps_it() {
        for (name, value, may) in [
            ("ctl", 0x40_0135, true),
            ("ctl", 0x40_0000, false),
            ("ctl", 0x48_0000, true),
            ("ctl", 0x40_00ee, true),
            ("filter", 0x40_0135, false),
        ] {
            let (cbo, register) = register("e5-2600", "cbo", name);
            assert_eq!(may_use_a_filter(cbo, register, value), may, "{name} {value:#x}");
        }
        let (imc, control) = register("e5-2600", "imc", "ctl");
        let (_, fixed) = register("e5-2600", "imc", "fixed_ctl");
        assert_eq!(event_of(imc, control, 0x40_0304), Some("CAS_COUNT"));
        assert_eq!(event_of(imc, control, 0x40_00ee), None);
        assert_eq!(event_of(imc, fixed, 0x40_0000), fixed.event);
    }
}
