//! Any text as a name, an address or a setting: never a panic, and what is found is what was asked for.

use pericore_catalog::decode::{self, AddressQuery};
use pericore_catalog::search::{Query, nearest, resolve};
use pericore_catalog::{encode, families};

/// Any bytes.
pub fn run(data: &[u8]) {
    let text = crate::text(data);
    for family in families() {
        if let Ok(place) = decode::parse_name(family, text) {
            assert!(place.member < place.register.count);
            assert!(place.instance.is_none_or(|instance| instance < place.unit.instances || place.unit.instances == 0));
            let (key, value) = text.split_once('.').unwrap_or((text, text));
            if let Ok(encoded) = encode::register(place.register, &[], [(key, value)]) {
                assert!(encoded <= decode::largest(place.register));
            }
        }
        if let Ok(query) = AddressQuery::parse(text) {
            for place in decode::find_address(family, &query) {
                assert!(
                    place.member < place.register.count && u32::from(place.byte) * 8 < u32::from(place.register.width)
                );
            }
        }
        for found in resolve(&[family], text) {
            assert!(
                resolve(&[family], &found.name()).iter().any(|again| again.name() == found.name()),
                "{}",
                found.name()
            );
        }
        // Settings of a register with many fields, key and value taken from the text.
        let settings: Vec<(&str, &str)> = text.split(',').filter_map(|setting| setting.split_once('=')).collect();
        for unit in family.units {
            for register in unit.registers {
                if let Ok(value) = encode::register(register, &[], settings.iter().copied()) {
                    let decoded = decode::register(family, unit, register, 0, value).expect("what is encoded fits");
                    assert_eq!(decoded.reserved_bits(), 0);
                }
            }
        }
    }
    let query = Query::new([text]);
    let names = ["LLC_LOOKUP.DATA_READ", "CAS_COUNT.RD", ""];
    if query.matches(&names, &["Look-ups of the slice."]) {
        let _ = query.rank(&names, &["Look-ups of the slice."]);
    }
    assert!(nearest(text, names).len() <= 3);
}
