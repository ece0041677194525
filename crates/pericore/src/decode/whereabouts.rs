//! From what the user writes to a register: a name, the guide's name, or an address, in one family or in any.

use pericore_catalog::Family;
use pericore_catalog::decode::{AddressQuery, NameError, Place, find_address, parse_name};
use pericore_catalog::encode::parse_number;

use super::place_name;
use crate::explain::address;
use crate::failure::Failure;
use crate::target;

/// A register of a family.
#[derive(Debug, Clone, Copy)]
pub struct Located {
    /// The family.
    pub family: &'static Family,
    /// The register.
    pub place: Place,
}

/// The register that a text stands for.
///
/// # Errors
/// None, or several.
pub fn locate(families: &[&'static Family], text: &str) -> Result<Located, Failure> {
    let is_address = text.contains([':', '+']) || parse_number(text).is_some();
    let found = if is_address { by_address(families, text)? } else { by_name(families, text)? };
    match apart(&found)[..] {
        [only] => Ok(only),
        [] => {
            let family = families.first().map_or("FAMILY", |family| family.name);
            let place = if let [only] = families { only.name } else { "any family" };
            Err(Failure::usage(format!(
                "{text} belongs to no register of {place}; `pericore list --registers --machine {family}` shows all"
            )))
        }
        _ => Err(ambiguous(text, &found)),
    }
}

/// Registers of blocks that several families have, at the same place, are one.
fn apart(found: &[Located]) -> Vec<Located> {
    let key = |located: &Located| {
        let Place { unit, register, member, byte, instance } = located.place;
        (unit.block, register.name, member, byte, instance, show_place(&located.place))
    };
    let mut apart: Vec<Located> = Vec::new();
    for located in found {
        if !apart.iter().any(|known| key(known) == key(located)) {
            apart.push(*located);
        }
    }
    apart
}

fn by_address(families: &[&'static Family], text: &str) -> Result<Vec<Located>, Failure> {
    let query = AddressQuery::parse(text).map_err(Failure::usage)?;
    let mut all: Vec<Located> = Vec::new();
    for family in families.iter().copied() {
        for place in find_address(family, &query) {
            // The same register of several instances, as in all memory windows: which one does not matter to the value.
            let same = |known: &&mut Located| {
                let known = &known.place;
                known.register.id == place.register.id && known.member == place.member && known.byte == place.byte
            };
            match all.iter_mut().find(same) {
                Some(known) => known.place.instance = None,
                None => all.push(Located { family, place }),
            }
        }
    }
    Ok(all)
}

fn by_name(families: &[&'static Family], text: &str) -> Result<Vec<Located>, Failure> {
    let name = target::register_name(text);
    let tried: Vec<_> = families.iter().map(|family| (*family, parse_name(family, &name))).collect();
    let found: Vec<Located> =
        tried.iter().filter_map(|(family, place)| Some(Located { family, place: *place.as_ref().ok()? })).collect();
    let errors = tried.into_iter().filter_map(|(_, place)| place.err());
    // A family that knows the unit knows better what is wrong.
    let best = errors.min_by_key(|error| matches!(error, NameError::NoUnit { .. } | NameError::NoForm { .. }));
    match best {
        Some(error) if found.is_empty() => Err(Failure::usage(error)),
        _ => Ok(found),
    }
}

fn ambiguous(text: &str, found: &[Located]) -> Failure {
    let one = |located: &Located| format!("\n  {:<16} --machine {}", place_name(&located.place), located.family.name);
    let several_families = found.iter().any(|located| located.family.name != found[0].family.name);
    let advice = if several_families { "add --machine" } else { "name one of them" };
    Failure::usage(format!(
        "{text} belongs to several registers; {advice}:{}",
        found.iter().map(one).collect::<String>()
    ))
}

/// A place's address: of its instance, or of the first and how many there are.
pub fn show_place(place: &Place) -> String {
    let placement = &place.unit.placements[usize::from(place.register.placement)];
    let offset = place.register.member_offset(place.member);
    let of = |instance: usize| placement.instances.get(instance).map(|location| address(*location, offset));
    match (place.instance, placement.instances.len()) {
        (_, 0) => format!("{}, found by discovery", placement.space),
        (Some(instance), _) => of(usize::from(instance)).unwrap_or_else(|| placement.space.to_string()),
        (None, 1) => of(0).unwrap_or_default(),
        (None, count) => format!("{} in the first of {count}", of(0).unwrap_or_default()),
    }
}
