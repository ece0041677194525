//! The event whose umask is a number of entries: cycles in which a buffer holds more than that.

use crate::ours::{PERICORE, command};

/// What events count, in their order, of the same run each time.
fn counts(events: &[String]) -> Vec<u64> {
    let mut program = command(PERICORE);
    program.args(["stat", "--cold", "--machine", "emerald-rapids", "-x,"]);
    program.args(["--workload", "random:requests=20000,threads=64,footprint=1G"]);
    events.iter().for_each(|event| _ = program.args(["-e", event]));
    let output = program.output().expect("it starts");
    let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
    assert!(output.status.success(), "{text}");
    let first = |line: &str| line.split(',').next().and_then(|count| count.parse().ok());
    text.lines().map(|line| first(line).unwrap_or_else(|| panic!("{line}"))).collect()
}

/// A buffer with n entries holds more than 0, 1, … n - 1: the cycles of each number add up to its occupancy.
#[test]
fn cycles_with_more_than_each_number_add_up_to_the_occupancy() {
    // imc, RDB_FULL: code 0x19 (Intel's event file), with 0 to 23 in the umask; four counters at a time.
    let of = |most: u64| format!("imc/event=0x19,umask={most:#x}/");
    let numbers: Vec<u64> = (0..24).collect();
    let cycles: Vec<u64> =
        numbers.chunks(4).flat_map(|four| counts(&four.iter().map(|&most| of(most)).collect::<Vec<_>>())).collect();
    let [occupancy, some] = counts(&["imc/RDB_OCCUPANCY/", "imc/RDB_NOT_EMPTY/"].map(str::to_owned))[..] else {
        panic!("two events");
    };
    assert_eq!((cycles.iter().sum::<u64>(), cycles[0]), (occupancy, some));
    assert!(cycles.is_sorted_by(|few, more| few >= more) && cycles[3] > 0, "{cycles:?}");
    assert_eq!(cycles[23], 0, "{cycles:?}");
}

/// With a number in its umask the event has a figure of the model's as well, of the same number.
#[test]
fn the_model_has_a_figure_for_each_number() {
    let mut program = command(PERICORE);
    program.args(["stat", "--cold", "--truth", "--machine", "emerald-rapids", "-j"]);
    program.args(["--workload", "random:requests=20000"]);
    program.args(["-e", "imc/event=0x19,umask=8/"]);
    let output = program.output().expect("it starts");
    let row: serde_json::Value = serde_json::from_slice(&output.stderr).expect("one line of JSON");
    let count: f64 = row["counter-value"].as_str().and_then(|count| count.parse().ok()).expect("a count");
    assert!(count > 0.0 && row["truth"].as_f64() == Some(count), "{row}");
}
