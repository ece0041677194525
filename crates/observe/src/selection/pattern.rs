//! Patterns for events: `imc/CAS_*/` stands for all events of the unit whose names fit.

use std::borrow::Cow;

use pericore_catalog::search::Query;
use pericore_catalog::{Event, Family};

use super::error::{Problem, SelectionError};
use super::names;
use super::syntax::{self, Written};

/// The text with events in the place of patterns. Events are left out for which `counts` is false: they need a filter
/// that the text does not give.
///
/// # Errors
/// [`SelectionError`]: a text that cannot be read, or a pattern that no event fits.
pub(super) fn expand<'t>(
    family: &'static Family,
    text: &'t str,
    counts: impl Fn(&str) -> bool,
) -> Result<Cow<'t, str>, SelectionError> {
    if !text.contains('*') {
        return Ok(Cow::Borrowed(text));
    }
    let mut expanded = text.to_owned();
    // From the end: places further to the front stay as they are.
    for event in syntax::parse(text)?.iter().rev() {
        if let Some(events) = events(family, text, event, &counts)? {
            let whole = event.whole;
            expanded.replace_range(whole.offset..whole.offset + whole.text.len(), &events.join(","));
        }
    }
    Ok(Cow::Owned(expanded))
}

/// The events that a pattern stands for; none if it is no pattern.
fn events(
    family: &'static Family,
    text: &str,
    written: &Written<'_>,
    counts: impl Fn(&str) -> bool,
) -> Result<Option<Vec<String>>, SelectionError> {
    let pattern = written.terms.iter().find(|term| term.value.is_none() && term.key.text.contains('*'));
    let (Some(place), Some(pattern)) = (written.unit, pattern) else { return Ok(None) };
    let unit = names::place(family, place.text).map_err(|problem| place.refuse(text, problem))?.unit;
    let pattern = pattern.key;
    let end = written.whole.offset + written.whole.text.len();
    let (front, behind) =
        (&text[written.whole.offset..pattern.offset], &text[pattern.offset + pattern.text.len()..end]);
    let candidates = unit.events.iter().flat_map(|event| candidates(event, pattern.text));
    let candidates = candidates.map(|name| format!("{front}{name}{behind}"));
    let events: Vec<String> = candidates.filter(|event| counts(event)).collect();
    if events.is_empty() {
        let problem = Problem::UnknownEvent { place: unit.name, name: pattern.text.to_owned(), nearest: Vec::new() };
        return Err(pattern.refuse(text, problem));
    }
    Ok(Some(events))
}

/// The names of an event that a pattern may mean: with a dot in it, those of subevents; else the event's, or those of
/// all its subevents.
fn candidates(event: &'static Event, pattern: &str) -> Vec<String> {
    let query = Query::new([pattern]);
    let subevents = event.subevents.iter().map(|subevent| format!("{}.{}", event.name, subevent.name));
    if pattern.contains('.') {
        return subevents.filter(|name| query.matches(&[name], &[])).collect();
    }
    match (query.matches(&[event.name], &[]), event.subevents.is_empty()) {
        (false, _) => Vec::new(),
        (true, true) => vec![event.name.to_owned()],
        (true, false) => subevents.collect(),
    }
}
