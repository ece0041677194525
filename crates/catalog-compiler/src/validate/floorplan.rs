//! A floorplan names instances of the family's units, each once.

use crate::Diagnostics;
use crate::schema::Family;

/// What is no instance: a part of the die without counters of ours.
const OTHER: &str = ".";

/// Each name is a unit's with a number, and is given once.
pub fn instances(family: &Family, diagnostics: &mut Diagnostics) {
    let mut known: Vec<&str> = Vec::new();
    for (row, place) in &family.floorplan {
        for name in row.split(' ').filter(|name| *name != OTHER) {
            let unit = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
            if unit.len() == name.len() || family.units.iter().all(|known| known.name != unit) {
                let fix = "write a unit and the number of an instance, as cha12, or . for other parts";
                diagnostics.report(*place, format!("floorplan: {name:?} is no unit instance"), fix);
            } else if known.contains(&name) {
                diagnostics.report(*place, format!("floorplan: {name} has two places"), "leave one out");
            }
            known.push(name);
        }
    }
}
