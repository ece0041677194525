//! From a sample to the rows of a report.

use pericore_metrics::Value;
use pericore_observe::plan::Plan;
use pericore_observe::results::{Part, Scope, event_totals, metric_totals};
use pericore_observe::session::Sample;

use super::{Place, Report, Row};

/// The rows that the user asked for; `truth` is the same sample with the model's figures.
pub fn report(plan: &Plan, sample: &Sample, truth: Option<&Sample>, scope: Scope, interval_end: Option<f64>) -> Report {
    let mut rows = Vec::new();
    for listed in &plan.selection.listed {
        let true_totals = truth.map(|truth| event_totals(truth, listed.event, scope));
        for total in event_totals(sample, listed.event, scope) {
            let same = |totals: &Vec<_>| find(totals, total.part);
            rows.push(Row {
                name: listed.label.clone(),
                place: place(plan, total.part, total.instances, plan.selection.events[listed.event].unit),
                value: total.value(),
                unit_of_measure: None,
                standard_error: total.standard_error,
                spread: None,
                truth: true_totals.as_ref().and_then(same),
            });
        }
    }
    for metric in &plan.selection.metrics {
        let true_totals = truth.map(|truth| metric_totals(plan, truth, metric, scope));
        for total in metric_totals(plan, sample, metric, scope) {
            let same = true_totals.as_ref().and_then(|totals| totals.iter().find(|t| t.part == total.part));
            rows.push(Row {
                name: format!("{}/{}", metric.unit.name, metric.name),
                place: place(plan, total.part, total.instances, metric.unit),
                value: total.value,
                unit_of_measure: Some(metric.unit_of_measure),
                standard_error: total.standard_error,
                spread: None,
                truth: same.and_then(|total| total.value.number()),
            });
        }
    }
    Report { interval_end, seconds: sample.seconds, stood: sample.stood_before_reading, runs: None, rows }
}

fn find(totals: &[pericore_observe::results::EventTotal], part: Part) -> Option<f64> {
    totals.iter().find(|total| total.part == part).map(|total| total.value()).as_ref().and_then(Value::number)
}

/// What a part of the machine is called; nothing for the whole.
pub fn place(plan: &Plan, part: Part, instances: usize, unit: &pericore_catalog::Unit) -> Option<Place> {
    let socket = part.socket?;
    let name = |number: u16| {
        let known = plan.sockets.iter().flat_map(|socket| &socket.instances);
        let instance = known.into_iter().find(|i| std::ptr::eq(i.unit, unit) && i.number == number);
        instance.map_or_else(|| format!("{}{number}", unit.name), pericore_observe::plan::InstancePlan::name)
    };
    Some(Place { socket, instance: part.instance.map(name), instances })
}
