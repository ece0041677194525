//! Every metric of a family equals what a program of its own (`evaluate.py`) makes of Intel's formula from the same
//! counts, those of the cores too. What no counter can give is in the log, with its reason.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pericore_catalog::event_file::{EventFile, with_metrics};
use pericore_catalog::{Family, kernel, lasting};
use pericore_observe::kernel::{KernelCounters, KernelPmus, Privilege};
use pericore_observe::linux::Host;
use pericore_observe::results::{Scope, metric_totals};
use pericore_observe::run::Backend;
use pericore_observe::selection::Selection;
use pericore_observe::session::Moment;
use pericore_tests::reference::shared;
use serde_json::{Value, json};

use super::rates::{Rates, rate};
use super::{families_without_registers, host};
use crate::perf_attributes::pmus::{self, FamilyPmus, Words};

const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernel_families/metrics.log");

const SOCKETS: usize = 2;
const THREADS: u16 = 2;
/// Cycles of the time stamp counter in a second.
const TSC: u64 = 2_100_000_000;

/// Intel's units of measure, and what one of theirs is in ours.
fn in_ours(unit_of_measure: &str) -> f64 {
    match unit_of_measure {
        "MB/sec" => 1e6,
        "percent" => 1e-2,
        "GHz" => 1e9,
        _ => 1.0,
    }
}

/// The PMU of an event as Intel's metrics write it, `UNC_C_TOR_INSERTS.OPCODE:opc=0x19e`, and what selects it there;
/// nothing for what is no event, or not to be counted.
fn selected(family: &FamilyPmus, name: &str) -> Option<(String, Words, Privilege)> {
    let (bare, modifiers) = name.split_once(':').unwrap_or((name, ""));
    let shipped = kernel::family(family.code).expect("the catalogue has it");
    let event = kernel::intel_events(shipped).find(|event| event.name.eq_ignore_ascii_case(bare))?;
    let perf = event.perf.ok()?;
    let (mut terms, mut privilege, mut second_filter) = (perf.terms.clone(), Privilege::All, None);
    let threshold = if perf.pmu() == "cpu" { "cmask" } else { "thresh" };
    let mut set = |term, value| {
        terms.retain(|(known, _)| *known != term);
        terms.push((term, value));
    };
    for modifier in modifiers.split(':').filter(|modifier| !modifier.is_empty()) {
        let hexadecimal = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a number");
        let number = |sign: char| modifier.strip_prefix(sign)?.parse::<u64>().ok();
        match modifier.split_once('=') {
            Some(("filter1", value)) => second_filter = Some(hexadecimal(value) << 32),
            Some(("opc", value)) => set("filter_opc", hexadecimal(value)),
            Some(("tid", value)) => {
                set("filter_tid", hexadecimal(value));
                set("tid_en", 1);
            }
            Some(("ch_mask", value)) => set("ch_mask", hexadecimal(value)),
            Some(("ocr_msr_val", value)) => set("offcore_rsp", hexadecimal(value)),
            None if modifier.eq_ignore_ascii_case("sup") => privilege = Privilege::Kernel,
            None if modifier == "USER" => privilege = Privilege::User,
            None if modifier == "perf_metrics" => {}
            None if modifier.starts_with("u0x") => set("umask", hexadecimal(&modifier[1..])),
            None if number('c').is_some() => set(threshold, number('c')?),
            None if number('e').is_some() => set("edge", number('e')?),
            None if number('i').is_some() => set("inv", number('i')?),
            _ => return None,
        }
    }
    let mut words = family.words(perf.pmu(), &terms)?;
    words.config1 = second_filter.unwrap_or(words.config1);
    Some((perf.pmu().to_owned(), words, privilege))
}

/// A metric's value in ours, if it has one, after each of its rounds has had a second; and that time.
fn ours(
    host: &Host,
    instances: &BTreeMap<u32, (String, usize)>,
    family: &'static Family,
    name: &str,
) -> (Option<f64>, u64) {
    let mut selection = Selection::new(family);
    selection.threads_per_core = Some(THREADS);
    selection.add_metrics(name).unwrap_or_else(|error| panic!("{name}: {error}"));
    let plan = KernelPmus::of(host).expect("PMUs").prepare(selection);
    let plan = plan.unwrap_or_else(|error| panic!("{name}: {error}"));
    let kernel = Rates::new(instances.clone());
    let clock = kernel.clock.clone();
    let now = move || Moment { seconds: clock.get() as f64, tsc: clock.get() * TSC };
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
    let is_undefined = total.value.validity().to_string().contains("the denominator is zero");
    assert!(total.value.number().is_some() || is_undefined, "{name}: {:?}", total.value);
    (total.value.number(), rounds as u64)
}

fn has_metrics(code: &str) -> bool {
    !kernel::family(code).expect("known").tables().metrics.is_empty()
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

/// Intel's file, where it is at hand; else what the catalogue has of it. True if the metrics are this project's own.
fn file_of(code: &str) -> (PathBuf, bool) {
    let table = PathBuf::from(format!("{}/../catalog/kernel/metrics/{code}.metrics", env!("CARGO_MANIFEST_DIR")));
    let text = std::fs::read_to_string(&table).expect("the family has metrics");
    let named = text.lines().find_map(|line| line.strip_prefix("file ")?.split(' ').next());
    match (named, named.and_then(|_| shared("reading Intel's own metric files"))) {
        (Some(name), Some(shared)) => {
            (shared.join("perfmon").join(code.to_uppercase()).join("metrics").join(name), false)
        }
        _ => (table, named.is_none()),
    }
}

/// The family as this machine's kernel counts it, with the metrics of the file.
fn with_file(code: &str, file: &Path) -> &'static Family {
    let driven = kernel::family(code).expect("known").driven_family();
    if file.extension().is_some_and(|extension| extension == "metrics") {
        return driven;
    }
    let text = Box::leak(std::fs::read_to_string(file).expect("readable").into_boxed_str());
    let read = EventFile::parse(text, driven).expect("one of Intel's");
    with_metrics(lasting(), driven, &read.metrics, "the file").family
}

/// The log's lines about a family; true if all of Intel's file was there.
fn compare(family: &FamilyPmus) -> (String, bool) {
    let folder = tempfile::tempdir().expect("a folder");
    let instances = family.write_machine(folder.path());
    let host = host(folder.path(), family);
    let number_of = |pmu: &str| instances.values().filter(|(name, _)| name == pmu).count() * SOCKETS;
    let (file, is_own) = file_of(family.code);
    let is_whole = is_own || file.extension().is_some_and(|extension| extension == "json");
    let known = with_file(family.code, &file);
    let rows: BTreeMap<String, Value> = theirs(&file, &Value::Null).into_iter().collect();
    let texts = |row: &Value| row["events"].as_array().expect("a list").clone();
    let events: BTreeSet<String> =
        rows.values().flat_map(texts).map(|name| name.as_str().expect("a text").to_owned()).collect();
    let (mut rates, mut sizes) = (BTreeMap::new(), BTreeMap::new());
    for name in events {
        let bare = name.replace(":one_unit", "");
        let Some((pmu, words, privilege)) = selected(family, &bare) else { continue };
        sizes.insert(bare.clone(), number_of(&pmu));
        rates.insert(bare, rate(&pmu, words, privilege) * number_of(&pmu) as u64);
    }
    let slices = number_of("uncore_cha").max(number_of("uncore_cbox")) / SOCKETS;
    let cpus = number_of("cpu");
    let constants = json!({
        "SOCKET_COUNT": SOCKETS, "CHAS_PER_SOCKET": slices, "CORES_PER_SOCKET": slices, "SYSTEM_TSC_FREQ": TSC,
        "20": 20, "HYPERTHREADING_ON": true, "THREADS_PER_CORE": THREADS, "CPU_COUNT": cpus,
        "system.sockets[0].cpus.count * system.socket_count": cpus,
    });
    let facts = |seconds: u64| {
        let mut counts: BTreeMap<&str, u64> =
            rates.iter().map(|(name, rate)| (name.as_str(), rate * seconds)).collect();
        counts.insert("TSC", TSC * seconds * cpus as u64);
        theirs(&file, &json!({"counts": counts, "instances": sizes, "constants": constants, "seconds": seconds}))
    };
    let mut by_time: BTreeMap<u64, HashMap<String, Value>> = [(1, facts(1))].into();
    let (mut equal, mut reasons) = (0, BTreeMap::<String, Vec<&str>>::new());
    for (name, row) in &rows {
        let outcome = &by_time[&1][name];
        if outcome["value"].is_null() && outcome["undefined"].is_null() {
            let missing = || format!("needs {}", outcome["missing"].as_str().expect(name));
            let reason = outcome["reason"].as_str().map_or_else(missing, str::to_owned);
            reasons.entry(reason).or_default().push(name);
            continue;
        }
        let is_it = |metric: &&pericore_catalog::Metric| metric.name == name;
        let place = known.units.iter().find_map(|unit| Some((unit, unit.metrics.iter().find(is_it)?)));
        let Some((unit, _)) = place else { panic!("{} {name}: not converted", family.code) };
        let (value, seconds) = ours(&host, &instances, known, &format!("{}/{name}", unit.name));
        let found = &by_time.entry(seconds).or_insert_with(|| facts(seconds))[name];
        let expected = found["value"].as_f64().map(|value| value * in_ours(row["unit"].as_str().expect("a text")));
        let are_equal = match (value, expected) {
            (Some(value), Some(expected)) => (value - expected).abs() <= 1e-9 * expected.abs(),
            (None, None) => true,
            _ => false,
        };
        assert!(are_equal, "{} {name}: {value:?}, and by Intel's formula {expected:?}: {found}", family.code);
        equal += 1;
    }
    let mut log = format!("{}: {equal} equal\n", family.code);
    for (reason, mut names) in reasons {
        names.sort_unstable();
        let _ = writeln!(log, "  {} {reason}: {}", names.len(), names.join(" "));
    }
    (log, is_whole)
}

/// Of each third family.
#[test]
fn metrics_equal_intels_formulas_in_another_program() {
    compare_families(3);
}

/// With `--nocapture` it prints what the log should be.
#[test]
#[ignore = "long form: half a minute"]
fn metrics_of_all_families_equal_intels_formulas() {
    compare_families(1);
}

fn compare_families(step: usize) {
    let known = std::fs::read_to_string(LOG).expect("the log");
    let (mut log, mut unknown) = (String::new(), String::new());
    for family in pmus::families().iter().filter(|family| has_metrics(family.code)).step_by(step) {
        let (text, is_whole) = compare(family);
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
