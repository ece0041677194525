//! Metrics: expressions in terms of events, expanded and resolved.

use pericore_catalog::{Measure, Metric, Quantity, Unit};
use pericore_metrics::{BinaryOperator, Expression, Growth, MAX_DEPTH, Reference, SettingValue, Spot, UnitOfMeasure};

use super::error::{Problem, Selectable, SelectionError};
use super::names::nearest;
use super::programming::{self, Setting};
use super::settings::Given;
use super::{Asked, SelectedEvent, Selection, names};

/// The deepest chain of metrics that refer to metrics.
const MAX_LEVELS: usize = 16;

/// Stands for all metrics of the family that tell a limit.
pub const LIMITS: &str = "limits";

/// A metric whose references are all known.
#[derive(Debug, Clone)]
pub struct SelectedMetric {
    /// Name.
    pub name: String,
    /// The unit that it belongs to.
    pub unit: &'static Unit,
    /// The catalogue's row, unless the expression came from elsewhere.
    pub row: Option<&'static Metric>,
    /// In terms of events and variables only; each event with its unit.
    pub expression: Expression,
    /// What the result is measured in.
    pub unit_of_measure: UnitOfMeasure,
    /// Whether it adds up over instances. The expression of one that does not is a mean.
    pub quantity: Quantity,
    /// Each event reference of the expression, and its index in [`Selection::events`].
    pub inputs: Vec<(Reference, usize)>,
}

impl Selection {
    /// Adds metrics by name, `METRIC` or `unit/METRIC`, separated by commas, and the events that they need. `METRIC{key=value}` sets a filter
    /// in each of its events that takes it. [`LIMITS`] stands for all that tell a limit, a view's name for its metrics.
    ///
    /// # Errors
    /// [`SelectionError`], which points at the place. Nothing is added then.
    pub fn add_metrics(&mut self, text: &str) -> Result<(), SelectionError> {
        let mut grown = self.clone();
        // By name: another version may have more limits.
        let mut names = Vec::new();
        for (start, whole) in parts(text) {
            let refuse = |problem| SelectionError::new(Spot::new(text, start, whole.len()), problem);
            if whole.split('{').next().is_some_and(|name| name.eq_ignore_ascii_case(LIMITS)) {
                if whole.len() > LIMITS.len() {
                    let found = format!("{whole:?}");
                    return Err(refuse(Problem::Syntax { expected: "limits without settings", found }));
                }
                for (unit, row) in grown.limits() {
                    grown.add_row(unit, row, &[]).map_err(refuse)?;
                    names.push(format!("{}/{}", unit.name, row.name));
                }
                continue;
            }
            if let Some(view) = grown.family.views.iter().find(|view| view.name.eq_ignore_ascii_case(whole)) {
                for metric in view.metrics {
                    let (unit, row) = grown.find_metric(metric).map_err(refuse)?;
                    grown.add_row(unit, row, &[]).map_err(refuse)?;
                    names.push((*metric).to_owned());
                }
                continue;
            }
            names.push(whole.to_owned());
            let name = whole.find('{').map_or(whole, |brace| &whole[..brace]);
            let (unit, row) = grown.find_metric(name).map_err(refuse)?;
            // The metric language has settings behind names: any name will do to read them.
            let settings = match Expression::parse(&format!("X{}", &whole[name.len()..])) {
                Ok(Expression::Reference(reference)) => reference.settings,
                Ok(_) => {
                    let found = format!("{whole:?}");
                    return Err(refuse(Problem::Syntax { expected: "METRIC or METRIC{key=value}", found }));
                }
                Err(error) => {
                    let at = start + name.len() + error.spot.offset.saturating_sub(1);
                    let spot = Spot::new(text, at, error.spot.length);
                    return Err(SelectionError::new(spot, Problem::Expression(error)));
                }
            };
            grown.add_row(unit, row, &settings).map_err(refuse)?;
        }
        grown.asked.push(Asked::Metrics(names.join(",")));
        *self = grown;
        Ok(())
    }

    /// The metrics that tell a limit.
    fn limits(&self) -> Vec<(&'static Unit, &'static Metric)> {
        let units = self.family.units.iter().copied();
        let of_unit = |unit: &'static Unit| unit.metrics.iter().map(move |metric| (unit, metric));
        units.flat_map(of_unit).filter(|(_, metric)| metric.limit.is_some()).collect()
    }

    /// Adds a metric that is not in the catalogue; bare names in it are events and metrics of `unit`.
    ///
    /// # Errors
    /// [`SelectionError`], which points into the expression if it does not parse.
    pub fn add_expression(
        &mut self,
        name: &str,
        unit: &'static Unit,
        source: &str,
        unit_of_measure: UnitOfMeasure,
    ) -> Result<(), SelectionError> {
        let expression = Expression::parse(source)
            .map_err(|error| SelectionError::new(error.spot.clone(), Problem::Expression(error)))?;
        let refuse = |problem| SelectionError::new(Spot::new(source, 0, source.len()), problem);
        let mut grown = self.clone();
        let expression = grown.expand(name, unit, &expression, 0).map_err(refuse)?;
        grown.add_expanded(name, unit, None, expression, unit_of_measure).map_err(refuse)?;
        *self = grown;
        Ok(())
    }

    fn find_metric(&self, text: &str) -> Result<(&'static Unit, &'static Metric), Problem> {
        let (place, name) = match text.split_once('/') {
            Some((unit, name)) => (Some(names::unit(self.family, unit)?.0), name.trim_end_matches('/')),
            None => (None, text),
        };
        let units =
            || self.family.units.iter().copied().filter(move |unit| place.is_none_or(|place| place.id == unit.id));
        let found: Vec<_> = units().filter_map(|unit| Some((unit, metric_named(unit, name)?))).collect();
        match found[..] {
            [only] => Ok(only),
            [] => {
                if let Ok((unit, _)) = names::event(self.family, place, name) {
                    let example = format!("-e {}/{name}/", unit.name);
                    return Err(Problem::OtherKind { name: name.to_owned(), kind: Selectable::Event, example });
                }
                // Another unit that has it is nearer than a name that looks alike.
                let elsewhere = self.family.units.iter().filter(|unit| metric_named(unit, name).is_some());
                let mut near: Vec<String> = elsewhere.map(|unit| format!("{}/{name}", unit.name)).collect();
                if near.is_empty() {
                    let views = self.family.views.iter().map(|view| view.name);
                    near = nearest(
                        name,
                        units().flat_map(|unit| unit.metrics).map(|metric| metric.name).chain([LIMITS]).chain(views),
                    );
                }
                let place = place.map_or(self.family.name, |unit| unit.name);
                Err(Problem::UnknownMetric { place, name: name.to_owned(), nearest: near })
            }
            [(first, _), ..] => {
                let units: Vec<&str> = found.iter().map(|(unit, _)| unit.name).collect();
                let example = format!("{}/{name}", first.name);
                Err(Problem::Ambiguous {
                    name: name.to_owned(),
                    kind: Selectable::Metric,
                    units: units.join(", "),
                    example,
                })
            }
        }
    }

    fn add_row(
        &mut self,
        unit: &'static Unit,
        row: &'static Metric,
        settings: &[(String, SettingValue)],
    ) -> Result<(), Problem> {
        let name = Reference { settings: settings.to_vec(), ..Reference::named(row.name) }.to_string();
        let is_known = |known: &SelectedMetric| known.name == name && known.unit.id == unit.id && known.row.is_some();
        if self.metrics.iter().any(is_known) {
            return Ok(());
        }
        let in_metric = |problem| match problem {
            problem @ (Problem::InMetric { .. } | Problem::MetricTooDeep { .. }) => problem,
            problem => Problem::InMetric {
                metric: format!("{}/{}", unit.name, row.name),
                expression: row.expression.to_owned(),
                problem: Box::new(problem),
            },
        };
        let expression = Expression::parse(row.expression).map_err(|error| in_metric(Problem::Expression(error)))?;
        let expression = self.expand(row.name, unit, &expression, 0).map_err(in_metric)?;
        let expression = self.with_settings(unit, &expression, settings)?;
        let expression = match row.quantity {
            Quantity::Extensive => expression,
            Quantity::Intensive => mean(unit, expression),
        };
        let unit_of_measure = UnitOfMeasure::from_symbol(row.unit_of_measure).unwrap_or(UnitOfMeasure::Count);
        self.add_expanded(&name, unit, Some(row), expression, unit_of_measure).map_err(in_metric)
    }

    /// The expression with filters set in each event that takes them and does not set them itself.
    fn with_settings(
        &self,
        unit: &'static Unit,
        expression: &Expression,
        settings: &[(String, SettingValue)],
    ) -> Result<Expression, Problem> {
        let mut keys: Vec<&str> = Vec::new();
        let mut taken: Vec<&str> = Vec::new();
        let set = expression.try_map(&mut |reference| {
            let mut reference = reference.clone();
            let place = reference.unit.as_deref().map(|unit| names::unit(self.family, unit)).transpose()?;
            if let Some((place, _)) = place
                && let (_, names::Named::Event(event, subevent)) =
                    names::event(self.family, Some(place), &reference.name)?
            {
                let uses = programming::filter_uses(event, subevent);
                keys.extend(uses.iter().map(|used| used.field));
                for (key, value) in settings.iter().filter(|(key, _)| uses.iter().any(|used| used.field == key)) {
                    taken.push(key);
                    if !reference.settings.iter().any(|(known, _)| known == key) {
                        reference.settings.push((key.clone(), value.clone()));
                    }
                }
            }
            Ok(Expression::Reference(reference))
        })?;
        keys.sort_unstable();
        keys.dedup();
        match settings.iter().find(|(key, _)| !taken.contains(&key.as_str())) {
            None => Ok(set),
            Some((key, _)) => Err(Problem::UnknownKey {
                unit: unit.name,
                key: key.clone(),
                nearest: nearest(key, keys.iter().copied()),
                keys: if keys.is_empty() { "none in this metric".to_owned() } else { keys.join(" ") },
            }),
        }
    }

    /// The expression with metrics replaced by what they stand for, and each event with its unit.
    fn expand(
        &self,
        name: &str,
        unit: &'static Unit,
        expression: &Expression,
        level: usize,
    ) -> Result<Expression, Problem> {
        let too_deep = || Problem::MetricTooDeep { metric: name.to_owned() };
        if level > MAX_LEVELS {
            return Err(too_deep());
        }
        let expanded = expression.try_map(&mut |reference| {
            if reference.is_variable() {
                return Ok(Expression::Reference(reference.clone()));
            }
            let owner = match &reference.unit {
                Some(name) => names::unit(self.family, name)?.0,
                None => unit,
            };
            match metric_named(owner, &reference.name) {
                Some(row) if reference.settings.is_empty() && owner.event(&reference.name).is_none() => {
                    let inner = Expression::parse(row.expression).map_err(Problem::Expression)?;
                    self.expand(name, owner, &inner, level + 1)
                }
                _ => {
                    let unit = Some(reference.unit.clone().unwrap_or_else(|| owner.name.to_owned()));
                    Ok(Expression::Reference(Reference { unit, ..reference.clone() }))
                }
            }
        })?;
        if expanded.depth() > MAX_DEPTH { Err(too_deep()) } else { Ok(expanded) }
    }

    fn add_expanded(
        &mut self,
        name: &str,
        unit: &'static Unit,
        row: Option<&'static Metric>,
        expression: Expression,
        unit_of_measure: UnitOfMeasure,
    ) -> Result<(), Problem> {
        let references: Vec<Reference> =
            expression.references().into_iter().filter(|reference| !reference.is_variable()).cloned().collect();
        let mut inputs: Vec<(Reference, usize)> = Vec::new();
        let mut waiting = Vec::new();
        for reference in references {
            let event = self.resolve_reference(&reference)?;
            if event.measure() == Some(Measure::Counter0) {
                waiting.push((reference, event));
            } else {
                let index = self.add(event);
                inputs.push((reference, index));
            }
        }
        let together: Vec<usize> = inputs.iter().map(|(_, index)| *index).collect();
        for (reference, mut event) in waiting {
            self.give_companion(&mut event, &together)?;
            let index = self.add(event);
            inputs.push((reference, index));
        }
        let quantity = row.map_or_else(|| own_quantity(unit, &expression), |row| row.quantity);
        let name = name.to_owned();
        self.metrics.push(SelectedMetric { name, unit, row, expression, unit_of_measure, quantity, inputs });
        Ok(())
    }

    fn resolve_reference(&self, reference: &Reference) -> Result<SelectedEvent, Problem> {
        let place = reference.unit.as_deref().map(|unit| names::unit(self.family, unit)).transpose()?;
        let (unit, named) = names::event(self.family, place.map(|(unit, _)| unit), &reference.name)?;
        let instance = place.and_then(|(_, instance)| instance);
        let given = |value| match value {
            &SettingValue::Number(number) => Given::Number(number),
            SettingValue::Name(name) => Given::Text(name),
        };
        let settings: Vec<Setting<'_>> =
            reference.settings.iter().map(|(key, value)| Setting { key, given: given(value) }).collect();
        let source = programming::source(unit, Some(named), &settings).map_err(|(_, problem)| problem)?;
        Ok(SelectedEvent { label: programming::label(unit, instance, &source, &settings), unit, instance, source })
    }
}

/// An expression that is no sum over the unit's instances: the mean over them of one that is. Documents print the
/// formula of one instance.
fn mean(unit: &Unit, expression: Expression) -> Expression {
    if !Growth::of(&expression, unit.name, &|_| None).is_ok_and(|growth| growth.is_of(unit.name)) {
        return expression;
    }
    let instances = Expression::Reference(Reference::named("instances"));
    Expression::Binary(BinaryOperator::Divide, Box::new(expression), Box::new(instances))
}

/// Whether a metric that is in no catalogue adds up.
fn own_quantity(unit: &Unit, expression: &Expression) -> Quantity {
    match Growth::of(expression, unit.name, &|_| None) {
        Ok(growth) if growth.adds_up() => Quantity::Extensive,
        _ => Quantity::Intensive,
    }
}

/// The parts of a list, without the spaces around them, each with its place. Commas in braces do not separate.
fn parts(text: &str) -> Vec<(usize, &str)> {
    let mut depth = 0_usize;
    let mut ends: Vec<usize> = Vec::new();
    for (at, sign) in text.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => ends.push(at),
            _ => {}
        }
    }
    ends.push(text.len());
    let mut start = 0;
    let part = |end: usize| {
        let part = &text[start..end];
        let place = start + (part.len() - part.trim_start().len());
        start = end + 1;
        (place, part.trim())
    };
    ends.into_iter().map(part).collect()
}

fn metric_named(unit: &'static Unit, name: &str) -> Option<&'static Metric> {
    unit.metrics.iter().find(|metric| metric.name.eq_ignore_ascii_case(name))
}
