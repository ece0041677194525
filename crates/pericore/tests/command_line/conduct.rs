//! How the program behaves: wrong command lines, signals, closed pipes, journals, what a sample costs.

use std::process::Command;

use super::{SMALL, measured, pericore, refused, stderr, stdout};
use crate::ours::{PERICORE, command};

#[test]
fn same_seed_same_counts() {
    let run = || {
        let workload = "mixed:requests=20k,footprint=64M,seed=42";
        let output = pericore(&["stat", "--machine", "e5-2600", "--workload", workload, "-j", "-o", "/dev/stdout"]);
        stdout(&output)
    };
    assert_eq!(run(), run());
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

/// MSR 0x2FF0 freezes a whole socket (1.10.4 of Emerald Rapids' guide): for several of its units, and not for one, which stops by itself. It is
/// looked at all the same: somebody else may have left the freeze on.
#[test]
fn a_socket_is_not_frozen_for_a_single_unit() {
    for (events, is_whole) in [("imc/CAS_COUNT.RD/", true), ("imc0/CAS_COUNT.RD/", false)] {
        let plan = pericore(&["stat", "--machine", "emerald-rapids", "--dry-run", "-e", events]);
        let text = [stdout(&plan), stderr(&plan)].concat();
        assert!(text.contains("unit_ctl"), "{text}");
        let freezes = |line: &str| line.contains("write") && line.contains("msr 0x2ff0");
        assert!(text.contains("msr 0x2ff0"), "{events}: {text}");
        assert_eq!(text.lines().any(freezes), is_whole, "{events}: {text}");
    }
}

/// The journal is there while a session runs, and gone when it has put everything back.
#[test]
fn journals_are_kept_removed_and_checked() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("stat.journal");
    let file = path.to_str().unwrap();
    let output = measured(&["--journal", file]);
    assert!(output.status.success() && !path.exists());
    std::fs::write(&path, "pericore journal 1\nboot x\n").unwrap();
    let output = measured(&["--journal", file]);
    assert_eq!(output.status.code(), Some(255));
    assert!(String::from_utf8(output.stderr).unwrap().contains("pericore restore --journal"));
    let output = pericore(&["restore", "--machine", "e5-2600", "--journal", file]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("checksum"));
}

#[test]
fn wrong_command_lines_get_one_clear_message() {
    let stat = |rest: &[&'static str]| [&["stat", "--machine", "e5-2600"], rest].concat();
    refused(&stat(&["-e", "cbo/LLC_VICTIM.M_STATE/"]), 129, &["LLC_VICTIM", "LLC_VICTIMS"]);
    refused(&stat(&["-e", "cbox/CLOCKTICKS/"]), 129, &["cbox", "cbo"]);
    refused(&stat(&["-M", "cbo/MEM_BANDWIDTH"]), 129, &["cbo has no metric", "imc/MEM_BANDWIDTH"]);
    refused(&stat(&["-M", "PCT_FREQ_BAND0"]), 129, &["'pcu/PCT_FREQ_BAND0{band0="]);
    refused(&stat(&["-M", "NO_SUCH"]), 129, &["pericore list --metrics"]);
    refused(&stat(&["--save-trace", "t", "--workload", SMALL]), 129, &["--save-trace", "--workload"]);
    refused(&["machine", "show", "--machine", "e5-2600:sockets=2,sockets=4"], 129, &["sockets", "twice"]);
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
    refused(&stat(&["--dry-run", "--cost"]), 129, &["--dry-run", "--cost"]);
    refused(&stat(&["-I", "0"]), 129, &["-I"]);
    let top = |rest: &[&'static str]| [&["top", "--machine", "e5-2600"], rest].concat();
    refused(&top(&["-e", "cbo/LLC_VICTIM.M_STATE/"]), 129, &["LLC_VICTIM", "LLC_VICTIMS"]);
    refused(&top(&["--workload", "strem"]), 129, &["strem", "stream"]);
    refused(&top(&["-I", "0"]), 129, &["-I"]);
    refused(&top(&["-n", "0"]), 129, &["--samples"]);
    refused(&top(&["--", "true"]), 129, &["PROGRAM", "--workload"]);
    // On every machine, whether its processor is known or not.
    refused(&["top", "--workload", "stream"], 129, &["--workload", "--machine"]);
    refused(&["stat", "--machine", "e5-2699"], 129, &["e5-2699", "e5-2600"]);
    refused(&["stat", "--machine", "e5-2600:sockets=99"], 129, &["sockets", "99"]);
    refused(&["list", "--machine", "e5-2600:sockets=99"], 129, &["sockets", "99"]);
    refused(&["list", "--machine", "e5-2600", "--unit", "cb"], 129, &["cb", "cbo"]);
    refused(&["stat", "--no-such-option"], 129, &["--no-such-option"]);
    refused(&["stat"], 255, &["--machine"]);
    refused(&stat(&["--workload", SMALL, "-o", "/no/such/folder/out"]), 255, &["/no/such/folder/out"]);
}

/// Help that nobody gets is no success; a reader who has seen enough is no error worth a word.
#[test]
fn help_is_a_result_like_any_other() {
    let help = |script: &str| {
        let mut shell = command("bash");
        shell.args(["-c", script]).output().expect("bash runs")
    };
    let lost = help(r#""$P" stat --help >/dev/full"#);
    assert!(lost.status.code() == Some(255) && stderr(&lost).contains("cannot write"), "{}", stderr(&lost));
    let cut = help(r#""$P" stat --help | head -1; exit ${PIPESTATUS[0]}"#);
    assert!(stdout(&cut).lines().count() == 1 && stderr(&cut).is_empty(), "{}", stderr(&cut));
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
        let is_list = arguments[0] == "list";
        assert!(!is_list || stdout(&output).contains("MEM_BANDWIDTH"), "{command} shows nothing of use");
    }
}

/// A zero of an event that no stage of the model emits is no measurement, nor is a metric of it; one that could have counted is.
#[test]
fn what_is_not_modelled_is_doubted() {
    let rows = |machine: &str, arguments: &[&str]| -> Vec<(String, String)> {
        let given = ["stat", "-j", "--cold", "--workload", "stream:requests=1000", "--machine", machine];
        let said = stderr(&pericore(&[&given[..], arguments].concat()));
        let row = |line: &str| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
            let told = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            (told("validity"), told("concerns"))
        };
        said.lines().map(row).collect()
    };
    let silent = rows("e5-2600", &["-e", "cbo/RxR_INT_STARVED.IRQ/,cbo/LLC_VICTIMS.M_STATE/"]);
    assert!(silent[0].0 == "suspect" && silent[0].1.contains("not modelled"), "{silent:?}");
    assert_eq!(silent[1].0, "measured");
    let metric = rows("e5-2600", &["-M", "PCT_INGRESS_STARVED"]);
    assert!(metric[0].0 == "suspect" && metric[0].1.contains("not modelled"), "{metric:?}");
    // The message class is in the event, the opcode in a filter beside it; nothing has to cross the link for it to be known.
    let filtered = "upi/TxL_BASIC_HDR_MATCH.RSP_DATA_OPC,opc=1/,cha/TOR_INSERTS.IA_MISS_DRD/,m2m/WPQ_FLUSH.CH0/";
    let mixed: Vec<String> =
        rows("emerald-rapids:sockets=2", &["-e", filtered]).into_iter().map(|(validity, _)| validity).collect();
    assert_eq!(mixed, ["measured", "measured", "suspect"]);
    // Free-running counters, too: the model has the clock of a stack, but says nothing of what goes through its ports there.
    let free: Vec<String> =
        rows("emerald-rapids", &["-e", "iio/FRCTR_IOCLK/,iio/FRCTR_BW_IN_P0/,imc/FRCTR_RPQ_ACTIVE/"])
            .into_iter()
            .map(|(validity, _)| validity)
            .collect();
    assert_eq!(free, ["measured", "suspect", "suspect"]);
}

/// A register is found by the address that the documents print for it, too: Table 2-8 has C3_MSR_PMON_CTL1 at MSR 0xD71, Table 2-59
/// MC_CH0's control 0 at 0xD8 of device 16, function 0.
#[test]
fn a_register_is_peeked_and_poked_by_its_address() {
    let peek = |machine: &str, address: &str| stdout(&pericore(&["machine", "peek", "--machine", machine, address]));
    for address in ["0xd71", "msr:0xd71", "0/0xd71"] {
        assert!(peek("e5-2600", address).starts_with("0/cbo3/ctl1 "), "{address}");
    }
    let two = "e5-2600:sockets=2";
    assert_eq!(peek(two, "0xd71").lines().count(), 2, "one of each socket");
    assert!(peek(two, "1/0xd71").starts_with("1/cbo3/ctl1 "));
    for (address, names) in [
        ("pci:10.0+0xd8", &["0/imc0/ctl0", "1/imc0/ctl0"][..]),
        ("D16:F0+0xd8", &["0/imc0/ctl0", "1/imc0/ctl0"]),
        ("0000:ff:10.0+0xd8", &["1/imc0/ctl0"]),
        ("7f:10.0+0xd8", &["0/imc0/ctl0"]),
        ("D8:F2+0xd8", &["0/qpi0/ctl0", "1/qpi0/ctl0"]),
    ] {
        let shown = peek(two, address);
        let named: Vec<&str> = shown.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(named, names, "{address}");
    }
    // Table 1-12's control 0 of the first channel of each of four controllers.
    assert!(peek("emerald-rapids", "mmio:mem0+0x22840").starts_with("0/imc0/ctl0 "));
    assert_eq!(peek("emerald-rapids", "mmio:0x22840").lines().count(), 4);
    let written = stdout(&pericore(&["machine", "poke", "--machine", "e5-2600", "0xd71=0x400137"]));
    assert!(written.contains("block 0/cbo3") && written.contains("ctl1 = 0x400137"), "{written}");
    // Inside a register, between registers, on a bus that there is not.
    for address in ["pci:10.0+0xda", "0xd1f", "33:10.0+0xd8", "9/0xd71"] {
        refused(&["machine", "peek", "--machine", "e5-2600", address], 129, &["no register", "list --registers"]);
    }
}

/// A machine's registers by name, and its snapshot there and back.
#[test]
fn a_machine_is_poked_dumped_loaded_and_peeked() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("snapshot");
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
}

/// Ctrl-C ends the measurement, prints what was counted, and the program dies of the signal.
#[test]
fn interrupted_it_prints_what_was_counted() {
    let mut child = command(PERICORE)
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
    let script = r#""$P" list --json | head -n 1 >/dev/null; exit ${PIPESTATUS[0]}"#;
    let mut shell = command("bash");
    let output = shell.args(["-c", script]).output().expect("bash runs");
    // It was cut off, or the list would fit a pipe: what a shell has for a program that SIGPIPE ended.
    assert_eq!(output.status.code(), Some(141));
    assert!(stderr(&output).is_empty(), "{}", stderr(&output));
}

#[test]
fn completions_and_man_pages_come_from_the_command_line() {
    for shell in ["bash", "zsh", "fish"] {
        let text = stdout(&pericore(&["completions", shell]));
        assert!(text.contains("pericore") && text.contains("why-not"), "{shell}: {text}");
    }
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().join("man");
    let written = pericore(&["completions", "--man", folder.to_str().expect("UTF-8")]);
    assert!(written.status.success(), "{}", stderr(&written));
    for (page, part) in [
        ("pericore.1", "pericore\\-stat"),
        ("pericore-stat.1", "per\\-socket"),
        ("pericore-top.1", "per\\-unit"),
        ("pericore-explain.1", "why\\-not"),
    ] {
        let text = std::fs::read_to_string(folder.join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.contains(part), "{page}: {text}");
    }
    refused(&["completions"], 129, &["SHELL"]);
}
