//! What must hold for every register, event and address of every family, whatever the catalogue has in it.

use pericore_catalog::decode::{self, AddressQuery};
use pericore_catalog::event_file::EventFile;
use pericore_catalog::search::{Topic, resolve};
use pericore_catalog::{Event, Family, FieldAccess, Location, Register, Subevent, Unit, encode, families};
use proptest::prelude::*;

fn registers() -> impl Iterator<Item = (&'static Family, &'static Unit, &'static Register)> {
    families().flat_map(|family| {
        family.units.iter().flat_map(move |unit| unit.registers.iter().map(move |register| (family, *unit, register)))
    })
}

fn events() -> impl Iterator<Item = (&'static Family, &'static Unit, &'static Event, Option<&'static Subevent>)> {
    families().flat_map(|family| {
        family.units.iter().flat_map(move |unit| {
            unit.events.iter().flat_map(move |event| {
                let plain = event.subevents.is_empty().then_some((family, *unit, event, None));
                plain
                    .into_iter()
                    .chain(event.subevents.iter().map(move |subevent| (family, *unit, event, Some(subevent))))
            })
        })
    })
}

/// Every field on its own, at its smallest, largest and some middle value: encode, decode, and nothing else has changed.
#[test]
fn every_field_decodes_and_encodes_to_itself() {
    let mut fields = 0;
    for (family, unit, register) in registers() {
        for field in
            register.fields.iter().filter(|field| !matches!(field.access, FieldAccess::Reserved | FieldAccess::Ignored))
        {
            fields += 1;
            for value in [0, 1, field.bits.max() / 2, field.bits.max()] {
                let text = format!("{value:#x}");
                let place = format!("{} {}.{}.{}={text}", family.name, unit.name, register.name, field.name);
                let encoded = encode::register(register, &[], [(field.name, text.as_str())])
                    .unwrap_or_else(|error| panic!("{place}: {error}"));
                let decoded = decode::register(family, unit, register, 0, encoded)
                    .unwrap_or_else(|error| panic!("{place}: {error}"));
                assert_eq!(decoded.field(field.name), Some(value), "{place}");
                assert_eq!((encoded ^ register.reset) & !field.bits.mask(), 0, "{place} changes other bits");
                assert_eq!(decoded.reserved_bits(), 0, "{place}");
            }
        }
    }
    assert!(fields > 200, "only {fields} fields");
}

/// Named values encode by name, too.
#[test]
fn every_named_value_encodes_by_name() {
    for (family, unit, register) in registers() {
        for field in register.fields {
            for named in field.values {
                let encoded = encode::register(register, &[], [(field.name, named.name)]);
                let got = encoded.map(|value| field.bits.get(value));
                assert_eq!(
                    got.as_ref(),
                    Ok(&named.value),
                    "{} {}.{}.{}={}",
                    family.name,
                    unit.name,
                    register.name,
                    field.name,
                    named.name
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Any value of any register, its reserved bits as after a reset, comes back from its fields.
    #[test]
    fn every_value_survives_its_fields(random in any::<u64>()) {
        for (family, unit, register) in registers() {
            let kept = register.fields.iter().filter(|field| matches!(field.access, FieldAccess::Reserved | FieldAccess::Ignored));
            let kept = kept.fold(0, |mask, field| mask | field.bits.mask());
            let width = if register.width == 64 { u64::MAX } else { (1 << register.width) - 1 };
            let value = (random & !kept | register.reset & kept) & width;
            let decoded = decode::register(family, unit, register, 0, value).unwrap();
            let fields: Vec<(&str, String)> = decoded
                .fields()
                .filter(|field| field.is_meaningful())
                .map(|field| (field.field.name, format!("{:#x}", field.value)))
                .collect();
            let settings = fields.iter().map(|(name, value)| (*name, value.as_str()));
            prop_assert_eq!(encode::register(register, &[], settings), Ok(value), "{}.{}", unit.name, register.name);
        }
    }

    /// No text, however odd, upsets a look-up.
    #[test]
    fn names_and_addresses_never_panic(text in "\\PC{0,40}") {
        for family in families() {
            let _ = decode::parse_name(family, &text);
            let _ = decode::parse_unit(family, &text);
            if let Ok(query) = AddressQuery::parse(&text) {
                let _ = decode::find_address(family, &query);
            }
            let _ = resolve(&[family], &text);
            let _ = EventFile::parse(&text, family);
        }
    }
}

/// A value one bit too wide, and a member one too far, are refused for every register.
#[test]
fn what_does_not_fit_is_refused() {
    for (family, unit, register) in registers() {
        if register.width < 64 {
            assert!(
                decode::register(family, unit, register, 0, 1 << register.width).is_err(),
                "{}.{}",
                unit.name,
                register.name
            );
        }
        assert!(
            decode::register(family, unit, register, register.count, 0).is_err(),
            "{}.{}",
            unit.name,
            register.name
        );
        for field in register.fields.iter().filter(|field| field.bits.width < 64) {
            let too_large = format!("{:#x}", field.bits.max() + 1);
            let encoded = encode::register(register, &[], [(field.name, too_large.as_str())]);
            assert!(encoded.is_err(), "{}.{}.{}={too_large}", unit.name, register.name, field.name);
        }
    }
}

/// Each register of each instance is found at its address and by its name, and is alone there.
#[test]
fn every_register_is_found_at_its_address_and_by_its_name() {
    for (family, unit, register) in registers() {
        let placement = &unit.placements[usize::from(register.placement)];
        for (instance, location) in placement.instances.iter().enumerate() {
            for member in 0..register.count {
                let offset = register.member_offset(member);
                let address = match *location {
                    Location::Msr { base } => format!("msr:{:#x}", base + offset),
                    Location::Pci { device, function } => format!("pci:{device:02x}.{function}+{offset:#x}"),
                    Location::Mmio { bar, index, offset: base } => {
                        format!("mmio:{bar}{index}+{:#x}", base + u64::from(offset))
                    }
                };
                let found = decode::find_address(family, &AddressQuery::parse(&address).unwrap());
                let mine = |place: &&decode::Place| {
                    place.register.id == register.id
                        && place.member == member
                        && place.instance.map(usize::from) == Some(instance)
                };
                assert_eq!(
                    found.iter().filter(mine).count(),
                    1,
                    "{} {}.{} at {address}",
                    family.name,
                    unit.name,
                    register.name
                );
                assert_eq!(found.len(), 1, "{} {address}: {found:?}", family.name);
            }
        }
        for member in 0..register.count {
            let name = format!("{}.{}", unit.name, register.member_name(member));
            let place = decode::parse_name(family, &name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(place.register.id == register.id && place.member == member, "{name}");
        }
    }
}

/// The control value of each event and subevent decodes to that event, without bits left over.
#[test]
fn every_events_control_value_decodes_to_it() {
    for (family, unit, event, subevent) in events() {
        let Some(register) = unit.register(pericore_catalog::Role::Control) else { continue };
        let config = subevent.map_or(event.config, |subevent| subevent.config);
        let name =
            format!("{} {}/{}.{}", family.name, unit.name, event.name, subevent.map_or("", |subevent| subevent.name));
        let decoded =
            decode::register(family, unit, register, 0, config).unwrap_or_else(|error| panic!("{name}: {error}"));
        let counted = decoded.counts(|_| None).unwrap_or_else(|| panic!("{name} {config:#x} decodes to nothing"));
        assert_eq!((counted.unnamed, decoded.reserved_bits()), (0, 0), "{name} {config:#x}");
        let same = |known: &Subevent| known.config == config;
        // Rows with the same encoding (`same_as`) stand for each other.
        let is_it =
            counted.is_exact && (counted.event.config == config || counted.subevents.iter().any(|found| same(found)));
        assert!(
            is_it || event.subevents.is_empty() && counted.event.config == config,
            "{name} {config:#x}: {counted:?}"
        );
    }
}

/// Each thing's full name stands for that thing alone.
#[test]
fn every_events_name_stands_for_it() {
    for (family, unit, event, subevent) in events() {
        let name =
            subevent.map_or_else(|| event.name.to_owned(), |subevent| format!("{}.{}", event.name, subevent.name));
        let plain = format!("{}/{name}", unit.name);
        let found = resolve(&[family], &plain);
        let first = found.first().filter(|found| found.unit.is_some_and(|known| known.id == unit.id));
        let is_it = match first.map(|found| found.topic) {
            Some(Topic::Event(found)) => subevent.is_none() && found.name == event.name,
            Some(Topic::Subevent(found, sub)) => {
                found.name == event.name && subevent.is_some_and(|known| known.name == sub.name)
            }
            _ => false,
        };
        assert!(is_it, "{} {plain}: {found:?}", family.name);
        if let Some(prefix) = unit.intel_prefix {
            let intel = format!("{}{}", prefix.to_lowercase(), name.to_lowercase());
            assert!(
                resolve(&[family], &intel).iter().any(|found| found.name().eq_ignore_ascii_case(&plain)),
                "{intel}"
            );
        }
    }
}
