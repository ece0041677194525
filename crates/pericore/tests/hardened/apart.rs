//! The process that holds the registers, and the ones that do not.

use super::writes;
use crate::live::rig::{Rig, msr, require};
use crate::live::script;

/// Starts a session, and waits until control 0 of CBo 0 counts; `$held` is the register process.
const STARTED: &str = r#"
wrmsr -p 0 0xd10 0x334
started() {
    until [ "$(rdmsr -p 0 0xd10)" != 334 ]; do kill -0 $1 || exit 9; sleep 0.01; done
    held=$(cat /proc/$1/task/*/children); }
"#;

/// Who measures is killed: the other process puts back, and removes the journal.
#[test]
fn a_killed_run_is_put_back_by_the_register_process() {
    require("rdmsr", "msr-tools");
    let line = format!(
        r#"{STARTED} for round in 1 2 3; do
            "$P" stat -e cbo0/TOR_OCCUPANCY.OPCODE,opc=DRd/,imc/CAS_COUNT.RD/ -o /dev/null & pid=$!; started $pid
            kill -9 $pid; wait $pid
            tries=0; while kill -0 $held 2>/dev/null && [ $tries -lt 1000 ]; do sleep 0.01; tries=$((tries + 1)); done
            echo $(rdmsr -p 0 0xd10) $(rdmsr -p 0 0xd14); done
        "$P" restore"#
    );
    let (run, left) = script(&Rig::default(), &line);
    assert_eq!(run.stdout, "334 0\n".repeat(3) + "no session left anything to restore\n", "{}{left:?}", run.stderr);
    assert_eq!(run.stderr.matches("registers hold their old values again").count(), 3, "{}", run.stderr);
    assert!(left.is_empty(), "{left:?}");
}

/// The register process is killed: the run fails and says so, its journal stays, and `restore` puts back.
#[test]
fn a_run_without_its_registers_fails_and_leaves_its_journal() {
    require("rdmsr", "msr-tools");
    let line = format!(
        r#"{STARTED}
        "$P" stat -I 50 -e cbo0/TOR_OCCUPANCY.OPCODE,opc=DRd/ -o /dev/null & pid=$!; started $pid
        kill -9 $held; sleep 0.2; kill -TERM $pid; wait $pid; echo status $?
        "$P" restore; echo restored $(rdmsr -p 0 0xd10)"#
    );
    let (run, left) = script(&Rig::default(), &line);
    assert!(!run.stdout.contains("status 0\n"), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("restored 3 registers and removed the journal"), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.ends_with("restored 334\n") && left.is_empty(), "{}{left:?}", run.stdout);
    assert!(run.stderr.contains("the process that holds the registers is gone"), "{}", run.stderr);
}

/// A program that ends after a time, and what its processes have open and may do: seccomp's mode 2 is a filter
/// (proc(5)), and register files are open in the register process alone. Each thread of the measuring process has a
/// filter, as those of the server.
#[test]
fn only_the_register_process_holds_registers_and_all_are_confined() {
    require("rdmsr", "msr-tools");
    let line = format!(
        r#"{STARTED}
        confined() {{ ! cat /proc/$pid/task/*/status /proc/$held/task/*/status | grep '^Seccomp:' | grep -qv 2; }}
        look() {{ for process in $pid $held; do
                echo "files $(ls -l /proc/$process/fd | grep -c -E '/dev/cpu|/dev/mem|/bus/pci|config$')"
                grep -h -E '^(Seccomp|NoNewPrivs):' /proc/$process/task/*/status | sort -u; done; }}
        for command in 'stat -I 1000 -o /dev/null' "serve -I 1000 --listen unix:$XDG_STATE_HOME.socket"; do
            "$P" $command -e cbo0/TOR_OCCUPANCY.OPCODE,opc=DRd/,imc0/CAS_COUNT.RD/ 2>>"$XDG_STATE_HOME.said" & pid=$!
            started $pid; for try in $(seq 100); do confined && break; sleep 0.1; done
            look; kill -TERM $pid; wait $pid; done
        cat "$XDG_STATE_HOME.said"; rm -f "$XDG_STATE_HOME.said""#
    );
    let (run, left) = script(&Rig::default(), &line);
    assert!(left.is_empty(), "{left:?}");
    if run.stdout.contains("does not confine threads") {
        eprintln!("SKIPPED: what this kernel does not confine: {}", run.stdout);
        return;
    }
    let measuring = "files 0\nNoNewPrivs:\t1\nSeccomp:\t2\n";
    let mut looks = run.stdout.as_str();
    for command in ["stat", "serve"] {
        looks = looks.strip_prefix(measuring).unwrap_or_else(|| panic!("{command}: {looks}{}", run.stderr));
        let (files, rest) = looks.split_once('\n').expect("lines");
        let files: u32 = files.strip_prefix("files ").expect("a number").parse().expect("a number");
        assert!(files >= 2, "an MSR file and a function: {files}");
        looks = rest.strip_prefix("NoNewPrivs:\t1\nSeccomp:\t2\n").unwrap_or_else(|| panic!("{command}: {rest}"));
    }
    assert!(writes(&run).iter().any(|access| msr(0xd10)(access)));
}

/// `doctor` and its bundle: discovery, discovery tables and all registers of units are read, and nothing is written, by
/// the register process. The process that reads journals and writes the bundle reaches no register.
#[test]
fn doctor_reaches_no_register_itself() {
    for family in ["e5-2600", "emerald-rapids"] {
        let rig = Rig { family, ..Rig::default() };
        let text = r#""$P" doctor --bundle "$XDG_STATE_HOME.bundle" & pid=$!; wait $pid; echo "status $?, thread $pid."
            "$P" doctor --machine "$XDG_STATE_HOME.bundle"; echo "status $?"; rm "$XDG_STATE_HOME.bundle""#;
        let (run, left) = script(&rig, text);
        assert!(left.is_empty(), "{family}: {left:?}");
        let (main, _) =
            run.stdout.split_once("status 0, ").and_then(|(_, rest)| rest.split_once('.')).expect("its end");
        assert!(run.stdout.ends_with("status 0\n"), "{family}: {}{}", run.stdout, run.stderr);
        let accesses: Vec<&str> = run.text.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(accesses.len() > 200, "{family}: {} accesses", accesses.len());
        // Whether configuration space can be read behind a function's header is seen by trying.
        let of_main =
            accesses.iter().filter(|line| line.ends_with(&format!("; {main}")) && !line.contains("+0x40.4 -> "));
        assert_eq!(of_main.count(), 0, "{family}: {main}");
        assert!(writes(&run).is_empty(), "{family}");
    }
}
