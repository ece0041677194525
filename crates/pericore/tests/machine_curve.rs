//! `pericore machine curve`.

use serde_json::Value;

use crate::ours::pericore;

#[test]
fn a_point_is_a_line_of_json_and_the_first_is_the_unloaded_machine() {
    let output = pericore(&["machine", "curve", "--machine", "x5570", "--read", "75", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let number = |line: &Value, key: &str| line[key].as_f64().unwrap_or_else(|| panic!("{key} in {line}"));
    assert_eq!(lines.len(), 13);
    assert!(lines.iter().all(|line| line["read_pct"] == 75));
    // A chase alone: a line of 64 bytes each 60 ns or so, of the 32 GB/s of three channels of DDR3-1333.
    assert!((0.9..1.2).contains(&number(&lines[0], "bandwidth_gb_s")), "{text}");
    assert!((55.0..65.0).contains(&number(&lines[0], "latency_ns")), "{text}");
    // The load rises; at the limit more of it may bring a little less, as on silicon.
    let bandwidths: Vec<f64> = lines.iter().map(|line| number(line, "bandwidth_gb_s")).collect();
    assert!(bandwidths[..10].windows(2).all(|pair| pair[0] < pair[1]), "{text}");
    assert!(bandwidths.windows(2).all(|pair| pair[1] > 0.95 * pair[0]), "{text}");
}

#[test]
fn a_plot_for_people_and_a_message_for_what_cannot_be() {
    let output = pericore(&["machine", "curve", "--machine", "x5570"]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    for words in
        ["EMULATED x5570, local memory, 100 % reads: 4 threads on socket 0", "36 MiB", "latency ns", "GB/s\n", "*"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for (arguments, words) in [
        (&["--machine", "x5570", "--memory", "remote"][..], "sockets=2"),
        (&["--machine", "x5570", "--memory", "cxl"], "no CXL memory"),
        (&["--machine", "x5570", "--read", "40"], "give 50 to 100"),
        (&["--machine", "x5571"], "did you mean x5570?"),
    ] {
        let output = pericore(&[&["machine", "curve"], arguments].concat());
        assert_eq!(output.status.code(), Some(129), "{arguments:?}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(words), "{arguments:?}: {message}");
    }
}
