//! Every metric of the E5-2600 over a scenario that makes it more than nothing: the value from counters equals the value over the
//! ledger's figures, and for many a value computed here by hand (`metrics/golden.rs`).
//!
//! `cargo test -p pericore-tests --test metrics_equal_the_ledger`; with `PERICORE_WRITE_TABLES=1` it writes
//! `docs/e5-2600-metrics.md` anew.

#[path = "metrics/golden.rs"]
mod golden;
#[path = "metrics/run.rs"]
mod run;
#[path = "metrics/truth.rs"]
mod truth;

use std::collections::BTreeMap;
use std::fmt::Write;

use pericore_catalog::{Family, Metric, Unit};
use pericore_observe::results::{Scope, metric_totals};
use pericore_observe::selection::Selection;
use run::Run;

const WRITE: &str = "PERICORE_WRITE_TABLES";
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/e5-2600-metrics.md");

/// Machines and shipped scenarios: a metric is taken over the first that makes it more than nothing.
const SCENES: [(&str, &str, &str); 6] = [
    ("e5-2600", "cores", include_str!("../../crates/machine/scenarios/cores.scenario")),
    ("e5-2600", "devices", include_str!("../../crates/machine/scenarios/devices.scenario")),
    ("e5-2600", "heat", include_str!("../../crates/machine/scenarios/heat.scenario")),
    ("e5-2600", "night", include_str!("../../crates/machine/scenarios/night.scenario")),
    ("e5-2600:sockets=2", "sockets", include_str!("../../crates/machine/scenarios/sockets.scenario")),
    ("e5-2600:sockets=4", "ring-of-four", include_str!("../../crates/machine/scenarios/ring-of-four.scenario")),
];

/// Filters that a metric leaves to the user, and what the table gives them, in 100 MHz.
const GIVEN: [(&str, &str); 4] = [
    ("PCT_FREQ_BAND0", "{band0=12}"),
    ("PCT_FREQ_BAND1", "{band1=15}"),
    ("PCT_FREQ_BAND2", "{band2=20}"),
    ("PCT_FREQ_BAND3", "{band3=27}"),
];

/// Metrics, by the beginning of `unit/METRIC`, that are nothing in every scenario, and why nothing else is possible.
const NOTHING: &[(&str, &str)] = &[
    ("cbo/CYC_INGRESS_STARVED", STARVED),
    ("cbo/PCT_INGRESS_STARVED", STARVED),
    ("ha/PCT_CYCLES_BL_FULL", NEVER_FULL),
    ("ha/PCT_UCLK_BL_FULL", NEVER_FULL),
    ("ha/PCT_CYCLES_D2C_DISABLED", DIRECT),
    ("ha/PCT_UCLK_D2C_DISABLED", DIRECT),
    ("imc/PCT_CYCLES_DRAM_RANK2_", RANKS),
    ("imc/PCT_CYCLES_DRAM_RANK3_", RANKS),
    ("imc/PCT_CYCLES_DRAM_RANK4_", RANKS),
    ("imc/PCT_CYCLES_DRAM_RANK5_", RANKS),
    ("imc/PCT_CYCLES_DRAM_RANK6_", RANKS),
    ("imc/PCT_CYCLES_DRAM_RANK7_", RANKS),
    ("qpi/DRS_DataC_E_FrcAckCnflt", CONFLICTS),
    ("qpi/DRS_DataC_F_FrcAckCnflt", CONFLICTS),
    ("qpi/DRS_WbEData", KEPT),
    ("qpi/DRS_WbE_FROM_QPI", KEPT),
    ("qpi/NCB_", COHERENT),
    ("r3qpi/AVG_INGRESS_LATENCY_NCB", COHERENT),
    ("r3qpi/AVG_INGRESS_LATENCY_NCS", COHERENT),
    ("qpi/PCT_LINK_HALF_DISABLED_CYCLES", AWAKE),
    ("qpi/PCT_LINK_SHUTDOWN_CYCLES", AWAKE),
];

const STARVED: &str = "not modelled: no document says when an entry counts as starved by others of its queue";
const NEVER_FULL: &str = "data of the home agent finds its ring free";
const DIRECT: &str = "no scenario switches the direct way to the core off";
const RANKS: &str = "channels have two ranks, 0 and 1";
const CONFLICTS: &str = "home agents order requests to one line, so that no response asks for an acknowledged conflict";
const KEPT: &str = "a socket that writes a line back keeps no exclusive copy";
const COHERENT: &str = "nothing that is not coherent goes from socket to socket";
const AWAKE: &str = "links do not sleep";

/// A metric's row in the table.
struct Row {
    scene: usize,
    counters: f64,
    ledger: f64,
    /// The equation that the guide prints, if it is another, over the ledger.
    printed: Option<f64>,
}

fn family() -> &'static Family {
    pericore_catalog::family("e5-2600").expect("the family is in the catalogue")
}

fn metrics() -> impl Iterator<Item = (&'static Unit, &'static Metric)> {
    family().units.iter().flat_map(|unit| unit.metrics.iter().map(move |metric| (*unit, metric)))
}

/// As a user names it.
fn name(unit: &Unit, metric: &Metric) -> String {
    let given = GIVEN.iter().find(|(of, _)| *of == metric.name).map_or("", |(_, given)| given);
    format!("{}/{}{given}", unit.name, metric.name)
}

/// The metrics over a scenario, those that are more than nothing; every one of them must agree with the ledger.
fn measure(scene: usize, wanted: &[(&'static Unit, &'static Metric)]) -> BTreeMap<String, Row> {
    let (machine, scenario, text) = SCENES[scene];
    let mut selection = Selection::new(family());
    for (unit, metric) in wanted {
        let name = name(unit, metric);
        selection.add_metrics(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let run: Run = run::run(machine, text, selection);
    let in_truth = run.in_truth();
    let mut rows = BTreeMap::new();
    for ((unit, metric), selected) in wanted.iter().zip(&run.plan.selection.metrics) {
        let name = name(unit, metric);
        let value = |sample| metric_totals(&run.plan, sample, selected, Scope::System)[0].value.number();
        let (counters, ledger) = (value(&run.sample), value(&in_truth));
        let something = |value: &f64| *value != 0.0;
        let Some(counters) = counters.filter(something) else {
            assert_eq!(ledger.filter(something), None, "{name} over {scenario}: nothing was counted");
            continue;
        };
        let ledger =
            ledger.unwrap_or_else(|| panic!("{name} over {scenario}: {counters}, and the ledger has no figure"));
        assert!(
            (counters - ledger).abs() <= ledger.abs() * 1e-12,
            "{name} over {scenario}: {counters}, in truth {ledger}"
        );
        if let Some(golden) = golden::value(&run, unit.name, metric.name) {
            assert!(
                (golden - ledger).abs() <= golden.abs() * 1e-12,
                "{name} over {scenario}: {ledger}, by hand {golden}"
            );
        }
        let printed = golden::printed(&run, unit.name, metric.name);
        assert_eq!(printed.is_some(), metric.printed.is_some(), "{name}: what the guide prints is computed by hand");
        rows.insert(name, Row { scene, counters, ledger, printed });
    }
    rows
}

#[test]
fn every_metric_equals_the_ledger_where_it_is_more_than_nothing() {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for scene in 0..SCENES.len() {
        // A share of one says little: a later scenario may have a better one.
        let settled = |name: &String| rows.get(name).is_some_and(|row| row.ledger != 1.0);
        let left: Vec<_> = metrics().filter(|(unit, metric)| !settled(&name(unit, metric))).collect();
        if left.is_empty() {
            break;
        }
        for (name, row) in measure(scene, &left) {
            if row.ledger != 1.0 || !rows.contains_key(&name) {
                rows.insert(name, row);
            }
        }
    }
    let mut table = String::from(
        "# The E5-2600's metrics over scenarios\n\n\
         Made by `cargo test -p pericore-tests --test metrics_equal_the_ledger` (`PERICORE_WRITE_TABLES=1` writes it anew): each metric over a\n\
         shipped scenario (`crates/machine/scenarios`) that makes it more than nothing, over all sockets of the machine: from counters, and\n\
         over the ledger's figures. Both must agree. Events that need one filter register after the other are counted in runs of the same\n\
         scenario, so that nothing is scaled. Where the guide prints another equation, its value over the ledger stands beside it.\n\n\
         | metric | machine | scenario | from counters | from the ledger | as printed |\n|---|---|---|---|---|---|\n",
    );
    let mut wrong = Vec::new();
    for (unit, metric) in metrics() {
        let name = name(unit, metric);
        let why = NOTHING.iter().find(|(start, _)| name.starts_with(start)).map(|(_, why)| why);
        match (rows.get(&name), why) {
            (Some(row), None) => {
                let (machine, scenario, _) = SCENES[row.scene];
                let printed = row.printed.map_or_else(String::new, |value| format!("{value:.6}"));
                let (counters, ledger) = (row.counters, row.ledger);
                writeln!(table, "| {name} | {machine} | {scenario} | {counters:.6} | {ledger:.6} | {printed} |")
                    .expect("a string takes anything");
            }
            (None, Some(why)) => {
                writeln!(table, "| {name} | - | - | 0 or - | {why} | |").expect("a string takes anything");
            }
            (None, None) => wrong.push(format!("{name} is nothing in every scenario")),
            (Some(_), Some(_)) => wrong.push(format!("{name} is more than nothing")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    golden::check_names();
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(TABLE, &table).expect("the table can be written");
    }
    let kept = std::fs::read_to_string(TABLE).expect("the table is there");
    assert_eq!(kept, table, "docs/e5-2600-metrics.md is not current: {WRITE}=1");
}
