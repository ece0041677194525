//! What the catalogue says, taken apart by the guides' own bit positions.

use std::collections::BTreeMap;

use pericore_catalog::{Event, Subevent, Unit, family};

/// How an event is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding {
    pub code: u64,
    pub umask: u64,
    /// Control bits 63:32, except in the IIO.
    pub umask_ext: u64,
    /// Control bits 47:36 of the IIO.
    pub ch_mask: u64,
    /// Control bits 50:48 of the IIO.
    pub fc_mask: u64,
    /// Control bit 21.
    pub select: u64,
    pub counters: u16,
}

impl Encoding {
    /// The fields by the names that `deviations.toml` uses.
    pub fn fields(&self) -> [(&'static str, u64); 7] {
        [
            ("code", self.code),
            ("umask", self.umask),
            ("umask_ext", self.umask_ext),
            ("ch_mask", self.ch_mask),
            ("fc_mask", self.fc_mask),
            ("select", self.select),
            ("counters", u64::from(self.counters)),
        ]
    }

    /// The control register's value: Tables 1-5 and 2-184 of seed 003, Table 2-86 of seed 004.
    pub fn config(&self) -> u64 {
        let extension = self.umask_ext << 32 | self.ch_mask << 36 | self.fc_mask << 48;
        self.code | self.umask << 8 | self.select << 21 | extension
    }
}

/// An event or subevent of the catalogue.
pub struct Entry {
    pub encoding: Encoding,
    pub config: u64,
    pub later: bool,
}

/// By unit and `EVENT` or `EVENT.SUBEVENT`.
pub type Entries = BTreeMap<(String, String), Entry>;

/// All events and subevents of a family.
pub fn entries(family_name: &str) -> Entries {
    let mut entries = Entries::new();
    for unit in family(family_name).expect("the family is there").units {
        for event in unit.events {
            let mut add = |name: String, entry| {
                let full = (unit.name.to_owned(), name);
                assert!(entries.insert(full.clone(), entry).is_none(), "{full:?} twice");
            };
            add(event.name.to_owned(), of_event(unit, event));
            for subevent in event.subevents {
                add(format!("{}.{}", event.name, subevent.name), of_subevent(unit, event, subevent));
            }
        }
    }
    entries
}

fn of_event(unit: &Unit, event: &Event) -> Entry {
    let umask = event.config >> 8 & 0xFF;
    Entry {
        encoding: encoding(unit, event.code, umask, event.config, event.counters),
        config: event.config,
        later: event.later,
    }
}

/// The umask is the one that the row names: a subevent that selects by another field of bits 15:8 has none.
fn of_subevent(unit: &Unit, event: &Event, subevent: &Subevent) -> Entry {
    let umask = subevent.umask.map_or(0, u64::from);
    let encoding = encoding(unit, event.code, umask, subevent.config, subevent.counters);
    Entry { encoding, config: subevent.config, later: subevent.later }
}

fn encoding(unit: &Unit, code: u16, umask: u64, config: u64, counters: u16) -> Encoding {
    let masks = unit.name == "iio";
    Encoding {
        code: u64::from(code),
        umask,
        umask_ext: if masks { 0 } else { config >> 32 },
        ch_mask: if masks { config >> 36 & 0xFFF } else { 0 },
        fc_mask: if masks { config >> 48 & 7 } else { 0 },
        select: config >> 21 & 1,
        counters,
    }
}

/// Events of the E5-2600's PCU that select by an occupancy select, bits 15:14, where others have a umask.
const OCCUPANCY_SELECTS: [(&str, u64); 3] = [
    ("POWER_STATE_OCCUPANCY.CORES_C0", 0x4080),
    ("POWER_STATE_OCCUPANCY.CORES_C3", 0x8080),
    ("POWER_STATE_OCCUPANCY.CORES_C6", 0xC080),
];

/// `config` is the sum of the parts, by bit positions that stand here and not in the catalogue.
#[test]
fn configs_are_their_parts() {
    for name in ["emerald-rapids", "sapphire-rapids", "e5-2600", "nehalem"] {
        for ((unit, event), entry) in entries(name) {
            let special = OCCUPANCY_SELECTS.iter().find(|(special, _)| name == "e5-2600" && *special == event);
            let expected = special.map_or_else(|| entry.encoding.config(), |(_, config)| *config);
            assert_eq!(entry.config, expected, "{name} {unit}/{event}: {:#x} and {expected:#x}", entry.config);
        }
    }
}
