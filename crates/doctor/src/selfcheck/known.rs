//! What is known of a family, to hold counts against: `catalog/selfcheck`.

use pericore_catalog::Family;
use toml::de::{DeTable, DeValue};

/// The files, by family.
const FILES: [(&str, &str); 3] = [
    ("e5-2600", include_str!("../../../../catalog/selfcheck/e5-2600.toml")),
    ("emerald-rapids", include_str!("../../../../catalog/selfcheck/emerald-rapids.toml")),
    ("nehalem", include_str!("../../../../catalog/selfcheck/nehalem.toml")),
];

/// A row of a file.
#[derive(Debug, Clone)]
pub struct KnownRow(DeValue<'static>);

/// The rows of a family's file that have a name; none for a family without a file.
pub fn rows(family: &Family, name: &str) -> Vec<KnownRow> {
    let text = FILES.iter().find(|(known, _)| *known == family.name).map(|(_, text)| *text);
    let table = text.and_then(|text| DeTable::parse(text).ok()).map(toml::Spanned::into_inner);
    let rows = table.as_ref().and_then(|table| table.get(name)).and_then(|rows| rows.get_ref().as_array().cloned());
    rows.into_iter().flatten().map(|row| KnownRow(row.into_inner())).collect()
}

impl KnownRow {
    /// A text; empty without one.
    pub fn text(&self, key: &str) -> String {
        self.0.get(key).and_then(|value| value.get_ref().as_str()).unwrap_or_default().to_owned()
    }

    /// A list of texts.
    pub fn texts(&self, key: &str) -> Vec<String> {
        self.list(key).iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
    }

    /// A list of numbers.
    pub fn numbers(&self, key: &str) -> Vec<f64> {
        self.list(key).iter().filter_map(number).collect()
    }

    /// A number; 0 without one.
    pub fn number(&self, key: &str) -> f64 {
        self.0.get(key).and_then(|value| number(value.get_ref())).unwrap_or_default()
    }

    /// True if it is set.
    pub fn is(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|value| value.get_ref().as_bool() == Some(true))
    }

    fn list(&self, key: &str) -> Vec<DeValue<'static>> {
        let list = self.0.get(key).and_then(|value| value.get_ref().as_array().cloned());
        list.into_iter().flatten().map(toml::Spanned::into_inner).collect()
    }
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    value.as_integer()?.as_str().parse().ok()
}
