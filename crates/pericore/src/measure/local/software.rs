//! Which software machines count in the place of this one.

use pericore_catalog::{Family, families};
use pericore_machine::MachineSpec;

/// The software machine of a family; where there is none, those of others.
pub fn software_machines(family: &Family) -> String {
    let all = families().filter(|family| MachineSpec::of(family).has_model()).map(|family| family.name);
    let all: Vec<&str> = all.collect();
    if all.contains(&family.name) { family.name.to_owned() } else { all.join("|") }
}
