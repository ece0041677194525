//! What stops an instance's counters for reading: the cheapest that disturbs nobody.

use pericore_catalog::{Family, Field, FieldAccess, Register, Role, Unit};

use super::{InstancePlan, Occupied};
use crate::discover::Socket;

/// Whether counters are stopped for reading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Freeze {
    /// By the cheapest means that disturbs nobody: the socket's freeze where nobody else counts in the socket, else those of units in which nobody else
    /// counts, else not.
    #[default]
    Cheapest,
    /// Never: counters are read one after the other while they run, and another session may count beside this one.
    Never,
}

/// A register's values that stop counters, zero them and let them run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gate {
    pub(super) register: &'static Register,
    pub(super) frozen: u64,
    pub(super) running: u64,
    /// The bits that zero the counters, if the register has them.
    pub(super) reset: Option<u64>,
    /// True if the register has a bit without which freezes are not obeyed.
    pub(super) needs_enable: bool,
    /// The bits of the register that belong to others and stay as they are.
    pub(super) keeps: u64,
}

/// How an instance's counters stand still while they are set up and read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    /// By a register of its own; `for_reading` if also while they are read.
    Own { gate: Gate, for_reading: bool },
    /// By the socket's freeze; the unit's own register, if it has one, resets its counters and must not freeze them.
    Whole(Option<Gate>),
    /// Not at all: each counter is switched on last.
    Never,
}

impl Stop {
    /// How an instance with programmed counters stops; `whole` if the socket's freeze is used.
    pub(super) fn of(instance: &InstancePlan, freeze: Freeze, whole: bool) -> Self {
        let unit = instance.unit;
        if unit.register(Role::UnitControl).is_none() && unit.register(Role::GlobalControl).is_some_and(enables) {
            // What enables each counter by a bit of its own stops ours beside those of others.
            let gate = Gate::of_enables(instance);
            return gate.map_or(Self::Never, |gate| Self::Own { gate, for_reading: freeze == Freeze::Cheapest });
        }
        if instance.taken.any() || freeze == Freeze::Never {
            return Self::Never;
        }
        let own = Gate::of_unit(unit);
        if whole && !instance.is_isolated() {
            return Self::Whole(own);
        }
        own.map_or(Self::Never, |gate| Self::Own { gate, for_reading: true })
    }

    /// True if the counters stand during set-up and changes of rounds.
    pub(super) const fn paused(self) -> bool {
        matches!(self, Self::Own { for_reading: true, .. } | Self::Whole(_))
    }

    /// True if the counters stand during set-up.
    pub(super) const fn stands_at_first(self) -> bool {
        !matches!(self, Self::Never)
    }

    /// The register of the instance that is written.
    pub(super) const fn gate(&self) -> Option<&Gate> {
        match self {
            Self::Own { gate, .. } | Self::Whole(Some(gate)) => Some(gate),
            Self::Whole(None) | Self::Never => None,
        }
    }
}

impl Gate {
    /// The unit control.
    fn of_unit(unit: &Unit) -> Option<Self> {
        let register = unit.register(Role::UnitControl)?;
        let running = mask(register, "frz_en").unwrap_or(0);
        let reset = mask(register, "rst_ctrs");
        Some(Self {
            reset,
            needs_enable: running != 0,
            ..Self::new(register, running | mask(register, "frz")?, running)
        })
    }

    /// A global control with an enable for each counter.
    fn of_enables(instance: &InstancePlan) -> Option<Self> {
        let register = instance.unit.register(Role::GlobalControl)?;
        let enables = instance.counters.iter().filter_map(|counter| match counter.register.role {
            Role::FixedCounter => mask(register, &format!("en_fc{}", counter.member)),
            _ => mask(register, &format!("en_pc{}", counter.member)),
        });
        let ours = enables.reduce(|all, one| all | one)?;
        Some(Self::new(register, 0, ours))
    }

    /// The socket's freeze, with the unit that has it.
    pub(super) fn of_socket(family: &Family) -> Option<(&'static Unit, Self)> {
        family.units.iter().find_map(|unit| {
            let register = unit.register(Role::GlobalControl)?;
            let frozen = mask(register, "frz_all")?;
            Some((*unit, Self::new(register, frozen, 0)))
        })
    }

    fn new(register: &'static Register, frozen: u64, running: u64) -> Self {
        let keeps = lasting(register) & !(frozen | running);
        Self { register, frozen, running, reset: None, needs_enable: false, keeps }
    }
}

/// True if the family can freeze a whole socket at once: then all its units should be discovered, so that nobody is frozen unseen.
pub fn freezes_sockets(family: &Family) -> bool {
    Gate::of_socket(family).is_some()
}

/// The unit with the socket's freeze, if freezing the socket disturbs nobody and is cheaper than freezing its units one by one. Where it was found on,
/// nothing counts until it is taken off, however few units there are.
pub(super) fn socket_gate(
    family: &Family,
    socket: &Socket,
    instances: &[InstancePlan],
    occupied: &Occupied,
    freeze: Freeze,
) -> Option<(&'static Unit, Gate)> {
    if freeze == Freeze::Never || !occupied.is_clear(socket.number) {
        return None;
    }
    let (unit, gate) = Gate::of_socket(family)?;
    let is_there = socket.present(unit).contains(&0);
    let covered = |instance: &&InstancePlan| obeys(instance) && Gate::of_unit(instance.unit).is_some();
    let least = if occupied.is_frozen(socket.number) { 1 } else { 2 };
    (is_there && instances.iter().filter(covered).count() >= least).then_some((unit, gate))
}

/// The unit with a socket's freeze that stops some of the instances, although it is not the plan's: somebody else may have left it on.
pub(super) fn foreign_gate(family: &Family, instances: &[InstancePlan]) -> Option<(&'static Unit, Gate)> {
    Gate::of_socket(family).filter(|_| instances.iter().any(obeys))
}

/// True if the socket's freeze stops counters that the plan uses in an instance.
fn obeys(instance: &InstancePlan) -> bool {
    instance.counters.iter().any(|counter| counter.control.is_some()) && !instance.is_isolated()
}

/// The bits of a register that read back as written.
pub fn lasting(register: &Register) -> u64 {
    let lasts = |access| matches!(access, FieldAccess::ReadWrite | FieldAccess::ReadWriteVolatile);
    let fields = register.fields.iter().filter(|field| lasts(field.access));
    fields.fold(0, |mask, field| mask | field.bits.mask())
}

/// The bits that reset something. Some hardware shows those that were written once; writing them again would reset
/// counters and controls.
pub(crate) fn resets(register: &Register) -> u64 {
    let is_reset = |name: &str| name.starts_with("rst") || name.ends_with("_rst");
    let of_write = |field: &&Field| field.access == FieldAccess::WriteOnly && is_reset(field.name);
    register.fields.iter().filter(of_write).fold(0, |mask, field| mask | field.bits.mask())
}

/// True if the register has an enable for each counter.
fn enables(register: &Register) -> bool {
    mask(register, "en_pc0").is_some()
}

fn mask(register: &Register, name: &str) -> Option<u64> {
    register.field(name).map(|field| field.bits.mask())
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::e5_2600;

    /// A CBo's control (guide, 2.3.3): everything but the reset (17) and reserved bits reads back. Unit controls reset
    /// with bits 1:0, Emerald Rapids' with bits 9:8 (1.3).
    #[test]
    fn bits_that_last_and_bits_that_reset_are_those_of_the_guide() {
        let register = |family: &str, unit: &str, name: &str| {
            let unit = pericore_catalog::family(family).unwrap().unit(unit).unwrap();
            unit.registers.iter().find(|register| register.name == name).unwrap()
        };
        for (family, unit, name, lasts, clears) in [
            ("e5-2600", "cbo", "ctl", 0xffcc_ffff, 0x2_0000),
            ("e5-2600", "cbo", "filter", 0xffff_fc1f, 0),
            ("e5-2600", "cbo", "unit_ctl", 0, 0b11),
            ("e5-2600", "imc", "ctl", 0xffc4_ffff, 0),
            ("emerald-rapids", "cha", "unit_ctl", 0, 0x300),
        ] {
            let register = register(family, unit, name);
            assert_eq!((lasting(register), resets(register)), (lasts, clears), "{family} {unit} {name}");
        }
        assert!(enables(register("nehalem", "uncore", "global_ctl")));
        assert!(!enables(register("emerald-rapids", "ubox", "global_ctl")));
    }

    /// Only Emerald Rapids of these has one register that freezes a socket (1.4): by bit 0, keeping nothing of its own.
    #[test]
    fn a_socket_is_frozen_where_a_register_can() {
        let freezes = ["e5-2600", "nehalem", "emerald-rapids"]
            .map(|name| freezes_sockets(pericore_catalog::family(name).unwrap()));
        assert_eq!(freezes, [false, false, true]);
        let (unit, gate) = Gate::of_socket(pericore_catalog::family("emerald-rapids").unwrap()).unwrap();
        assert_eq!((unit.name, gate.frozen, gate.running, gate.needs_enable), ("ubox", 1, 0, false));
        // A channel obeys its freeze (bit 8) if bit 16 says so.
        let gate = Gate::of_unit(e5_2600().unit("imc").unwrap()).unwrap();
        assert_eq!((gate.frozen, gate.running, gate.needs_enable), (0x1_0100, 0x1_0000, true));
        let gate = Gate::of_unit(pericore_catalog::family("emerald-rapids").unwrap().unit("cha").unwrap()).unwrap();
        assert_eq!((gate.frozen, gate.running, gate.reset, gate.needs_enable), (1, 0, Some(0x200), false));
        assert!(Gate::of_unit(e5_2600().unit("ubox").unwrap()).is_none());
    }
}
