//! What the phases of a scenario can set on a family's machines.

use super::super::nearest::nearest;
use super::MessageKind;
use super::error::Fault;

/// Settings that every machine has.
const ALWAYS: [&str; 3] = ["workload", "idle", "for"];

/// What the phases of a scenario can set, besides `workload`, `idle` and `for`.
#[derive(Debug, PartialEq, Eq)]
pub struct Repertoire {
    /// The family.
    pub family: &'static str,
    /// Words that begin a setting.
    pub settings: &'static [&'static str],
    /// Errands of the system agent.
    pub messages: &'static [MessageKind],
    /// Ratios, in 100 MHz, of the part's frequencies: least, nominal, highest turbo.
    pub ratios: [u8; 3],
}

impl Repertoire {
    /// Every setting that some machine has.
    pub const ALL_SETTINGS: &'static [&'static str] = &[
        "frequency",
        "thermal-limit",
        "power-limit",
        "current-limit",
        "io-floor",
        "peer-floor",
        "prochot",
        "regulator-hot",
        "hot",
        "peak-power",
        "cross-throttle",
        "vectors",
        "sleep",
        "wake",
        "power-down",
        "self-refresh",
        "throttle",
        "critical",
        "memory-error",
        "link-half",
        "link-off",
    ];

    /// Checks a word that begins a setting.
    pub(super) fn check(&self, word: &str) -> Result<(), Fault> {
        let messages = self.messages.iter().map(|kind| kind.name());
        let known: Vec<&'static str> =
            ALWAYS.into_iter().chain(self.settings.iter().copied()).chain(messages).collect();
        if known.contains(&word) {
            return Ok(());
        }
        let elsewhere = Self::ALL_SETTINGS.contains(&word) || MessageKind::ALL.iter().any(|kind| kind.name() == word);
        let (word, list) = (word.to_owned(), known.join(", "));
        Err(if elsewhere {
            Fault::NotOnThisMachine { word, family: self.family, known: list }
        } else {
            Fault::UnknownSetting { nearest: nearest(&word, &known), word, known: list }
        })
    }
}
