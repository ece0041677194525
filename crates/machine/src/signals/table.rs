//! Which events show a fact: rows of the catalogue (`catalog/facts`), bound to the signals behind them.
//!
//! A reader of facts has a struct of lines with a field for each kind of fact. The field's name is the key of its row;
//! the field's type says how many names the row has. A row is a text or a list of texts; `{a,b}` in a text stands for
//! each of the two.

use pericore_hardware::signal::{Wiring, WiringError};
use toml::de::{DeTable, DeValue};

/// A table, of its text.
///
/// # Errors
/// It is no TOML.
pub fn read(text: &str) -> Result<DeTable<'_>, WiringError> {
    let fault = |error: toml::de::Error| WiringError::NoSignal { unit: "facts", name: error.to_string() };
    Ok(DeTable::parse(text).map_err(fault)?.into_inner())
}

/// Binds the rows of a family's table, section by section.
pub struct Binder<'a, L> {
    /// The machine's wires.
    pub wiring: &'a mut Wiring,
    /// Levels that were bound, in the order of their numbers.
    pub levels: Vec<L>,
    rows: &'a DeTable<'static>,
}

impl<'a, L> Binder<'a, L> {
    /// A binder over a table.
    pub const fn new(wiring: &'a mut Wiring, rows: &'a DeTable<'static>) -> Self {
        Self { wiring, levels: Vec::new(), rows }
    }

    /// What a row shows.
    ///
    /// # Errors
    /// The table does not have the row, the row has more or fewer names than the type, or the catalogue does not have
    /// one of them.
    pub fn row<T: FromRow<L>>(&mut self, section: &'static str, key: &str) -> Result<T, WiringError> {
        let fault =
            |what: &str| WiringError::NoSignal { unit: section, name: format!("{what}: {key} in catalog/facts") };
        let row = self.rows.get(section).and_then(|rows| rows.get_ref().get(key)).ok_or_else(|| fault("no row"))?;
        let mut names = names(row.get_ref()).into_iter();
        let bound = T::bind(self, &mut names)?.ok_or_else(|| fault("too few names"))?;
        if names.len() > 0 { Err(fault("too many names")) } else { Ok(bound) }
    }
}

/// Something that names are bound to.
pub trait FromRow<L>: Sized {
    /// Binds as many names as it needs; `None` if there are too few.
    ///
    /// # Errors
    /// The catalogue does not have a name.
    fn bind(binder: &mut Binder<'_, L>, names: &mut std::vec::IntoIter<String>) -> Result<Option<Self>, WiringError>;
}

impl<L, T: FromRow<L>, const N: usize> FromRow<L> for [T; N] {
    fn bind(binder: &mut Binder<'_, L>, names: &mut std::vec::IntoIter<String>) -> Result<Option<Self>, WiringError> {
        let mut all = Vec::with_capacity(N);
        for _ in 0..N {
            let Some(bound) = T::bind(binder, names)? else { return Ok(None) };
            all.push(bound);
        }
        Ok(all.try_into().ok())
    }
}

/// As many as the row has.
impl<L, T: FromRow<L>> FromRow<L> for Vec<T> {
    fn bind(binder: &mut Binder<'_, L>, names: &mut std::vec::IntoIter<String>) -> Result<Option<Self>, WiringError> {
        let mut all = Self::with_capacity(names.len());
        while names.len() > 0 {
            let Some(bound) = T::bind(binder, names)? else { return Ok(None) };
            all.push(bound);
        }
        Ok(Some(all))
    }
}

/// An empty name stands for nothing.
impl<L, T: FromRow<L>> FromRow<L> for Option<T> {
    fn bind(binder: &mut Binder<'_, L>, names: &mut std::vec::IntoIter<String>) -> Result<Option<Self>, WiringError> {
        if names.as_slice().first().is_some_and(String::is_empty) {
            names.next();
            return Ok(Some(None));
        }
        T::bind(binder, names).map(|bound| bound.map(Some))
    }
}

/// The names of a row.
fn names(row: &DeValue<'_>) -> Vec<String> {
    match row {
        DeValue::String(text) => expanded(text),
        DeValue::Array(rows) => rows.iter().flat_map(|row| names(row.get_ref())).collect(),
        _ => Vec::new(),
    }
}

/// A text for each choice of what stands in braces; the first braces change slowest.
fn expanded(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('{') else { return vec![text.to_owned()] };
    let Some((choices, after)) = rest.split_once('}') else { return vec![text.to_owned()] };
    let after = expanded(after);
    let with = |choice: &str| after.iter().map(|after| format!("{before}{choice}{after}")).collect::<Vec<_>>();
    choices.split(',').flat_map(with).collect()
}

/// A struct of lines: each field is bound to the row of its name, in a section of the table.
macro_rules! lines {
    ($(#[$doc:meta])* $name:ident<$level:ty> in $section:literal { $($(#[$of:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name { $($(#[$of])* pub $field: $type,)* }

        impl $name {
            /// Binds them.
            ///
            /// # Errors
            /// [`WiringError`](pericore_hardware::signal::WiringError) if the table lacks a row, or the catalogue a
            /// name.
            pub fn bind(
                binder: &mut $crate::signals::table::Binder<'_, $level>,
            ) -> Result<Self, pericore_hardware::signal::WiringError> {
                Ok(Self { $($field: binder.row($section, stringify!($field))?,)* })
            }

            /// Keys of their rows.
            #[cfg(test)]
            pub const ROWS: (&'static str, &'static [&'static str]) = ($section, &[$(stringify!($field),)*]);
        }
    };
}
pub(crate) use lines;

#[cfg(test)]
mod tests {
    use super::expanded;

    #[test]
    fn braces_stand_for_each_choice() {
        assert_eq!(expanded("a{x,y}b{1,2}"), ["axb1", "axb2", "ayb1", "ayb2"]);
        assert_eq!(expanded("plain"), ["plain"]);
        assert_eq!(expanded("{,+all}"), ["", "+all"]);
    }
}
