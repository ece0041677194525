//! Metrics parse, name what exists and carry a known unit of measure.

use pericore_catalog_schema::Role;
use pericore_metrics::{Expression, Reference, UnitOfMeasure};

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
                }
            }
        }
    }
}

/// True if a family has a metric, named as `unit/METRIC`.
fn is_known(family: &Family, name: &str) -> bool {
    let named = name.split_once('/').and_then(|(unit, metric)| {
        let unit = family.units.iter().find(|row| row.name == unit)?;
        unit.metrics.iter().find(|row| row.name == metric)
    });
    named.is_some()
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
