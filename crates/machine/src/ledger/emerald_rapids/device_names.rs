//! What the guide's names mean for I/O stacks and the system agent (sections 2.1, 2.4, 2.5 and 2.8).

use super::names::Take;

/// Subevents that count the same as another of their event, or the sum of some.
pub fn composite(unit: &str, event: &str, subevent: &str) -> Option<&'static [&'static str]> {
    Some(match (unit, event, subevent) {
        ("m2pcie", "P2P_SHAR_RECEIVED" | "P2P_DED_RECEIVED" | "P2P_CRD_OCCUPANCY", "ALL") => {
            &["LOCAL_NCB", "LOCAL_NCS", "REMOTE_NCB", "REMOTE_NCS"]
        }
        _ => return None,
    })
}

/// Events that take something from a level of another event's name: that event, its subevent, and what is taken.
pub fn of_level<'a>(unit: &str, event: &str, subevent: &'a str) -> Option<(&'static str, &'a str, Take)> {
    let (of, take) = match (unit, event) {
        ("m2pcie", "RxC_INSERTS") => ("RxC_INSERTS", Take::Entries),
        ("m2pcie", "RxC_CYCLES_NE") => ("RxC_INSERTS", Take::Nonempty),
        ("irp", "P2P_INSERTS") => ("P2P_INSERTS", Take::Entries),
        ("irp", "P2P_OCCUPANCY") => ("P2P_INSERTS", Take::Occupied),
        _ => return None,
    };
    Some((of, subevent, take))
}
