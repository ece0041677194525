//! What look-ups find, and what they say where there is nothing. Expectations are by hand from the documents.

mod kernel;
mod lookup;
mod lookup_golden;
mod lookup_properties;
mod own;

use pericore_catalog::{Family, Register, Unit};

/// The guide's E5-2600: 327043-001.
fn e5_2600() -> &'static Family {
    pericore_catalog::family("e5-2600").unwrap()
}

fn emerald_rapids() -> &'static Family {
    pericore_catalog::family("emerald-rapids").unwrap()
}

fn register_of(family: &'static Family, unit: &str, name: &str) -> (&'static Unit, &'static Register) {
    let unit = family.unit(unit).unwrap();
    (unit, unit.register_named(name).unwrap())
}
