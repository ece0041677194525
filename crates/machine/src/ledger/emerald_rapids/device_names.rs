//! What the guide's names mean for I/O stacks and the system agent (sections 2.1, 2.4, 2.5 and 2.8).

use super::Snapshot;
use super::names::Take;

/// Subevents that count the same as another of their event, or the sum of some.
pub fn composite(unit: &str, event: &str, subevent: &str) -> Option<&'static [&'static str]> {
    Some(match (unit, event, subevent) {
        ("m2pcie", "P2P_SHAR_RECEIVED" | "P2P_DED_RECEIVED" | "P2P_CRD_OCCUPANCY", "ALL") => {
            &["LOCAL_NCB", "LOCAL_NCS", "REMOTE_NCB", "REMOTE_NCS"]
        }
        // Flits by their headers: none of them tells of credits alone.
        ("cxlcm", "TxC_FLITS", "VALID" | "PROT") => &["VALID", "SZ_HDR", "BE_HDR", "NO_HDR"],
        ("cxlcm", "TxC_FLITS", "SZ_HDR") => &["SZ_HDR", "BE_HDR"],
        ("cxlcm", "RxC_FLITS", "VALID" | "PROT") => &["VALID", "SZ_HDR", "NO_HDR"],
        _ => return None,
    })
}

/// Events that take something from a level of another event's name: that event, its subevent, and what is taken.
pub fn of_level<'a>(unit: &str, event: &str, subevent: &'a str) -> Option<(&'static str, &'a str, Take)> {
    let (of, take) = match (unit, event) {
        ("m2pcie", "RxC_INSERTS") => ("RxC_INSERTS", Take::Entries),
        ("m2pcie", "RxC_CYCLES_NE") => ("RxC_INSERTS", Take::Nonempty),
        ("irp", "FAF_FULL") => ("FAF_INSERTS", Take::Full),
        ("irp", "TxC_BL_DRS_CYCLES_FULL") => ("TxC_BL_DRS_INSERTS", Take::Full),
        ("irp", "P2P_INSERTS") => ("P2P_INSERTS", Take::Entries),
        ("irp", "P2P_OCCUPANCY") => ("P2P_INSERTS", Take::Occupied),
        _ => return None,
    };
    Some((of, subevent, take))
}

/// Answers of a stack's port to snoops, by result or by kind of snoop.
pub fn snoop_answers(at: &Snapshot, instance: u16, subevent: &str) -> Option<u64> {
    let answers = at.cells.answers.get(usize::from(instance))?;
    let of = |results: std::ops::Range<usize>| answers[results].iter().flatten().sum::<u64>();
    let kind = |snoop: usize| answers.iter().map(|kinds| kinds[snoop]).sum::<u64>();
    Some(match subevent {
        "MISS" | "ALL_MISS" => of(0..1),
        "HIT_I" | "ALL_HIT_I" => of(1..2),
        "HIT_ES" | "ALL_HIT_ES" => of(2..3),
        "HIT_M" | "ALL_HIT_M" => of(3..4),
        "ALL_HIT" => of(1..4),
        "SNPCODE" => kind(0),
        "SNPDATA" => kind(1),
        "SNPINV" => kind(2),
        _ => return None,
    })
}
