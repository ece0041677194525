//! From an event as written to a count: which unit, which instance, which programming.

use pericore_catalog::{Family, Unit};

use super::SelectedEvent;
use super::error::{Problem, SelectionError};
use super::names::{self, Named, Place};
use super::programming::{self, Setting};
use super::settings::Given;
use super::syntax::{Term, Token, Written};

/// The pieces of an event as written.
#[derive(Default)]
struct Pieces<'s> {
    /// What stands in front of the slash.
    place: Option<Place>,
    /// The event and its unit.
    named: Option<(&'static Unit, Named)>,
    settings: Vec<(Term<'s>, Setting<'s>)>,
    /// The user's name for it.
    label: Option<String>,
}

/// An event as written, resolved; and the name that the user gave it.
pub(super) fn resolve(
    family: &'static Family,
    text: &str,
    written: &Written<'_>,
) -> Result<(SelectedEvent, Option<String>), SelectionError> {
    let pieces = sort(family, text, written)?;
    let unit = pieces.place.map(|place| place.unit).or(pieces.named.map(|(unit, _)| unit));
    let unit = unit.ok_or_else(|| written.whole.refuse(text, Problem::NoEvent))?;
    let instance = pieces.place.and_then(|place| place.instance);
    let settings: Vec<Setting<'_>> = pieces.settings.iter().map(|(_, setting)| *setting).collect();
    let named = pieces.named.map(|(_, named)| named);
    if pieces.place.is_some_and(|place| place.free_running) && !matches!(named, Some(Named::FreeRunning(..))) {
        let known = names::free_running_names(unit);
        return Err(written.whole.refuse(text, Problem::NotFreeRunning { unit: unit.name, known }));
    }
    let source = programming::source(unit, named, &settings).map_err(|(index, problem)| {
        let token = match index.and_then(|index| pieces.settings.get(index)) {
            Some((term, _)) if problem.concerns_value() => term.value.unwrap_or(term.key),
            Some((term, _)) => term.key,
            None => written.whole,
        };
        token.refuse(text, problem)
    })?;
    let label = programming::label(unit, instance, &source, &settings);
    Ok((SelectedEvent { label, unit, instance, source }, pieces.label))
}

/// Tells the unit, the event, the settings and the name apart.
fn sort<'s>(family: &'static Family, text: &str, written: &Written<'s>) -> Result<Pieces<'s>, SelectionError> {
    let mut pieces = Pieces::default();
    if let Some(token) = written.unit {
        pieces.place = Some(names::place(family, token.text).map_err(|problem| token.refuse(text, problem))?);
    }
    let place = pieces.place.map(|place| place.unit);
    for term in &written.terms {
        let key = term.key.text;
        match term.value {
            Some(value) if key == "name" => pieces.label = Some(value.text.to_owned()),
            Some(value) => pieces.settings.push((*term, Setting { key, given: Given::Text(value.text) })),
            None if place.is_some_and(|unit| programming::is_flag(unit, key)) => {
                pieces.settings.push((*term, Setting { key, given: Given::Number(1) }));
            }
            None if pieces.named.is_some() => return Err(term.key.refuse(text, Problem::SecondEvent)),
            None => {
                let (name, settings) = names::without_alias(place, key);
                if let Some(name) = name {
                    let named = names::event(family, place, name);
                    pieces.named = Some(named.map_err(|problem| term.key.refuse(text, problem))?);
                }
                let given = |(key, value)| (*term, Setting { key, given: Given::Text(value) });
                pieces.settings.extend(settings.map(given));
            }
        }
    }
    Ok(pieces)
}

impl Token<'_> {
    /// `problem`, pointing at this token of `text`.
    pub(super) fn refuse(&self, text: &str, problem: Problem) -> SelectionError {
        SelectionError::new(pericore_metrics::Spot::new(text, self.offset, self.text.len()), problem)
    }
}

impl Problem {
    /// True if the value is wrong, not the key.
    const fn concerns_value(&self) -> bool {
        matches!(
            self,
            Self::UnknownValue { .. } | Self::TooLarge { .. } | Self::ForbiddenBits { .. } | Self::Contradiction { .. }
        )
    }
}
