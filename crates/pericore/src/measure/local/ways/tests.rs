//! Which way is taken, on folders that stand for a machine's files. The PMUs are of the kernel's own kind 1, whose
//! event 0 counts the time of a CPU: so whether this process may count is the kernel's answer.

use std::fs;
use std::path::Path;

use clap::Parser;
use pericore_observe::linux::{Processor, Root};

use super::*;
use crate::failure::USAGE;
use crate::measure::local::chosen;
use crate::measure::{Course, MeasureArgs, Task};

#[derive(Parser)]
struct Parsed {
    #[command(flatten)]
    args: MeasureArgs,
}

/// An E5-2600 of one CPU with these PMUs.
fn host(folder: &Path, pmus: &[&str]) -> Host {
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
    let processor = Processor { vendor: "GenuineIntel".to_owned(), family: 6, model: 45, ..Processor::default() };
    Host::new(Root::at(folder), processor).unwrap()
}

fn choose(pmus: &[&str], line: &[&str], period: Option<u64>) -> Result<ChosenWays, Failure> {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path(), pmus);
    let args = Parsed::try_parse_from([&["measure"], line].concat()).unwrap().args;
    let course = Course { interval: None, intervals: None, period, repeat: 1, truth: false };
    let selection = args.wanted.selection(host.family().unwrap()).unwrap();
    chosen(Task { args: &args, course: &course }, &host, &selection)
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

/// Where a container or the kernel's rule forbids counting, there is nothing to choose.
fn may_count() -> bool {
    let ways = choose(&["uncore_ha"], &["-e", "ha/event=0x0/"], None).unwrap();
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
