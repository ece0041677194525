//! What belongs with a thing: metrics and events around it, and what was decided about it.

use pericore_metrics::Expression;

use crate::model::{Choice, Deviation, Event, Family, Field, Metric, Subevent, Unit, ValueSet};
use crate::{choices, deviations};

/// Metrics of the family whose expression names the event, in any of its units; of the subevent only if one is given.
pub fn metrics(
    family: &'static Family,
    unit: &Unit,
    event: &Event,
    subevent: Option<&Subevent>,
) -> Vec<(&'static Unit, &'static Metric)> {
    let mut found = Vec::new();
    for home in family.units.iter().copied() {
        for metric in home.metrics {
            // Parsing hundreds of expressions to find none would be the dearest part of `explain`.
            if metric.expression.contains(event.name) && names(metric, home, unit, event, subevent) {
                found.push((home, metric));
            }
        }
    }
    found
}

fn names(metric: &Metric, home: &Unit, unit: &Unit, event: &Event, subevent: Option<&Subevent>) -> bool {
    let Ok(expression) = Expression::parse(metric.expression) else { return false };
    let is_it = |name: &str| {
        let Some(rest) = name.strip_prefix(event.name) else { return false };
        match (rest.strip_prefix('.'), subevent) {
            (Some(named), Some(subevent)) => named == subevent.name,
            (Some(_), None) => true,
            (None, _) => rest.is_empty(),
        }
    };
    expression.references().iter().any(|reference| {
        let place = reference.unit.as_deref().unwrap_or(home.name);
        place.eq_ignore_ascii_case(unit.name) && is_it(&reference.name)
    })
}

/// At most `most` other events of the unit that look at the same: those of the same signal first, then those of the same
/// category.
pub fn events(unit: &'static Unit, event: &Event, most: usize) -> Vec<&'static Event> {
    let others = || unit.events.iter().filter(|other| other.name != event.name);
    let same_signal = others().filter(|other| other.signal.is_some() && other.signal == event.signal);
    let same_category = others().filter(|other| other.category == event.category && !event.category.is_empty());
    let mut found: Vec<&'static Event> = Vec::new();
    for other in same_signal.chain(same_category) {
        if !found.iter().any(|known| known.name == other.name) {
            found.push(other);
        }
    }
    found.truncate(most);
    found
}

/// Where we differ from the documents about `subject`: an event (its subevents included), `EVENT.SUBEVENT`, a register, a
/// field or a metric.
pub fn deviations_about(family: &Family, unit: &str, subject: &str) -> Vec<&'static Deviation> {
    let concerns = |row: &&Deviation| {
        let rest = row.subject.strip_prefix(subject);
        row.family == family.name
            && row.unit == unit
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    deviations().iter().filter(concerns).collect()
}

/// Choices about what the documents leave open that name `subject` in their text and apply to the unit.
pub fn choices_about(family: &Family, unit: &str, subject: &str) -> Vec<&'static Choice> {
    let concerns = |row: &&Choice| {
        let here = (row.family == "all" || row.family == family.name) && (row.unit == "all" || row.unit == unit);
        here && [row.subject, row.choice].iter().any(|text| mentions(text, subject))
    };
    choices().iter().filter(concerns).collect()
}

/// Choices that apply to the unit as a whole and to no other.
pub fn choices_of(family: &Family, unit: &str) -> Vec<&'static Choice> {
    choices().iter().filter(|row| row.family == family.name && row.unit == unit).collect()
}

/// True if `text` has the words of a name one behind the other; a name may be a short form: `edge_det` is in "edge detect".
fn mentions(text: &str, name: &str) -> bool {
    let split = |c: char| !c.is_ascii_alphanumeric();
    let words: Vec<&str> = text.split(split).filter(|word| !word.is_empty()).collect();
    let wanted: Vec<&str> = name.split(split).filter(|word| !word.is_empty()).collect();
    let fits = |word: &str, wanted: &str| {
        let start = word.get(..wanted.len());
        // Two letters begin too many words.
        start.is_some_and(|start| start.eq_ignore_ascii_case(wanted))
            && (wanted.len() > 3 || word.len() == wanted.len() || name.contains('_'))
    };
    !wanted.is_empty()
        && words.windows(wanted.len()).any(|window| window.iter().zip(&wanted).all(|(word, wanted)| fits(word, wanted)))
}

/// The fields that take a set's values, with the unit and the name of the register or field set.
pub fn fields_with_values(
    family: &'static Family,
    set: &ValueSet,
) -> Vec<(&'static Unit, &'static str, &'static Field)> {
    let mut found = Vec::new();
    for unit in family.units.iter().copied() {
        let registers = unit.registers.iter().map(|register| (register.name, register.fields));
        let all = registers.chain(unit.field_sets.iter().map(|set| (set.name, set.fields)));
        for (home, field) in all.flat_map(|(name, fields)| fields.iter().map(move |field| (name, field))) {
            // The compiled catalogue copies a set into each field that uses it.
            let same = field.values.len() == set.values.len()
                && field.values.iter().zip(set.values).all(|(a, b)| a.value == b.value && a.name == b.name);
            if same && !set.values.is_empty() {
                found.push((unit, home, field));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn a_choice_mentions_a_field_by_its_words() {
        let subject = "threshold 0 with edge detect or invert";
        assert!(mentions(subject, "thresh") && mentions(subject, "edge_det") && mentions(subject, "invert"));
        assert!(!mentions(subject, "en") && !mentions(subject, "rst"));
        assert!(mentions("TOR_OCCUPANCY of fused-off slices", "TOR_OCCUPANCY"));
        assert!(!mentions("TOR_INSERTS", "TOR_OCCUPANCY"));
    }

    /// A name of three letters or less is a word of its own or none; a longer one may be a beginning.
    #[test]
    fn names_are_found_as_words_and_long_ones_as_beginnings() {
        for (text, name) in [
            ("The filter tid, where there is one", "tid"),
            ("TID: a thread", "tid"),
            ("thresholds of 0", "thresh"),
            ("threshold 0 with edge detect or invert", "edge_det"),
            ("LLC_VICTIMS and lines in state F", "LLC_VICTIMS"),
        ] {
            assert!(mentions(text, name), "{name}");
        }
        for (text, name) in [
            ("tides", "tid"),
            ("an untidy list", "tid"),
            ("edge and detect", "edge_det"),
            ("victims of the LLC", "LLC_VICTIMS"),
            ("", "tid"),
            ("anything", "_"),
        ] {
            assert!(!mentions(text, name), "{name}");
        }
    }
}
