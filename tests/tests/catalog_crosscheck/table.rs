//! Reading `tests/reference`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// A file of comma-separated cells without quotes.
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// A row, by column names.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    header: &'a [String],
    cells: &'a [String],
}

/// The text of a file of `tests/reference`.
pub fn text(file: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("reference").join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Table {
    pub fn read(file: &str) -> Self {
        Self::parse(&text(file))
    }

    pub fn parse(text: &str) -> Self {
        let split = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut lines = text.lines();
        let header = split(lines.next().expect("a table has a header"));
        let rows: Vec<_> = lines.map(split).collect();
        for row in &rows {
            assert_eq!(row.len(), header.len(), "cells of {row:?}");
        }
        Self { header, rows }
    }

    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { header: &self.header, cells })
    }
}

impl<'a> Row<'a> {
    pub fn has(self, column: &str) -> bool {
        self.header.iter().any(|name| name == column)
    }

    pub fn text(self, column: &str) -> &'a str {
        let index = self.header.iter().position(|name| name == column).unwrap_or_else(|| panic!("no column {column}"));
        &self.cells[index]
    }

    /// The number in a cell, if there is one.
    pub fn number(self, column: &str) -> Option<u64> {
        let text = self.text(column);
        (!text.is_empty()).then(|| number(text))
    }
}

/// A decimal or hexadecimal number.
pub fn number(text: &str) -> u64 {
    parse(text).unwrap_or_else(|| panic!("{text:?} is no number"))
}

/// A decimal or hexadecimal number, if it is one.
pub fn parse(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// `0-3` or `0 1 2 3` as a bit mask.
pub fn counters(text: &str) -> u16 {
    let bit = |text: &str| 1 << number(text);
    match text.split_once('-') {
        Some((first, last)) => (number(first)..=number(last)).fold(0, |mask, counter| mask | 1 << counter),
        None => text.split(' ').fold(0, |mask, counter| mask | bit(counter)),
    }
}

/// `[section]` and `key = value` lines; enough for `counts.toml`.
pub fn sections(text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut sections: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            assert!(sections.insert(name.to_owned(), BTreeMap::new()).is_none(), "[{name}] twice");
            current = name.to_owned();
        } else {
            let (key, value) = line.split_once(" = ").unwrap_or_else(|| panic!("{line}"));
            sections.get_mut(&current).expect("a section").insert(key.to_owned(), value.to_owned());
        }
    }
    sections
}
