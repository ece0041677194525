//! The account of differences: each needs one row in `deviations.toml`, and each row a difference.

use std::collections::{BTreeMap, BTreeSet};

use pericore_catalog::{Deviation, deviations};

use super::ours::Entries;
use super::table::{counters, parse};

/// The fields that these tests judge. Rows about texts, formulas, registers and values are not theirs.
const FIELDS: [&str; 9] = ["code", "umask", "umask_ext", "ch_mask", "fc_mask", "select", "counters", "missing", "name"];

/// Unit, `EVENT` or `EVENT.SUBEVENT`, and field.
type Key = (String, String, String);

/// What differs between the catalogue of a family and the documents.
pub struct Account {
    family: &'static str,
    differences: BTreeMap<Key, Vec<String>>,
    /// Damage of the scan that leaves the value readable: it may have a row, and needs none.
    damage: BTreeSet<Key>,
    /// Unit and name of all that the catalogue and Intel's files know: rows about other things are not judged.
    known: BTreeSet<(String, String)>,
    /// What we have, to hold the rows to their word.
    ours: BTreeMap<Key, u64>,
    /// Fields that this family's documents allow to judge.
    fields: &'static [&'static str],
}

impl Account {
    pub fn new(family: &'static str, ours: &Entries, fields: &'static [&'static str]) -> Self {
        assert!(fields.iter().all(|field| FIELDS.contains(field)));
        let value = |((unit, name), field, value): (&(String, String), &str, u64)| {
            ((unit.clone(), name.clone(), field.to_owned()), value)
        };
        let values = ours.iter().flat_map(|(key, entry)| {
            entry.encoding.fields().into_iter().map(move |(field, value)| (key, field, value))
        });
        Self {
            family,
            differences: BTreeMap::new(),
            damage: BTreeSet::new(),
            known: ours.keys().cloned().collect(),
            ours: values.map(value).collect(),
            fields,
        }
    }

    pub fn all_fields(family: &'static str, ours: &Entries) -> Self {
        Self::new(family, ours, &FIELDS)
    }

    pub fn know(&mut self, unit: &str, name: &str) {
        self.known.insert((unit.to_owned(), name.to_owned()));
    }

    pub fn differs(&mut self, unit: &str, name: &str, field: &str, what: String) {
        self.differences.entry((unit.to_owned(), name.to_owned(), field.to_owned())).or_default().push(what);
    }

    pub fn damaged(&mut self, unit: &str, name: &str, field: &str) {
        self.damage.insert((unit.to_owned(), name.to_owned(), field.to_owned()));
    }

    /// Differences without a row, and rows without a difference.
    pub fn verdict(&self) -> Vec<String> {
        let rows: Vec<_> = deviations().iter().filter(|row| row.family == self.family).collect();
        let mut used = BTreeSet::new();
        let mut findings = Vec::new();
        for (key, what) in &self.differences {
            match self.rows_for(&rows, key).as_slice() {
                // An event that is absent as a whole: the rows may stand at its subevents, which are judged in their turn.
                [] if key.2 == "missing" && self.differs_within(key) => {}
                [] => findings.push(format!("no row explains {}: {}", show(key), what.join("; "))),
                [row] => {
                    findings.extend(self.broken_word(rows[*row], key));
                    used.insert(*row);
                }
                _ => findings.push(format!("several rows explain {}", show(key))),
            }
        }
        for (index, row) in rows.iter().enumerate().filter(|(index, row)| self.judges(row) && !used.contains(index)) {
            let key = (row.unit.to_owned(), row.subject.to_owned(), row.field.to_owned());
            findings.extend(self.broken_word(row, &key));
            if rows[..index]
                .iter()
                .any(|other| (other.unit, other.subject, other.field) == (row.unit, row.subject, row.field))
            {
                findings.push(format!("{} has two rows", show(&key)));
            } else if !self.damage_within(&key) {
                findings.push(format!("nothing differs for the row {}", show(&key)));
            }
        }
        findings
    }

    fn judges(&self, row: &Deviation) -> bool {
        self.fields.contains(&row.field) && self.known.contains(&(row.unit.to_owned(), row.subject.to_owned()))
    }

    /// Rows for the very name; or, where the whole event differs in this field, rows for the event.
    fn rows_for(&self, rows: &[&Deviation], (unit, name, field): &Key) -> Vec<usize> {
        let with = |name: &str, field: &str| -> Vec<usize> {
            let matches = |row: &Deviation| row.unit == unit && row.subject == name && row.field == field;
            rows.iter().enumerate().filter(|(_, row)| matches(row)).map(|(index, _)| index).collect()
        };
        // A second name for what the guide has is missing there under that name.
        let find = |name: &str| match with(name, field) {
            rows if rows.is_empty() && field == "missing" => with(name, "name"),
            rows => rows,
        };
        let own = find(name);
        match name.split_once('.') {
            Some((event, _)) if own.is_empty() => {
                let whole = (unit.clone(), event.to_owned(), field.clone());
                if self.differences.contains_key(&whole) { find(event) } else { own }
            }
            _ => own,
        }
    }

    /// A row for a number says which number we have; it must be the one.
    fn broken_word(&self, row: &Deviation, key: &Key) -> Option<String> {
        let ours = *self.ours.get(key)?;
        let kept = match row.field {
            "counters" => u64::from(counters(&list_of_counters(row.ours))) == ours,
            "select" | "umask" if row.ours.starts_with("no ") => ours == 0,
            _ => numbers(row.ours).contains(&ours),
        };
        (!kept).then(|| format!("the row for {} says {:?}, we have {ours:#x}", show(key), row.ours))
    }

    fn differs_within(&self, (unit, name, field): &Key) -> bool {
        let subevents = format!("{name}.");
        self.differences.keys().any(|(other_unit, other, other_field)| {
            other_unit == unit && other_field == field && other.starts_with(&subevents)
        })
    }

    /// True if the scan is damaged there, or in any subevent of a row about a whole event.
    fn damage_within(&self, key: &Key) -> bool {
        let (unit, name, field) = key;
        let within =
            |other: &str| other == name || other.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.'));
        self.damage
            .iter()
            .any(|(other_unit, other, other_field)| other_unit == unit && other_field == field && within(other))
    }
}

fn show((unit, name, field): &Key) -> String {
    format!("{unit}/{name}/ {field}")
}

/// The numbers in a text.
fn numbers(text: &str) -> Vec<u64> {
    text.split(|sign: char| !sign.is_ascii_alphanumeric()).filter_map(parse).collect()
}

/// `counters 0, 1` or `0 to 3` in the form that [`counters`] reads.
fn list_of_counters(text: &str) -> String {
    let ranges = text.replace(" to ", "-");
    let words = ranges.split([' ', ',']).filter(|word| word.starts_with(|sign: char| sign.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}
