//! The families whose PMUs are known.

use std::sync::OnceLock;

use super::view;
use crate::model::{Family, KernelFamily, KernelUnit, Unit, unpack};
use crate::shipped::lasting_bytes;

include!(concat!(env!("OUT_DIR"), "/kernel.rs"));

/// A family: what tells it from others, and its rows, which are unpacked when they are first asked for.
#[derive(Debug)]
pub struct ShippedKernel {
    /// Command-line name.
    pub name: &'static str,
    /// Intel's short code in lower case, for example `icx`.
    pub code: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// What the headers of Intel's files call it; empty if there are none.
    pub header: &'static str,
    /// CPUID display family and model of each of its processors, and the first and last stepping, 0 to 15.
    pub cpus: &'static [(u16, u16, u8, u8)],
    packed: &'static [u8],
    unpacked: OnceLock<KernelFamily>,
    view: OnceLock<&'static Family>,
    driven: OnceLock<&'static Family>,
}

impl ShippedKernel {
    const fn new(
        name: &'static str,
        code: &'static str,
        aliases: &'static [&'static str],
        header: &'static str,
        cpus: &'static [(u16, u16, u8, u8)],
        packed: &'static [u8],
    ) -> Self {
        Self {
            name,
            code,
            aliases,
            header,
            cpus,
            packed,
            unpacked: OnceLock::new(),
            view: OnceLock::new(),
            driven: OnceLock::new(),
        }
    }

    /// Its PMUs and events.
    ///
    /// # Panics
    /// If the build has packed it with another schema, which a test would have shown.
    pub fn tables(&'static self) -> &'static KernelFamily {
        self.unpacked
            .get_or_init(|| unpack(lasting_bytes(self.packed)).expect("the build has packed it with the same schema"))
    }

    /// The family in the shape of those with registers: the one that has them, or one without.
    pub fn family(&'static self) -> &'static Family {
        match crate::family(self.name) {
            Some(family) => family,
            None => self.view.get_or_init(|| view::family(self.tables())),
        }
    }

    /// The same with all that the driver counts, such as events of the cores: what this machine can count, not what a
    /// software machine has.
    pub fn driven_family(&'static self) -> &'static Family {
        match crate::family(self.name) {
            Some(own) => self.driven.get_or_init(|| view::beside(own, self.tables())),
            None => self.family(),
        }
    }

    /// True if only the driver can count this family's events.
    pub fn is_without_registers(&self) -> bool {
        !crate::shipped().iter().any(|shipped| shipped.name == self.name)
    }

    /// True if the family goes by this name, in any case.
    pub fn is_named(&self, name: &str) -> bool {
        [&self.name, &self.code].into_iter().chain(self.aliases).any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// The row of a family.
pub fn of(family: &Family) -> Option<&'static ShippedKernel> {
    families().iter().find(|known| known.name == family.name)
}

/// True if only the kernel's driver counts this family's events.
pub fn counts_alone(family: &Family) -> bool {
    of(family).is_some_and(ShippedKernel::is_without_registers)
}

/// True if only the driver counts a unit, as that of the cores: no register of it is known.
pub const fn is_driven_alone(unit: &Unit) -> bool {
    unit.block.is_empty()
}

/// All families whose PMUs are known; unpacks nothing.
pub fn families() -> &'static [ShippedKernel] {
    &KERNEL
}

/// A family by name, code or alias, in any case.
pub fn family(name: &str) -> Option<&'static ShippedKernel> {
    families().iter().find(|family| family.is_named(name))
}

/// The family that one of Intel's files is for: by what its header calls it, else by its name, such as
/// `graniterapids_uncore.json`.
pub fn family_of_file(header: Option<&str>, file: &str) -> Option<&'static ShippedKernel> {
    let named =
        |known: &&ShippedKernel| !known.header.is_empty() && header.is_some_and(|text| text.contains(known.header));
    let stem = || file.split(['_', '.']).next().and_then(family);
    families().iter().find(named).or_else(stem)
}

/// The family of a processor, by CPUID display family, model and stepping; unpacks nothing.
pub fn family_of_cpu(family: u16, model: u16, stepping: u8) -> Option<&'static ShippedKernel> {
    families().iter().find(|known| {
        if known.cpus.is_empty() {
            let shipped = crate::shipped().iter().find(|shipped| shipped.name == known.name);
            return shipped.is_some_and(|shipped| shipped.cpus.contains(&(family, model)));
        }
        known.cpus.iter().any(|cpu| (cpu.0, cpu.1) == (family, model) && (cpu.2..=cpu.3).contains(&stepping))
    })
}

/// The PMU of a family's unit.
pub fn unit(family: &Family, unit: &str) -> Option<&'static KernelUnit> {
    of(family)?.tables().units.iter().find(|known| known.name == unit)
}
