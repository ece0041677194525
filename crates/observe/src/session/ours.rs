//! What of a register is the session's, so that nothing else is put back.

use std::collections::HashMap;

use pericore_catalog::{Register, Role};
use pericore_registers::{Address, Operation, Width};

use crate::plan::{SocketPlan, Step, lasting, resets};

/// How a session overwrites a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overwriting {
    /// Selects what one counter counts.
    Control,
    /// Selects for all counters of a unit.
    Filter,
    /// Stops or enables counters of everybody.
    Gate,
}

impl Overwriting {
    /// Of the registers of a role; nothing if sessions overwrite none of these, so that no journal names them.
    pub(super) const fn of(role: Role) -> Option<Self> {
        match role {
            Role::Control | Role::FixedControl => Some(Self::Control),
            Role::Filter => Some(Self::Filter),
            Role::UnitControl | Role::GlobalControl => Some(Self::Gate),
            Role::UnitStatus
            | Role::Counter
            | Role::FixedCounter
            | Role::FreeRunning
            | Role::GlobalStatus
            | Role::OverflowControl
            | Role::Identity => None,
        }
    }
}

/// All that a session may write in a socket, by address and in its order.
#[derive(Debug)]
pub(super) struct Writes<'p>(HashMap<Address, Vec<&'p Step>>);

impl<'p> Writes<'p> {
    pub(super) fn new(part: &'p SocketPlan) -> Self {
        let switches = part.instances.iter().flat_map(|instance| instance.switch.iter().flatten());
        // A leader is armed again with what the set-up has written.
        let mut by_address: HashMap<Address, Vec<&Step>> = HashMap::new();
        for step in part.setup.iter().chain(&part.freeze).chain(&part.resume).chain(switches) {
            by_address.entry(step.operation.address()).or_default().push(step);
        }
        Self(by_address)
    }
}

/// What a session makes of a register that it overwrites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ours {
    /// A control or a filter, which belongs to one user at a time: it goes back if it still holds one of the session's
    /// values.
    Setting {
        /// The bits that read back as written.
        bits: u64,
        /// What the session writes to the register.
        values: Vec<u64>,
        /// True for a filter, which counters of others in the same unit may come to use.
        is_filter: bool,
    },
    /// What stops or enables counters of everybody.
    Gate {
        /// The session's bits.
        bits: u64,
        /// Those of them that stop counters when they are set.
        stops: u64,
        /// Those of them that enable one counter each.
        enables: u64,
        /// Bits of others, which stay as they are.
        keeps: u64,
        /// True if it is the socket's, false if it is the unit's.
        is_whole: bool,
    },
}

impl Ours {
    /// What a part of a plan makes of the register that a step of it reads.
    pub(super) fn of(writes: &Writes<'_>, seen: &Step) -> Self {
        let writes = writes.0.get(&seen.operation.address()).into_iter().flatten().copied();
        let kind = Overwriting::of(seen.register.role);
        debug_assert!(kind.is_some(), "a plan saves {}", seen.register.name);
        if kind == Some(Overwriting::Gate) {
            let keeps = writes.fold(u64::MAX, |keeps, step| keeps & step.keeps);
            return Self::gate(seen.register, keeps);
        }
        let is_filter = kind == Some(Overwriting::Filter);
        Self::Setting { bits: lasting(seen.register), values: values(writes), is_filter }
    }

    /// The same where only a journal tells of the session: a setting goes back if it holds what was written, or if the
    /// journal does not say what that was; a gate goes back as a whole.
    pub(super) fn of_journal(register: &Register, written: &[u64]) -> Self {
        let is_filter = Overwriting::of(register.role) == Some(Overwriting::Filter);
        match Self::gate(register, 0) {
            // Bits that no document gives stay as they are.
            Self::Gate { bits, stops, enables, is_whole, .. }
                if Overwriting::of(register.role) == Some(Overwriting::Gate) =>
            {
                Self::Gate { bits, stops, enables, keeps: !(bits | resets(register)), is_whole }
            }
            _ => {
                let bits = if written.is_empty() { 0 } else { lasting(register) };
                Self::Setting { bits, values: written.to_vec(), is_filter }
            }
        }
    }

    /// What the session writes to a setting; nothing of a gate, whose bits say what is the session's.
    pub(super) fn written(&self) -> &[u64] {
        match self {
            Self::Setting { values, .. } => values,
            Self::Gate { .. } => &[],
        }
    }

    fn gate(register: &Register, keeps: u64) -> Self {
        let fields = |is: fn(&str) -> bool| {
            register.fields.iter().filter(|field| is(field.name)).fold(0, |mask, field| mask | field.bits.mask())
        };
        // Freezes read back, although the guides call them write-only; reset bits must not be written again.
        let bits = (lasting(register) | fields(|name| name.starts_with("frz"))) & !keeps;
        let stops = fields(|name| matches!(name, "frz" | "frz_all" | "pmi_frz")) & bits;
        let enables = fields(|name| name.starts_with("en_pc") || name.starts_with("en_fc")) & bits;
        Self::Gate { bits, stops, enables, keeps, is_whole: fields(|name| name == "frz_all") != 0 }
    }
}

/// The values that writes to one register give it, one after the other.
fn values<'s>(writes: impl Iterator<Item = &'s Step>) -> Vec<u64> {
    let mut values: Vec<u64> = Vec::new();
    for step in writes {
        let Operation::Write { width, value, .. } = step.operation else { continue };
        // A lower half is written by itself, right after the upper.
        let upper = if width == Width::B8 { 0 } else { values.last().copied().unwrap_or(0) & !width.mask() };
        if !values.contains(&(upper | value)) {
            values.push(upper | value);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::e5_2600;

    fn register(family: &str, unit: &str, name: &str) -> &'static Register {
        let unit = pericore_catalog::family(family).unwrap().unit(unit).unwrap();
        unit.registers.iter().find(|register| register.name == name).unwrap()
    }

    /// A CBo's unit control: frz_en is bit 16, frz bit 8, and bits 1:0 reset (guide, 2.3.3). Nehalem's global control
    /// (SDM 18.8.2): an enable for each of eight counters, bit 32 for the fixed one, PMIs of four cores in 51:48,
    /// pmi_frz in 63. Emerald Rapids' (1.4): bit 0 freezes the socket.
    #[test]
    fn a_gate_stops_and_enables_by_its_own_bits() {
        let unit_control = register("e5-2600", "cbo", "unit_ctl");
        let gate = |bits, stops, enables, keeps, is_whole| Ours::Gate { bits, stops, enables, keeps, is_whole };
        assert_eq!(Ours::gate(unit_control, 0), gate(0x1_0100, 0x100, 0, 0, false));
        assert_eq!(Ours::gate(unit_control, 0x1_0000), gate(0x100, 0x100, 0, 0x1_0000, false));
        assert_eq!(Ours::gate(unit_control, 0x100), gate(0x1_0000, 0, 0, 0x100, false));
        assert_eq!(Ours::of_journal(unit_control, &[7]), gate(0x1_0100, 0x100, 0, !0x1_0103, false));
        let enables = register("nehalem", "uncore", "global_ctl");
        let Ours::Gate { bits, stops, enables, is_whole, .. } = Ours::gate(enables, !0x8000_0001_0000_0013) else {
            panic!("a gate")
        };
        assert_eq!((bits, stops, enables), (0x8000_0001_0000_0013, 1 << 63, 0x1_0000_0013));
        assert!(!is_whole);
        let whole = register("emerald-rapids", "ubox", "global_ctl");
        let Ours::Gate { bits, stops, enables, is_whole, .. } = Ours::gate(whole, !1) else { panic!("a gate") };
        assert_eq!((bits, stops, enables, is_whole), (1, 1, 0, true));
        assert!(Ours::gate(unit_control, 0).written().is_empty());
    }

    /// A journal that says what was written is believed: a setting that holds something else by now is somebody's. Of
    /// one that does not say so no bit is looked at.
    #[test]
    fn a_setting_of_a_journal_is_known_by_what_was_written() {
        let cbo = e5_2600().unit("cbo").unwrap();
        let (control, filter) = (cbo.register(Role::Control).unwrap(), cbo.register(Role::Filter).unwrap());
        for (register, is_filter) in [(control, false), (filter, true)] {
            for written in [&[][..], &[0x40_0136, 0]] {
                let ours = Ours::of_journal(register, written);
                let bits = if written.is_empty() { 0 } else { lasting(register) };
                assert_eq!(ours, Ours::Setting { bits, values: written.to_vec(), is_filter });
                assert_eq!(ours.written(), written);
            }
        }
        assert_eq!(lasting(control) & 0x40_ff37, 0x40_ff37);
        assert_eq!(lasting(control) & 1 << 17, 0, "a reset does not read back");
    }

    /// Only controls, filters and gates are overwritten: no journal names another register.
    #[test]
    fn sessions_overwrite_settings_and_gates_alone() {
        for (role, kind) in [
            (Role::Control, Some(Overwriting::Control)),
            (Role::FixedControl, Some(Overwriting::Control)),
            (Role::Filter, Some(Overwriting::Filter)),
            (Role::UnitControl, Some(Overwriting::Gate)),
            (Role::GlobalControl, Some(Overwriting::Gate)),
            (Role::UnitStatus, None),
            (Role::Counter, None),
            (Role::FixedCounter, None),
            (Role::FreeRunning, None),
            (Role::GlobalStatus, None),
            (Role::OverflowControl, None),
            (Role::Identity, None),
        ] {
            assert_eq!(Overwriting::of(role), kind, "{role:?}");
        }
    }

    /// A control of 8 bytes in configuration space takes its upper half first, and then the lower one beside it.
    #[test]
    fn halves_of_a_register_are_one_value() {
        let control = register("emerald-rapids", "m2m", "ctl");
        let step = |width, value| Step {
            operation: Operation::Write { address: Address::Mmio { physical: 8 }, width, value },
            purpose: crate::plan::Purpose::Select,
            instance: 0,
            register: control,
            member: 0,
            keeps: 0,
        };
        let given = |writes: &[(Width, u64)]| {
            let steps: Vec<Step> = writes.iter().map(|&(width, value)| step(width, value)).collect();
            values(steps.iter())
        };
        let (upper, both) = (0x12_0000_0000, 0x12_0000_0304);
        assert_eq!(given(&[(Width::B8, upper), (Width::B4, 0x304)]), [upper, both]);
        assert_eq!(given(&[(Width::B4, 0x304), (Width::B4, 0x305), (Width::B4, 0x304)]), [0x304, 0x305]);
        assert_eq!(given(&[(Width::B8, 0x304), (Width::B8, 0), (Width::B8, 0x304)]), [0x304, 0]);
        let read = Step {
            operation: Operation::Read { address: Address::Mmio { physical: 8 }, width: Width::B8 },
            ..step(Width::B8, 0)
        };
        assert_eq!(values(std::iter::once(&read)), [0; 0]);
    }
}
