//! Why events are not modelled: lines of an event or the beginning of its name, a colon, the reason. `*/` stands for every unit.

use std::cell::Cell;

/// The reasons of a model, in the order in which they are asked.
pub struct Reasons {
    rules: Vec<(&'static str, &'static str, Cell<bool>)>,
}

impl Reasons {
    /// Reads a text, whose lines that begin with `#` are comments.
    pub fn parse(text: &'static str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let rules = lines.map(|line| line.split_once(": ").unwrap_or_else(|| panic!("no reason in: {line}")));
        Self { rules: rules.map(|(rule, reason)| (rule, reason, Cell::new(false))).collect() }
    }

    /// The reason for which an event of a unit is not modelled: the first that fits.
    pub fn find(&self, unit: &str, event: &str) -> Option<&'static str> {
        let name = format!("{unit}/{event}");
        let fits = |rule: &str| match rule.strip_prefix("*/") {
            Some(rule) => event.starts_with(rule),
            None => name.starts_with(rule),
        };
        let (_, reason, used) = self.rules.iter().find(|(rule, ..)| fits(rule))?;
        used.set(true);
        Some(reason)
    }

    /// The lines that gave no event its reason: they are out of date.
    pub fn unused(&self) -> Vec<&'static str> {
        self.rules.iter().filter(|(.., used)| !used.get()).map(|(rule, ..)| *rule).collect()
    }
}
