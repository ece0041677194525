//! A bundle boots as the machine that it was taken of, however broken: `doctor`, `stat` and other people's tools meet
//! the same. The tools need /dev/fuse, root or user namespaces; cc compiles a client of ours where no tool of others
//! claims the processor.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::odd_machines::{on, text};
use crate::ours::pericore;

/// A bundle taken behind the doors, as on a host: the file boots with the same fault, and `stat` prints the same as on
/// the machine itself.
#[test]
fn a_bundle_is_a_bug_report_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sent.machine");
    let file = file.to_str().unwrap();
    let machine = "e5-2600:sockets=2,hidden=1/imc3,all-ones=0/cbo2";
    let taken = pericore(&["doctor", "--machine", machine, "--bundle", file]);
    assert!(taken.status.success(), "{}", text(&taken.stderr));
    let stat = |machine: &str| {
        let workload = "random:requests=20000,threads=4";
        let events = "imc/CAS_COUNT.RD/,cbo/CLOCKTICKS/";
        let output =
            pericore(&["stat", "--machine", machine, "--workload", workload, "--per-unit", "-x,", "-e", events]);
        text(&output.stderr)
    };
    let original = stat(machine);
    assert!(original.lines().count() > 20 && original.contains("S0 cbo2,<not supported>"), "{original}");
    assert_eq!(stat(file), original);
    let script = "\"$PERICORE\" doctor --bundle - && \"$PERICORE\" doctor --bundle /proc/none; echo $?";
    let script = script.replace("$PERICORE", env!("CARGO_BIN_EXE_pericore"));
    let live = on(&["e5-2600:sockets=2,hidden=1/imc3"], &script);
    assert!(live.contains(&"hidden 1/imc3".to_owned()) && live.contains(&"end".to_owned()), "{live:?}");
    assert!(live[0].starts_with("# pericore ") && live.last().is_some_and(|status| status == "255"), "{live:?}");
}

/// What a bundle of a broken machine must give as the machine itself: what doctor prints, what `stat` prints, and the
/// accesses of tools; false if these were not compared. A look shows no stuck counter, so for `stat` the original is
/// the machine whose counters all move.
fn boots_alike(family: &str, seed: u64, folder: &Path) -> bool {
    let machine = format!("{family}:hostile={seed}");
    let [sent, moving] = ["sent.machine", "moving.machine"].map(|name| folder.join(name).to_str().unwrap().to_owned());
    let taken = pericore(&["doctor", "--machine", &machine, "--bundle", &sent]);
    assert!(taken.status.success(), "{machine}: {}", text(&taken.stderr));
    let doctor = |machine: &str| {
        let output = pericore(&["doctor", "--json", "--machine", machine]);
        (output.status.code(), text(&output.stdout))
    };
    assert_eq!(doctor(&sent), doctor(&machine), "{machine}");
    let original = if without_stuck(&machine, &moving) { moving.as_str() } else { machine.as_str() };
    let stat = |file: &str| {
        let workload = ["--workload", "random:requests=5000,threads=2", "--per-unit", "-j", "--machine", file];
        let output = pericore(&[&["stat"], &workload[..]].concat());
        (output.status.code(), text(&output.stderr).replace(file, "FILE"))
    };
    assert_eq!(stat(&sent), stat(original), "{machine}");
    // Without the U-Box of a socket its bus cannot be told, and the bundle has none of the functions there.
    let is_whole = !fs::read_to_string(&sent).unwrap().contains("could not be looked for");
    is_whole && tools(family, folder).iter().all(|tool| same_accesses(&machine, &sent, tool, folder))
}

/// Makes a snapshot of a machine after reset whose counters all move; false if it has no register that could be
/// written for one.
fn without_stuck(machine: &str, file: &str) -> bool {
    let poked = |unit: &str| {
        let register = format!("{unit}/ctr0=0");
        pericore(&["machine", "poke", "--machine", machine, &register, "-o", file]).status.success()
    };
    if !["ubox0", "cbo0", "cha0", "imc0", "imc1", "uncore0"].into_iter().any(poked) {
        return false;
    }
    let released =
        |line: &str| line.split_once("stuck=").map_or(line.to_owned(), |(hold, _)| format!("{hold}stuck=0x0"));
    let lines: Vec<String> = fs::read_to_string(file).unwrap().lines().map(released).collect();
    fs::write(file, lines.join("\n") + "\n").unwrap();
    true
}

/// Tools that claim a family's processor. On Nehalem PCM asks several CPUs at a time, in no order.
fn tools(family: &str, folder: &Path) -> Vec<Vec<String>> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let likwid = |mode: u8| words(&format!("likwid-perfctr -M {mode} -C 0 -g MEM -O -S 50ms"));
    let pcm = || words("env PCM_NO_PERF=1 pcm-memory 0.1 -i=1 -csv");
    match family {
        "nehalem" => vec![likwid(1)],
        "e5-2600" => vec![likwid(0), pcm()],
        "sapphire-rapids" => vec![pcm()],
        _ => vec![client(folder)],
    }
}

/// A client after the guide's section 1.10, which counts in every kind of unit that the discovery table lists.
fn client(folder: &Path) -> Vec<String> {
    let program = folder.join("discovery");
    if !program.exists() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients/discovery.c");
        let arguments = ["-O2", "-Wno-unused-result", "-o"];
        let status = Command::new("cc").args(arguments).arg(&program).arg(&source).status().expect("cc runs");
        assert!(status.success(), "{} does not compile", source.display());
    }
    let clocks = ["0:1", "2:1", "4:1", "5:1", "6:1", "7:1", "8:1"].map(str::to_owned);
    [program.to_str().unwrap().to_owned()].into_iter().chain(clocks).collect()
}

/// A tool makes the same accesses on both, and comes to the same end: it asks for what it finds. False if it gave up
/// early: LIKWID does without a U-Box.
fn same_accesses(machine: &str, sent: &str, tool: &[String], folder: &Path) -> bool {
    let log = folder.join("accesses.log");
    let log = log.to_str().unwrap();
    let tool: Vec<&str> = ["--timeout", "120", "--"].into_iter().chain(tool.iter().map(String::as_str)).collect();
    let first = pericore(&[&["machine", "run", "--machine", machine, "--log", log], &tool[..]].concat());
    let second = pericore(&[&["machine", "run", "--machine", sent, "--expect", log], &tool[..]].concat());
    assert_eq!(second.status.code(), first.status.code(), "{machine}, {tool:?}: {}", text(&second.stderr));
    fs::metadata(log).unwrap().len() > 1000
}

#[test]
fn bundles_of_broken_machines_boot_as_these() {
    let folder = tempfile::tempdir().unwrap();
    for (family, seed) in [("e5-2600", 4), ("nehalem", 2), ("emerald-rapids", 6), ("sapphire-rapids", 120)] {
        assert_eq!(boots_alike(family, seed, folder.path()), seed != 120, "{family}: traces");
    }
}

#[test]
#[ignore = "long form: a quarter of an hour; a log goes to tests/logs/bundles"]
fn bundles_of_two_hundred_broken_machines_boot_as_these() {
    let folder = tempfile::tempdir().unwrap();
    let mut traced = 0;
    for (number, seed) in (100..150).enumerate() {
        for family in ["e5-2600", "nehalem", "emerald-rapids", "sapphire-rapids"] {
            traced += u32::from(boots_alike(family, seed, folder.path()));
        }
        // Past the capture of a test's output.
        let number = 4 * (number + 1);
        let _ = writeln!(std::io::stderr(), "{number} bundles boot as their machines, {traced} with traces of tools");
    }
    assert!(traced >= 190);
}
