//! Every metric of a family equals what a program of its own (`evaluate.py`) makes of Intel's formula from the same
//! counts. What no uncore counter can give is in the log, with its reason.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pericore_catalog::kernel;
use pericore_observe::kernel::{KernelCounters, KernelPmus};
use pericore_observe::linux::Host;
use pericore_observe::results::{Scope, metric_totals};
use pericore_observe::run::Backend;
use pericore_observe::selection::Selection;
use pericore_observe::session::Moment;
use pericore_tests::reference::shared;
use serde_json::{Value, json};

use super::rates::{Rates, rate};
use super::{families_without_registers, host};
use crate::perf_attributes::pmus::{FamilyPmus, Words};

const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernel_families/metrics.log");

const SOCKETS: usize = 2;

/// Intel's units of measure, and what one of theirs is in ours.
fn in_ours(unit_of_measure: &str) -> f64 {
    match unit_of_measure {
        "MB/sec" => 1e6,
        "percent" => 1e-2,
        "GHz" => 1e9,
        _ => 1.0,
    }
}

/// The PMU and the words of an event as Intel's metrics write it: `UNC_C_TOR_INSERTS.OPCODE:opc=0x19e`.
fn words(family: &FamilyPmus, name: &str) -> Option<(String, Words)> {
    let (bare, modifiers) = name.split_once(':').unwrap_or((name, ""));
    let shipped = kernel::family(family.code).expect("the catalogue has it");
    let event = kernel::intel_events(shipped).find(|event| event.name.eq_ignore_ascii_case(bare))?;
    let perf = event.perf.ok()?;
    let mut terms = perf.terms.clone();
    let mut second_filter = None;
    for modifier in modifiers.split(':').filter(|modifier| !modifier.is_empty()) {
        let hexadecimal = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a number");
        match modifier.split_once('=') {
            Some(("filter1", value)) => second_filter = Some(hexadecimal(value) << 32),
            Some(("opc", value)) => terms.push(("filter_opc", hexadecimal(value))),
            Some(("tid", value)) => terms.extend([("filter_tid", hexadecimal(value)), ("tid_en", 1)]),
            None if modifier == "c1" => terms.push(("thresh", 1)),
            _ => panic!("{name}"),
        }
    }
    let mut words = family.words(perf.pmu(), &terms)?;
    words.config1 = second_filter.unwrap_or(words.config1);
    Some((perf.pmu().to_owned(), words))
}

/// A metric's value in ours, after each of its rounds has had a second; and that time.
fn ours(host: &Host, instances: &BTreeMap<u32, (String, usize)>, name: &str) -> (f64, f64) {
    let mut selection = Selection::new(host.family().expect("known"));
    selection.add_metrics(name).unwrap_or_else(|error| panic!("{name}: {error}"));
    let plan = KernelPmus::of(host).expect("PMUs").prepare(selection);
    let plan = plan.unwrap_or_else(|error| panic!("{name}: {error}"));
    let kernel = Rates::new(instances.clone());
    let clock = kernel.clock.clone();
    let now = move || Moment { seconds: clock.get() as f64, tsc: 0 };
    let mut counters = KernelCounters::start_with(kernel.clone(), host.root(), plan, &now).expect("it counts");
    let rounds = counters.plan().rounds();
    for round in 1..=rounds {
        kernel.clock.set(round as u64);
        if round < rounds {
            counters.rotate(&now);
        }
    }
    let sample = counters.sample(&now);
    let layout = counters.plan().layout();
    let totals = metric_totals(&layout, &sample, &layout.selection.metrics[0], Scope::System);
    let [total] = &totals[..] else { panic!("{name}: {totals:?}") };
    (total.value.number().unwrap_or_else(|| panic!("{name}: {:?}", total.value)), rounds as f64)
}

/// Runs the other program.
fn theirs(file: &Path, facts: &Value) -> HashMap<String, Value> {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernel_families/evaluate.py");
    let mut child = Command::new("python3")
        .args([Path::new(program), file])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is installed");
    child.stdin.take().expect("piped").write_all(facts.to_string().as_bytes()).expect("written");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", file.display());
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Intel's file, where it is at hand; else what the catalogue has of it.
fn file_of(code: &str) -> (PathBuf, bool) {
    let table = PathBuf::from(format!("{}/../catalog/kernel/metrics/{code}.metrics", env!("CARGO_MANIFEST_DIR")));
    let text = std::fs::read_to_string(&table).expect("each family has metrics");
    let named = text.lines().find_map(|line| line.strip_prefix("file ")?.split(' ').next());
    match (named, named.and_then(|_| shared("reading Intel's own metric files"))) {
        (Some(name), Some(shared)) => {
            (shared.join("perfmon").join(code.to_uppercase()).join("metrics").join(name), true)
        }
        _ => (table, named.is_none()),
    }
}

/// The log's lines about a family; true if the file that they are about was there as a whole.
fn compare(family: &FamilyPmus) -> (String, bool) {
    let folder = tempfile::tempdir().expect("a folder");
    let instances = family.write_machine(folder.path());
    let host = host(folder.path(), family);
    let number_of = |pmu: &str| instances.values().filter(|(name, _)| name == pmu).count() * SOCKETS;
    let tables = kernel::family(family.code).expect("known").tables();
    let symbols = tables.metrics.iter().flat_map(|metric| metric.symbols).map(|(_, name)| *name);
    let (mut rates, mut sizes) = (BTreeMap::new(), BTreeMap::new());
    for name in symbols.filter(|name| name.starts_with("UNC_")) {
        let bare = name.replace(":one_unit", "");
        let (pmu, words) = words(family, &bare).unwrap_or_else(|| panic!("{}: {name}", family.code));
        sizes.insert(bare.clone(), number_of(&pmu));
        rates.insert(bare, rate(&pmu, words) * number_of(&pmu) as u64);
    }
    let slices = number_of("uncore_cha").max(number_of("uncore_cbox")) / SOCKETS;
    let constants = json!({"SOCKET_COUNT": SOCKETS, "CHAS_PER_SOCKET": slices, "CORES_PER_SOCKET": slices});
    let (file, is_whole) = file_of(family.code);
    let mut by_time: BTreeMap<u64, HashMap<String, Value>> = BTreeMap::new();
    let mut equal = Vec::new();
    for metric in tables.metrics {
        let (value, seconds) = ours(&host, &instances, metric.name);
        let found = by_time.entry(seconds as u64).or_insert_with(|| {
            let counts: BTreeMap<&String, u64> =
                rates.iter().map(|(name, rate)| (name, rate * seconds as u64)).collect();
            theirs(&file, &json!({"counts": counts, "instances": sizes, "constants": constants, "seconds": seconds}))
        });
        let expected = found[metric.name]["value"].as_f64().unwrap_or_else(|| panic!("{}: {found:?}", metric.name));
        let expected = expected * in_ours(metric.unit_of_measure);
        assert!(
            (value - expected).abs() <= 1e-9 * expected.abs(),
            "{} {}: {value}, and by Intel's formula {expected}",
            family.code,
            metric.name
        );
        equal.push(metric.name);
    }
    let all = by_time.values().next().expect("a metric");
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, outcome) in all.iter().filter(|(name, _)| !equal.contains(&name.as_str())) {
        reasons.entry(outcome["reason"].as_str().expect(name)).or_default().push(name);
    }
    let mut log = format!("{}: {} equal\n", family.code, equal.len());
    for (reason, mut names) in reasons {
        names.sort_unstable();
        let _ = writeln!(log, "  {} {reason}: {}", names.len(), names.join(" "));
    }
    (log, is_whole)
}

/// With `--nocapture` it prints what the log should be.
#[test]
fn metrics_equal_intels_formulas_in_another_program() {
    let known = std::fs::read_to_string(LOG).expect("the log");
    let (mut log, mut unknown) = (String::new(), String::new());
    for family in families_without_registers() {
        let (text, is_whole) = compare(&family);
        if is_whole && !known.contains(&text) {
            unknown += &text;
        }
        log += &text;
    }
    println!("{log}");
    assert_eq!(unknown, "", "metrics.log has other lines");
}

/// What is counted where nothing is named.
#[test]
fn each_family_has_default_metrics() {
    for family in families_without_registers() {
        let known = kernel::family(family.code).expect("known").family();
        assert!(known.default_metrics.len() >= 2, "{}", family.code);
        let mut selection = Selection::new(known);
        known.default_metrics.iter().for_each(|name| selection.add_metrics(name).expect(name));
    }
}
