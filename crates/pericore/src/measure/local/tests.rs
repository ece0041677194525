//! Measuring machines whose files are in folders.

use std::fs;
use std::path::Path;

use clap::Parser;
use pericore_observe::linux::{Processor, Root};
use pericore_observe::register_process::Aftermath;

use super::*;
use crate::failure::FAILED;
use crate::measure::{Course, Taken};

/// The registers behind a folder.
fn in_thread(host: &Host) -> Arc<RegisterProcess> {
    Arc::new(RegisterProcess::in_thread(host.clone(), Aftermath::none()).unwrap())
}

#[derive(Parser)]
struct Parsed {
    #[command(flatten)]
    args: MeasureArgs,
}

/// Counts what it gets.
#[derive(Default)]
struct Numbers {
    titles: Vec<String>,
    counts: Vec<Option<u64>>,
}

impl Receiver for Numbers {
    fn open(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn begin(&mut self, subject: &Subject<'_>) -> Result<(), Failure> {
        assert!(subject.kernel.is_some());
        self.titles.push(subject.title.clone());
        Ok(())
    }

    fn take(&mut self, taken: Taken<'_>) -> Result<(), Failure> {
        self.counts.extend(taken.sample.counts.iter().map(|count| count.count));
        Ok(())
    }

    fn remark(&mut self, words: &str) -> Result<(), Failure> {
        panic!("{words}")
    }

    fn finish(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

/// Model 0xad is Granite Rapids. Its PMUs are the kernel's own of type 1, whose event 0 is the time of a CPU.
#[test]
fn a_family_without_registers_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("sys/devices/system/cpu/online", "0\n");
    put("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
    for pmu in ["uncore_imc_0", "uncore_imc_1", "uncore_type_20_0"] {
        let of = |file: &str| format!("sys/bus/event_source/devices/{pmu}/{file}");
        put(&of("type"), "1\n");
        put(&of("cpumask"), "0\n");
        put(&of("format/event"), "config:0-7\n");
    }
    let processor = Processor { vendor: "GenuineIntel".to_owned(), family: 6, model: 0xad, ..Processor::default() };
    let host = Host::new(Root::at(folder.path()), processor).unwrap();
    let line = ["measure", "-e", "imc/event=0/,mdf/event=0/", "--timeout", "40"];
    let args = Parsed::try_parse_from(line).unwrap().args;
    let course = Course { repeat: 1, ..Course::default() };
    let mut numbers = Numbers::default();
    match on(Task { args: &args, course: &course }, &host, &in_thread(&host), &mut numbers) {
        Ok(_) => {
            assert_eq!(numbers.titles, ["granite-rapids, 1 socket: system wide"]);
            assert_eq!(numbers.counts.len(), 3);
            for count in numbers.counts {
                assert!(count.is_some_and(|nanoseconds| nanoseconds > 20_000_000), "{count:?}");
            }
        }
        // Where the kernel or a container forbids users to count: that is what it comes to.
        Err(failure) => assert!(failure.to_string().contains("perf_event"), "{failure}"),
    }
}

#[test]
fn only_software_machines_that_there_are_are_named() {
    let named = |name| software_machines(pericore_catalog::family(name));
    assert_eq!(named("e5-2600"), "e5-2600");
    assert_eq!(named("sapphire-rapids"), "sapphire-rapids");
    let kernel_alone = pericore_catalog::kernel::family("gnr").unwrap().family();
    assert_eq!(software_machines(Some(kernel_alone)), "e5-2600|emerald-rapids|nehalem|sapphire-rapids");
}

/// A machine of this processor, whose files are in `folder`.
fn host(folder: &Path, model: u16) -> Host {
    let put = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("sys/devices/system/cpu/online", "0\n");
    put("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
    let processor = Processor { vendor: "GenuineIntel".to_owned(), family: 6, model, ..Processor::default() };
    Host::new(Root::at(folder), processor).unwrap()
}

/// What running there comes to.
fn refusal(folder: &Path, model: u16, line: &[&str]) -> Failure {
    let host = host(folder, model);
    let args = Parsed::try_parse_from([&["measure"], line].concat()).unwrap().args;
    let course = Course { repeat: 1, ..Course::default() };
    let task = Task { args: &args, course: &course };
    on(task, &host, &in_thread(&host), &mut Numbers::default()).unwrap_err()
}

/// Model 45 is the E5-2600; nothing of its registers can be reached here.
#[test]
fn what_is_missing_is_named_with_what_to_do() {
    let folder = std::env::temp_dir().join(format!("pericore-local-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let unknown = refusal(&folder, 1, &["-e", "cbo/CLOCKTICKS/"]);
    let absent = refusal(&folder, 45, &["-e", "cbo/CLOCKTICKS/"]);
    let misplaced = refusal(&folder, 45, &["--workload", "stream"]);
    fs::remove_dir_all(&folder).unwrap();
    assert!(unknown.to_string().contains("no uncore that pericore knows"), "{unknown}");
    assert!(unknown.to_string().contains("--machine e5-2600"), "{unknown}");
    for part in ["modprobe msr", "pericore doctor", "--machine e5-2600"] {
        assert!(absent.to_string().contains(part), "{part}: {absent}");
    }
    assert_eq!(absent.status(), FAILED);
    assert!(misplaced.to_string().contains("--workload applies to software machines only"), "{misplaced}");
}

/// A real program leaves no trace; and who repeats something has to say when each run ends, which one run alone need
/// not.
#[test]
fn what_makes_no_sense_on_this_machine_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let trace = refusal(folder.path(), 45, &["--save-trace", "x", "--", "true"]);
    assert!(trace.to_string().contains("--save-trace applies to software machines only"), "{trace}");
    let host = host(folder.path(), 45);
    let of = |repeat, more: &[&str]| {
        let args = Parsed::try_parse_from([&["measure", "-e", "cbo/CLOCKTICKS/"], more].concat()).unwrap().args;
        let course = Course { repeat, ..Course::default() };
        wanted(Task { args: &args, course: &course }, &host).map(|selection| selection.events.len())
    };
    let endless = of(2, &[]).unwrap_err();
    assert!(endless.status() == USAGE && endless.to_string().contains("-r repeats a program"), "{endless}");
    for (repeat, more) in [(1, &[][..]), (2, &["--timeout", "10"]), (2, &["--", "true"])] {
        assert_eq!(of(repeat, more).ok(), Some(1), "{repeat} {more:?}");
    }
}
