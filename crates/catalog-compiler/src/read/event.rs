//! `blocks/BLOCK/events.toml`.

use pericore_catalog_schema::{DecodeRole, FilterNeed, Measure, Relation};

use super::row::Row;
use crate::schema::{DecodeRow, Event, FilterUse, Operand, Selector, Subevent, Term};

/// An event.
pub fn read(row: &mut Row<'_, '_>) -> Event {
    Event {
        place: row.place(),
        name: row.string("name"),
        code: row.number("code"),
        counters: counters(row),
        max_increment: row.optional_number("max_increment"),
        category: row.optional_string("category").unwrap_or_default(),
        source: row.string("source"),
        description: row.string("description"),
        caveats: row.strings("caveats"),
        filters: filters(row),
        later: row.flag("later"),
        select: row.table("select", selected).unwrap_or_default(),
        field_set: row.optional_string("field_set"),
        signal: row.optional_string("signal"),
        measure: row.optional_word("measure", "measure").unwrap_or(Measure::Arrivals),
        decode: row.tables("decode", None, decode_row).into_iter().flatten().collect(),
        subevents: row.tables("subevents", None, subevent),
        same_as: row.optional_string("same_as"),
        config: 0,
        signal_index: None,
    }
}

fn subevent(row: &mut Row<'_, '_>) -> Subevent {
    let mut subevent = Subevent {
        place: row.place(),
        name: row.string("name"),
        umask: row.optional_number("umask"),
        counters: counters(row),
        max_increment: row.optional_number("max_increment"),
        source: row.optional_string("source"),
        description: row.string("description"),
        caveats: row.strings("caveats"),
        filters: filters(row),
        later: row.flag("later"),
        select: Vec::new(),
        same_as: row.optional_string("same_as"),
        config: 0,
    };
    // Whatever else stands in the row must be a control field; validation checks the name.
    subevent.select = selected(row);
    subevent
}

/// All remaining keys, as control fields with values.
pub fn selected(row: &mut Row<'_, '_>) -> Vec<(String, u64)> {
    row.remaining().into_iter().filter_map(|name| row.optional_number(&name).map(|value| (name, value))).collect()
}

fn counters(row: &mut Row<'_, '_>) -> Option<u16> {
    let listed: Vec<u8> = row.numbers("counters");
    if let Some(far) = listed.iter().find(|&&counter| counter > 15) {
        row.report("counters", format!("counter {far} is beyond any unit's last"), "list counters from 0 to 15");
    }
    (!listed.is_empty()).then(|| listed.iter().filter(|&&c| c < 16).fold(0, |mask, &counter| mask | 1 << counter))
}

fn filters(row: &mut Row<'_, '_>) -> Vec<FilterUse> {
    row.tables("filters", Some("field"), |row| {
        let field = row.string("field");
        let need = row.optional_string("need");
        let default = row.optional_number("default");
        let need = match (need.as_deref(), default) {
            (None | Some("optional"), None) => FilterNeed::Optional,
            (Some("required"), None) => FilterNeed::Required,
            (None, Some(value)) => FilterNeed::Default(value),
            _ => {
                row.report(
                    "need",
                    "the filter's need is not clear",
                    "write need = \"required\", or default = N, or neither",
                );
                FilterNeed::Optional
            }
        };
        FilterUse { field, need }
    })
}

fn decode_row(row: &mut Row<'_, '_>) -> Option<DecodeRow> {
    let field = row.optional_string("field");
    let selector = match (field, row.optional_number("bit")) {
        (Some(field), bit) => Selector::Field(field, bit.unwrap_or_default()),
        (None, Some(bit)) => Selector::Umask(bit),
        (None, None) => Selector::Always,
    };
    let roles: Vec<_> = [
        ("any", DecodeRole::Any),
        ("some", DecodeRole::Some),
        ("all", DecodeRole::All),
        ("required", DecodeRole::Required),
    ]
    .into_iter()
    .filter(|(key, _)| row.optional_string(key).is_some())
    .collect();
    let [(key, role)] = *roles.as_slice() else {
        row.report(
            "bit",
            "a decode row has exactly one of any, some, all and required",
            "write { bit = 0, any = \"…\" }",
        );
        return None;
    };
    let group = row.optional_number("group").unwrap_or(0);
    Some(DecodeRow { place: row.place(), selector, role, group, terms: terms(row, key) })
}

/// The terms of a key, joined by `&`; absent is none.
pub fn terms(row: &mut Row<'_, '_>, key: &str) -> Vec<Term> {
    let text = row.optional_string(key).unwrap_or_default();
    let mut terms = Vec::new();
    for part in text.split('&').map(str::trim).filter(|part| !part.is_empty()) {
        match term(part) {
            Some(term) => terms.push(term),
            None => row.report(
                key,
                format!("cannot read the term {part:?}"),
                "write attr, !attr, attr = X, attr != X, attr in X, attr has X, attr >= X or attr like X/X, with X a number or filter.F",
            ),
        }
    }
    terms
}

fn term(text: &str) -> Option<Term> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (attribute, relation, operand, mask) = match words.as_slice() {
        [one] => match one.strip_prefix('!') {
            Some(attribute) => (attribute, Relation::Equals, Operand::Value(0), None),
            None => (*one, Relation::Differs, Operand::Value(0), None),
        },
        [attribute, "like", operands] => {
            let (value, mask) = operands.split_once('/')?;
            (*attribute, Relation::Equals, operand(value)?, Some(operand(mask)?))
        }
        [attribute, relation, other] => {
            let relation = match *relation {
                "=" => Relation::Equals,
                "!=" => Relation::Differs,
                "in" => Relation::In,
                "has" => Relation::Has,
                ">=" => Relation::AtLeast,
                _ => return None,
            };
            (*attribute, relation, operand(other)?, None)
        }
        _ => return None,
    };
    Some(Term { attribute: name(attribute)?, relation, operand, mask: mask.unwrap_or(Operand::Value(u64::MAX)) })
}

fn operand(word: &str) -> Option<Operand> {
    if let Some(field) = word.strip_prefix("filter.") {
        return Some(Operand::Field(name(field)?));
    }
    let value = match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    };
    value.map(Operand::Value)
}

fn name(word: &str) -> Option<String> {
    (!word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Operand, Relation, Term, term};

    fn read(text: &str) -> (Relation, Operand, Operand) {
        let Term { attribute, relation, operand, mask } = term(text).expect("a term");
        assert_eq!(attribute, "a");
        (relation, operand, mask)
    }

    #[test]
    fn terms_as_written_in_the_readme() {
        let field = |name: &str| Operand::Field(name.to_owned());
        let all = Operand::Value(u64::MAX);
        assert_eq!(read("a"), (Relation::Differs, Operand::Value(0), all.clone()));
        assert_eq!(read("!a"), (Relation::Equals, Operand::Value(0), all.clone()));
        assert_eq!(read("a = 3"), (Relation::Equals, Operand::Value(3), all.clone()));
        assert_eq!(read("a = filter.opc"), (Relation::Equals, field("opc"), all.clone()));
        assert_eq!(read("a in filter.nid"), (Relation::In, field("nid"), all.clone()));
        assert_eq!(read("a >= filter.band0"), (Relation::AtLeast, field("band0"), all.clone()));
        assert_eq!(read("a has 0x6"), (Relation::Has, Operand::Value(6), all.clone()));
        assert_eq!(read("a has filter.umask"), (Relation::Has, field("umask"), all));
        assert_eq!(read("a like filter.f/filter.g"), (Relation::Equals, field("f"), field("g")));
        assert_eq!(read("a like filter.f/0xfc0"), (Relation::Equals, field("f"), Operand::Value(0xfc0)));
        assert_eq!(term("a b"), None);
        assert_eq!(term("a = b"), None);
        assert_eq!(term("a < 3"), None);
    }
}
