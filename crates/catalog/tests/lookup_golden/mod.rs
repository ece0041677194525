//! Decodes worked out by hand: raw addresses and values, and what the documents say of them. Nothing here comes from
//! `catalog/`; where a section or table is named, the row was read there. E5-2600: guide 327043-001, lost addresses from
//! LIKWID's and PCM's sources; codes also in Intel's Jaketown event file. Emerald Rapids: its guide, codes in Intel's event
//! file 1.24. Nehalem: SDM 18.8.2.

mod e5_2600;
mod emerald_rapids;
mod nehalem;

use pericore_catalog::decode::{self, AddressQuery, Decoded, Place};
use pericore_catalog::family;

/// One decode: where, the value, the register's name, fields `name=value` with the value's name in brackets, and what a counter
/// would count (`-` for registers that select nothing).
struct Golden {
    at: &'static str,
    value: u64,
    place: &'static str,
    fields: &'static str,
    counts: &'static str,
    source: &'static str,
}

const fn golden(
    at: &'static str,
    value: u64,
    place: &'static str,
    fields: &'static str,
    counts: &'static str,
    source: &'static str,
) -> Golden {
    Golden { at, value, place, fields, counts, source }
}

fn place(family: &'static pericore_catalog::Family, at: &str) -> Place {
    if !at.contains([':', '+']) && at.contains('.') {
        return decode::parse_name(family, at).unwrap();
    }
    let found = decode::find_address(family, &AddressQuery::parse(at).unwrap());
    assert_eq!(found.len(), 1, "{at} must be one register: {found:?}");
    found[0]
}

fn fields(decoded: &Decoded, wanted: &str) -> String {
    let texts = wanted.split(' ').map(|text| {
        let name = text.split('=').next().unwrap();
        let field = decoded.fields().find(|field| field.field.name == name);
        let Some(field) = field else { return format!("{name}: no such field") };
        let names: Vec<&str> = field.names().iter().map(|value| value.name).collect();
        // Names are told only where the expectation has one: whether a set has a name for 0 is no question of decoding.
        let named = if text.contains('[') { format!("[{}]", names.join("+")) } else { String::new() };
        format!("{name}={:#x}{named}", field.value)
    });
    texts.collect::<Vec<_>>().join(" ")
}

fn counts(decoded: &Decoded) -> String {
    let Some(counted) = decoded.counts(|_| None) else { return "-".to_owned() };
    let mut text = counted.event.name.to_owned();
    for subevent in &counted.subevents {
        text = format!("{text}.{}", subevent.name);
    }
    let note = if counted.counters >> decoded.member & 1 == 1 { "" } else { " not on this counter" };
    let inexact = if counted.is_exact { "" } else { " inexact" };
    format!("{text}{inexact}{note}")
}

fn check(name: &str, rows: &[Golden]) {
    let family = family(name).unwrap();
    let mut wrong = Vec::new();
    for row in rows {
        let place = place(family, row.at);
        let instance = place.instance.map_or_else(String::new, |instance| instance.to_string());
        let found = format!("{}{instance}.{}", place.unit.name, place.register.member_name(place.member));
        let decoded = decode::register(family, place.unit, place.register, place.member, row.value).unwrap();
        let got = (found.as_str(), fields(&decoded, row.fields), counts(&decoded));
        if got != (row.place, row.fields.to_owned(), row.counts.to_owned()) || decoded.reserved_bits() != 0 {
            let reserved = decoded.reserved_bits();
            wrong.push(format!(
                "{} ({}): {got:?}, reserved {reserved:#x}\n  wanted {:?} {:?} {:?}",
                row.at, row.source, row.place, row.fields, row.counts
            ));
        }
    }
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
    for unit in family.units {
        let mine = rows.iter().filter(|row| {
            row.place.split(['.']).next().unwrap().trim_end_matches(|c: char| c.is_ascii_digit()) == unit.name
        });
        assert!(mine.count() >= 3, "{} needs three decodes by hand", unit.name);
    }
}

#[test]
fn e5_2600() {
    check("e5-2600", e5_2600::ROWS);
}

#[test]
fn emerald_rapids() {
    check("emerald-rapids", emerald_rapids::ROWS);
}

#[test]
fn nehalem() {
    check("nehalem", nehalem::ROWS);
}

/// Table 2-80 of the E5-2600 guide, case 5: an event's code with the occupancy's bit counts cycles in which both hold.
#[test]
fn an_event_and_an_occupancy_in_one_control() {
    let family = family("e5-2600").unwrap();
    let place = place(family, "0xc32");
    let decoded = decode::register(family, place.unit, place.register, place.member, 0x0140_408B).unwrap();
    let counted = decoded.counts(|_| None).unwrap();
    assert_eq!(
        (counted.event.name, counted.condition.map(|event| event.name)),
        ("POWER_STATE_OCCUPANCY", Some("FREQ_BAND0_CYCLES"))
    );
    assert_eq!(counted.subevents.iter().map(|subevent| subevent.name).collect::<Vec<_>>(), ["CORES_C0"]);
}

/// Tables 2-10 and 2-30: several umask bits at once are several subevents; bits of none are told.
#[test]
fn umask_bits_are_told_apart() {
    let family = family("e5-2600").unwrap();
    let place = place(family, "0xd10");
    let decode = |value| decode::register(family, place.unit, place.register, 0, value).unwrap();
    let counted = decode(0x0040_1435).counts(|_| None).unwrap();
    assert_eq!(counted.subevents.iter().map(|subevent| subevent.name).collect::<Vec<_>>(), ["EVICTION", "WB"]);
    assert!(!counted.is_exact && counted.unnamed == 0);
    assert_eq!(decode(0x0040_8135).counts(|_| None).unwrap().unnamed, 0x8000);
    assert!(decode(0x0040_00FE).counts(|_| None).is_none(), "no event has code 0xfe");
    // Bits 21:20 and 16 are reserved.
    assert_eq!(decode(0x0071_0135).reserved_bits(), 0x0031_0000);
}

/// The filter's value is put in words: Table 2-13 has 0x182 as DRd.
#[test]
fn a_filter_says_what_it_lets_pass() {
    let family = family("e5-2600").unwrap();
    let place = place(family, "0xd10");
    let decoded = decode::register(family, place.unit, place.register, 0, 0x0048_0335).unwrap();
    let counted = decoded.counts(|register| (register.name == "filter").then_some(0xC100_0003)).unwrap();
    let filters: Vec<_> = counted.filters.iter().map(|filter| (filter.field.name, filter.value)).collect();
    assert_eq!(filters, [("opc", Some(0x182)), ("tid", Some(3))]);
    let unknown = decoded.counts(|_| None).unwrap();
    assert!(unknown.filters.iter().all(|filter| filter.value.is_none()));
    // Bit 19 switches the thread's filter on (Table 2-10): without it the field says nothing.
    let of_all = decode::register(family, place.unit, place.register, 0, 0x0040_0335).unwrap();
    let of_all = of_all.counts(|register| (register.name == "filter").then_some(0xC100_0003)).unwrap();
    assert_eq!(of_all.filters.iter().map(|filter| filter.field.name).collect::<Vec<_>>(), ["opc"]);
}

/// Table 2-75: the power control unit has an inversion and an edge of its own for occupancies, bits 30 and 31.
#[test]
fn occupancies_have_their_own_inversion_and_edge() {
    let family = family("e5-2600").unwrap();
    let place = place(family, "0xc30");
    let shape = |value| decode::register(family, place.unit, place.register, 0, value).unwrap().shape();
    let [plain, inverted, edge] = [0x0140_4080, 0x4140_4080, 0x8140_4080].map(shape);
    assert_eq!([plain.invert, inverted.invert, edge.invert], [false, true, false]);
    assert_eq!([plain.edge, inverted.edge, edge.edge], [false, false, true]);
    assert_eq!((plain.enabled, plain.threshold), (true, 1));
}

/// A fixed counter goes by the name of what it counts and by its register's.
#[test]
fn fixed_counters_have_two_names() {
    let imc = family("e5-2600").unwrap().unit("imc").unwrap();
    let counter = imc.register_named("fixed_ctr").unwrap();
    assert_eq!(
        ["DCLK_FIXED", "dclk_fixed", "FIXED_CTR", "ctr0"].map(|name| counter.member_counted_as(name)),
        [Some(0), Some(0), Some(0), None]
    );
}
