//! Every metric of the E5-2600 that one socket can have, over a scenario: the value from counters equals the value of the same formula
//! over the ledger's figures. The formulas are the catalogue's: what is tested is that every input counts the truth.
//!
//! `cargo test -p pericore-tests --test metrics_equal_the_ledger`; with `PERICORE_WRITE_TABLES=1` it writes
//! `docs/e5-2600-metrics.md` anew.

use std::fmt::Write;

use pericore_catalog::Role;
use pericore_machine::ledger::Window;
use pericore_metrics::Validity;
use pericore_observe::results::{Scope, metric_totals};
use pericore_observe::selection::{EventSource, SelectedEvent, Selection};
use pericore_observe::session::{Count, Sample};
use pericore_tests::rig::{Measured, Rig, family, measure, plan};

/// Ticks of a run at most: one virtual millisecond.
const RUN: u64 = 21_600_000;
const WRITE: &str = "PERICORE_WRITE_TABLES";
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/e5-2600-metrics.md");

/// Cores, devices, heat and sleep, a little of each.
const SCENARIO: &str = "
phase shared
  workload random:requests=4000,threads=16,footprint=1M,read=60
  frequency 3100MHz
phase dirty
  workload stream:requests=5000,stride=128k,footprint=1G,read=0
  throttle rank0 40%
  msi every 1us
phase scattered
  workload ntstore:requests=1500,partial=60,stride=4k,footprint=512M
phase written
  workload dma-write:requests=1500,threads=16,allocate=60,stride=16k,footprint=24M
phase fetched
  workload dma-read:requests=1500,threads=16,stride=128k,footprint=4G
  prochot internal
phase slow
  workload mixed:requests=3000,read=60
  frequency 1500MHz
  thermal-limit 1500MHz
phase evening
  idle 40us
  sleep c6
";

/// The ledger's figure for a counter of the plan.
fn truth(event: &SelectedEvent, instance: u16, window: &Window<'_>) -> Option<u64> {
    let unit = event.unit;
    let truth = match &event.source {
        EventSource::Fixed(register) => window.truth(unit.name, instance, register.event?, None, &[])?,
        EventSource::FreeRunning { .. } => return None,
        EventSource::Programmed(programming) => {
            let row = programming.event?;
            let control = unit.register(Role::Control)?;
            let tid_en = control.field("tid_en").map_or(0, |field| field.bits.mask());
            let config = programming.subevent.map_or(row.config, |subevent| subevent.config);
            if programming.control & !tid_en != config {
                return None;
            }
            let filters: Vec<(&str, u64)> = programming
                .filters
                .iter()
                .filter(|filter| filter.field.name != "tid" || programming.control & tid_en != 0)
                .map(|filter| (filter.field.name, filter.value))
                .collect();
            let subevent = programming.subevent.map(|subevent| subevent.name);
            window.truth(unit.name, instance, row.name, subevent, &filters)?
        }
    };
    Some(truth.0)
}

#[test]
fn every_metric_equals_its_formula_over_the_ledger() {
    let units = ["ubox", "cbo", "ha", "imc", "pcu", "r2pcie"];
    let mut rig = Rig::new(SCENARIO, None);
    let (mut rounds, mut alone): (Vec<Vec<String>>, Vec<String>) = (Vec::new(), Vec::new());
    for unit in family().units.iter().filter(|unit| units.contains(&unit.name)) {
        for metric in unit.metrics {
            let name = format!("{}/{}", unit.name, metric.name);
            let fits = |names: &[String], rig: &mut Rig| {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                plan(rig, &[], &names).is_some()
            };
            if Selection::new(family()).add_metrics(&name).is_err() {
                // A bound that only the user knows, such as a frequency band.
                alone.push(name);
                continue;
            }
            let with = |round: &[String]| [round, std::slice::from_ref(&name)].concat();
            if let Some(index) = rounds.iter().position(|round| fits(&with(round), &mut rig)) {
                rounds[index].push(name);
            } else if fits(std::slice::from_ref(&name), &mut rig) {
                rounds.push(vec![name]);
            } else {
                alone.push(name);
            }
        }
    }
    let mut table = String::from(
        "# The E5-2600's metrics over a scenario\n\n\
         Made by `tests/tests/metrics_equal_the_ledger.rs` (`PERICORE_WRITE_TABLES=1` writes it anew): each metric of one socket from counters,\n\
         and the same formula over the ledger's figures. Both must agree. `-`: the formula has no value here (nothing to divide by), or it\n\
         shapes a count (threshold, inversion, edges), of which the ledger keeps no figure. Metrics of the links need a second socket and are not in it.\n\n\
         | metric | from counters | from the ledger |\n|---|---|---|\n",
    );
    let (mut agree, mut wrong) = (0, Vec::new());
    let mut lines = Vec::new();
    for round in &rounds {
        let names: Vec<&str> = round.iter().map(String::as_str).collect();
        let mut rig = Rig::new(SCENARIO, None);
        let plan = plan(&mut rig, &[], &names).expect("the round fits");
        let Measured { plan, sample, truth: (before, after) } = measure(rig, plan, RUN);
        let window = Window::between(&before, &after);
        let told = |count: &Count| {
            let truth = truth(&plan.selection.events[count.event], count.instance, &window);
            let validity = truth.map_or_else(|| Validity::not_defined("no truth"), |_| Validity::MEASURED);
            Count { count: truth, validity, ..count.clone() }
        };
        let in_truth = Sample { counts: sample.counts.iter().map(told).collect(), ..sample.clone() };
        for (name, metric) in round.iter().zip(&plan.selection.metrics) {
            let value = |sample: &Sample| metric_totals(&plan, sample, metric, Scope::System)[0].value.number();
            let (measured, truth) = (value(&sample), value(&in_truth));
            if let (Some(measured), Some(truth)) = (measured, truth) {
                agree += 1;
                if (measured - truth).abs() > truth.abs() * 1e-9 {
                    wrong.push(format!("{name}: {measured}, in truth {truth}"));
                }
            }
            let show = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.6}"));
            lines.push(format!("| {name} | {} | {} |", show(measured), show(truth)));
        }
    }
    lines.extend(
        alone
            .iter()
            .map(|name| format!("| {name} | - | - (needs a filter's value, or more than one round of counters) |")),
    );
    lines.sort();
    for line in &lines {
        writeln!(table, "{line}").expect("a string takes anything");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // The rest shapes its counts, needs a filter, or has nothing to divide by: the table says which.
    assert!(agree >= 65, "only {agree} metrics have a value and a truth");
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(TABLE, &table).expect("the table can be written");
    }
    let kept = std::fs::read_to_string(TABLE).expect("the table is there");
    assert_eq!(kept, table, "docs/e5-2600-metrics.md is not current: {WRITE}=1");
}
