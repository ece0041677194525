//! Metrics parse, name what exists and carry a known unit of measure.

use pericore_catalog_schema::{Quantity, Role};
use pericore_metrics::{Expression, Growth, Reference, Uneven, UnitOfMeasure};

use crate::Diagnostics;
use crate::diagnostics::nearest;
use crate::schema::{Family, Limit, Metric, Unit};

/// Checks every expression of a family, and that its default metrics exist.
pub fn references(family: &Family, diagnostics: &mut Diagnostics) {
    for name in family.default_metrics.iter().filter(|name| !is_known(family, name)) {
        diagnostics.report(family.place, format!("no default metric {name:?}"), "name it as unit/METRIC");
    }
    for unit in &family.units {
        for metric in &unit.metrics {
            if UnitOfMeasure::from_symbol(&metric.unit_of_measure).is_none() {
                let message = format!("no unit of measure {:?}", metric.unit_of_measure);
                diagnostics.report(metric.place, message, "use one of catalog/README.md");
            }
            if let Some(limit) = &metric.limit {
                check_limit(family, metric, limit, diagnostics);
            }
            match Expression::parse(&metric.expression) {
                Err(error) => {
                    diagnostics.report(metric.place, format!("{}: {error}", metric.name), "correct the expression");
                }
                Ok(expression) => {
                    for reference in expression.references() {
                        reference_exists(family, unit, metric, reference, diagnostics);
                    }
                    check_quantity(family, unit, metric, &expression, diagnostics);
                }
            }
        }
    }
}

/// The deepest chain of metrics that refer to metrics.
const MOST_LEVELS: usize = 16;

/// Checks that it is said whether a metric adds up, and that its expression does so. An intensive one may be printed
/// as a sum: its mean over
/// instances is taken.
fn check_quantity(
    family: &Family,
    unit: &Unit,
    metric: &Metric,
    expression: &Expression,
    diagnostics: &mut Diagnostics,
) {
    let name = &metric.name;
    let Some(quantity) = metric.quantity() else {
        let message = format!("{name}: a number in {:?} may or may not add up over instances", metric.unit_of_measure);
        diagnostics.report(metric.place, message, "write quantity = \"extensive\" or \"intensive\"");
        return;
    };
    let growth = growth(family, unit, expression, 0);
    let fits = match (&growth, quantity) {
        (Ok(growth), Quantity::Extensive) => growth.adds_up(),
        (Ok(growth), Quantity::Intensive) => growth.is_none() || growth.is_of(&unit.name),
        (Err(_), _) => false,
    };
    if !fits {
        let why = growth.err().map_or_else(String::new, |uneven| format!(": {uneven}"));
        let message = format!("{name} is {}, and its expression is not{why}", quantity.name());
        diagnostics.report(metric.place, message, "multiply or divide by instances, or correct the quantity");
    }
    if metric.side.is_some() && quantity == Quantity::Intensive {
        let message = format!("{name} is intensive, and says at which side it counts");
        diagnostics.report(metric.place, message, "leave out the side: only what adds up is counted twice");
    }
}

fn growth(family: &Family, unit: &Unit, expression: &Expression, level: usize) -> Result<Growth, Uneven> {
    let metric = |reference: &Reference| {
        let owner =
            reference.unit.as_ref().map_or(Some(unit), |name| family.units.iter().find(|row| row.name == *name))?;
        if level > MOST_LEVELS || owner.events.iter().any(|event| event.name == reference.name) {
            return None;
        }
        let row = owner.metrics.iter().find(|row| row.name == reference.name)?;
        Some(growth(family, owner, &Expression::parse(&row.expression).ok()?, level + 1))
    };
    Growth::of(expression, &unit.name, &metric)
}

/// The metric of a family that is named as `unit/METRIC`.
pub fn metric_of<'f>(family: &'f Family, name: &str) -> Option<&'f Metric> {
    let (unit, metric) = name.split_once('/')?;
    let unit = family.units.iter().find(|row| row.name == unit)?;
    unit.metrics.iter().find(|row| row.name == metric)
}

fn is_known(family: &Family, name: &str) -> bool {
    metric_of(family, name).is_some()
}

fn check_limit(family: &Family, metric: &Metric, limit: &Limit, diagnostics: &mut Diagnostics) {
    let share = UnitOfMeasure::from_symbol(&metric.unit_of_measure) == Some(UnitOfMeasure::Percent);
    if !share {
        diagnostics.report(limit.place, format!("{} is no share", metric.name), "give limits to metrics in % only");
    }
    if !(1..100).contains(&limit.above) {
        let message = format!("{}: a limit above {} %", metric.name, limit.above);
        diagnostics.report(limit.place, message, "give per cent, from 1 to 99");
    }
    for name in limit.see.iter().filter(|name| !is_known(family, name)) {
        diagnostics.report(
            limit.place,
            format!("{}: no metric {name:?} to see", metric.name),
            "name it as unit/METRIC",
        );
    }
}

fn reference_exists(
    family: &Family,
    unit: &Unit,
    metric: &Metric,
    reference: &Reference,
    diagnostics: &mut Diagnostics,
) {
    if reference.is_variable() {
        return;
    }
    let owner = match &reference.unit {
        None => Some(unit),
        Some(name) => family.units.iter().find(|unit| unit.name == *name),
    };
    let Some(owner) = owner else {
        let message = format!("{} names a unit that {} does not have: {reference}", metric.name, family.name);
        diagnostics.report(metric.place, message, "correct the name");
        return;
    };
    let known = countable(owner);
    if !known.contains(&reference.name) {
        let fix = match nearest(&reference.name, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean {near}?"),
            None => "name an event, a subevent, a fixed counter or a metric of the unit".to_owned(),
        };
        let message = format!("{} names {}, which unit {} does not have", metric.name, reference.name, owner.name);
        diagnostics.report(metric.place, message, fix);
    }
    for (field, _) in &reference.settings {
        let registers = owner.registers.iter().filter(|r| matches!(r.role, Role::Filter | Role::Control));
        let fields = registers.flat_map(|r| &r.fields).chain(owner.field_sets.iter().flat_map(|set| &set.fields));
        if !fields.into_iter().any(|known| known.name == *field) {
            let message = format!("{} sets {field:?}, which is no field of unit {}", metric.name, owner.name);
            diagnostics.report(metric.place, message, "name a control or filter field");
        }
    }
}

/// Everything of a unit that an expression may name.
fn countable(unit: &Unit) -> Vec<String> {
    let mut names: Vec<String> = unit.metrics.iter().map(|metric| metric.name.clone()).collect();
    names.extend(unit.registers.iter().filter_map(|register| register.event.clone()));
    for register in unit.registers.iter().filter(|register| register.count > 1) {
        names.extend(register.event.iter().flat_map(|event| (0..register.count).map(move |i| format!("{event}{i}"))));
    }
    for event in &unit.events {
        names.push(event.name.clone());
        names.extend(event.subevents.iter().map(|subevent| format!("{}.{}", event.name, subevent.name)));
    }
    names
}
