//! Which counts published measurements of silicon bear on: all others are the model's word alone.

/// Family, unit, event, subevent, and what was published (`docs/calibration.md` has the figures).
const CHECKED: &[(&str, &str, &str, &str, &str)] = &[
    ("e5-2600", "imc", "CAS_COUNT", "RD", "a socket's load bandwidth and that from the other socket"),
    ("e5-2600", "cbo", "LLC_LOOKUP", "DATA_READ", "bandwidth of the LLC"),
    ("e5-2600", "cbo", "TOR_OCCUPANCY", "MISS_OPCODE", "latency of memory, idle and under load"),
    ("emerald-rapids", "imc", "CAS_COUNT", "RD", "a saturated channel's share of its peak"),
    ("emerald-rapids", "imc", "RPQ_OCCUPANCY_PCH0", "", "entries of a saturated channel's read queues, and their stay"),
    ("emerald-rapids", "imc", "RPQ_OCCUPANCY_PCH1", "", "entries of a saturated channel's read queues, and their stay"),
    ("emerald-rapids", "cha", "TOR_OCCUPANCY", "IA_MISS_DRD", "latency of memory, idle and under load"),
    ("emerald-rapids", "upi", "RxL_FLITS", "ALL_DATA", "data rate of a link"),
];

/// What has been published of silicon that an event's count on the software machine is held against; `None` if it is model only. With
/// no subevent, of any of the event's.
pub fn checked(family: &str, unit: &str, event: &str, subevent: Option<&str>) -> Option<&'static str> {
    let is_it = |row: &&(&str, &str, &str, &str, &str)| {
        (row.0, row.1, row.2) == (family, unit, event) && subevent.is_none_or(|subevent| row.3 == subevent)
    };
    CHECKED.iter().find(is_it).map(|row| row.4)
}

#[cfg(test)]
mod tests {
    use super::{CHECKED, checked};

    #[test]
    fn every_row_is_of_an_event() {
        for (family, unit, event, subevent, _) in CHECKED {
            let family = pericore_catalog::family(family).unwrap();
            let unit = family.units.iter().find(|of| of.name == *unit).unwrap();
            let row = unit.event(event).unwrap_or_else(|| panic!("{}/{event}", unit.name));
            assert!(subevent.is_empty() || row.subevent(subevent).is_some(), "{}/{event}.{subevent}", unit.name);
        }
    }

    #[test]
    fn what_was_not_published_is_model_only() {
        assert!(checked("e5-2600", "imc", "CAS_COUNT", Some("RD")).is_some());
        assert!(checked("e5-2600", "imc", "CAS_COUNT", None).is_some());
        assert_eq!(checked("e5-2600", "imc", "CAS_COUNT", Some("WR")), None);
        assert_eq!(checked("nehalem", "uncore", "QMC_NORMAL_READS", Some("ANY")), None);
    }
}
