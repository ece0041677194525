//! A family's metrics, where each of them is more than nothing, and the table of what they are there.

use std::collections::BTreeMap;
use std::fmt::Write;

use pericore_catalog::{Family, Metric, Unit};
use pericore_observe::results::{Scope, metric_totals};
use pericore_observe::selection::Selection;

use super::run::{self, Run};

const WRITE: &str = "PERICORE_WRITE_TABLES";

/// A machine and what runs on it.
pub struct Scene {
    /// As `--machine` has it.
    pub machine: &'static str,
    /// What the table calls it: a shipped scenario's name, or the workload as `--workload` has it.
    pub name: &'static str,
    /// The scenario or the workload.
    pub text: &'static str,
}

impl Scene {
    /// A scene of one workload.
    pub const fn of(machine: &'static str, workload: &'static str) -> Self {
        Self { machine, name: workload, text: workload }
    }
}

/// A scene of a shipped scenario.
macro_rules! shipped {
    ($machine:literal, $name:literal) => {
        $crate::metrics_equal_the_ledger::book::Scene {
            machine: $machine,
            name: $name,
            text: include_str!(concat!("../../../crates/machine/scenarios/", $name, ".scenario")),
        }
    };
}
pub(crate) use shipped;

/// What is to be shown of a family.
pub struct Book {
    /// The family.
    pub family: &'static str,
    /// The table, in `docs/`.
    pub file: &'static str,
    /// The table's title and what it says.
    pub heading: &'static str,
    /// A metric is taken over the first of them that makes it more than nothing.
    pub scenes: &'static [Scene],
    /// Filters that a metric leaves to the user, and what the table gives them.
    pub given: &'static [(&'static str, &'static str)],
    /// Metrics, by the beginning of `unit/METRIC`, that are nothing in every scene, and why.
    pub nothing: &'static [(&'static str, &'static str)],
    /// A metric's value by hand, if it has one.
    pub by_hand: fn(&Run, &str, &str) -> Option<f64>,
    /// What the equation that the guide prints gives, where the catalogue has another; not a number if it has no value.
    pub printed: fn(&Run, &str, &str) -> Option<f64>,
}

/// A metric's row in the table.
struct Row {
    scene: usize,
    counters: f64,
    ledger: f64,
    printed: Option<f64>,
}

impl Book {
    fn family(&self) -> &'static Family {
        pericore_catalog::family(self.family).expect("the family is in the catalogue")
    }

    fn metrics(&self) -> impl Iterator<Item = (&'static Unit, &'static Metric)> {
        self.family().units.iter().flat_map(|unit| unit.metrics.iter().map(move |metric| (*unit, metric)))
    }

    /// As a user names it.
    fn name(&self, unit: &Unit, metric: &Metric) -> String {
        let given = self.given.iter().find(|(of, _)| *of == metric.name).map_or("", |(_, given)| given);
        format!("{}/{}{given}", unit.name, metric.name)
    }

    /// The metrics over a scene, those that are more than nothing; every one of them must agree with the ledger.
    fn measure(&self, scene: usize, wanted: &[(&'static Unit, &'static Metric)]) -> BTreeMap<String, Row> {
        let Scene { machine, name: played, text } = self.scenes[scene];
        let mut selection = Selection::new(self.family());
        for (unit, metric) in wanted {
            let name = self.name(unit, metric);
            selection.add_metrics(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let run = run::run(machine, text, selection);
        let in_truth = run.in_truth();
        let mut rows = BTreeMap::new();
        for ((unit, metric), selected) in wanted.iter().zip(&run.plan.selection.metrics) {
            let name = self.name(unit, metric);
            let value = |sample| metric_totals(&run.plan.layout(), sample, selected, Scope::System)[0].value.number();
            let (counters, ledger) = (value(&run.sample), value(&in_truth));
            let something = |value: &f64| *value != 0.0;
            let Some(counters) = counters.filter(something) else {
                assert_eq!(ledger.filter(something), None, "{name} over {played}: nothing was counted");
                continue;
            };
            let ledger =
                ledger.unwrap_or_else(|| panic!("{name} over {played}: {counters}, and the ledger has no figure"));
            assert!(same(counters, ledger), "{name} over {played}: {counters}, in truth {ledger}");
            if let Some(golden) = (self.by_hand)(&run, unit.name, metric.name) {
                assert!(same(golden, ledger), "{name} over {played}: {ledger}, by hand {golden}");
            }
            let printed = (self.printed)(&run, unit.name, metric.name);
            assert_eq!(printed.is_some(), metric.printed.is_some(), "{name}: the printed equation is computed by hand");
            rows.insert(name, Row { scene, counters, ledger, printed });
        }
        rows
    }

    /// Every metric over the first scene that makes it more than nothing, and better one that makes it more than all.
    fn rows(&self) -> BTreeMap<String, Row> {
        let mut rows: BTreeMap<String, Row> = BTreeMap::new();
        for scene in 0..self.scenes.len() {
            // A share of one says little: a later scene may have a better one.
            let settled = |name: &String| rows.get(name).is_some_and(|row| row.ledger != 1.0);
            let left: Vec<_> = self.metrics().filter(|(unit, metric)| !settled(&self.name(unit, metric))).collect();
            if left.is_empty() {
                break;
            }
            for (name, row) in self.measure(scene, &left) {
                if row.ledger != 1.0 || !rows.contains_key(&name) {
                    rows.insert(name, row);
                }
            }
        }
        rows
    }

    /// Measures all metrics; fails if one of them disagrees with the ledger, is nothing without a reason, or if the table is not current.
    pub fn check(&self) {
        let rows = self.rows();
        let mut table = format!(
            "{}\n\n| metric | machine | workload | from counters | from the ledger | as printed |\n|---|---|---|---|---|---|\n",
            self.heading
        );
        let mut wrong = Vec::new();
        for (unit, metric) in self.metrics() {
            let name = self.name(unit, metric);
            let why = self.nothing.iter().find(|(start, _)| name.starts_with(start)).map(|(_, why)| why);
            let line = match (rows.get(&name), why) {
                (Some(_), Some(_)) => {
                    wrong.push(format!("{name} is more than nothing, and need not be excused"));
                    continue;
                }
                (Some(row), None) => {
                    let Scene { machine, name: played, .. } = self.scenes[row.scene];
                    let printed = row.printed.map(shown).unwrap_or_default();
                    let (counters, ledger) = (shown(row.counters), shown(row.ledger));
                    format!("| {name} | {machine} | {played} | {counters} | {ledger} | {printed} |")
                }
                (None, Some(why)) => format!("| {name} | | {why} | - | - | |"),
                (None, None) => {
                    wrong.push(format!("{name} is nothing in every scene"));
                    continue;
                }
            };
            writeln!(table, "{line}").expect("a string takes anything");
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        let path = format!("{}/../docs/{}", env!("CARGO_MANIFEST_DIR"), self.file);
        if std::env::var_os(WRITE).is_some() {
            std::fs::write(&path, &table).expect("the table can be written");
        }
        let kept = std::fs::read_to_string(&path).expect("the table is there");
        assert!(kept == table, "docs/{} is not current: {WRITE}=1 writes it anew", self.file);
    }
}

fn same(one: f64, other: f64) -> bool {
    (one - other).abs() <= one.abs() * 1e-12
}

fn shown(value: f64) -> String {
    if value.is_nan() {
        return "-".to_owned();
    }
    if value.abs() < 1e6 { format!("{value:.6}") } else { format!("{value:.0}") }
}
