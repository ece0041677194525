//! A request for every event of a family, beside the row of the event texts that says what hardware must be told for it.

use pericore_catalog::{Family, FilterNeed, FilterUse, Unit};

use crate::pmon::rows::{Row, rows};

/// An event or subevent of the catalogue.
pub struct Request {
    /// The unit that counts it.
    pub unit: &'static Unit,
    /// `EVENT.SUBEVENT` and the keys that it needs, as a user would write them between the slashes.
    pub words: String,
    /// What the texts say of it.
    pub row: Row,
}

impl Request {
    /// As a user would write it, for one instance of the unit or for all.
    pub fn event(&self, instance: Option<u16>) -> String {
        let number = instance.map_or_else(String::new, |instance| instance.to_string());
        format!("{}{number}/{}/", self.unit.name, self.words)
    }
}

/// Values for the keys without which an event counts nothing; `tags` makes its entries to fit: opcode 0x182 and node 2 of the caching agent,
/// address 0x23_4512_34500 and message 0x2c of the home agent, every frequency, address 0 and message 0 of Nehalem.
const NEEDED: [(&str, &str, &str); 12] = [
    ("e5-2600/cbo", "opc", "0x182"),
    ("e5-2600/cbo", "nid", "0x4"),
    ("e5-2600/ha", "opc", "0x2c"),
    ("e5-2600/ha", "lo_addr", "0x48d140"),
    ("e5-2600/ha", "hi_addr", "0x2345"),
    ("e5-2600/pcu", "band0", "0"),
    ("e5-2600/pcu", "band1", "0"),
    ("e5-2600/pcu", "band2", "0"),
    ("e5-2600/pcu", "band3", "0"),
    ("nehalem/uncore", "msel", "1"),
    ("emerald-rapids/cha", "opc", "0x102"),
    ("emerald-rapids/upi", "opc", "0"),
];

/// Rows that the lists of `tests/reference` lack or whose masks they have lost: from the SDM (18.8.2.3) and the list of the Xeon 5600 series,
/// and from the headings of the guides' event sections (E5-2600 2.8 and 2.9, Emerald Rapids 2.2.1.1 and Table 2-109).
const MORE: [(&str, &str, &str, &str, u64, u64); 10] = [
    ("nehalem", "uncore", "ADDR_OPCODE_MATCH", "IOH", 0x35, 0x01),
    ("nehalem", "uncore", "ADDR_OPCODE_MATCH", "REMOTE", 0x35, 0x02),
    ("nehalem", "uncore", "ADDR_OPCODE_MATCH", "LOCAL", 0x35, 0x04),
    ("e5-2600", "r2pcie", "TxR_INSERTS", "", 0x24, 0),
    ("e5-2600", "r3qpi", "TxR_CYCLES_NE", "", 0x23, 0),
    ("e5-2600", "r3qpi", "TxR_INSERTS", "", 0x24, 0),
    ("e5-2600", "r3qpi", "TxR_CYCLES_FULL", "", 0x25, 0),
    ("e5-2600", "r3qpi", "TxR_NACK", "", 0x26, 0),
    ("emerald-rapids", "cha", "RxC_OCCUPANCY", "IRQ", 0x11, 0x01),
    ("emerald-rapids", "cha", "COUNTER0_OCCUPANCY", "", 0x1f, 0),
];

/// Every event and subevent of the catalogue, and the names of those that no text has.
pub fn requests(family: &'static Family) -> (Vec<Request>, Vec<String>) {
    let mut texts = rows(family.name);
    texts.extend(MORE.iter().filter(|row| row.0 == family.name).map(|&(_, unit, event, subevent, code, umask)| Row {
        unit: unit.to_owned(),
        event: event.to_owned(),
        subevent: subevent.to_owned(),
        code,
        umask,
        umask_ext: 0,
        ch_mask: 0,
        fc_mask: 0,
        ev_sel_ext: 0,
        counters: (0..8).collect(),
        from: "by hand",
    }));
    // Intel's list gives the U-Box the extra select bit of QPI, which its control register (Table 2-5) does not have.
    texts.iter_mut().filter(|row| row.unit == "ubox").for_each(|row| row.ev_sel_ext = 0);
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for unit in family.units {
        for event in unit.events {
            let own = std::iter::once((event.name.to_owned(), event.config, event.filters.to_vec()));
            let subevents = event.subevents.iter().map(|subevent| {
                let kept =
                    event.filters.iter().filter(|used| !subevent.filters.iter().any(|own| own.field == used.field));
                let filters: Vec<FilterUse> = subevent.filters.iter().chain(kept).copied().collect();
                (format!("{}.{}", event.name, subevent.name), subevent.config, filters)
            });
            let all: Vec<_> = if event.subevents.is_empty() { own.collect() } else { subevents.collect() };
            for (name, config, filters) in all {
                // The texts' rows say what is programmed; the enable bit is the session's.
                let same =
                    |row: &&Row| row.unit == unit.name && row.control(family.name) & !(1 << 22) == config & !(1 << 22);
                let named = texts.iter().filter(same).find(|row| row.event.eq_ignore_ascii_case(event.name));
                let Some(row) = named.or_else(|| texts.iter().find(same)) else {
                    missing.push(format!("{}/{name} ({config:#x})", unit.name));
                    continue;
                };
                let place = format!("{}/{}", family.name, unit.name);
                let key = |used: &FilterUse| {
                    let value = NEEDED.iter().find(|(at, field, _)| *at == place && *field == used.field);
                    let (_, _, value) = value.unwrap_or_else(|| panic!("a value for {} of {place}/{name}", used.field));
                    format!(",{}={value}", used.field)
                };
                let required = filters.iter().filter(|used| used.need == FilterNeed::Required);
                let keys: String = required.map(key).collect();
                let words = format!("{name}{keys}");
                found.push(Request { unit, words, row: row.clone() });
            }
        }
    }
    (found, missing)
}
