//! Signals that would end a program at once: they end the measurement, and every register holds again what it held
//! before. The numbers are those of signal(7) for x86.

use pericore_doors::Outcome;

use super::writes;
use crate::live::rig::{Rig, msr, require};
use crate::live::script;

/// HUP INT QUIT TRAP ABRT USR1 USR2 ALRM TERM STKFLT XCPU VTALRM PROF IO PWR SYS, and the first and last of real time.
const SIGNALS: &str = "1 2 3 5 6 10 12 14 15 16 24 26 27 29 30 31 34 64";

/// Of CBo 0 the control 0, the filter and the unit control (Table 2-6): what another tool has left there, without a
/// counter that runs.
const BEFORE: &str = "334 7c0000 10000";

/// A function that prints these registers, and one that waits until control 0 holds something else.
const REGISTERS: &str = r#"
ulimit -c 0; wrmsr -p 0 0xd10 0x334; wrmsr -p 0 0xd14 0x7c0000; wrmsr -p 0 0xd04 0x10000
registers() { echo $(rdmsr -p 0 0xd10) $(rdmsr -p 0 0xd14) $(rdmsr -p 0 0xd04); }
until_it_counts() { until [ "$(rdmsr -p 0 0xd10)" != 334 ]; do kill -0 $1 || exit 9; sleep 0.01; done; }
"#;

/// Sends each signal to a command that counts, and expects the registers to be as before and the signal to take its
/// course. What this process ignores (as under `nohup`) the command does not.
fn every_signal_puts_back(command: &str) {
    require("rdmsr", "msr-tools");
    let line = format!(
        r#"{REGISTERS} for signal in {SIGNALS}; do
            env --default-signal "$P" {command} -e cbo0/TOR_OCCUPANCY.OPCODE,opc=DRd/ \
                >"$XDG_STATE_HOME.said" 2>&1 & pid=$!
            until_it_counts $pid; kill -$signal $pid; wait $pid
            echo $signal ended by $(($? - 128)): $(registers); tail -n 2 "$XDG_STATE_HOME.said" >&2; done
        rm -f "$XDG_STATE_HOME".*"#
    );
    let (run, left) = script(&Rig::default(), &line);
    let expected: Vec<String> =
        SIGNALS.split(' ').map(|signal| format!("{signal} ended by {signal}: {BEFORE}")).collect();
    assert_eq!(run.stdout.lines().collect::<Vec<_>>(), expected, "{}", run.stderr);
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn every_signal_to_stat_puts_back() {
    every_signal_puts_back("stat");
}

#[test]
fn every_signal_to_record_puts_back() {
    every_signal_puts_back(r#"record -I 20 -o "$XDG_STATE_HOME.rec""#);
}

#[test]
fn every_signal_to_serve_puts_back() {
    every_signal_puts_back(r#"serve -I 20 --listen "unix:$XDG_STATE_HOME.socket""#);
}

#[test]
fn every_signal_to_top_puts_back() {
    every_signal_puts_back("top -b -I 20");
}

/// The limit of a file's size is an error of the write that reaches it: the run fails in order. The limit, 4 KiB, is
/// more than the journals and less than the recording.
#[test]
fn a_limit_on_the_size_of_files_is_an_error_of_the_write() {
    let line = format!(
        r#"{REGISTERS} ulimit -f 8
        "$P" record -I 1 -o "$XDG_STATE_HOME.rec" -e cbo0/TOR_OCCUPANCY.OPCODE,opc=DRd/ -- sleep 1000
        echo status $?: $(registers); rm -f "$XDG_STATE_HOME".*"#
    );
    let (run, left) = script(&Rig::default(), &line);
    assert_eq!(run.stdout, format!("status 255: {BEFORE}\n"), "{}", run.stderr);
    assert!(run.stderr.contains("File too large") && run.stderr.contains("raise it (ulimit -f)"), "{}", run.stderr);
    assert!(left.is_empty(), "{left:?}");
}

/// A program that this one starts ends at that limit, and at other signals, as without us.
#[test]
fn the_program_has_the_usual_signals() {
    let look = "grep -E '^Sig(Ign|Blk)' /proc/self/status";
    let line = format!(r#"{look}; "$P" stat -e cbo0/CLOCKTICKS/ -- {look}"#);
    let (run, _) = script(&Rig::default(), &line);
    // Signals 32 and 33 are the C library's own, which ignores them in what it starts.
    let sets = run.stdout.lines().filter_map(|line| u64::from_str_radix(line.split_once('\t')?.1, 16).ok());
    let sets: Vec<u64> = sets.map(|set| set & !(0b11 << 31)).collect();
    assert!(run.outcome == Outcome::Exited(0) && sets.len() == 4, "{}{}", run.stdout, run.stderr);
    assert_eq!(sets[..2], sets[2..]);
}

/// A signal to `restore` takes its course when all is put back. Nothing is written if it comes before that.
#[test]
fn a_signal_to_restore_leaves_no_register_half_way() {
    let line = format!(
        r#"{REGISTERS}
        "$P" stat -e cbo0/TOR_OCCUPANCY.OPCODE,opc=DRd/ -o /dev/null & pid=$!; until_it_counts $pid
        kill_both $pid; wait $pid
        "$P" restore & pid=$!; sleep 0.0$(($$ % 9)); kill -USR1 $pid; wait $pid; "$P" restore >/dev/null; registers"#
    );
    let (run, left) = script(&Rig::default(), &line);
    assert!(run.stdout.ends_with(&format!("{BEFORE}\n")), "{}{}", run.stdout, run.stderr);
    let controls = writes(&run).into_iter().filter(|access| msr(0xd10)(access)).count();
    assert!(left.is_empty() && controls >= 3, "{left:?}");
}
