//! What `stat` prints of software machines, against what such hardware can do at the most, and against itself at
//! another load. Limits are worked out by hand from data sheets (see `parts`), never from the models.
//!
//! The gate looks at a few series, drawn by a seed; all of them (more than 300 measurements) with
//! `cargo test -p pericore --test all -- --ignored plausible`.

mod laws;
mod parts;
mod zeros;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::ours::pericore;
use parts::{PARTS, Part};

/// By so much a latency may fall, or a sequential walk be slower than one at random, before it counts as a fault: what
/// windows of these lengths differ by with another seed.
const NOISE: f64 = 0.06;

/// The fault that is known, and the words that all its lines have: on Emerald and Sapphire Rapids (`8592+`, `8568`,
/// `8480+`) a store to a line whose read is under way holds its thread up (`docs/calibration.md`).
const STORES_HOLD_THREADS_UP: [&str; 2] = [" stream:", ",read=67: in order"];

/// A mix of accesses that is measured with more and more threads.
#[derive(Debug, Clone, Copy)]
struct Series {
    part: &'static Part,
    kind: &'static str,
    keys: &'static str,
}

/// What was measured, by metric: numbers with a validity that stands for itself.
type Numbers = BTreeMap<String, f64>;

fn all() -> Vec<Series> {
    let of = |part: &'static Part| {
        let local = [
            ("stream", ""),
            ("stream", ",read=67"),
            ("random", ""),
            ("random", ",read=67"),
            ("copy", ""),
            ("triad", ""),
            ("mixed", ""),
            ("ntstore", ""),
            ("dma-read", ""),
            ("dma-write", ""),
        ];
        let remote = [("stream", ",remote=100"), ("random", ",remote=40"), ("dma-write", ",remote=50")];
        let remote = remote.into_iter().filter(|_| part.sockets > 1);
        // What fits the LLC is bounded by lanes and not by memory.
        let of_some =
            [("dma-write", ",footprint=64M"), ("random", ",cxl=100"), ("dma-write", ",allocate=0,partial=40")];
        let of_some = of_some.into_iter().filter(|_| part.has_cxl);
        local.into_iter().chain(remote).chain(of_some).map(move |(kind, keys)| Series { part, kind, keys })
    };
    PARTS.iter().flat_map(of).collect()
}

impl Series {
    /// Threads, or devices, with which it is measured.
    fn threads(&self) -> &'static [u16] {
        if self.kind.starts_with("dma") { self.part.devices } else { self.part.threads }
    }

    /// The workload with so many threads.
    fn workload(&self, threads: u16) -> String {
        let Self { part, kind, keys } = *self;
        let footprint = if keys.contains("footprint=") { "" } else { &format!(",footprint={}", part.footprint) };
        format!("{kind}:threads={threads},requests=120000{footprint}{keys}")
    }
}

fn measure(part: &Part, workload: &str, metrics: &[&str]) -> Numbers {
    let metrics = &metrics.join(",");
    let output = pericore(&["stat", "-j", "--machine", part.machine, "--workload", workload, "-M", metrics]);
    let printed = String::from_utf8(output.stderr).unwrap() + &String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{} {workload}: {printed}", part.machine);
    let rows = printed.lines().filter(|line| line.starts_with('{'));
    let rows = rows.map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}")));
    let sound = rows.filter(|row| matches!(row["validity"].as_str(), Some("measured" | "scaled")));
    let number = |row: Value| {
        let name = row["event"].as_str()?.to_owned();
        Some((name, row["metric-value"].as_str()?.parse().ok()?))
    };
    sound.filter_map(number).collect()
}

/// Of numbers of threads, the least and the greatest.
fn ends(threads: &[u16]) -> Vec<u16> {
    vec![threads[0], threads[threads.len() - 1]]
}

/// What is wrong with a series at so many threads, one line for each fault.
fn faults(series: &Series, threads: &[u16]) -> Vec<String> {
    let Series { part, kind, keys } = *series;
    let mut found = Vec::new();
    let mut before: Option<f64> = None;
    for &threads in threads {
        let workload = series.workload(threads);
        let mut note = |what: String| found.push(format!("{} {workload}: {what}", part.machine));
        let numbers = measure(part, &workload, part.figures);
        let get = |name: &str| numbers.get(name).copied();
        for (name, most) in part.at_most(kind) {
            match get(name) {
                Some(value) if value > most * 1.001 => note(format!("{name} is {value:.4e}, above {most:.4e}")),
                _ => {}
            }
        }
        // Each must have a number: what is missing would pass every check.
        let bandwidth: f64 = part.bandwidths.iter().map(|name| get(name).unwrap_or_else(|| panic!("no {name}"))).sum();
        if bandwidth > part.dram * f64::from(part.sockets) {
            note(format!("memory moves {bandwidth:.4e} B/s, its channels {:.4e}", part.dram));
        }
        // Of writes of parts of lines, the caching agents see whole lines.
        let is_whole = !keys.contains("partial=");
        for (one, other) in part.twice_counted(kind).iter().filter(|_| is_whole) {
            let differ = |of: &Numbers| match (of.get(*one), of.get(*other)) {
                (Some(a), Some(b)) if (a - b).abs() > 0.04 * a.max(*b) => Some((*a, *b)),
                _ => None,
            };
            // Events that took turns saw other parts of a short window: the two alone are counted all the time.
            if differ(&numbers).is_some()
                && let Some((a, b)) = differ(&measure(part, &workload, &[one, other]))
            {
                note(format!("{one} is {a:.4e}, {other} {b:.4e}: the same bytes"));
            }
        }
        let has_loads = !kind.starts_with("dma") && kind != "ntstore";
        let latency = if has_loads { get(part.latency) } else { None };
        // Nehalem's is that of the socket's own memory.
        let is_known = latency.is_some() || !has_loads || keys.contains("remote=100");
        assert!(is_known, "{} {kind}{keys}: no {}", part.machine, part.latency);
        if let (Some(latency), Some(lighter)) = (latency, before)
            && latency < lighter * (1.0 - NOISE)
        {
            note(format!("latency falls from {lighter:.1} to {latency:.1} ns with more threads"));
        }
        if let Some(latency) = latency.filter(|latency| *latency < part.least_latency) {
            note(format!("a latency of {latency:.1} ns, below {}", part.least_latency));
        }
        before = latency.or(before);
        if kind == "stream" && !keys.contains("remote") {
            let scattered = workload.replace("stream", "random");
            let scattered = measure(part, &scattered, part.figures);
            let scattered: f64 = part.bandwidths.iter().filter_map(|name| scattered.get(*name)).sum();
            if bandwidth < scattered * (1.0 - NOISE) {
                note(format!("in order {bandwidth:.4e} B/s, at random {scattered:.4e}"));
            }
        }
    }
    let most = threads.last().expect("a number of threads");
    let workload = series.workload(*most);
    for (name, value) in measure(part, &workload, part.shares) {
        // What is counted at a window's edges belongs to the next.
        if !(-0.1..=100.1).contains(&value) {
            found.push(format!("{} {workload}: {name} is {value} %", part.machine));
        }
    }
    found
}

#[track_caller]
fn check(series: impl Iterator<Item = Series>, chosen: impl Fn(&[u16]) -> Vec<u16>) {
    let is_known =
        |fault: &String| fault.starts_with('8') && STORES_HOLD_THREADS_UP.iter().all(|words| fault.contains(words));
    let found = series.flat_map(|series| faults(&series, &chosen(series.threads())));
    let found: Vec<String> = found.filter(|fault| !is_known(fault)).collect();
    assert!(found.is_empty(), "{} faults:\n{}", found.len(), found.join("\n"));
}

/// Every nineteenth series, from one that the seed draws: another part and another kind each, with little
/// load and with the greatest.
#[test]
fn nothing_is_beyond_what_hardware_can_do() {
    const SEED: usize = 3;
    check(all().into_iter().skip(SEED).step_by(19), ends);
}

#[test]
#[ignore = "half an hour: more than 300 measurements"]
fn nothing_anywhere_is_beyond_what_hardware_can_do() {
    let series = all();
    let measurements: usize = series.iter().map(|series| series.threads().len() + 1).sum();
    assert!(measurements >= 300, "{measurements}");
    check(series.into_iter(), <[u16]>::to_vec);
}
