//! A seeded sample of each family's events, by Intel's names: the kernel gets what stock perf gives it.

use std::collections::BTreeMap;

use pericore_catalog::kernel::{self, IntelEvent};
use pericore_observe::kernel::{KernelPlan, KernelPmus};
use pericore_observe::selection::{Problem, Selection};

use super::{families_without_registers, host, selection};
use crate::perf_attributes::is_known_difference;
use crate::perf_attributes::perf::{Perf, Program};
use crate::perf_attributes::pmus::{FamilyPmus, Words};

/// Events of each family.
const SAMPLE: usize = 40;

/// A number that follows from a name alone, by which events are chosen.
fn draw(name: &str) -> u64 {
    name.bytes().fold(0x9e37_79b9_7f4a_7c15, |state: u64, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(29)
    })
}

/// The events of the sample that the driver has: those with the lowest draws.
fn sample(code: &str) -> Vec<IntelEvent> {
    let shipped = kernel::family(code).expect("the catalogue has it");
    let is_driven = |event: &IntelEvent| event.perf.is_ok();
    let mut events: Vec<IntelEvent> = kernel::intel_events(shipped).filter(is_driven).collect();
    events.sort_by_key(|event| draw(&event.name));
    events.truncate(SAMPLE);
    events
}

/// The words of each counter's attributes, by PMU.
fn words(plan: &KernelPlan) -> Vec<(String, u32, Words)> {
    let of = |counter: &pericore_observe::kernel::KernelCounter| {
        let [config, config1, config2, config3] = counter.event.attributes.words;
        assert_eq!(config3, 0, "{counter:?}");
        (counter.pmu.clone(), counter.cpu, Words { config, config1, config2 })
    };
    plan.counters.iter().map(of).collect()
}

/// The event as a user writes it. A filter that the event needs is 1.
fn written(family: &'static pericore_catalog::Family, event: &IntelEvent) -> (String, bool) {
    let text = format!("{}/{}/", event.unit.name, event.name);
    match Selection::new(family).add_events(&text) {
        Ok(()) => (text, false),
        Err(error) => {
            let Problem::NeedsFilter { field, .. } = *error.problem else { panic!("{text}: {error}") };
            (format!("{}/{},{field}=0x1/", event.unit.name, event.name), true)
        }
    }
}

fn compare(family: &FamilyPmus) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    // perf's tree, of one instance of each PMU, and the CPU that counts.
    let sys = folder.path().join("sys");
    let program = Program::default();
    let perf = Perf::of(&program, family, &sys);
    let topology = folder.path().join("sys/devices/system/cpu/cpu0/topology");
    std::fs::create_dir_all(&topology).expect("a folder");
    std::fs::write(topology.join("physical_package_id"), "0\n").expect("written");
    let host = host(folder.path(), family);
    let pmus = KernelPmus::of(&host).expect("PMUs");
    let names = perf.names();
    let (mut ours, mut for_perf, mut dropped) = (Vec::new(), Vec::new(), 0);
    for event in sample(family.code) {
        let (text, is_filtered) = written(host.family().expect("known"), &event);
        let plan = match pmus.prepare(selection(&host, &text)) {
            Ok(plan) => plan,
            // perf does not know that, and counts them without the filter.
            Err(error) if is_filtered && error.to_string().contains("for other events only") => {
                dropped += 1;
                continue;
            }
            Err(error) => panic!("{}: {error}", family.code),
        };
        let [(_, 0, found)] = words(&plan)[..] else { panic!("{text}: {plan:?}") };
        let perf_event = event.perf.as_ref().expect("driven").to_string();
        let is_named = names.contains(&event.name.to_lowercase());
        match (is_named, is_filtered) {
            (true, false) => for_perf.push(event.name.to_lowercase()),
            (_, false) => for_perf.push(perf_event),
            // perf's tables have no value for a filter that users choose: our terms, with the value that we gave.
            (_, true) => {
                let filters = plan.counters[0].event.terms.iter().filter(|term| !perf_event.contains(&term.name));
                let filters: String = filters.map(|term| format!(",{}={:#x}", term.name, term.value)).collect();
                for_perf.push(format!("{}{filters}/", perf_event.trim_end_matches('/')));
            }
        }
        ours.push((text, found));
    }
    let mut differ = Vec::new();
    for ((event, (text, ours)), found) in for_perf.iter().zip(&ours).zip(perf.words(&for_perf)) {
        if found.as_ref() != Some(ours) && !is_known_difference(family.code, event) {
            differ.push(format!("{text}: {ours:x?}, perf's {event}: {found:x?}"));
        }
    }
    assert!(differ.is_empty(), "{}: {differ:#?}", family.code);
    ours.len() + dropped
}

#[test]
fn a_sample_of_each_family_has_the_attributes_that_perf_gives_it() {
    let compared: BTreeMap<&str, usize> =
        families_without_registers().iter().map(|family| (family.code, compare(family))).collect();
    assert_eq!(compared.len(), 13, "{compared:?}");
    assert!(compared.values().all(|count| *count == SAMPLE), "{compared:?}");
}

/// The driver's own names and raw terms, by hand from uncore_snbep.c; every instance in both sockets.
#[test]
fn the_drivers_names_and_raw_terms_count_in_every_instance() {
    for (code, events, pmu, instances, config) in [
        ("icx", "uncore_imc/cas_count_read/", "uncore_imc", 12, 0x0f04),
        ("icx", "UNC_M_CAS_COUNT.RD", "uncore_imc", 12, 0x0f04),
        ("icx", "imc_free_running/write/", "uncore_imc_free_running", 4, 0x21ff),
        ("skx", "uncore_iio_free_running/bw_in_port1/", "uncore_iio_free_running", 6, 0x21ff),
        ("skx", "uncore_cha/event=0x35,umask=0x21/", "uncore_cha", 28, 0x2135),
        ("ivt", "uncore_imc/clockticks/", "uncore_imc", 8, 0x00ff),
        ("hsx", "qpi/event=0x102,umask=0x8/", "uncore_qpi", 3, 0x20_0802),
        ("gnr", "imc/cas_count_write_sch1/", "uncore_imc", 12, 0xf006),
        ("gnr", "cha/config=0x00c817fe00000135/", "uncore_cha", 128, 0x00c8_17fe_0000_0135),
        ("srf", "mdf/event=0x1/", "uncore_mdf_sbo", 10, 0x0001),
        ("knl", "edc_eclk/UNC_E_RPQ_INSERTS/", "uncore_edc_eclk", 8, 0x0101),
    ] {
        let family = families_without_registers().into_iter().find(|family| family.code == code).expect(code);
        let folder = tempfile::tempdir().expect("a folder");
        family.write_machine(folder.path());
        let host = host(folder.path(), &family);
        let plan = KernelPmus::of(&host).expect("PMUs").prepare(selection(&host, events));
        let plan = plan.unwrap_or_else(|error| panic!("{code} {events}: {error}"));
        let found = words(&plan);
        assert_eq!(found.len(), 2 * instances, "{code} {events}");
        for cpu in [0, 1] {
            assert_eq!(found.iter().filter(|(_, on, _)| *on == cpu).count(), instances, "{code} {events}");
        }
        for (name, _, words) in found {
            assert!(name.starts_with(pmu), "{code} {events}: {name}");
            assert_eq!(words, Words { config, ..Words::default() }, "{code} {events}");
        }
    }
}
