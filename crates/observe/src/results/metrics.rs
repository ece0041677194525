//! Metrics over counts.

use pericore_metrics::{Reference, Resolver, Validity, Value, evaluate};

use super::{Part, Scope, event_totals, parts_of_unit};
use crate::plan::Plan;
use crate::selection::SelectedMetric;
use crate::session::Sample;

/// A metric's value in a part of the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricTotal {
    /// Where.
    pub part: Part,
    /// The value with its validity.
    pub value: Value,
    /// Number of instances of the metric's unit in it.
    pub instances: usize,
}

/// A metric of the plan's selection, evaluated over the counts of each part: first added up, then computed.
pub fn metric_totals(plan: &Plan, sample: &Sample, metric: &SelectedMetric, scope: Scope) -> Vec<MetricTotal> {
    let mut parts = parts_of_unit(plan, metric.unit, scope);
    if parts.is_empty() {
        // Every event of the metric belongs to other units.
        let others = metric.inputs.iter().map(|(_, event)| plan.selection.events[*event].unit);
        parts = others.flat_map(|unit| parts_of_unit(plan, unit, scope)).collect();
        parts.sort_by_key(|(part, _)| *part);
        parts.dedup_by_key(|(part, _)| *part);
    }
    parts
        .into_iter()
        .map(|(part, instances)| {
            let counts = Counts { plan, sample, metric, scope, part, instances };
            MetricTotal { part, value: evaluate(&metric.expression, &counts), instances }
        })
        .collect()
}

/// The values of a metric's references in one part of the machine.
struct Counts<'a> {
    plan: &'a Plan,
    sample: &'a Sample,
    metric: &'a SelectedMetric,
    scope: Scope,
    part: Part,
    instances: usize,
}

impl Resolver for Counts<'_> {
    #[expect(clippy::cast_precision_loss, reason = "metrics are computed in f64")]
    fn resolve(&self, reference: &Reference) -> Value {
        if reference.is_variable() {
            return Value::measured(match reference.name.as_str() {
                "seconds" => self.sample.seconds,
                "SAMPLE_INTERVAL" => self.sample.tsc_cycles as f64,
                _ => self.instances as f64,
            });
        }
        let missing = |why: String| Value::missing(Validity::not_defined(why));
        let Some((_, event)) = self.metric.inputs.iter().find(|(known, _)| known == reference) else {
            return missing(format!("{reference} is not counted"));
        };
        let unit = self.plan.selection.events[*event].unit;
        if self.scope == Scope::Instance && !std::ptr::eq(unit, self.metric.unit) {
            return missing(format!("{reference} is counted in other instances; ask for sockets or the system"));
        }
        let totals = event_totals(self.sample, *event, self.scope);
        match totals.iter().find(|total| total.part == self.part) {
            Some(total) => total.value(),
            None => missing(format!("{reference} is not counted here")),
        }
    }
}
