//! Machines that are strict or broken, because their name says so. Runs of other programs need /dev/fuse, root or
//! user namespaces, and msr-tools.

use crate::ours::{WITHOUT_SECOND_UNCORE, pericore};

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The lines that a shell script prints on a live machine, errors among them.
pub fn on(machine: &[&str], script: &str) -> Vec<String> {
    let arguments =
        [&["machine", "run", "--timeout", "60", "--machine"], machine, &["--", "sh", "-c", script]].concat();
    let output = pericore(&arguments);
    assert!(output.status.success(), "{machine:?}: {}", text(&output.stderr));
    text(&output.stdout).lines().map(str::to_owned).collect()
}

/// MSR 0xd16 is counter 0 of CBo 0, 0xd36 of CBo 1; bit 21 of a control is reserved (Table 2-10).
#[test]
fn tools_meet_the_machine_that_was_named() {
    let cannot = "rdmsr: CPU 0 cannot read MSR 0x00000d16";
    assert_eq!(on(&["e5-2600:hidden=0/cbo0"], "rdmsr 0xd16 2>&1; rdmsr 0xd36"), [cannot, "0"]);
    assert_eq!(on(&["e5-2600:all-ones=cbo0"], "rdmsr 0xd16; rdmsr 0xd36"), ["ffffffffffffffff", "0"]);
    let reserved = "wrmsr 0xd10 0x200000 2>&1; rdmsr 0xd10";
    assert_eq!(on(&["e5-2600"], reserved), ["0"]);
    let refused = "wrmsr: CPU 0 cannot set MSR 0x00000d10 to 0x0000000000200000";
    assert_eq!(on(&["e5-2600:rules=strict"], reserved), [refused, "0"]);
    // Under a workload, too: clocks on both counters.
    let clocks = "wrmsr 0xd10 0x400000; wrmsr 0xd11 0x400000; rdmsr -d 0xd16; rdmsr -d 0xd17";
    let counts = on(&["e5-2600:stuck=0/cbo0/ctr0", "--workload", "stream"], clocks);
    assert!(matches!(&counts[..], [stuck, runs] if stuck == "0" && runs != "0"), "{counts:?}");
}

/// Channel 1 is not there, channel 2 cannot be read, and the others count as ever: nobody adds up what was not
/// measured.
#[test]
fn stat_counts_what_is_whole_and_names_what_is_not() {
    let stat =
        ["stat", "--workload", "stream:requests=20k", "--per-unit", "-j", "-e", "imc/CAS_COUNT.RD/", "--machine"];
    let rows = |machine: &str| -> Vec<(String, String)> {
        let output = pericore(&[&stat[..], &[machine]].concat());
        let said = text(&output.stderr);
        assert!(output.status.success(), "{machine}: {said}");
        let row = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|_| panic!("{line}"));
        let told = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        said.lines().map(row).map(|row| (told(&row, "instance"), told(&row, "counter-value"))).collect()
    };
    let sound = rows("e5-2600");
    let broken = rows("e5-2600:hidden=imc1,all-ones=imc2");
    for place in [0, 3] {
        assert!(broken.contains(&sound[place]), "{broken:?}");
    }
    assert!(broken.contains(&("imc2".to_owned(), "<not supported>".to_owned())), "{broken:?}");
    assert!(
        broken.iter().all(|row| sound.contains(row) || !row.1.starts_with(|c: char| c.is_ascii_digit())),
        "{broken:?}"
    );
}

/// A sum over three channels is no sum over four.
#[test]
fn stat_says_of_which_units_there_are_fewer() {
    let stat = |machine: &str| {
        let line =
            ["stat", "--workload", "stream:requests=20k", "-e", "imc/CAS_COUNT.RD/,cbo0/CLOCKTICKS/", "--machine"];
        text(&pericore(&[&line[..], &[machine]].concat()).stderr).to_owned()
    };
    let fewer = "socket 1: 3 imc answer, where such a machine has up to 4";
    let broken = stat("e5-2600:sockets=2,hidden=1/imc3");
    assert!(broken.contains(fewer) && !broken.contains("socket 0:") && !broken.contains("cbo answer"), "{broken}");
    assert!(!stat("e5-2600:sockets=2").contains("answer"));
}

/// Programs are told, too: JSON lines in fields of the rows that it is about, other forms beside the results, once.
#[test]
fn every_form_says_of_which_units_there_are_fewer() {
    const FEWER: &str = "pericore: socket 1: 3 imc answer, where such a machine has up to 4";
    const MACHINE: &str = "e5-2600:sockets=2,hidden=1/imc3";
    let events = ["-e", "imc/CAS_COUNT.RD/,imc0/CLOCKTICKS/,cbo/CLOCKTICKS/", "-M", "imc/MEM_READ_BANDWIDTH"];
    let stat = |rest: &[&str]| {
        let line = ["stat", "--machine", MACHINE, "--workload", "stream:requests=2k"];
        text(&pericore(&[&line[..], &events, rest].concat()).stderr)
    };
    let answering = |said: &str| -> Vec<(Option<u64>, Option<u64>)> {
        let row = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|_| panic!("{line}"));
        let told = |row: serde_json::Value| (row["instances-answering"].as_u64(), row["instances-possible"].as_u64());
        said.lines().map(row).map(told).collect()
    };
    let (fewer, whole) = ((Some(7), Some(8)), (None, None));
    assert_eq!(answering(&stat(&["-j"])), [fewer, whole, whole, fewer]);
    let sockets = [whole, (Some(3), Some(4))];
    assert_eq!(answering(&stat(&["-j", "--per-socket"]))[..2], sockets);
    let separated = stat(&["-x,", "-I", "0.001"]);
    assert_eq!(separated.matches(FEWER).count(), 1, "{separated}");
    assert_eq!(stat(&["-j", "--metric-only"]).lines().next(), Some(FEWER));

    let folder = std::env::temp_dir().join(format!("pericore-odd-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("x.rec").display().to_string();
    let line = ["record", "--machine", MACHINE, "--workload", "stream:requests=2k", "-o", &file];
    let recorded = pericore(&[&line[..], &events].concat());
    let report = |rest: &[&str]| pericore(&[&["report", &file], rest].concat());
    let (table, json, separated) = (report(&[]), report(&["-j"]), report(&["-x,"]));
    std::fs::remove_dir_all(&folder).expect("a folder of ours");
    assert!(text(&recorded.stderr).contains(FEWER), "{}", text(&recorded.stderr));
    assert!(text(&table.stdout).contains(FEWER.trim_start_matches("pericore:")), "{}", text(&table.stdout));
    assert_eq!(answering(&text(&json.stdout)), [fewer, whole, whole, fewer]);
    assert_eq!((text(&separated.stderr).trim(), text(&separated.stdout).contains(FEWER)), (FEWER, false));
}

/// One counter of each of four controllers, which have two channels each: nothing is missing.
#[test]
fn counters_that_neighbours_share_are_all_there() {
    let line = ["stat", "--machine", "emerald-rapids", "--workload", "stream:requests=1k", "-e"];
    let said = text(&pericore(&[&line[..], &["uncore_imc_free_running/dclk/"]].concat()).stderr);
    assert!(said.contains("uncore_imc_free_running/dclk/") && !said.contains("answer"), "{said}");
}

/// Ports 0 to 3 count 48 bits: all ones in 64 is no number, and nothing ran.
#[test]
fn what_is_not_supported_did_not_run() {
    let line = ["stat", "--machine", "e5-2600:all-ones=imc2", "--workload", "stream:requests=2k", "-A", "-e"];
    let stat = |rest: &[&str]| text(&pericore(&[&line[..], &["imc/CAS_COUNT.RD/"], rest].concat()).stderr);
    let separated = stat(&["-x;"]);
    let third = separated.lines().nth(2).expect("a line");
    assert!(third.contains(";<not supported>;;imc/CAS_COUNT.RD/;0;0.00;"), "{separated}");
    assert!(separated.lines().next().is_some_and(|first| first.contains(";100.00;")), "{separated}");
    let row: serde_json::Value = serde_json::from_str(stat(&["-j"]).lines().nth(2).expect("a line")).expect("JSON");
    assert_eq!((row["event-runtime"].as_f64(), row["pcnt-running"].as_f64()), (Some(0.0), Some(0.0)), "{row}");
}

#[test]
fn doctor_and_show_find_what_is_broken() {
    let output = pericore(&["doctor", "--machine", "emerald-rapids:discovery=truncated:5"]);
    let said = text(&output.stdout);
    assert!(said.contains("This software machine has faults"), "{said}");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(pericore(&["doctor", "--machine", "emerald-rapids"]).status.code(), Some(0));
    let output = pericore(&["machine", "show", "--machine", "e5-2600:hidden=cbo"]);
    assert!(text(&output.stdout).contains("do not answer"), "{}", text(&output.stderr));
    // A channel has its control, four counters and a fixed one with theirs (guide, Table 2-59), in configuration space.
    let output = pericore(&["machine", "show", "--machine", "e5-2600:hidden=imc1"]);
    let last = text(&output.stdout).lines().next_back().expect("a line").to_owned();
    assert!(last.ends_with("all at their reset values, 11 do not answer"), "{last}");
    // A slice has its control, its filter, and four counters with theirs (guide, Table 2-6).
    let output = pericore(&["machine", "show", "--machine", "e5-2600:hidden=cbo3"]);
    let last = text(&output.stdout).lines().last().unwrap_or_default().to_owned();
    assert!(last.ends_with("all at their reset values, 10 do not answer"), "{last}");
}

#[test]
fn what_a_machine_has_not_is_refused_with_what_it_has() {
    for (machine, words) in [
        ("e5-2600:hidden=cha", "hidden=cha: give blocks of this machine"),
        ("e5-2600:discovery=absent", "on a machine with discovery tables"),
    ] {
        let output = pericore(&["stat", "--machine", machine]);
        assert_eq!(output.status.code(), Some(129));
        assert!(text(&output.stderr).contains(words), "{}", text(&output.stderr));
    }
}

/// Memory is denied: agents that lie behind MSRs are counted all the same, with a word on what was not looked at.
/// Channels are not.
#[test]
fn what_is_denied_denies_only_what_needs_it() {
    let stat = |events: &str| {
        pericore(&[
            "stat",
            "--workload",
            "idle",
            "--timeout",
            "0.01",
            "--machine",
            "emerald-rapids:denied=mem",
            "-e",
            events,
        ])
    };
    let output = stat("cha/CLOCKTICKS/");
    let printed = text(&output.stderr);
    assert!(output.status.success() && printed.contains("all measured"), "{printed}");
    for part in ["not looked at: ", "imc", "denied=mem", "not frozen as a whole"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let output = stat("cha/CLOCKTICKS/,imc/CLOCKTICKS/");
    let printed = text(&output.stderr);
    assert!(!output.status.success() && printed.contains("denied=mem"), "{printed}");
}

/// A refused first write: the reason, a status that tells, and no journal.
#[test]
fn a_refused_first_write_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = folder.path().join("journal");
    let path = journal.to_str().expect("a plain name");
    let machine = "e5-2600:denied=msr-write";
    let output = pericore(&["stat", "--machine", machine, "--journal", path, "-e", "cbo/CLOCKTICKS/"]);
    let printed = text(&output.stderr);
    assert!(!output.status.success() && printed.contains("denied=msr-write"), "{printed}");
    assert!(!journal.exists(), "{printed}");
}

/// The second socket shows no function of its uncore: neither command makes a machine of one socket of it.
#[test]
fn a_socket_without_its_uncore_is_no_machine_of_one_socket() {
    let machine = WITHOUT_SECOND_UNCORE;
    let stat = pericore(&["stat", "--machine", machine, "-e", "imc/CAS_COUNT.RD/"]);
    let doctor = pericore(&["doctor", "--machine", machine]);
    for (output, printed) in [(&stat, text(&stat.stderr)), (&doctor, text(&doctor.stdout))] {
        let words = printed.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!output.status.success() && words.contains("socket 1 (cpu "), "{printed}");
        assert!(words.contains("shows no uncore"), "{printed}");
    }
}

/// The only bus with PMON functions is that of the only socket, U-Box or not.
#[test]
fn channels_count_without_a_u_box() {
    let stat = |machine: &str| {
        let workload = "random:requests=20000,threads=4";
        let output =
            pericore(&["stat", "--machine", machine, "--workload", workload, "-x,", "-e", "imc/CAS_COUNT.RD/"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let sound = stat("e5-2600");
    assert!(sound.contains("imc/CAS_COUNT.RD/"), "{sound}");
    assert_eq!(stat("e5-2600:hidden=ubox").replace("e5-2600:hidden=ubox", "e5-2600"), sound);
}
