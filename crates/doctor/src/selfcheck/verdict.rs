//! What a check came to: it agrees, does not, or could not tell.

use std::collections::BTreeMap;

use crate::finding::Finding;

/// How messages begin of what is as it should be.
pub const AGREES: &str = "agrees: ";
/// Of what is not.
pub const DIFFERS: &str = "does not agree: ";
/// Of what nobody can say.
pub const UNKNOWN: &str = "could not tell: ";

/// Differences of a unit that are spelt out.
const SPELT_OUT: usize = 8;

/// Verdicts, by unit.
#[derive(Debug, Default)]
pub struct Verdicts {
    units: BTreeMap<String, OfUnit>,
}

#[derive(Debug, Default)]
struct OfUnit {
    agrees: Vec<String>,
    differs: Vec<(String, &'static str)>,
    unknown: Vec<String>,
}

impl Verdicts {
    /// All is as documents have it.
    pub fn agrees(&mut self, unit: &str, text: String) {
        self.of(unit).agrees.push(text);
    }

    /// It is not, and this is what to do.
    pub fn differs(&mut self, unit: &str, text: String, remedy: &'static str) {
        self.of(unit).differs.push((text, remedy));
    }

    /// Nobody can say, and this is why.
    pub fn unknown(&mut self, unit: &str, text: String) {
        self.of(unit).unknown.push(text);
    }

    fn of(&mut self, unit: &str) -> &mut OfUnit {
        self.units.entry(unit.to_owned()).or_default()
    }

    /// As lines, unit by unit.
    pub fn findings(self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (unit, OfUnit { agrees, differs, unknown }) in self.units {
            findings.extend(agrees.iter().map(|text| Finding::good(&unit, format!("{AGREES}{text}"))));
            let more = differs.len().saturating_sub(SPELT_OUT);
            for (number, (text, remedy)) in differs.into_iter().take(SPELT_OUT).enumerate() {
                let more = match more {
                    1.. if number + 1 == SPELT_OUT => format!("; and {more} more of the unit"),
                    _ => String::new(),
                };
                findings.push(Finding::bad(&unit, format!("{DIFFERS}{text}{more}"), remedy));
            }
            findings.extend(unknown.iter().map(|text| Finding::note(&unit, format!("{UNKNOWN}{text}"))));
        }
        findings
    }
}
