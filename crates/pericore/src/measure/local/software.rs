//! Which software machines count in the place of this one.

use pericore_catalog::{Family, families};
use pericore_machine::MachineSpec;

/// The software machine of a family; where there is none, or the family is unknown, those of others.
pub fn software_machines(family: Option<&Family>) -> String {
    let all = families().filter(|family| MachineSpec::of(family).has_model()).map(|family| family.name);
    let all: Vec<&str> = all.collect();
    let own = family.map(|family| family.name).filter(|name| all.contains(name));
    own.map_or_else(|| all.join("|"), str::to_owned)
}
