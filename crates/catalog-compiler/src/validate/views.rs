//! Views and the figures of the summary name metrics that exist, and a view's name stands for nothing else.

use super::metrics::metric_of;
use crate::Diagnostics;
use crate::schema::Family;

const FIX: &str = "name it as unit/METRIC";
/// The view that each family has.
const LIMITS: &str = "limits";

/// Each metric exists, a name is given once, and is no metric's.
pub fn metrics_exist(family: &Family, diagnostics: &mut Diagnostics) {
    let metrics = family.units.iter().flat_map(|unit| &unit.metrics);
    for metric in metrics.filter(|metric| metric.name.eq_ignore_ascii_case(LIMITS)) {
        diagnostics.report(metric.place, format!("metric {:?} has the name of a view", metric.name), "rename it");
    }
    for (index, view) in family.views.iter().enumerate() {
        for name in view.metrics.iter().filter(|name| metric_of(family, name).is_none()) {
            diagnostics.report(view.place, format!("view {}: no metric {name:?}", view.name), FIX);
        }
        if view.metrics.is_empty() {
            let message = format!("view {} has no metrics", view.name);
            diagnostics.report(view.place, message, "name those that belong to it, or leave it out");
        }
        let is_same = |name: &str| name.eq_ignore_ascii_case(&view.name);
        let of_metric = family.units.iter().flat_map(|unit| &unit.metrics).any(|metric| is_same(&metric.name));
        if is_same(LIMITS) || of_metric || family.views[..index].iter().any(|other| is_same(&other.name)) {
            let message = format!("view {} has a name that stands for something else", view.name);
            diagnostics.report(view.place, message, "rename it");
        }
    }
}

/// Each metric exists, and what it cannot exceed is measured like it.
pub fn summary(family: &Family, diagnostics: &mut Diagnostics) {
    for row in &family.summary {
        for name in [Some(&row.metric), row.of.as_ref()].into_iter().flatten() {
            if metric_of(family, name).is_none() {
                diagnostics.report(row.place, format!("summary {:?}: no metric {name:?}", row.label), FIX);
            }
        }
        let unit = |name: &str| metric_of(family, name).map(|metric| metric.unit_of_measure.as_str());
        if let Some(of) = row.of.as_deref().filter(|of| unit(of) != unit(&row.metric)) {
            let message = format!("summary {:?}: {} and {of} have different units of measure", row.label, row.metric);
            diagnostics.report(row.place, message, "compare what is measured alike");
        }
    }
}
