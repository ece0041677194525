//! The program as a user meets it: output forms, exit statuses, and what it says to a wrong command line.

use std::process::{Command, Output};

const SMALL: &str = "random:requests=20k,footprint=64M";

fn pericore(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pericore")).args(arguments).output().expect("the program starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// A wrong command line: perf's exit status, one message, and in it every one of these words.
fn refused(arguments: &[&str], status: i32, words: &[&str]) {
    let output = pericore(arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(status), "{arguments:?} said {said}");
    for word in words {
        assert!(said.contains(word), "{arguments:?} did not mention {word:?}: {said}");
    }
    assert!(stdout(&output).is_empty());
}

#[test]
fn a_table_names_its_machine_and_its_validity() {
    let output = pericore(&["stat", "--machine", "e5-2600", "--workload", SMALL, "--truth"]);
    assert!(output.status.success());
    let table = stderr(&output);
    for word in ["EMULATED", "e5-2680", "imc/MEM_READ_BANDWIDTH", "GB/s", "truth", "all measured", "virtual time"] {
        assert!(table.contains(word), "no {word:?} in {table}");
    }
    let too_wide = table.lines().find(|line| line.chars().count() > 80 && !line.contains("EMULATED"));
    assert_eq!(too_wide, None);
}

#[test]
fn json_has_perfs_keys_the_validity_and_the_truth() {
    let events = "cbo/LLC_VICTIMS.M_STATE/,imc/CAS_COUNT.RD/";
    let output = pericore(&[
        "stat",
        "--machine",
        "e5-2600",
        "--workload",
        SMALL,
        "-e",
        events,
        "-M",
        "MEM_READ_BANDWIDTH",
        "-j",
        "--truth",
        "-o",
        "/dev/stdout",
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let rows: Vec<serde_json::Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    assert_eq!(rows.len(), 3);
    for row in &rows[..2] {
        let value: f64 = row["counter-value"].as_str().expect("perf prints a string").parse().expect("a number");
        assert_eq!(Some(value), row["truth"].as_f64());
        assert_eq!(row["error"].as_f64(), Some(0.0));
        assert_eq!(row["validity"], "measured");
        assert_eq!(row["pcnt-running"].as_f64(), Some(100.0));
        assert!(row["event-runtime"].as_u64() > Some(0));
        assert_eq!(row["emulated"], "e5-2680");
    }
    assert_eq!(rows[0]["event"], "cbo/LLC_VICTIMS.M_STATE/");
    assert_eq!(rows[2]["metric-unit"], "B/s");
    assert!(rows[2]["metric-value"].as_str().is_some());
}

#[test]
fn separated_values_and_intervals() {
    let output = pericore(&[
        "stat",
        "--machine",
        "e5-2600",
        "--workload",
        SMALL,
        "-e",
        "ha/REQUESTS.READS/",
        "-x",
        ";",
        "-I",
        "0.02",
        "-o",
        "/dev/stdout",
    ]);
    let text = stdout(&output);
    assert!(text.lines().count() >= 2, "{text}");
    let mut last = 0.0;
    for line in text.lines() {
        let fields: Vec<&str> = line.split(';').collect();
        let end: f64 = fields[0].parse().expect("the end of the interval");
        assert!(end > last);
        last = end;
        fields[1].parse::<f64>().expect("a count");
        assert_eq!(fields[3], "ha/REQUESTS.READS/");
        assert_eq!(fields[8], "measured");
    }
}

#[test]
fn places_are_shown_when_asked_for() {
    let run = |option: &str| {
        let output = pericore(&["stat", "--machine", "e5-2600", "--workload", SMALL, "-e", "cbo/CLOCKTICKS/", option]);
        stderr(&output)
    };
    assert!(run("--per-socket").contains("S0 cbo/CLOCKTICKS/"));
    for slice in 0..8 {
        assert!(run("--per-unit").contains(&format!("S0 cbo{slice} ")));
    }
}

#[test]
fn a_dry_run_prints_the_guides_steps_and_touches_nothing() {
    let output = pericore(&["stat", "--machine", "e5-2600", "-e", "cbo0/LLC_VICTIMS.M_STATE/", "--dry-run"]);
    let steps = stderr(&output);
    for step in ["msr 0xd04", "0x10100", "0x400137", "freeze", "select and enable", "count"] {
        assert!(steps.contains(step), "no {step:?} in {steps}");
    }
}

#[test]
fn same_seed_same_counts() {
    let run = || {
        let workload = "mixed:requests=20k,footprint=64M,seed=42";
        let output = pericore(&["stat", "--machine", "e5-2600", "--workload", workload, "-j", "-o", "/dev/stdout"]);
        stdout(&output)
    };
    assert_eq!(run(), run());
}

#[test]
fn list_follows_its_contract() {
    let output = pericore(&["list", "--machine", "snbep", "--json", "--unit", "cbo"]);
    assert!(output.status.success());
    let rows: Vec<serde_json::Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    let keys = [
        "family",
        "unit",
        "event",
        "subevent",
        "code",
        "umask",
        "config",
        "counters",
        "max_increment",
        "filters",
        "modelled",
        "source",
        "description",
    ];
    for row in &rows {
        for key in keys {
            assert!(row.get(key).is_some(), "no {key} in {row}");
        }
    }
    // Guide 2.3.7, Table 2-17: code 0x37, M_STATE is umask bit 0, counters 0 and 1.
    let victims =
        rows.iter().find(|row| row["event"] == "LLC_VICTIMS" && row["subevent"] == "M_STATE").expect("listed");
    assert_eq!(victims["code"], "0x37");
    assert_eq!(victims["umask"], "0x01");
    assert_eq!(victims["config"], "0x137");
    assert_eq!(victims["counters"], serde_json::json!([0, 1]));
    assert_eq!(victims["max_increment"], 1);
    assert_eq!(victims["modelled"], true);
    let bounces = rows.iter().find(|row| row["event"] == "RING_BOUNCES").expect("listed");
    assert_eq!(bounces["modelled"], false);
}

#[test]
fn registers_and_metrics_follow_their_contracts() {
    let lines = |option: &str| -> Vec<serde_json::Value> {
        let output = pericore(&["list", "--machine", "e5-2600", option, "--json"]);
        stdout(&output).lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
    };
    let registers = lines("--registers");
    // Table 2-8: C3_MSR_PMON_CTL2 is MSR 0xD72, 32 bits.
    let control =
        registers.iter().find(|row| row["unit"] == "cbo" && row["instance"] == 3 && row["register"] == "ctl2");
    let control = control.expect("listed");
    assert_eq!(
        (&control["space"], &control["address"], &control["width"]),
        (&"msr".into(), &"0xd72".into(), &32.into())
    );
    assert!(control["fields"].as_array().expect("fields").iter().any(|f| f["name"] == "umask" && f["bits"] == "15:8"));
    // Table 2-59: channel 2 is D16:F4, counter 1 at A8.
    let counter =
        registers.iter().find(|row| row["unit"] == "imc" && row["instance"] == 2 && row["register"] == "ctr1");
    let counter = counter.expect("listed");
    assert_eq!(
        (&counter["space"], &counter["address"], &counter["bdf"]),
        (&"pcicfg".into(), &"0xa8".into(), &"10.4".into())
    );
    for metric in lines("--metrics") {
        for key in ["unit", "metric", "expression", "unit_of_measure", "description", "source"] {
            assert!(metric.get(key).is_some(), "no {key} in {metric}");
        }
    }
}

/// Two values of one filter register: the events take turns, the metric is scaled, and the model's figure stands beside it.
#[test]
fn what_excludes_each_other_takes_turns() {
    let output = pericore(&[
        "stat",
        "--machine",
        "e5-2600",
        "--workload",
        "random:requests=30k,footprint=64M,seed=3",
        "--truth",
        "-j",
        "-M",
        "LLC_DRD_MISS_PCT",
    ]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stderr).unwrap();
    let row: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(row["validity"], "scaled", "{text}");
    let number = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("no {key}: {text}"));
    let share = number("pcnt-running");
    assert!((30.0..=50.0).contains(&share), "the duty of the event with the fewer turns: {share}");
    assert!(number("error").abs() < 5.0 * number("standard-error").max(0.01), "{text}");
    let cost = pericore(&["stat", "--machine", "e5-2600", "--cost", "-M", "LLC_DRD_MISS_PCT"]);
    let text = String::from_utf8(cost.stderr).unwrap();
    assert!(text.contains("a sample: 8 reads and 16 writes, 24 system calls"), "{text}");
    assert!(text.contains("2 rounds, the fewest possible: the filter state is needed with 2 values"), "{text}");
}

/// Eight channels by two counters, and the freeze of each socket: two writes. The E5-2600 has none for a socket, so each of its four channels has its own.
#[test]
fn a_sample_costs_one_access_a_counter_and_the_cheapest_freeze() {
    let events = "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/";
    for (machine, freeze, cost) in [
        ("emerald-rapids:sockets=2", None, "a sample: 32 reads and 4 writes, 4 system calls"),
        ("emerald-rapids:sockets=2", Some("--no-freeze"), "a sample: 32 reads and 0 writes, 0 system calls"),
        ("e5-2600", None, "a sample: 8 reads and 8 writes, 16 system calls"),
        ("e5-2600", Some("--no-freeze"), "a sample: 8 reads and 0 writes, 8 system calls"),
    ] {
        let line = ["stat", "--machine", machine, "--cost", "-e", events].into_iter().chain(freeze);
        let output = pericore(&line.collect::<Vec<_>>());
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && text.contains(cost), "{machine} {freeze:?}: {text}");
    }
}

/// The journal is there while a session runs, and gone when it has put everything back.
#[test]
fn journals_are_kept_removed_and_checked() {
    let directory = std::env::temp_dir().join(format!("pericore-cli-journal-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("stat.journal");
    let file = path.to_str().unwrap();
    let output = pericore(&["stat", "--machine", "e5-2600", "--workload", SMALL, "--journal", file]);
    assert!(output.status.success() && !path.exists());
    std::fs::write(&path, "pericore journal 1\nboot x\n").unwrap();
    let output = pericore(&["stat", "--machine", "e5-2600", "--workload", SMALL, "--journal", file]);
    assert_eq!(output.status.code(), Some(255));
    assert!(String::from_utf8(output.stderr).unwrap().contains("pericore restore --journal"));
    let output = pericore(&["restore", "--machine", "e5-2600", "--journal", file]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("checksum"));
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn wrong_command_lines_get_one_clear_message() {
    let stat = |rest: &[&'static str]| [&["stat", "--machine", "e5-2600"], rest].concat();
    refused(&stat(&["-e", "cbo/LLC_VICTIM.M_STATE/"]), 129, &["LLC_VICTIM", "LLC_VICTIMS"]);
    refused(&stat(&["-e", "cbox/CLOCKTICKS/"]), 129, &["cbox", "cbo"]);
    refused(&stat(&["-M", "MEM_READ_BANDWITH"]), 129, &["MEM_READ_BANDWITH", "MEM_READ_BANDWIDTH"]);
    refused(&stat(&["-e", "cbo/TOR_INSERTS.OPCODE/"]), 129, &["opc"]);
    refused(&stat(&["-e", "cbo/LLC_VICTIMS.M_STATE,thresh=999/"]), 129, &["thresh", "0x3e7"]);
    refused(
        &stat(&["-e", "{cbo/TOR_INSERTS.OPCODE,opc=0x182/,cbo/TOR_INSERTS.MISS_OPCODE,opc=0x180/}"]),
        129,
        &["opc"],
    );
    refused(
        &stat(&["-e", "{cbo/LLC_VICTIMS.M_STATE/,cbo/LLC_VICTIMS.E_STATE/,cbo/LLC_VICTIMS.S_STATE/}"]),
        129,
        &["counters 0, 1", "out of the group"],
    );
    refused(&stat(&["--workload", "strem"]), 129, &["strem", "stream"]);
    refused(&stat(&["--workload", "random:footprint=1000G"]), 129, &["footprint", "1000G"]);
    refused(&stat(&["--workload", "random:threads=0"]), 129, &["threads", "0"]);
    refused(&stat(&["--workload", "stream:colour=blue"]), 129, &["colour"]);
    refused(&stat(&["-I", "0"]), 129, &["-I"]);
    refused(&["stat", "--machine", "e5-2699"], 129, &["e5-2699", "e5-2600"]);
    refused(&["stat", "--machine", "e5-2600:sockets=99"], 129, &["sockets", "99"]);
    refused(&["list", "--machine", "e5-2600", "--unit", "cb"], 129, &["cb", "cbo"]);
    refused(&["stat", "--no-such-option"], 129, &["--no-such-option"]);
    refused(&["stat"], 255, &["--machine"]);
    refused(&stat(&["--workload", SMALL, "-o", "/no/such/folder/out"]), 255, &["/no/such/folder/out"]);
}

/// Bare `pericore` shows three commands, and they run.
#[test]
fn the_bare_program_shows_commands_that_run() {
    let output = pericore(&[]);
    assert!(output.status.success());
    let commands: Vec<String> =
        stdout(&output).lines().filter_map(|line| Some(line.strip_prefix("  pericore ")?.to_owned())).collect();
    assert_eq!(commands.len(), 3);
    for command in commands {
        let mut arguments: Vec<&str> = command.split(' ').collect();
        if arguments[0] == "stat" {
            arguments.extend(["--timeout", "0.05"]);
        }
        let output = pericore(&arguments);
        assert!(output.status.success(), "{command}: {}", stderr(&output));
    }
}

/// A machine's registers by name, and its snapshot there and back.
#[test]
fn a_machine_is_poked_dumped_loaded_and_peeked() {
    let folder = std::env::temp_dir().join(format!("pericore-machine-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("snapshot");
    let path = file.to_str().expect("UTF-8");
    let output = pericore(&["machine", "poke", "--machine", "e5-2600", "cbo3/ctl1=0x400137", "-o", path]);
    assert!(output.status.success(), "{}", stderr(&output));
    let output = pericore(&["machine", "peek", "--machine", path, "cbo3/ctl1", "cbo2/ctl1"]);
    // Table 2-8: C3_MSR_PMON_CTL1 is MSR 0xD71.
    let shown = stdout(&output);
    assert!(shown.contains("msr 0xd71") && shown.contains("0x400137") && shown.contains("ev_sel"), "{shown}");
    assert!(shown.contains("0/cbo2/ctl1"), "{shown}");
    let loaded = stdout(&pericore(&["machine", "load", path]));
    assert!(loaded.contains("0/cbo3/ctl1") && !loaded.contains("0/cbo2/ctl1"), "{loaded}");
    let again = pericore(&["machine", "dump", "--machine", path]);
    assert_eq!(stdout(&again), std::fs::read_to_string(&file).expect("written"));
    std::fs::write(&file, "pericore-machine 7\n").expect("written");
    refused(&["machine", "load", path], 255, &["version 1"]);
    refused(&["machine", "peek", "--machine", "e5-2600", "cbo99/ctl1"], 129, &["cbo99/ctl1"]);
    refused(&["machine", "poke", "--machine", "e5-2600", "cbo0/ctl0"], 129, &["NAME=VALUE"]);
    refused(&["machine", "show", "--machine", "no-such-machine"], 129, &["no-such-machine"]);
    for family in ["e5-2600:sockets=4", "nehalem", "emerald-rapids:sockets=2"] {
        assert!(pericore(&["machine", "show", "--machine", family]).status.success());
    }
    std::fs::remove_dir_all(folder).expect("removed");
}

/// Ctrl-C ends the measurement, prints what was counted, and the program dies of the signal.
#[test]
fn interrupted_it_prints_what_was_counted() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pericore"))
        .args([
            "stat",
            "--machine",
            "e5-2600",
            "--workload",
            "chase:requests=1G,footprint=1G",
            "-e",
            "ha/REQUESTS.READS/",
        ])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut header = [0_u8; 9];
    let mut pipe = child.stderr.take().expect("piped");
    std::io::Read::read_exact(&mut pipe, &mut header).expect("the header comes first");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill runs").success());
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut pipe, &mut rest).expect("UTF-8");
    let status = child.wait().expect("it ends");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(2));
    assert!(rest.contains("ha/REQUESTS.READS/") && rest.contains("validity"), "{rest}");
}

/// Nobody reads: the program ends without a word.
#[test]
fn a_closed_pipe_is_quiet() {
    let script =
        format!("{} list --json | head -n 1 >/dev/null; exit ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_pericore"));
    let output = Command::new("bash").args(["-c", &script]).output().expect("bash runs");
    assert!(stderr(&output).is_empty(), "{}", stderr(&output));
}

/// A workload's seed is another in each run: its counts differ a little.
#[test]
fn repeated_runs_have_a_mean_and_a_spread() {
    let line = [
        "stat",
        "--machine",
        "e5-2600",
        "--workload",
        "random:requests=3000",
        "-e",
        "imc/CAS_COUNT.RD/,cbo/CLOCKTICKS/",
    ];
    let output = pericore(&[&line[..], &["-r", "3", "-j"]].concat());
    let rows: Vec<serde_json::Value> =
        stderr(&output).lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    assert_eq!(rows.len(), 2, "one line for each event");
    assert!(rows[0]["variance"].as_f64().is_some_and(|variance| variance > 0.0 && variance < 20.0), "{rows:?}");
    let table = stderr(&pericore(&[&line[..], &["-r", "3"]].concat()));
    assert!(table.contains("(+- ") && table.contains("in each of 3 runs"), "{table}");
    let separated = stderr(&pericore(&[&line[..], &["-r", "2", "-x,"]].concat()));
    let fields: Vec<&str> = separated.lines().last().unwrap_or_default().split(',').collect();
    assert!(fields[2] == "cbo/CLOCKTICKS/" && fields[3].ends_with('%'), "{fields:?}");
    refused(&["stat", "--machine", "e5-2600", "-r", "2", "-I", "1"], 129, &["--repeat", "--interval-print"]);
    refused(&["stat", "--machine", "e5-2600", "-r", "0"], 129, &["0"]);
}

#[test]
fn completions_and_man_pages_come_from_the_command_line() {
    for shell in ["bash", "zsh", "fish"] {
        let text = stdout(&pericore(&["completions", shell]));
        assert!(text.contains("pericore") && text.contains("why-not"), "{shell}: {text}");
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("man");
    let _ = std::fs::remove_dir_all(&folder);
    let written = pericore(&["completions", "--man", folder.to_str().expect("UTF-8")]);
    assert!(written.status.success(), "{}", stderr(&written));
    for (page, part) in
        [("pericore.1", "pericore\\-stat"), ("pericore-stat.1", "per\\-socket"), ("pericore-explain.1", "why\\-not")]
    {
        let text = std::fs::read_to_string(folder.join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.contains(part), "{page}: {text}");
    }
    refused(&["completions"], 129, &["SHELL"]);
}

/// With `-c` each sample but the last has exactly so many of the first event, and on the E5-2600, whose counters wrap in silence, there
/// are none.
#[test]
fn samples_come_at_the_overflows_of_the_first_event() {
    for (machine, events) in
        [("emerald-rapids", "imc0/CAS_COUNT.RD/,cha3/CLOCKTICKS/"), ("nehalem", "QMC_NORMAL_READS.ANY,LLC_HITS.ANY")]
    {
        let line = ["stat", "--machine", machine, "--workload", SMALL, "-e", events, "-c", "500", "-x", ";", "-o"];
        let output = pericore(&[&line[..], &["/dev/stdout"]].concat());
        assert!(output.status.success(), "{machine}: {}", stderr(&output));
        let text = stdout(&output);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(';').collect()).collect();
        // The time, the count, its unit, the event.
        let leading =
            rows.iter().filter(|row| ["CAS_COUNT.RD", "QMC_NORMAL_READS.ANY"].iter().any(|name| row[3].contains(name)));
        let counts: Vec<f64> = leading.map(|row| row[1].parse().expect("a count")).collect();
        let (last, samples) = counts.split_last().expect("samples");
        assert!(samples.len() > 2 && samples.iter().all(|&count| count == 500.0), "{machine}: {text}");
        assert!(*last <= 500.0, "{machine}: {text}");
    }
    let e5 = ["stat", "--machine", "e5-2600", "--workload", SMALL, "-e", "imc0/CAS_COUNT.RD/", "-c", "500"];
    refused(&e5, 129, &["CAS_COUNT.RD", "cannot stop the counters"]);
}
