//! From a sample to the rows of a report.

use pericore_catalog::Unit;
use pericore_metrics::Value;
use pericore_observe::plan::{Through, instance_name};
use pericore_observe::results::{EventTotal, Instance, Layout, Part, Scope, Totals};
use pericore_observe::session::Sample;

use crate::fewer::{Answering, Fewer};
use crate::row::{Nature, Place, Report, Row};

/// The rows that the user asked for; `truth` is the same sample with the model's figures.
pub fn report(
    layout: &Layout<'_>,
    sample: &Sample,
    truth: Option<&Sample>,
    scope: Scope,
    interval_end: Option<f64>,
) -> Report {
    let selection = layout.selection;
    let fewer = Fewer::of(layout);
    let (totals, truths) = (Totals::of(sample, scope), truth.map(|truth| Totals::of(truth, scope)));
    let listed = selection.listed.iter().map(|listed| (listed.event, &*listed.label));
    let of_event = |event| of_event(layout, &fewer, (&totals, truths.as_ref()), event);
    let mut rows: Vec<Row> = listed.flat_map(of_event).collect();
    for metric in &selection.metrics {
        let units: Vec<&Unit> = metric.inputs.iter().map(|(_, event)| selection.events[*event].unit).collect();
        let through = through(layout, &units);
        let true_totals = truths.as_ref().map(|truths| truths.metric(layout, metric));
        for total in totals.metric(layout, metric) {
            let same = true_totals.as_ref().and_then(|totals| totals.iter().find(|t| t.part == total.part));
            rows.push(Row {
                name: format!("{}/{}", metric.unit.name, metric.name),
                place: place(total.part, total.instances, metric.unit),
                value: total.value,
                seconds: total.length.seconds,
                unit_of_measure: Some(metric.unit_of_measure),
                standard_error: total.standard_error,
                spread: None,
                interval: None,
                requested: None,
                truth: same.and_then(|total| total.value.number()),
                limit: metric.row.and_then(|row| row.limit),
                nature: Nature {
                    quantity: Some(metric.quantity),
                    side: metric.row.and_then(|row| row.side),
                    weight: total.weight,
                },
                answering: answering(layout, &fewer, metric.unit, total.part),
                through,
            });
        }
    }
    let (summary, floorplan) = (selection.family.summary, selection.family.floorplan);
    Report { interval_end, summary, floorplan, ..of_rows(sample, rows) }
}

/// What each counter of each instance has counted, whichever metrics it is for: a row for each event that is counted.
pub fn counters(layout: &Layout<'_>, sample: &Sample) -> Report {
    let fewer = Fewer::of(layout);
    let totals = Totals::of(sample, Scope::Instance);
    let events = layout.selection.events.iter().enumerate();
    let rows = events.flat_map(|(index, event)| of_event(layout, &fewer, (&totals, None), (index, &event.label)));
    of_rows(sample, rows.collect())
}

/// The rows of an event.
fn of_event(
    layout: &Layout<'_>,
    fewer: &[Fewer],
    (totals, truths): (&Totals<'_>, Option<&Totals<'_>>),
    (event, label): (usize, &str),
) -> Vec<Row> {
    let selected = &layout.selection.events[event];
    let truths = truths.map(|truths| truths.event(event));
    let through = through(layout, &[selected.unit]);
    let row = |total: &EventTotal| Row {
        name: label.to_owned(),
        place: place(total.part, total.instances, selected.unit),
        value: total.value(),
        seconds: total.length.seconds,
        unit_of_measure: None,
        standard_error: total.standard_error,
        spread: None,
        interval: None,
        requested: None,
        truth: truths.and_then(|totals| find(totals, total.part)),
        limit: None,
        nature: Nature::default(),
        answering: match selected.instance {
            Some(_) => None,
            None => answering(layout, fewer, selected.unit, total.part),
        },
        through,
    };
    totals.event(event).iter().map(row).collect()
}

/// A sample of these rows.
fn of_rows(sample: &Sample, rows: Vec<Row>) -> Report {
    Report {
        interval_end: None,
        is_summary: false,
        seconds: sample.seconds,
        stood: sample.stood_before_reading,
        paused: sample.share_paused(),
        is_withdrawn: false,
        runs: None,
        rows,
        summary: &[],
        floorplan: &[],
    }
}

/// Of how many instances a number is the sum. Of an event in one instance, and of a number for each, that one is there.
fn answering(layout: &Layout<'_>, fewer: &[Fewer], unit: &Unit, part: Part) -> Option<Answering> {
    if part.instance.is_some() {
        return None;
    }
    Fewer::in_sum(layout, fewer, unit, part.socket)
}

/// How the counters of these units were reached, where that is known.
fn through(layout: &Layout<'_>, units: &[&Unit]) -> Option<&'static str> {
    /// Of a number of whose counters some were reached in one way, and some in the other.
    const BOTH: &str = "both";
    let is_of = |instance: &&Instance| units.iter().any(|unit| unit.id == instance.unit.id);
    let ways = layout.instances.iter().filter(is_of).map(|instance| instance.through.map(Through::name));
    ways.reduce(|all, one| if all == one { all } else { Some(BOTH) }).flatten()
}

fn find(totals: &[EventTotal], part: Part) -> Option<f64> {
    totals.iter().find(|total| total.part == part).map(|total| total.value()).as_ref().and_then(Value::number)
}

/// What a part of the machine is called; nothing for the whole.
pub fn place(part: Part, instances: usize, unit: &Unit) -> Option<Place> {
    let instance = part.instance.map(|number| instance_name(unit, number));
    Some(Place { socket: part.socket?, instance, instances })
}
