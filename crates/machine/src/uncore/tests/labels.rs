//! Labels of what counts, in the tests that find them.

use super::rules::Rules;
use crate::coverage::{CountOrigin, Label};

/// Set to write the tables anew.
const WRITE: &str = "PERICORE_WRITE_TABLES";

/// A scenario without the lines of keys that name events.
pub fn without_keys(scenario: &str, keys: &'static str) -> String {
    let named: Vec<&str> = Rules::parse(keys).pairs().map(|(key, _)| key).collect();
    let stays = |line: &&str| !line.split_whitespace().next().is_some_and(|key| named.contains(&key));
    scenario.lines().filter(stays).map(|line| format!("{line}\n")).collect()
}

/// True for what counts and is not scripted.
pub const fn is_modelled(label: &Label) -> bool {
    matches!(label, Label::Counts { origin: CountOrigin::Emergent | CountOrigin::Derived, .. })
}

/// How many of some labels are in the count, and how many of them count and are not scripted.
pub fn share<'a>(labels: impl Iterator<Item = &'a Label>) -> (usize, usize, f64) {
    let in_count: Vec<&Label> = labels.filter(|label| !matches!(label, Label::OutOfCount(_))).collect();
    let modelled = in_count.iter().filter(|label| is_modelled(label)).count();
    (modelled, in_count.len(), 100.0 * modelled as f64 / in_count.len() as f64)
}

/// Holds a file against what it should be, or writes it.
pub fn write_or_compare(path: &str, text: &str) {
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(path, text).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap_or_default() == text,
        "{path} is not current: run this test with {WRITE}=1"
    );
}
