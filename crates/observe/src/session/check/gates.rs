//! Whether somebody else has stopped counters: what a freeze or a global control held before the session writes it.
//!
//! A sample ends with the session's own freeze and the write that lifts it, which would wipe out what somebody else
//! has written there. So these registers are read before, each time. The freeze of a whole socket is one register
//! beside few others where little is counted: there every second sample has to do, and `docs/others.md` says so.

use pericore_catalog::{Register, Role};
use pericore_metrics::Validity;
use pericore_registers::{Operation, Outcome};

use super::super::options::Guard;
use super::super::steps::{Placed, Sequence, State, readable};
use crate::plan::{Plan, Purpose, SocketPlan, Step};

/// Accesses of a sample for each socket from which on its freeze is looked at every time.
const MANY: usize = 40;

/// When gates are looked at before they are written.
#[derive(Debug)]
pub struct Gates {
    guard: Guard,
    /// The freeze of a socket is looked at with one of so many samples.
    every: u64,
    looks: u64,
}

impl Gates {
    pub fn new(plan: &Plan, guard: Guard) -> Self {
        let whole = plan.sockets.iter().filter(|part| part.gate.is_some()).count();
        let is_cheap = guard == Guard::All || plan.cost().accesses() >= MANY * whole;
        Self { guard, every: if is_cheap { 1 } else { 2 }, looks: 0 }
    }

    /// Reads before the freeze of a sample, at most.
    pub fn reads(plan: &Plan) -> usize {
        plan.sockets.iter().flat_map(|part| &part.freeze).filter(|step| is_read_first(step)).count()
    }

    /// The reads of gates that these steps are about to write. Enables are read with their write anyway.
    pub fn due(&mut self, steps: &[Placed], is_last: bool) -> Vec<Placed> {
        if self.guard == Guard::Off && !is_last {
            return Vec::new();
        }
        self.looks += 1;
        let looks_at_whole = is_last || self.looks.is_multiple_of(self.every);
        let freezes = steps.iter().filter(|(_, step)| is_read_first(step));
        let due = freezes.filter(|(_, step)| looks_at_whole || !is_whole(step.register));
        due.filter_map(|&(socket, step)| {
            let Operation::Write { address, width, .. } = step.operation else { return None };
            Some((socket, Step { operation: Operation::Read { address, width }, ..step }))
        })
        .collect()
    }

    /// Says of the counts of this sample that somebody has stopped them, if the gate held that.
    pub fn judge(plan: &Plan, state: &mut State, socket: usize, step: &Step, held: &Outcome<u64>) {
        let part = &plan.sockets[socket];
        let place = || format!("{} of {}", step.register_name(), part.instances[step.instance].name());
        let why = match readable(step, held) {
            Ok(held) if !stops(step.register, enables(part, step), held) => return,
            Ok(held) => format!("someone else stopped counters for a part of the time ({} = {held:#x})", place()),
            Err(why) => format!("nobody knows whether the counters ran all the time ({}: {why})", place()),
        };
        let why = Validity::suspect(format!("{why} in socket {}", part.socket));
        for (instance, counter) in concerned(part, step) {
            let state = state.instance_mut(socket, instance);
            if part.instances[instance].counters[counter].runs_in(state.round) {
                let readings = state.counter_mut(counter);
                readings.validity = std::mem::take(&mut readings.validity).and(&why);
            }
        }
    }

    /// The same of enables, which were read with the write that took ours away.
    pub fn judge_enables(plan: &Plan, state: &mut State, frozen: &Sequence) {
        for (socket, step, held) in frozen.results() {
            if step.keeps != 0 && held.is_ok() {
                Self::judge(plan, state, socket, step, held);
            }
        }
    }
}

/// True if a step freezes what somebody else may have frozen, and does not read it anyway.
fn is_read_first(step: &Step) -> bool {
    step.purpose == Purpose::Freeze && step.keeps == 0
}

/// True if a register stops all counters of a socket.
fn is_whole(register: &Register) -> bool {
    register.field("frz_all").is_some()
}

/// True if a register is one that stops or enables counters.
pub fn is_gate(register: &Register) -> bool {
    matches!(register.role, Role::UnitControl | Role::GlobalControl)
}

/// True if with this value of a gate counters stand that should run: it is frozen, or an enable of ours is missing.
pub fn stops(register: &Register, enables: u64, value: u64) -> bool {
    let is_set = |name: &str| register.field(name).map(|field| field.bits.get(value) != 0);
    match (is_set("frz_all"), is_set("frz")) {
        (Some(whole), _) => whole,
        (None, Some(unit)) => unit && is_set("frz_en").unwrap_or(true),
        (None, None) => value & enables != enables,
    }
}

/// The enables that a part of a plan needs in a register that it writes.
pub fn enables(part: &SocketPlan, step: &Step) -> u64 {
    let to_register = |other: &&Step| other.operation.address() == step.operation.address();
    part.setup.iter().filter(to_register).fold(0, |mask, step| match step.operation {
        Operation::Write { value, .. } => mask | value,
        Operation::Read { .. } => mask,
    })
}

/// The programmed counters that a gate stops: instances and counters of the plan's part.
pub fn concerned(part: &SocketPlan, step: &Step) -> Vec<(usize, usize)> {
    let obeys = |index: usize| match is_whole(step.register) {
        true => !part.instances[index].is_isolated(),
        false => index == step.instance,
    };
    let instances = part.instances.iter().enumerate().filter(|(index, _)| obeys(*index));
    let counters = instances.flat_map(|(index, instance)| {
        let programmed = instance.counters.iter().enumerate().filter(|(_, counter)| counter.control.is_some());
        programmed.map(move |(number, _)| (index, number))
    });
    counters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A CBo obeys frz (bit 8) if frz_en (bit 16) is set; of Emerald Rapids' blocks bit 0 freezes without more, and bit
    /// 0 of the global control all of them (1.4). Nehalem's counters stand if their enable is missing.
    #[test]
    fn a_gate_stops_by_what_its_family_has() {
        for (family, unit, name, enables, value, stopped) in [
            ("e5-2600", "cbo", "unit_ctl", 0, 0x1_0100, true),
            ("e5-2600", "cbo", "unit_ctl", 0, 0x0_0100, false),
            ("e5-2600", "cbo", "unit_ctl", 0, 0x1_0000, false),
            ("emerald-rapids", "cha", "unit_ctl", 0, 1, true),
            ("emerald-rapids", "cha", "unit_ctl", 0, 0x300, false),
            ("emerald-rapids", "ubox", "global_ctl", 0, 1, true),
            ("emerald-rapids", "ubox", "global_ctl", 3, 2, false),
            ("nehalem", "uncore", "global_ctl", 0b11, 0b01, true),
            ("nehalem", "uncore", "global_ctl", 0b11, 0b111, false),
            ("nehalem", "uncore", "global_ctl", 0, 0, false),
        ] {
            let unit = pericore_catalog::family(family).unwrap().unit(unit).unwrap();
            let register = unit.registers.iter().find(|register| register.name == name).unwrap();
            assert_eq!(stops(register, enables, value), stopped, "{family} {name} {value:#x}");
            assert!(is_gate(register));
            assert_eq!(is_whole(register), name == "global_ctl" && family == "emerald-rapids");
        }
        let counter =
            pericore_catalog::family("e5-2600").unwrap().unit("cbo").unwrap().register(Role::Counter).unwrap();
        assert!(!is_gate(counter));
    }
}
