//! Which way is taken, on folders that stand for a machine's files. The PMUs are of the kernel's own kind 1, whose
//! event 0 counts the time of a CPU: so whether this process may count is the kernel's answer.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use clap::Parser;
use pericore_observe::linux::{Processor, Root};

use super::*;
use crate::failure::USAGE;
use crate::measure::local::{chosen, wanted};
use crate::measure::{Course, MeasureArgs, Task};

/// CPUID models.
const E5_2600: u16 = 45;
const ICE_LAKE: u16 = 0x6a;

#[derive(Parser)]
struct Parsed {
    #[command(flatten)]
    args: MeasureArgs,
}

/// A machine of this model, of one CPU, with these PMUs.
fn host(model: u16, folder: &Path, pmus: &[&str]) -> Host {
    let put = |path: String, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("sys/devices/system/cpu/online".to_owned(), "0\n");
    put("sys/devices/system/cpu/cpu0/topology/physical_package_id".to_owned(), "0\n");
    put("sys/bus/event_source/devices/cpu/type".to_owned(), "4\n");
    for pmu in pmus {
        let files =
            [("type", "1\n"), ("cpumask", "0\n"), ("format/event", "config:0-7\n"), ("format/umask", "config:8-15\n")];
        files.iter().for_each(|(file, text)| put(format!("sys/bus/event_source/devices/{pmu}/{file}"), text));
    }
    let processor = Processor { vendor: "GenuineIntel".to_owned(), family: 6, model, ..Processor::default() };
    Host::new(Root::at(folder), processor).unwrap()
}

fn choose(pmus: &[&str], line: &[&str], period: Option<u64>) -> Result<ChosenWays, Failure> {
    choose_on(E5_2600, pmus, line, period)
}

fn choose_on(model: u16, pmus: &[&str], line: &[&str], period: Option<u64>) -> Result<ChosenWays, Failure> {
    let folder = tempfile::tempdir().unwrap();
    let host = host(model, folder.path(), pmus);
    let args = Parsed::try_parse_from([&["measure"], line].concat()).unwrap().args;
    let course = Course { period, repeat: 1, ..Course::default() };
    let task = Task { args: &args, course: &course };
    let selection = wanted(task, &host).unwrap();
    chosen(task, &host, &selection)
}

/// The units that the kernel counts, and those of registers.
fn units(ways: &ChosenWays) -> (Vec<&'static str>, Vec<&'static str>) {
    let of = |selection: &Selection| {
        let mut units: Vec<&str> = selection.events.iter().map(|event| event.unit.name).collect();
        units.dedup();
        units
    };
    let kernel = ways.kernel.as_ref().map_or_else(Vec::new, |(plan, _)| of(&plan.plan.selection));
    (kernel, ways.registers.as_ref().map_or_else(Vec::new, |part| of(&part.selection)))
}

/// Where a container or the kernel's rule forbids counting, there is nothing to choose; that is said past the capture
/// of the test's output.
fn may_count() -> bool {
    let ways = choose(&["uncore_ha"], &["-e", "ha/event=0x0/"], None).unwrap();
    if ways.kernel.is_none() {
        let name = std::thread::current().name().unwrap_or("a test").to_owned();
        let message = format!("\nSKIPPED: {name}, since the kernel does not let this process count\n\n");
        std::io::stderr().write_all(message.as_bytes()).unwrap();
    }
    ways.kernel.is_some()
}

#[test]
fn auto_takes_the_kernel_for_units_of_which_it_counts_everything() {
    if !may_count() {
        return;
    }
    let pmus = ["uncore_cbox_0", "uncore_ha"];
    let ways = choose(&pmus, &["-e", "cbo/event=0x0/,ha/event=0x0/"], None).unwrap();
    assert_eq!(units(&ways), (vec!["cbo", "ha"], vec![]));
    // One event of the slices needs a term that their PMU does not have: all of that unit's go by registers.
    let ways = choose(&pmus, &["-e", "cbo/event=0x0/,ha/event=0x0/,cbo/event=0x1,thresh=3/"], None).unwrap();
    assert_eq!(units(&ways), (vec!["ha"], vec!["cbo"]));
    let (_, events) = ways.kernel.as_ref().unwrap();
    assert_eq!((events, &ways.registers.as_ref().unwrap().events), (&vec![1], &vec![0, 2]));
    assert!(
        ways.reasons[0].contains("cbo: by registers") && ways.reasons[0].contains("thresh=0x3"),
        "{:?}",
        ways.reasons
    );
    assert!(ways.reasons[1].contains("ha: through the kernel"), "{:?}", ways.reasons);
    // No PMU of the power unit.
    let ways = choose(&pmus, &["-e", "pcu/event=0x0/"], None).unwrap();
    assert_eq!(units(&ways), (vec![], vec!["pcu"]));
    let failure = ways.beside(Failure::failed("no msr")).to_string();
    assert!(failure.contains("through the kernel: ") && failure.contains("no uncore_pcu"), "{failure}");
}

/// What the kernel cannot count of one unit is no reason to give for another: the power unit has no PMU, and that of
/// the slices lacks a term. This takes no right to count.
#[test]
fn each_unit_has_its_own_reason() {
    let events = ["-e", "cbo/event=0x0,thresh=3/,pcu/event=0x0/"];
    let ways = choose(&["uncore_cbox_0"], &events, None).unwrap();
    assert_eq!(units(&ways), (vec![], vec!["cbo", "pcu"]));
    let of = |unit: &str| ways.reasons.iter().find(|reason| reason.starts_with(&format!("{unit}: "))).unwrap();
    assert!(of("cbo").contains("by registers") && of("cbo").contains("thresh=0x3"), "{:?}", ways.reasons);
    assert!(of("pcu").contains("by registers") && of("pcu").contains("no uncore_pcu"), "{:?}", ways.reasons);
}

#[test]
fn what_needs_registers_takes_them_and_cannot_take_the_kernel() {
    let events = ["-e", "ha/event=0x0/"];
    for (line, period) in [(&["--take-over"][..], None), (&["--no-freeze"], None), (&["--guard"], None), (&[], Some(7))]
    {
        let ways = choose(&["uncore_ha"], &[&events[..], line].concat(), period).unwrap();
        assert_eq!(units(&ways), (vec![], vec!["ha"]), "{line:?}");
        let kernel = [&events[..], line, &["--through", "kernel"]].concat();
        let failure = choose(&["uncore_ha"], &kernel, period).unwrap_err();
        assert_eq!(failure.status(), USAGE, "{failure}");
    }
    let ways = choose(&["uncore_ha"], &["-e", "ha/event=0x0/", "--through", "registers"], None).unwrap();
    assert_eq!(
        (units(&ways), ways.reasons),
        ((vec![], vec!["ha"]), vec!["by registers: --through registers".to_owned()])
    );
}

#[test]
fn without_a_driver_auto_takes_registers_and_kernel_names_the_module() {
    let ways = choose(&[], &["-e", "ha/event=0x0/"], None).unwrap();
    assert_eq!(units(&ways), (vec![], vec!["ha"]));
    let failure = choose(&[], &["-e", "ha/event=0x0/", "--through", "kernel"], None).unwrap_err().to_string();
    assert!(failure.contains("modprobe intel-uncore"), "{failure}");
}

/// The catalogue has Ice Lake's PMUs, and no registers.
#[test]
fn a_family_without_registers_is_counted_through_the_kernel_or_not_at_all() {
    let (pmus, events) = (["uncore_imc_0", "uncore_imc_1"], ["-e", "imc/event=0x0/"]);
    for through in [&[][..], &["--through", "kernel"]] {
        let ways = choose_on(ICE_LAKE, &pmus, &[&events[..], through].concat(), None).unwrap();
        assert_eq!(units(&ways), (vec!["imc"], vec![]));
        assert_eq!(ways.kernel.as_ref().unwrap().0.counters.len(), 2);
        assert!(ways.reasons[0].starts_with("imc: through the kernel"), "{:?}", ways.reasons);
    }
    for (line, period) in [(&["--through", "registers"][..], None), (&["--take-over"], None), (&[], Some(7))] {
        let failure = choose_on(ICE_LAKE, &pmus, &[&events[..], line].concat(), period).unwrap_err();
        assert_eq!(failure.status(), USAGE);
        assert!(failure.to_string().contains("ice-lake is counted through the kernel's driver"), "{failure}");
    }
    let absent = choose_on(ICE_LAKE, &[], &events, None).unwrap_err().to_string();
    assert!(absent.contains("modprobe intel-uncore"), "{absent}");
    // What the PMU has no term for has no other way.
    let failure = choose_on(ICE_LAKE, &pmus, &["-e", "imc/event=0x0,thresh=3/"], None).unwrap_err().to_string();
    assert!(failure.contains("thresh=0x3") && !failure.contains("--through registers"), "{failure}");
    let both = choose(&["uncore_ha"], &["-e", "ha/event=0x0,thresh=3/", "--through", "kernel"], None).unwrap_err();
    assert!(both.to_string().contains("or count it with --through registers"), "{both}");
}

/// The E5-2600's registers are known, and no register of its cores is.
#[test]
fn events_of_the_cores_go_through_the_kernel_beside_registers() {
    if !may_count() {
        return;
    }
    let events = ["-e", "ha/event=0x0,thresh=3/,cpu/event=0x0/"];
    let ways = choose(&["uncore_ha", "cpu"], &events, None).unwrap();
    assert_eq!(units(&ways), (vec!["cpu"], vec!["ha"]), "{:?}", ways.reasons);
    for line in [&["--through", "registers"][..], &["--no-freeze"]] {
        let failure = choose(&["uncore_ha", "cpu"], &[&events[..], line].concat(), None).unwrap_err();
        assert_eq!(failure.status(), USAGE);
        assert!(failure.to_string().contains("cpu is counted through the kernel alone"), "{failure}");
    }
    // The PMU of the cores is there, and has no format files.
    let failure = choose(&["uncore_ha"], &events, None).unwrap_err().to_string();
    assert!(failure.contains("event_source/devices/cpu/format"), "{failure}");
}
