//! The last step down: what each counter of each instance has counted, whichever metrics it is for.

use pericore_observe::results::{Layout, Scope, event_totals};
use pericore_observe::session::Sample;
use pericore_report::{Nature, Report, Row, rows};

/// Each event that is counted, in each instance, as the rows of a report.
pub fn counters(layout: &Layout<'_>, sample: &Sample) -> Report {
    let mut all = Vec::new();
    for (index, event) in layout.selection.events.iter().enumerate() {
        for total in event_totals(sample, index, Scope::Instance) {
            all.push(Row {
                name: event.label.clone(),
                place: rows::place(total.part, total.instances, event.unit),
                value: total.value(),
                seconds: total.length.seconds,
                unit_of_measure: None,
                standard_error: total.standard_error,
                spread: None,
                truth: None,
                limit: None,
                nature: Nature::default(),
                answering: None,
                through: None,
            });
        }
    }
    Report {
        interval_end: None,
        is_summary: false,
        seconds: sample.seconds,
        stood: sample.stood_before_reading,
        paused: sample.share_paused(),
        is_withdrawn: false,
        runs: None,
        rows: all,
        summary: &[],
    }
}
