//! Programs whose lines at memory are worked out by hand, within 3 %, and whose times follow from what silicon moves
//! (`docs/silicon/e5-2680-by-cores.csv`), within 25 %. All on a Xeon E5-2680: 20 MB of LLC, which also has what is in
//! the L2s.

use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;

use crate::ours::PERICORE;

const LINE: f64 = 64.0;
/// Lines of the LLC.
const LLC: f64 = 20.0 * 16_384.0;
/// Lines of a MiB.
const MIB: f64 = 16_384.0;

static PROGRAMS: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["kernels", "chain"] {
        let source = format!("{}/../../tests/programs/{name}.c", env!("CARGO_MANIFEST_DIR"));
        let compiled =
            Command::new("cc").args(["-O2", "-pthread", "-o"]).arg(folder.path().join(name)).arg(source).status();
        assert!(compiled.expect("cc runs").success(), "{name}");
    }
    folder
});

/// What a program did: lines that memory read and was written, and seconds of virtual time.
#[derive(Debug, Clone, Copy)]
struct Ran {
    reads: f64,
    writes: f64,
    seconds: f64,
}

fn run_on(machine: &str, program: &str, options: &[&str]) -> Ran {
    let mut words = program.split(' ');
    let path = PROGRAMS.path().join(words.next().expect("a program"));
    let events = ["-j", "-e", "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/", "--"];
    let mut command = crate::ours::command(PERICORE);
    command.args(["stat", "--machine", machine]).args(options).args(events).arg(path).args(words);
    let output = command.output().expect("it starts");
    let printed = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{program}: {printed}");
    let rows = printed.lines().filter(|line| line.starts_with('{'));
    let rows: Vec<serde_json::Value> = rows.map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let [reads, writes] =
        [0, 1].map(|row| rows[row]["counter-value"].as_str().expect("a count").parse().expect("a number"));
    let seconds = rows[0]["event-runtime"].as_f64().expect("a time") / 1e9;
    Ran { reads, writes, seconds }
}

/// A program on an E5-2680, without what each program does before and after.
fn run(program: &str) -> Ran {
    static NOTHING: LazyLock<Ran> = LazyLock::new(|| run_on("e5-2680", "kernels nothing", &[]));
    let Ran { reads, writes, seconds } = run_on("e5-2680", program, &[]);
    Ran { reads: reads - NOTHING.reads, writes: writes - NOTHING.writes, seconds: seconds - NOTHING.seconds }
}

/// Within 3 % of all lines that a program moves.
#[track_caller]
fn lines(what: &str, ran: Ran, reads: f64, writes: f64) {
    let all = reads + writes;
    println!("{what}: {ran:?}, by hand {reads} and {writes}");
    for (side, counted, expected) in [("reads", ran.reads, reads), ("writes", ran.writes, writes)] {
        let error = (counted - expected) / all;
        assert!(error.abs() <= 0.03, "{what}: {counted} {side}, by hand {expected}: {error:+.3} of all lines");
    }
}

/// Its lines at so many GB/s, within 25 %.
#[track_caller]
fn takes(what: &str, ran: Ran, gb_s: f64) {
    let expected = (ran.reads + ran.writes) * LINE / (gb_s * 1e9);
    let error = ran.seconds / expected - 1.0;
    println!("{what}: {:.3e} s, {gb_s} GB/s would take {expected:.3e} s, {error:+.2}", ran.seconds);
    assert!(error.abs() <= 0.25, "{what}: {:.3e} s, expected {expected:.3e} s", ran.seconds);
}

/// A line that is stored to is read first. What was written last is still in the LLC. Silicon: `update` of one core
/// moves 17.40 GB/s, half of it reads.
#[track_caller]
fn writes_a_block(mib: f64) {
    let ran = run(&format!("kernels write {}", mib as u64 * 1_048_576));
    lines("write", ran, mib * MIB, mib * MIB - LLC);
    takes("write", ran, 17.40);
}

/// Streaming stores read nothing, and each line is written once.
#[track_caller]
fn streams_a_block(mib: f64) {
    let ran = run(&format!("kernels stream {}", mib as u64 * 1_048_576));
    lines("stream", ran, 0.0, mib * MIB);
    // Four channels of DDR3-1600, of which writes alone reach no more than nine tenths.
    let rate = ran.writes * LINE / ran.seconds / 1e9;
    assert!((4.0..0.9 * 51.2).contains(&rate), "{rate} GB/s");
}

/// A string instruction gets lines without their data (Intel's optimization manual: REP STOS of whole lines does not
/// read for ownership), and writes what the LLC has no room for.
#[track_caller]
fn clears_a_block(mib: f64) {
    let ran = run(&format!("kernels clear {}", mib as u64 * 1_048_576));
    lines("clear", ran, 0.0, mib * MIB - LLC);
}

/// Two arrays are read, the third is read and written; the last 20 MB are in the LLC, a third of them written. Silicon:
/// four cores' triad of likwid-bench asks for 30.73 GB/s, and a line in four of it is read before it is written.
#[track_caller]
fn adds_two_arrays(mib: f64) {
    let ran = run(&format!("kernels triad 4 {}", mib as u64 * 1_048_576));
    lines("triad", ran, 3.0 * mib * MIB, mib * MIB - LLC / 3.0);
    takes("triad", ran, 30.73 * 5.0 / 4.0);
}

/// Three matrices that the LLC has room for come once, and go nowhere.
#[track_caller]
fn multiplies(n: f64) {
    let ran = run(&format!("kernels matrix {}", n as u64));
    lines("matrix", ran, 3.0 * n * n * 8.0 / LINE, 0.0);
}

/// So does what is sorted.
#[track_caller]
fn sorts(mib: f64) {
    let ran = run(&format!("kernels quicksort {}", (mib * 131_072.0) as u64));
    lines("quicksort", ran, mib * MIB, 0.0);
}

#[test]
fn lines_and_times_are_those_of_the_hand_calculation() {
    writes_a_block(64.0);
    streams_a_block(64.0);
    clears_a_block(64.0);
    adds_two_arrays(32.0);
    multiplies(256.0);
    sorts(8.0);
}

#[test]
#[ignore = "minutes: blocks of 256 MB"]
fn lines_and_times_of_large_programs_are_those_of_the_hand_calculation() {
    writes_a_block(256.0);
    streams_a_block(256.0);
    clears_a_block(256.0);
    adds_two_arrays(128.0);
    multiplies(512.0);
    sorts(16.0);
}

/// 1 MiB has 16,384 lines: each is one ItoM (guide, table 2-13) and one completion of the home agent, and what little
/// the C library clears besides. Counters and the model's own figures agree on all that such a request does.
#[test]
fn what_is_overwritten_counts_as_what_it_is() {
    let events =
        ["cbo/TOR_INSERTS.OPCODE,opc=ItoM/", "ha/TxR_AK_NDR/", "ha/TRACKER_INSERTS.ALL/", "cbo/TxR_INSERTS.AK_CACHE/"];
    let program = PROGRAMS.path().join("kernels");
    let mut command = crate::ours::command(PERICORE);
    command.args(["stat", "--truth", "--machine", "e5-2680", "-j"]);
    events.iter().for_each(|event| _ = command.args(["-e", event]));
    let output = command.arg("--").arg(program).args(["clear", "1048576"]).output().expect("it starts");
    let printed = String::from_utf8(output.stderr).expect("UTF-8");
    let rows = printed.lines().filter(|line| line.starts_with('{'));
    let rows: Vec<serde_json::Value> = rows.map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let count = |row: &serde_json::Value| row["counter-value"].as_str().and_then(|count| count.parse::<f64>().ok());
    assert_eq!(rows.len(), events.len(), "{printed}");
    for row in &rows {
        assert!(count(row).is_some() && row["truth"].as_f64() == count(row), "{row}");
    }
    assert!((16_384.0..16_550.0).contains(&count(&rows[0]).unwrap_or(0.0)), "{}", rows[0]);
    assert!(count(&rows[1]) >= count(&rows[0]), "{} {}", rows[1], rows[0]);
}

/// What a hop of a chase through memory takes, by the difference of two passes and one, is what the curve has for an
/// unloaded machine; and it reads a line for each hop, but for those that the LLC kept.
#[test]
fn a_chase_takes_what_the_curve_begins_with() {
    const HOPS: f64 = 1_048_576.0;
    let [once, twice] = ["1", "2"].map(|passes| {
        run_on("e5-2680", &format!("chain follow {HOPS} {passes}"), &["--core", "prefetch=off,pages=2M"])
    });
    let output = crate::ours::pericore(&["machine", "curve", "--machine", "e5-2680", "--json"]);
    let first = String::from_utf8(output.stdout).expect("UTF-8").lines().next().map(str::to_owned);
    let first: serde_json::Value = serde_json::from_str(&first.expect("a point")).expect("JSON");
    let unloaded = first["latency_ns"].as_f64().expect("a latency");
    let (lines, hop) = (twice.reads - once.reads, (twice.seconds - once.seconds) * 1e9 / HOPS);
    // 64 MB: at most a third of the lines are in 20 MB of LLC.
    assert!((HOPS - LLC..=HOPS * 1.03).contains(&lines), "{lines} lines");
    // A hop to a line that the LLC has takes 30 cycles of 2.7 GHz.
    let expected = (lines * unloaded + (HOPS - lines).max(0.0) * 11.1) / HOPS;
    println!("{lines} lines, a hop {hop:.1} ns, expected {expected:.1} ns");
    assert!((hop / expected - 1.0).abs() <= 0.25, "{hop:.1} ns a hop, expected {expected:.1} ns");
}
