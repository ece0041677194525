//! `pericore machine curve`.

use serde_json::Value;

use crate::ours::{PERICORE, pericore};

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
        (&["--machine", "x5570", "--read", "101"], "give 50 to 100"),
        (&["--read", "101", "--cores"], "give 50 to 100"),
        (&["--machine", "x5571"], "did you mean x5570?"),
    ] {
        let output = pericore(&[&["machine", "curve"], arguments].concat());
        assert_eq!(output.status.code(), Some(129), "{arguments:?}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(words), "{arguments:?}: {message}");
    }
}

/// The lines of JSON that a curve prints.
fn lines(arguments: &[&str]) -> Vec<Value> {
    let output = pericore(&[&["machine", "curve", "--json"], arguments].concat());
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// An X5570: 4 cycles of 2.93 GHz in the L1, some 38 to the LLC of 8 MiB, 60 ns to memory (Levinthal's guide).
#[test]
fn latency_rises_with_the_footprint() {
    let lines = lines(&["--machine", "x5570", "--footprints"]);
    let number = |line: &Value, key: &str| line[key].as_f64().unwrap_or_else(|| panic!("{key} in {line}"));
    let sizes: Vec<f64> = lines.iter().map(|line| number(line, "footprint_bytes")).collect();
    assert!(sizes.is_sorted() && sizes[0] == 16384.0 && sizes.last() >= Some(&(32.0 * 1024.0 * 1024.0)), "{sizes:?}");
    // Eight in the doubling in which 8 MiB of LLC become full, two in one far below.
    let within = |least: f64| sizes.iter().filter(|&&size| (least..2.0 * least).contains(&size)).count();
    assert_eq!((within(5.9e6), within(131_072.0)), (8, 2), "{sizes:?}");
    let at = |bytes: f64| lines.iter().rfind(|line| number(line, "footprint_bytes") <= bytes).expect("a line");
    let (first, cached, beyond) = (&lines[0], at(4e6), lines.last().expect("lines"));
    assert!((1.0..2.0).contains(&number(first, "latency_ns")), "{first}");
    assert!((10.0..20.0).contains(&number(cached, "latency_ns")), "{cached}");
    assert!((45.0..65.0).contains(&number(beyond, "latency_ns")), "{beyond}");
    assert_eq!(number(first, "from_memory_pct"), 0.0);
    // A quarter of what is loaded is in the caches.
    assert!((70.0..85.0).contains(&number(beyond, "from_memory_pct")), "{beyond}");
}

/// Silicon (docs/silicon/e5-2680-by-cores.csv): one core loads 12.3 GB/s, eight 44 or so of 51.2.
#[test]
fn bandwidth_by_cores_grows_to_the_channels() {
    let lines = lines(&["--machine", "e5-2680", "--cores"]);
    let cores: Vec<u64> = lines.iter().filter_map(|line| line["cores"].as_u64()).collect();
    assert_eq!(cores, [1, 2, 3, 4, 6, 8]);
    let bandwidths: Vec<f64> = lines.iter().filter_map(|line| line["bandwidth_gb_s"].as_f64()).collect();
    assert!((11.0..14.0).contains(&bandwidths[0]) && (40.0..51.2).contains(&bandwidths[5]), "{bandwidths:?}");
    assert!(bandwidths.windows(2).all(|pair| pair[1] > 0.97 * pair[0]), "{bandwidths:?}");
    assert!(lines.iter().all(|line| line["measured_read_pct"] == 100.0), "{lines:?}");
    // Three reads in four transfers: the cores store to one line in three.
    let mixed = self::lines(&["--machine", "x5570", "--cores", "--read", "75"]);
    let shares: Vec<f64> = mixed.iter().filter_map(|line| line["measured_read_pct"].as_f64()).collect();
    assert!(shares.len() == 4 && shares.iter().all(|share| (72.0..78.0).contains(share)), "{shares:?}");
}

#[test]
fn footprints_and_cores_are_for_people_too() {
    for (option, words) in
        [("--footprints", ["16 KiB", "pages of 4 KiB", "from memory %"]), ("--cores", ["36 MiB", "cores", "GB/s"])]
    {
        let output = pericore(&["machine", "curve", "--machine", "x5570", option]);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(
            words.iter().all(|words| text.contains(words)) && text.contains("EMULATED x5570, local memory"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    for (arguments, words) in [
        (&["--footprints", "--cores"][..], "cannot be used with"),
        (&["--pages", "2M"], "--footprints"),
        (&["--footprints", "--read", "70"], "cannot be used with"),
        (&["--footprints", "--memory", "cxl"], "no CXL memory"),
    ] {
        let output = pericore(&[&["machine", "curve", "--machine", "x5570"], arguments].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && message.contains(words), "{arguments:?}: {message}");
    }
}

/// Threads of our own on whatever machine this is: it has one curve of one point, or of thirteen where there are cores
/// that can load memory while another follows pointers.
#[test]
fn without_a_machine_this_one_is_measured() {
    let number = |line: &Value, key: &str| line[key].as_f64().unwrap_or_else(|| panic!("{key} in {line}"));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let curve = lines(&["--window", "20", "--read", "75"]);
    assert_eq!(curve.len() == 13, cores > 1, "{curve:?}");
    for line in &curve {
        assert!(number(line, "latency_ns") > 0.0 && number(line, "bandwidth_gb_s") > 0.0, "{line}");
    }
    // The pointers alone are read; of three accesses of the others one is a store, with a read and a write.
    assert_eq!(number(&curve[0], "measured_read_pct"), 100.0);
    assert!(curve[1..].iter().all(|line| (74.0..99.0).contains(&number(line, "measured_read_pct"))), "{curve:?}");
    let cores = lines(&["--window", "20", "--cores"]);
    assert!(
        !cores.is_empty() && cores[0]["cores"] == 1 && cores.iter().all(|line| number(line, "bandwidth_gb_s") > 0.0)
    );
    let footprints = lines(&["--window", "10", "--footprints"]);
    assert!(footprints.len() > 20 && footprints[0]["footprint_bytes"] == 16384, "{footprints:?}");
    // A window in which a busy host ran nothing of ours has no latency.
    let known: Vec<f64> = footprints.iter().filter_map(|line| line["latency_ns"].as_f64()).collect();
    assert!(known.len() * 4 > footprints.len() * 3 && known.iter().all(|&latency| latency > 0.0), "{footprints:?}");
    let output = pericore(&["machine", "curve", "--memory", "cxl"]);
    assert_eq!(output.status.code(), Some(129), "{output:?}");
}

/// The uncore's view beside that of our own threads: of a software machine, whose counters count what is injected
/// whatever our threads do, a million lines a second in each of four channels.
#[test]
fn the_uncores_view_is_beside_that_of_our_threads() {
    let run = ["machine", "run", "--machine", "e5-2600", "--inject", "imc/CAS_COUNT.RD_REG=1000000", "--"];
    let curve = [PERICORE, "machine", "curve", "--json", "--window", "100", "--cores"];
    let first_line = || -> Value {
        let output = pericore(&[&run[..], &curve].concat());
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_str(text.lines().next().expect("a line")).expect("JSON")
    };
    // On a busy host a sample may be in doubt, and then there is no such view; not always, though.
    let lines: Vec<Value> = std::iter::repeat_with(first_line).take(5).collect();
    assert!(lines.iter().any(|line| line["uncore_gb_s"].as_f64().is_some_and(|uncore| uncore > 0.0)), "{lines:?}");
    assert!(lines.iter().all(|line| line["emulated"] == "e5-2680"), "{lines:?}");
}
