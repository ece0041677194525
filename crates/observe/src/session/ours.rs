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
