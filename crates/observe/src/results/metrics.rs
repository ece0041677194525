//! Metrics over counts.

use pericore_metrics::{Reference, Resolver, UnitOfMeasure, Validity, Value, evaluate};

use super::{EventTotal, Layout, Part, Scope, Totals, total_in};
use crate::selection::SelectedMetric;
use crate::session::{Length, Sample, at_end_of_range};

/// A metric's value in a part of the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricTotal {
    /// Where.
    pub part: Part,
    /// The value with its validity.
    pub value: Value,
    /// Number of instances of the metric's unit in it.
    pub instances: usize,
    /// How long its counts were counted: over several sockets the mean of theirs.
    pub length: Length,
    /// What it weighs in a mean over time: the denominator of a quotient of counts; none where it weighs as much as
    /// its time.
    pub weight: Option<f64>,
    /// If any of its counts is scaled, the standard error that follows from theirs; none if nothing can be said.
    pub standard_error: Option<f64>,
}

/// A metric of the layout's selection, evaluated over the counts of each part: first added up, then computed.
pub fn metric_totals(layout: &Layout<'_>, sample: &Sample, metric: &SelectedMetric, scope: Scope) -> Vec<MetricTotal> {
    Totals::of(sample, scope).metric(layout, metric)
}

impl Totals<'_> {
    /// A metric of the layout's selection, evaluated over the counts of each part: first added up, then computed.
    pub fn metric(&self, layout: &Layout<'_>, metric: &SelectedMetric) -> Vec<MetricTotal> {
        let mut parts = layout.parts_of(metric.unit, self.scope);
        if parts.is_empty() {
            // Every event of the metric belongs to other units.
            let others = metric.inputs.iter().map(|(_, event)| layout.selection.events[*event].unit);
            parts = others.flat_map(|unit| layout.parts_of(unit, self.scope)).collect();
            parts.sort_by_key(|(part, _)| *part);
            parts.dedup_by_key(|(part, _)| *part);
        }
        // Once for all parts: units with many instances have many parts.
        let mut events: Vec<usize> = metric.inputs.iter().map(|(_, event)| *event).collect();
        events.sort_unstable();
        events.dedup();
        let totals: Vec<_> = events.into_iter().map(|event| (event, self.event(event))).collect();
        parts
            .into_iter()
            .map(|(part, instances)| {
                let (sample, scope, totals) = (self.sample, self.scope, &totals);
                let counts = Counts { layout, sample, metric, scope, part, instances, totals, shifted: None };
                let value = evaluate(&metric.expression, &counts);
                let standard_error = value.number().and_then(|number| counts.standard_error(number));
                let (value, length) = (possible(value, metric.unit_of_measure), counts.length());
                let weight = metric.expression.weight(&counts);
                MetricTotal { part, value, instances, length, weight, standard_error }
            })
            .collect()
    }
}

/// By so much a share of scaled counts may be above all or below nothing: their turns are not cut at the same instant. It is taken for all, or
/// for nothing, then.
const SLACK: f64 = 1e-3;

/// A value that can be; or the same, suspect, because it cannot.
pub(super) fn possible(value: Value, unit: UnitOfMeasure) -> Value {
    let Some(number) = value.number() else { return value };
    let Some(objection) = unit.objection(number) else { return value };
    let validity = value.validity();
    if unit == UnitOfMeasure::Percent && (-SLACK..1.0 + SLACK).contains(&number) && validity.duty() < 1.0 {
        return Value::new(number.clamp(0.0, 1.0), validity.clone());
    }
    let remedy = match validity.duty() < 1.0 {
        true => "the events behind it took turns: count fewer at once, or measure longer",
        false => {
            "what was under way at the start or the end is in some of its counts and not in others: measure longer; if \
             that changes nothing, they count no parts of one whole here"
        }
    };
    let why = format!("{objection}; {remedy}");
    Value::new(number, validity.clone().and(&Validity::suspect(why)))
}

/// The values of a metric's references in one part of the machine.
struct Counts<'a> {
    layout: &'a Layout<'a>,
    sample: &'a Sample,
    metric: &'a SelectedMetric,
    scope: Scope,
    part: Part,
    instances: usize,
    /// The counts of each event that the metric refers to, in all parts.
    totals: &'a [(usize, &'a [EventTotal])],
    /// An event whose count is taken one standard error larger.
    shifted: Option<usize>,
}

impl Counts<'_> {
    /// Sockets that the instances are in.
    fn sockets(&self) -> Vec<u16> {
        if let Some(socket) = self.part.socket {
            return vec![socket];
        }
        let of_unit = self.layout.parts_of(self.metric.unit, Scope::Socket);
        if of_unit.is_empty() {
            return self.layout.sockets();
        }
        of_unit.iter().filter_map(|(part, _)| part.socket).collect()
    }

    /// How long they were counted.
    fn length(&self) -> Length {
        self.sample.length_over(self.sockets())
    }

    fn total(&self, event: usize) -> Option<&EventTotal> {
        let (_, totals) = self.totals.iter().find(|(known, _)| *known == event)?;
        total_in(totals, self.part)
    }

    /// How far the metric moves with each scaled count's standard error, in the root of the sum of squares; nothing if no count is
    /// scaled, or if the error of one is not known.
    fn standard_error(&self, number: f64) -> Option<f64> {
        let is_scaled = |event: &usize| self.total(*event).is_some_and(|total| total.validity.duty() < 1.0);
        let scaled: Vec<usize> = self.totals.iter().map(|(event, _)| *event).filter(is_scaled).collect();
        if scaled.is_empty() {
            return None;
        }
        let moves = scaled.into_iter().map(|event| {
            self.total(event)?.standard_error?;
            let shifted = Counts { shifted: Some(event), ..*self };
            Some((evaluate(&self.metric.expression, &shifted).number()? - number).powi(2))
        });
        moves.sum::<Option<f64>>().map(f64::sqrt)
    }
}

impl Resolver for Counts<'_> {
    #[expect(clippy::cast_precision_loss, reason = "metrics are computed in f64")]
    fn resolve(&self, reference: &Reference) -> Value {
        if reference.is_variable() {
            let validity = || match self.sample.stood_before_reading {
                true => Validity::suspect("the counters stood from the overflow to the reading: the time is too long"),
                false => Validity::MEASURED,
            };
            return match reference.name.as_str() {
                "seconds" => Value::new(self.length().seconds, validity()),
                "SAMPLE_INTERVAL" => {
                    let cycles = self.length().tsc_cycles;
                    Value::new(cycles as f64, validity().and(&at_end_of_range(Some(cycles))))
                }
                "sockets" => Value::measured(self.sockets().len() as f64),
                "threads_per_core" => match self.layout.selection.threads_per_core {
                    Some(threads) => Value::measured(threads.into()),
                    None => Value::missing(Validity::not_defined("the hardware threads of a core are not known here")),
                },
                _ => Value::measured(self.instances as f64),
            };
        }
        let missing = |why: String| Value::missing(Validity::not_defined(why));
        let Some((_, event)) = self.metric.inputs.iter().find(|(known, _)| known == reference) else {
            return missing(format!("{reference} is not counted"));
        };
        let unit = self.layout.selection.events[*event].unit;
        if self.scope == Scope::Instance && unit.id != self.metric.unit.id {
            return missing(format!("{reference} is counted in other instances; ask for sockets or the system"));
        }
        match self.total(*event) {
            Some(total) if self.shifted == Some(*event) => {
                let shift = total.standard_error.unwrap_or(0.0);
                total.value().number().map_or_else(|| total.value(), |number| Value::measured(number + shift))
            }
            Some(total) => total.value(),
            None => missing(format!("{reference} is not counted here")),
        }
    }
}
