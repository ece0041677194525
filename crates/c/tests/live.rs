//! A C program with regions on the machine that it runs on: a software machine stands for it, with traffic at
//! constant rates.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use pericore_doors::{Command, ConstantRates, LiveMachine, Options, Outcome, run_machine};
use pericore_machine::MachineSpec;

use crate::programs::Installed;

/// Accesses of one memory channel in a second; primes, so that neither is a multiple of the other.
const RATES: [(&str, u64); 2] = [("RD", 3_000_017), ("WR", 170_003)];

#[test]
fn regions_of_this_machine_are_counted_and_a_program_that_only_exits_puts_back() {
    let installed = Installed::new();
    let program = installed.compile("gcc", "live.c", &["-std=c11"]);
    let spec = MachineSpec::parse("e5-2600").expect("a machine");
    let mut machine = LiveMachine::new(&spec).expect("a machine");
    let mut traffic = ConstantRates::new(machine.ticks_per_second());
    for (direction, rate) in RATES {
        traffic.subevent(&mut machine.wiring, ("imc", 0), ("CAS_COUNT", direction), rate).expect("names");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let [stdout, stderr, log] = ["stdout", "stderr", "log"].map(|name| folder.path().join(name));
    let create = |path: &Path| Some(File::create(path).expect("a file"));
    let libraries = installed.join("lib").display().to_string();
    let state = folder.path().display().to_string();
    let arguments = [
        &format!("LD_LIBRARY_PATH={libraries}"),
        &format!("XDG_STATE_HOME={state}"),
        "PERICORE_EMULATED=e5-2600",
        &program.display().to_string(),
        "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/",
    ]
    .map(Into::into);
    let command = Command {
        program: "env".into(),
        arguments: arguments.to_vec(),
        stdin: Some(File::open("/dev/null").expect("/dev/null")),
        stdout: create(&stdout),
        stderr: create(&stderr),
        ..Command::default()
    };
    let options = Options { timeout: Some(Duration::from_secs(120)), log: Some(log.clone()), ..Options::default() };
    let finished = run_machine(machine, traffic, command, &options).expect("the program runs");
    let [stdout, stderr, log] = [stdout, stderr, log].map(|path| fs::read_to_string(path).expect("a text"));
    assert_eq!(finished.outcome, Outcome::Exited(0), "{stdout}{stderr}");
    let counts = |region: &str| -> Vec<(u64, f64, u64)> {
        let lines = stdout.lines().filter(|line| line.split(' ').next() == Some(region));
        let words = lines.map(|line| line.split(' ').collect::<Vec<_>>());
        let line = |words: Vec<&str>| {
            // Where the scheduler holds a thread up between two accesses, the library has to doubt the length.
            let is_doubted = words[4] == "2" && stderr.contains("held up");
            assert!(words[4] == "0" || is_doubted, "{words:?}\n{stderr}");
            (words[2].parse().expect("a count"), words[3].parse().expect("seconds"), words[5].parse().expect("starts"))
        };
        words.map(line).collect()
    };
    for (region, at_least, starts) in [("first", 0.05, 1), ("threads", 0.05, 2), ("last", 0.1, 1)] {
        let [reads, writes] = counts(region)[..] else { panic!("two events of {region}:\n{stdout}{stderr}") };
        assert_eq!((reads.2, writes.2), (starts, starts), "{region}");
        // Both counters run in the same times, whatever these are: their counts are as their rates.
        let expected = reads.0 as f64 * RATES[1].1 as f64 / RATES[0].1 as f64;
        assert!((writes.0 as f64 - expected).abs() <= 2.0, "{region}: {writes:?} beside {reads:?}");
        // Time in which a region is open, as the counts tell it, is no shorter than the program has waited in it.
        let open = reads.0 as f64 / RATES[0].1 as f64;
        assert!(open > 0.95 * at_least && reads.1 > 0.95 * at_least, "{region}: {open} s, {} s", reads.1);
    }
    // The controls of channel 0 (device 16, function 0, 0xD8 and 0xDC) held 0 before, and the journal is gone.
    for control in ["0xd8", "0xdc"] {
        let writes = log.lines().filter(|line| line.contains(&format!("pciwr 0000:ff:10.0+{control}.4 <- ")));
        let values: Vec<&str> = writes.filter_map(|line| line.split_whitespace().nth(4)).collect();
        assert!(values.len() > 1 && values.last() == Some(&"0x0"), "{control}: {values:?}\n{log}");
    }
    let journals = fs::read_dir(folder.path().join("pericore")).expect("the folder of journals");
    let left: Vec<_> =
        journals.flatten().filter(|file| file.file_name().to_string_lossy().contains("journal")).collect();
    assert!(left.is_empty(), "{left:?}");
}
