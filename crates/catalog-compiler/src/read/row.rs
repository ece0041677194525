//! One TOML table, read key by key: each key is asked for by name and type; what is missing, of the wrong type or never
//! asked for is a defect with its line.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::number;
use crate::diagnostics::nearest;
use crate::{Diagnostics, Place};

/// A table and the keys that were asked for so far.
pub struct Row<'t, 'd> {
    file: u16,
    text: &'t str,
    place: Place,
    table: &'t DeTable<'t>,
    asked: BTreeSet<String>,
    diagnostics: &'d mut Diagnostics,
}

impl<'t, 'd> Row<'t, 'd> {
    /// The top table of a file.
    pub fn top(file: u16, text: &'t str, table: &'t DeTable<'t>, diagnostics: &'d mut Diagnostics) -> Self {
        Self { file, text, place: Place { file, line: 1 }, table, asked: BTreeSet::new(), diagnostics }
    }

    /// Where the table stands.
    pub const fn place(&self) -> Place {
        self.place
    }

    /// Notes a defect at `key`, or at the table if it has no such key.
    pub fn report(&mut self, key: &str, message: impl Into<String>, fix: impl Into<String>) {
        let place = self.table.get(key).map_or(self.place, |value| self.at(value));
        self.diagnostics.report(place, message, fix);
    }

    fn at<T>(&self, value: &Spanned<T>) -> Place {
        Place { file: self.file, line: line_of(self.text, value.span().start) }
    }

    fn get(&mut self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.asked.insert(key.to_owned());
        self.table.get(key)
    }

    fn wrong(&mut self, key: &str, found: &DeValue<'_>, wanted: &str) {
        let message = format!("{key:?} is {} {}", article(found.type_str()), found.type_str());
        self.report(key, message, format!("write {wanted}"));
    }

    fn missing(&mut self, key: &str, wanted: &str) {
        let place = self.place;
        self.diagnostics.report(place, format!("{key:?} is missing"), format!("add {key} = {wanted}"));
    }

    /// A string, or nothing.
    pub fn optional_string(&mut self, key: &str) -> Option<String> {
        match self.get(key)?.get_ref() {
            DeValue::String(text) => Some(text.clone().into_owned()),
            other => {
                self.wrong(key, other, "a string in quotes");
                None
            }
        }
    }

    /// A string with its place, or nothing.
    pub fn placed_string(&mut self, key: &str) -> Option<(String, Place)> {
        let text = self.optional_string(key)?;
        let place = self.table.get(key).map_or(self.place, |value| self.at(value));
        Some((text, place))
    }

    /// A string that must be there and not empty.
    pub fn string(&mut self, key: &str) -> String {
        let found = self.optional_string(key);
        if found.is_none() && !self.table.contains_key(key) {
            self.missing(key, "\"…\"");
        }
        if found.as_deref().is_some_and(|text| text.trim().is_empty()) {
            self.report(key, format!("{key:?} is empty"), "write what it is");
        }
        found.unwrap_or_default()
    }

    /// One of the words of `T`, or nothing; `noun` says what `T` is.
    pub fn optional_word<T: for<'w> Deserialize<'w>>(&mut self, key: &str, noun: &str) -> Option<T> {
        let text = self.optional_string(key)?;
        let word: Result<T, Error> = T::deserialize(text.as_str().into_deserializer());
        // The error lists the words that there are.
        let unknown = |error: Error| {
            let known =
                error.to_string().split_once("expected ").map_or_else(String::new, |(_, known)| known.to_owned());
            self.report(key, format!("no {noun} {text:?}"), format!("write {}", known.replace('`', "")));
        };
        word.map_err(unknown).ok()
    }

    /// One of the words of `T`, which must be there; the given one if it is not.
    pub fn word<T: for<'w> Deserialize<'w>>(&mut self, key: &str, noun: &str, without: T) -> T {
        if !self.table.contains_key(key) {
            self.missing(key, "\"…\"");
        }
        self.optional_word(key, noun).unwrap_or(without)
    }

    /// A number that fits `T`, or nothing. Bit patterns (`"bxxx1"`) count as numbers.
    pub fn optional_number<T: TryFrom<u64>>(&mut self, key: &str) -> Option<T> {
        let value = match self.get(key)?.get_ref() {
            DeValue::Integer(value) => number::integer(value),
            DeValue::String(text) => number::pattern(text),
            other => {
                self.wrong(key, other, "a number");
                return None;
            }
        };
        let fitting = value.and_then(|value| T::try_from(value).ok());
        if fitting.is_none() {
            let most = (1u128 << (8 * size_of::<T>())) - 1;
            self.report(key, format!("{key:?} is not a number from 0 to {most:#x}"), "correct the number");
        }
        fitting
    }

    /// A number that must be there.
    pub fn number<T: TryFrom<u64> + Default>(&mut self, key: &str) -> T {
        if !self.table.contains_key(key) {
            self.missing(key, "0x…");
        }
        self.optional_number(key).unwrap_or_default()
    }

    /// `true` or `false`; absent is `false`.
    pub fn flag(&mut self, key: &str) -> bool {
        match self.get(key).map(Spanned::get_ref) {
            None => false,
            Some(DeValue::Boolean(value)) => *value,
            Some(other) => {
                self.wrong(key, other, "true or false");
                false
            }
        }
    }

    /// The members of an array; absent is empty.
    fn members(&mut self, key: &str) -> Vec<&'t Spanned<DeValue<'t>>> {
        match self.get(key).map(Spanned::get_ref) {
            None => Vec::new(),
            Some(DeValue::Array(array)) => array.iter().collect(),
            Some(other) => {
                self.wrong(key, other, "an array in brackets");
                Vec::new()
            }
        }
    }

    /// An array of strings, each with its place; absent is empty.
    pub fn placed_strings(&mut self, key: &str) -> Vec<(String, Place)> {
        let mut strings = Vec::new();
        for member in self.members(key) {
            match member.get_ref() {
                DeValue::String(text) => strings.push((text.clone().into_owned(), self.at(member))),
                other => self.wrong(key, other, "an array of strings"),
            }
        }
        strings
    }

    /// An array of strings; absent is empty.
    pub fn strings(&mut self, key: &str) -> Vec<String> {
        self.placed_strings(key).into_iter().map(|(text, _)| text).collect()
    }

    /// An array of numbers; absent is empty.
    pub fn numbers<T: TryFrom<u64>>(&mut self, key: &str) -> Vec<T> {
        let mut numbers = Vec::new();
        for member in self.members(key) {
            let DeValue::Integer(value) = member.get_ref() else {
                self.wrong(key, member.get_ref(), "an array of numbers");
                continue;
            };
            match number::integer(value).and_then(|value| T::try_from(value).ok()) {
                Some(value) => numbers.push(value),
                None => self.report(key, format!("{key:?} holds a number out of range"), "correct the number"),
            }
        }
        numbers
    }

    /// Runs `read` over each table of an array of tables. A bare string `"x"` stands for `{ bare = "x" }` where `bare` is given.
    pub fn tables<T>(&mut self, key: &str, bare: Option<&str>, mut read: impl FnMut(&mut Row<'_, '_>) -> T) -> Vec<T> {
        let mut rows = Vec::new();
        for member in self.members(key) {
            let place = self.at(member);
            match (member.get_ref(), bare) {
                (DeValue::Table(table), _) => rows.push(self.descend(table, place, &mut read)),
                (DeValue::String(text), Some(bare)) => {
                    let mut table = DeTable::new();
                    let key = Spanned::new(member.span(), bare.into());
                    table.insert(key, Spanned::new(member.span(), DeValue::String(text.clone())));
                    rows.push(self.descend(&table, place, &mut read));
                }
                (other, _) => self.wrong(key, other, "an array of tables"),
            }
        }
        rows
    }

    /// Runs `read` over a table inside this one, if it is there.
    pub fn table<T>(&mut self, key: &str, read: impl FnOnce(&mut Row<'_, '_>) -> T) -> Option<T> {
        let value = self.get(key)?;
        let place = self.at(value);
        match value.get_ref() {
            DeValue::Table(table) => Some(self.descend(table, place, read)),
            other => {
                self.wrong(key, other, "a table");
                None
            }
        }
    }

    fn descend<T>(&mut self, table: &DeTable<'_>, place: Place, read: impl FnOnce(&mut Row<'_, '_>) -> T) -> T {
        let mut row = Row {
            file: self.file,
            text: self.text,
            place,
            table,
            asked: BTreeSet::new(),
            diagnostics: &mut *self.diagnostics,
        };
        let value = read(&mut row);
        row.finish();
        value
    }

    /// The keys that nobody has asked for yet.
    pub fn remaining(&self) -> Vec<String> {
        let keys = self.table.keys().map(|key| key.get_ref().to_string());
        keys.filter(|key| !self.asked.contains(key)).collect()
    }

    /// Reports keys that nobody asked for.
    pub fn finish(mut self) {
        for key in self.remaining() {
            let fix = match nearest(&key, self.asked.iter().map(String::as_str)) {
                Some(near) => format!("did you mean {near:?}? else remove it"),
                None => format!("remove it; known here: {}", self.asked.iter().cloned().collect::<Vec<_>>().join(", ")),
            };
            self.report(&key, format!("unknown key {key:?}"), fix);
        }
    }
}

/// Line of a byte offset, from 1.
pub fn line_of(text: &str, offset: usize) -> u32 {
    1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|&&byte| byte == b'\n').count() as u32
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}
