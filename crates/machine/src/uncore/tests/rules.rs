//! Rules about selections: lines of a pattern, a colon, and what holds for those that it fits. `*` in a pattern stands
//! for anything, `?` for any character.

use std::cell::Cell;

/// The rules of a text, in their order.
pub struct Rules {
    rules: Vec<(&'static str, &'static str, Cell<bool>)>,
}

impl Rules {
    /// Reads a text, whose lines that begin with `#` are comments.
    pub fn parse(text: &'static str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let rules = lines.map(|line| line.split_once(": ").unwrap_or_else(|| panic!("no colon in: {line}")));
        Self { rules: rules.map(|(rule, text)| (rule, text, Cell::new(false))).collect() }
    }

    /// What holds for a selection: by the first rule that fits.
    pub fn find(&self, selection: &str) -> Option<&'static str> {
        let (_, text, used) = self.rules.iter().find(|(rule, ..)| fits(rule.as_bytes(), selection.as_bytes()))?;
        used.set(true);
        Some(text)
    }

    /// True if some rule fits a selection.
    pub fn has(&self, selection: &str) -> bool {
        self.rules.iter().any(|(rule, ..)| fits(rule.as_bytes(), selection.as_bytes()))
    }

    /// The rules that were found for nothing: they are out of date.
    pub fn unused(&self) -> Vec<&'static str> {
        self.rules.iter().filter(|(.., used)| !used.get()).map(|(rule, ..)| *rule).collect()
    }

    /// Both sides of each rule.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        self.rules.iter().map(|&(rule, text, _)| (rule, text))
    }
}

/// True if a pattern fits a whole text.
pub fn fits(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, _) => text.is_empty(),
        (Some((b'*', rest)), _) => (0..=text.len()).any(|skipped| fits(rest, &text[skipped..])),
        (Some((first, rest)), Some((of, others))) => (*first == b'?' || first == of) && fits(rest, others),
        (Some(_), None) => false,
    }
}

#[test]
fn patterns_fit_whole_names() {
    for (pattern, name, expected) in [
        ("cha/*", "cha/A.B", true),
        ("cha/A", "cha/A.B", false),
        ("*/*.TGR12", "m2m/X0.TGR12", true),
        ("*/*.TGR1", "m2m/X0.TGR12", false),
        ("upi/?xL_FLITS.*", "upi/TxL_FLITS.NULL", true),
        ("upi/?xL_FLITS.*", "upi/TxL_ANY_FLITS.NULL", false),
    ] {
        assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} and {name}");
    }
}
