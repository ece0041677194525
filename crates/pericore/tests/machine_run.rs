//! `pericore machine run` as a user meets it. Runs need /dev/fuse, root or user namespaces, and msr-tools.

use std::process::Output;

use crate::ours::{PERICORE, command, live_sockets};

fn run(arguments: &[&str]) -> Output {
    let mut command = command(PERICORE);
    command.args(["machine", "run"]).args(arguments).output().expect("the program starts")
}

/// Nothing runs: an exit status of perf's, and a message with every one of these words.
fn refused(arguments: &[&str], words: &[&str]) {
    let output = run(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(129 | 255)), "{arguments:?}: {:?}, {said}", output.status);
    for word in words {
        assert!(said.contains(word), "{arguments:?} did not mention {word:?}: {said}");
    }
}

#[test]
fn wrong_command_lines_are_refused_before_anything_runs() {
    let e5 = ["--machine", "e5-2600"];
    refused(&[&e5[..], &["--workload", "steam", "--", "true"]].concat(), &["steam", "did you mean", "stream"]);
    refused(&[&e5[..], &["--workload", "stream:requests=5", "--", "true"]].concat(), &["leave out requests="]);
    refused(&[&e5[..], &["--workload", "day.scenario", "--", "true"]].concat(), &["no phases", "stat --workload"]);
    refused(
        &[&e5[..], &["--workload", "stream", "--inject", "imc/X=1", "--", "true"]].concat(),
        &["cannot be used with"],
    );
    refused(
        &[&e5[..], &["--inject", "imc/CAS_COUNT", "--", "true"]].concat(),
        &["give UNIT/EVENT[.SUBEVENT]=PER_SECOND"],
    );
    refused(&["--machine", "e5-2700", "--", "true"], &["e5-2700", "known: ", "e5-2600"]);
    refused(&[&e5[..], &["--sockets", "0", "--", "true"]].concat(), &["sockets=0", "1 to 8"]);
    refused(&[&e5[..], &["--expect", "/no/such/file", "--", "true"]].concat(), &["/no/such/file"]);
}

/// Shells' exit statuses, as `stat` has them.
#[test]
fn a_program_that_cannot_run_is_named() {
    for (program, status) in [("/no/such/program", 127), ("/etc/passwd", 126)] {
        let output = run(&["--machine", "e5-2600", "--", program]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains(program), "{said}");
    }
}

/// A slice's look-ups under a workload, read with nothing but wrmsr and rdmsr; and the log of it.
#[test]
fn a_workload_counts_for_an_unmodified_program() {
    let log = tempfile::NamedTempFile::new().expect("a file");
    // All states; look-ups for data reads; enabled. The second reading is later than the first.
    let script = "wrmsr 0xd14 0x7c0000; wrmsr 0xd10 0x400334; rdmsr -d 0xd16; rdmsr -d 0xd16; exit 7";
    let arguments = ["--machine", "e5-2600", "--workload", "stream", "--timeout", "60", "--log"];
    let output = run(&[&arguments[..], &[log.path().to_str().expect("UTF-8"), "--", "sh", "-c", script]].concat());
    assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
    let shown = String::from_utf8_lossy(&output.stdout);
    let counts: Vec<u64> = shown.lines().map(|line| line.parse().expect("a count")).collect();
    assert!(matches!(counts[..], [first, second] if 0 < first && first < second), "{shown}");
    let text = std::fs::read_to_string(&log).expect("a log");
    assert!(text.contains("socket 0 cbo0 ctl0: LLC_LOOKUP.DATA_READ en"), "{text}");
}

#[test]
fn what_cannot_be_injected_is_named_with_what_can() {
    let refuse = |machine: &str, inject: &str, words: &[&str]| {
        refused(&["--machine", machine, "--inject", inject, "--", "true"], words);
    };
    refuse("e5-2600", "imx/CAS_COUNT.RD=1", &["no unit \"imx\"", "imc"]);
    refuse("e5-2600", "imc4/CAS_COUNT.RD=1", &["no unit \"imc4\""]);
    refuse("e5-2600", "imc/CAS_COUNTS.RD=1", &["no event or signal \"CAS_COUNTS\"", "CAS_COUNT"]);
    refuse("e5-2600", "imc/CAS_COUNT.RD_REGS=1", &["no subevent \"RD_REGS\"", "RD_REG"]);
    refuse("e5-2600", "imc/CAS_COUNT=1", &["CAS_COUNT counts by subevents", "imc/CAS_COUNT.RD_REG"]);
    // Its subevents are masks over two attributes.
    refuse("emerald-rapids", "imc/CAS_COUNT.RD=1", &["cas", "imc/cas=PER_SECOND", "--workload"]);
}

/// A read is one with a full line or an underfill, never both: what is injected as the sum of both goes in as one of them, and whoever adds them up
/// counts it once.
#[test]
fn what_is_injected_counts_as_one_kind() {
    let state = tempfile::tempdir().expect("a folder");
    let events = "imc0/CAS_COUNT.RD/,imc0/CAS_COUNT.RD_REG/,imc0/CAS_COUNT.RD_UNDERFILL/,imc0/CAS_COUNT.ALL/";
    let counts = |inject: &str| {
        let mut command = command(PERICORE);
        command.args(["machine", "run", "--machine", "e5-2600", "--inject", inject, "--"]);
        command.args([PERICORE, "stat", "-x;", "-e", events, "--timeout", "50", "-o", "/dev/stdout"]);
        let output = command.env("XDG_STATE_HOME", state.path()).output().expect("the program starts");
        let shown = String::from_utf8(output.stdout).expect("UTF-8");
        let counts: Vec<u64> =
            shown.lines().map(|line| line.split(';').next().expect("a field").parse().expect("a count")).collect();
        (counts, String::from_utf8(output.stderr).expect("UTF-8"))
    };
    let (sum, said) = counts("imc/CAS_COUNT.RD=1000000");
    assert!(matches!(sum[..], [all, regular, 0, every] if all > 10_000 && regular == all && every == all), "{sum:?}");
    assert!(said.contains("RD_REG is emitted, so CAS_COUNT.RD_REG counts it, too"), "{said}");
    let (part, said) = counts("imc/CAS_COUNT.RD_UNDERFILL=1000000");
    assert!(matches!(part[..], [all, 0, underfills, _] if all > 10_000 && underfills == all), "{part:?}");
    assert!(said.is_empty(), "{said}");
    let (of_one, _) = counts("imc0/CAS_COUNT.RD_REG=1000000");
    assert!(matches!(of_one[..], [all, regular, 0, _] if all > 10_000 && regular == all), "{of_one:?}");
    let (of_another, _) = counts("imc1/CAS_COUNT.RD_REG=1000000");
    assert_eq!(of_another, [0, 0, 0, 0], "what another channel does is not in channel 0");
}

/// Its registers look like a Xeon's, but our own program says that they are none.
#[test]
fn our_own_program_says_that_the_machine_is_emulated() {
    let state = tempfile::tempdir().expect("a folder");
    let mut command = command(PERICORE);
    command.args(["machine", "run", "--machine", "e5-2600", "--inject", "imc/CAS_COUNT.RD_REG=1000", "--"]);
    command.args([PERICORE, "stat", "-e", "imc/CAS_COUNT.RD/", "--timeout", "20"]);
    command.env("XDG_STATE_HOME", state.path());
    let table = command.output().expect("the program starts");
    let lines = command.arg("-j").output().expect("the program starts");
    let (table, lines) = (String::from_utf8_lossy(&table.stderr), String::from_utf8_lossy(&lines.stderr));
    assert!(table.contains("EMULATED e5-2680") && table.contains("imc/CAS_COUNT.RD/"), "{table}");
    assert!(lines.contains("\"emulated\":\"e5-2680\""), "{lines}");
}

/// Where the host has one socket, a tool that asks the system finds the machine's two, and both count.
#[test]
fn the_system_tells_of_the_machines_sockets() {
    let most = live_sockets();
    let state = tempfile::tempdir().expect("a folder");
    for machine in ["nehalem", "e5-2600", "emerald-rapids"] {
        let mut command = command(PERICORE);
        command.args(["machine", "run", "--machine", machine, "--sockets", &most.to_string(), "--", PERICORE]);
        let output = command
            .args(["doctor", "--json"])
            .env("XDG_STATE_HOME", state.path())
            .output()
            .expect("the program starts");
        assert!(output.status.code().is_some_and(|status| status < 128), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8_lossy(&output.stdout);
        let sockets = said.lines().find(|line| line.contains("\"sockets\"")).unwrap_or_default();
        assert!(sockets.contains("0 (cpu 0"), "{machine}: {said}");
        assert_eq!(sockets.contains("1 (cpu "), most == 2, "{machine}: {said}");
        assert!(!said.contains("\"problem\""), "{machine}: {said}");
    }
}

/// Not a single line is read: without requests there are none, however long it goes on.
#[test]
fn an_idle_machine_does_nothing() {
    // All reads of a channel, enabled, counted from the first write on; then its counter.
    let script = "setpci -s ff:10.0 d8.l=400304; setpci -s ff:10.0 a0.l";
    let output = run(&["--machine", "e5-2600", "--workload", "idle", "--", "sh", "-c", script]);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        "00000000",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// What a kernel under lockdown refuses, it refuses when the file is opened (kernel_lockdown(7)); what is only there to
/// be read is not opened for writing, by root neither.
#[test]
fn files_are_opened_as_far_as_the_machine_allows() {
    let functions = "/proc/bus/pci/devices";
    for (machine, opens, refusal) in [
        ("emerald-rapids", "< /dev/mem", None),
        ("emerald-rapids:denied=mem", "< /dev/mem", Some("Operation not permitted")),
        ("emerald-rapids:denied=mem", "<> /dev/cpu/0/msr", None),
        ("e5-2600", &format!("< {functions}"), None),
        ("e5-2600", &format!("> {functions}"), Some("ermission denied")),
        ("e5-2600", "> /dev/cpu/0/cpuid", Some("ermission denied")),
        ("e5-2600", "> /dev/cpu", Some("irectory")),
    ] {
        let output = run(&["--machine", machine, "--", "sh", "-c", &format!(": {opens} && echo opened")]);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.stdout == b"opened\n", refusal.is_none(), "{machine}, {opens}: {printed}");
        assert!(refusal.is_none_or(|refusal| printed.contains(refusal)), "{machine}, {opens}: {printed}");
    }
}

/// Folders of the machine's files have what is in them, and `.` and `..`, once each however they are listed.
#[test]
fn folders_are_listed_whole() {
    let script =
        "ls -a /dev/cpu/0; ls /proc/bus/pci/ff | sort | uniq -d; ls /proc/bus/pci/ff/10.0 /proc/bus/pci/ff/20.0";
    let output = run(&["--machine", "e5-2600", "--", "sh", "-c", script]);
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    // The first channel of memory is D16:F0 (the guide's Table 2-57), and D32 is none.
    assert_eq!(listed, ".\n..\ncpuid\nmsr\n/proc/bus/pci/ff/10.0\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("ff/20.0"), "{output:?}");
}

/// A run that is killed with its live machine leaves a journal of that machine, which a Xeon must never get.
#[test]
fn what_a_live_machine_held_is_not_put_back_elsewhere() {
    let state = tempfile::tempdir().expect("a folder");
    let script = r#""$P" stat -e cbo0/CLOCKTICKS/ & pid=$!
        until ls "$XDG_STATE_HOME"/pericore/*.journal >/dev/null 2>&1; do sleep 0.01; done
        held=$(cat /proc/$pid/task/*/children); kill -STOP $held; kill -9 $pid $held"#;
    let pericore = || {
        let mut command = command(PERICORE);
        command.env("XDG_STATE_HOME", state.path());
        command
    };
    let run = pericore().args(["machine", "run", "--machine", "e5-2600", "--", "sh", "-c", script]).output();
    assert!(run.expect("the program starts").status.success());
    let outside = pericore().arg("restore").output().expect("the program starts");
    let named = pericore().args(["restore", "--machine", "e5-2680"]).output().expect("the program starts");
    let said = |output: &Output| String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
    assert_eq!(outside.status.code(), Some(255), "{}", said(&outside));
    assert!(said(&outside).contains("the registers of e5-2680 are not reachable from here"), "{}", said(&outside));
    assert!(named.status.success() && said(&named).contains("removed the journal"), "{}", said(&named));
}

/// What the ledger has of a workload is what a counter shows, and adds up by itself: reads are those with a full line
/// and underfills.
#[test]
fn the_truth_of_a_workload_is_written() {
    let truth = tempfile::NamedTempFile::new().expect("a file");
    // Reads of channel 0: event 0x04, umask 0x03, enabled (E5-2600 guide, 2.5.8). Time goes by between two readings.
    let script = "setpci -s ff:10.0 d8.l=400304; a=$(setpci -s ff:10.0 a0.l); s=$(rdmsr -p 0 -d 0x10)
        sleep 0.3; b=$(setpci -s ff:10.0 a0.l); t=$(rdmsr -p 0 -d 0x10); echo $(($((0x$b)) - $((0x$a)))) $((t - s))";
    let file = truth.path().to_str().expect("UTF-8");
    let arguments = ["--machine", "e5-2600", "--workload", "stream", "--timeout", "60", "--truth", file];
    let output = run(&[&arguments[..], &["--", "sh", "-c", script]].concat());
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = shown.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    let [count, clocks] = numbers[..] else { panic!("{shown}{}", String::from_utf8_lossy(&output.stderr)) };
    let text = std::fs::read_to_string(&truth).expect("the truth");
    let rates = |subevent: &str| -> Vec<f64> {
        let rows = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        let row = rows.into_iter().find(|row| row["event"] == "CAS_COUNT" && row["subevent"] == subevent);
        let row = row.unwrap_or_else(|| panic!("no {subevent} in {text}"));
        row["per_second"].as_array().expect("rates").iter().map(|rate| rate.as_f64().expect("a rate")).collect()
    };
    let (reads, full, underfills) = (rates("RD"), rates("RD_REG"), rates("RD_UNDERFILL"));
    assert_eq!(reads.len(), 4, "channels: {text}");
    assert!((0..4).all(|channel| (reads[channel] - full[channel] - underfills[channel]).abs() < 1.0), "{text}");
    // The time-stamp counter runs at 2.7 GHz; setpci and rdmsr are programs that are started between the readings.
    let measured = count / (clocks / 2.7e9);
    assert!((measured / reads[0] - 1.0).abs() < 0.2, "{measured} for {}", reads[0]);
    refused(&["--machine", "e5-2600", "--truth", "/tmp/x", "--", "true"], &["--workload"]);
    let nowhere = ["--machine", "e5-2600", "--workload", "stream", "--truth", "/no/such/folder/x", "--", "true"];
    refused(&nowhere, &["/no/such/folder/x"]);
}

/// On the machine whose registers it finds, a self-check reads the event file that it is to compare: one that is not
/// there ends it before anything is counted.
#[test]
fn a_self_check_reads_its_event_files() {
    let state = tempfile::tempdir().expect("a folder");
    let mut command = command(PERICORE);
    command.args(["machine", "run", "--machine", "e5-2600", "--", PERICORE, "doctor", "--selfcheck"]);
    let output = command.args(["--events", "/nowhere/events.json"]).env("XDG_STATE_HOME", state.path()).output();
    let output = output.expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && errors.contains("/nowhere/events.json"), "{errors}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("The self-check found"), "{output:?}");
}

/// 44 bits at one increment a cycle of at most 5 GHz are full within an hour (3518 s): who asks for longer intervals
/// learns it before they pass.
#[test]
fn intervals_in_which_counters_wrap_are_reported_beforehand() {
    let state = tempfile::tempdir().expect("a folder");
    for (interval, warned) in [("10000000", true), ("1000000", false)] {
        let mut command = command(PERICORE);
        command.args(["machine", "run", "--machine", "e5-2600", "--", PERICORE, "stat", "-I", interval]);
        command.args(["-e", "cbo0/CLOCKTICKS/", "--timeout", "1"]).env("XDG_STATE_HOME", state.path());
        let output = command.output().expect("the program starts");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        assert_eq!(errors.contains("a counter may wrap twice within 3518 s"), warned, "{interval} ms: {errors}");
    }
}
