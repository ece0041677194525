//! Software machines that are sound, and such with a fault of each kind.

mod busy;
mod campaign;
mod faults;

use pericore_doctor::Finding;
use pericore_machine::MachineSpec;

use super::{documented, software, software_beside};
use crate::event_files::EventFilesArg;

fn problems(machine: &str) -> Vec<String> {
    software(machine, &EventFilesArg::default())
        .unwrap()
        .iter()
        .filter(|finding| finding.is_problem())
        .map(Finding::words)
        .collect()
}

#[test]
fn sound_machines_have_no_finding() {
    for family in ["nehalem", "e5-2600", "emerald-rapids", "sapphire-rapids"] {
        for sockets in [1, 2] {
            let machine = format!("{family}:sockets={sockets}");
            assert_eq!(problems(&machine), [""; 0], "{machine}");
        }
    }
}

/// CAPID6 and CAPID7 of an 8480+ have 56 bits set of the 60 that the family has slices: none is hidden.
#[test]
fn slices_that_a_part_does_not_have_are_not_missed() {
    let findings = software("sapphire-rapids", &EventFilesArg::default()).unwrap();
    let of_slices: Vec<&str> = findings.iter().map(Finding::message).filter(|text| text.contains("56 of 60")).collect();
    assert!(matches!(of_slices[..], [one] if one.starts_with("agrees: 56 of 60 in socket 0 answer")), "{of_slices:?}");
}

/// One fault each, and the words that name it and its place.
#[test]
fn each_fault_is_named_at_its_place() {
    for (machine, words) in [
        ("nehalem:stuck=uncore/ctr3", "ctr3 of uncore in socket 0 never moves"),
        ("nehalem:width=uncore/ctr3:44", "ctr3 of uncore in socket 0 reads 0xfff"),
        ("nehalem:width=uncore/ctr3:50", "past its end: it has more bits; 48 are documented"),
        ("nehalem:halved=uncore", "the uclk of uncore in socket 0 runs at 1333"),
        ("nehalem:frozen=uncore", "none of the 9 counters of uncore in socket 0 moves"),
        ("nehalem:misplaced=uncore/ctr1:uncore/ctr4", "ctr1 of uncore in socket 0 is lost, and it reads what ctr4"),
        ("e5-2600:halved=pcu", "the pclk of pcu in socket 0 runs at 400.0 MHz; 790 to 810 MHz are documented"),
        ("e5-2600:sockets=2,halved=1/qpi1", "the qclk of qpi1 in socket 1 runs at 500.0 MHz"),
        ("e5-2600:misplaced=imc0:imc1", "ctr2 of imc0 in socket 0 is lost, and it reads what ctr2 of imc1"),
        ("e5-2600:all-ones=cbo3", "ctr0 of cbo3 in socket 0 reads 0xffffffffffffffff"),
        ("emerald-rapids:stuck=ubox/ctr1", "ctr1 of ubox in socket 0 never moves"),
        ("emerald-rapids:halved=cha33", "the uclk of cha33 in socket 0 runs at 1250.0 MHz"),
        ("emerald-rapids:sockets=2,halved=1/pcu", "the pclk of socket 1 runs at 500.0 MHz, that of socket 0 at 1000.0"),
        ("e5-2600:swapped=imc0:imc3", "which is what went through imc3 in socket 0: one has the other's address"),
        ("e5-2600:hidden=imc2", "imc2 in socket 0 does not answer, and "),
        ("e5-2600:hidden=imc2", "through a read queue of a channel (guide, 2.4 and 2.5): "),
        ("emerald-rapids:swapped=imc5:imc6", "which is what went through imc6 in socket 0: one has"),
        ("emerald-rapids:hidden=cha5", "has 64 LLC slices, and 63 of them answer: cha5 in socket 0"),
        ("sapphire-rapids:hidden=cha5", "has 56 LLC slices, and 55 of them answer: cha5 in socket 0"),
        ("emerald-rapids:frozen=iio2", "none of the 4 counters of iio2 in socket 0 moves"),
    ] {
        let problems = problems(machine);
        assert!(problems.iter().any(|problem| problem.contains(words)), "{machine}: {problems:?}");
    }
}

/// Intel's files are those of the documents, but for what is known of them; and an event with subevents may be wrong as
/// a whole: it has 0x07 there (Intel's file, M2M).
#[test]
fn intels_own_rows_are_no_findings_and_a_wrong_one_among_them_is() {
    for family in ["e5-2600", "emerald-rapids", "sapphire-rapids"] {
        let spec = MachineSpec::parse(&format!("{family}:sockets=2")).unwrap();
        let problems = |rows: &[faults::Row]| -> Vec<String> {
            let findings = software_beside(&spec, &faults::codes(&spec, rows), 1, |_| {}).unwrap();
            findings.iter().filter(|finding| finding.is_problem()).map(Finding::words).collect()
        };
        let mut rows = faults::rows(family);
        assert!(rows.len() > 100, "{family}: Intel's rows are in tests/reference");
        assert_eq!(problems(&rows), [""; 0], "{family}");
        if family == "e5-2600" {
            continue;
        }
        let whole = rows.iter_mut().find(|row| row.name == "UNC_M2M_DIRECT2UPI_NOT_TAKEN_DIRSTATE");
        let whole = whole.expect("Intel's file has the event");
        whole.umask = "0xbe".to_owned();
        let problems = problems(&rows);
        let words = "m2m/DIRECT2UPI_NOT_TAKEN_DIRSTATE is 0x71a where it is documented";
        assert!(
            matches!(&problems[..], [one] if one.contains(words) && one.contains("it has the umask 0xbe")),
            "{problems:?}"
        );
    }
}

/// Table 2-63 of the E5-2600 guide: CAS_COUNT is 0x04 and RD 0x03. Intel's event file has the prefix UNC_M_.
#[test]
fn a_name_of_intels_leads_to_the_documented_code() {
    let family = pericore_catalog::family("e5-2600").unwrap();
    assert_eq!(documented(family, "UNC_M_CAS_COUNT.RD"), Some(("imc/CAS_COUNT.RD".to_owned(), 0x304)));
    assert_eq!(documented(family, "UNC_M_NO_SUCH_EVENT"), None);
}

/// Nine bits are no umask of the E5-2600 (Table 2-60: bits 15:8): a file that asks for them differs from the documents,
/// and the finding names the event and the bit that is too much.
#[test]
fn a_umask_that_no_control_holds_is_a_difference() {
    let spec = MachineSpec::parse("e5-2600").unwrap();
    let mut rows = faults::rows("e5-2600");
    // A file of which nothing can be used is none: the other row is right.
    rows.retain(|row| ["UNC_M_CAS_COUNT.RD", "UNC_M_CAS_COUNT.WR"].contains(&row.name.as_str()));
    assert_eq!(rows.len(), 2, "Intel's rows are in tests/reference");
    let reads = rows.iter_mut().find(|row| row.name == "UNC_M_CAS_COUNT.RD").unwrap();
    reads.umask = "0x103".to_owned();
    let codes = faults::codes(&spec, &rows);
    let [code] = &codes[..] else { panic!("{codes:?}") };
    assert_eq!((code.name.as_str(), code.documented), ("imc/CAS_COUNT.RD", 0x304));
    assert!(code.of_file.as_ref().is_err_and(|why| why.contains("UMaskExt 0x1 does not fit imc")), "{code:?}");
}
