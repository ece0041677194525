//! What tells the table of a run from that of another, and its bytes from others.

use std::collections::HashMap;

use pericore_emulation::{Experiment, ExperimentError};
use twox_hash::XxHash64;

/// The version of all that is not in an experiment and changes its table: this crate's own rules.
const RULES: u64 = 1;

/// Keys of runs; remembers the families that it has seen.
#[derive(Debug, Default)]
pub(crate) struct Keys(HashMap<&'static str, u64>);

impl Keys {
    /// The key of an experiment: it differs if anything differs that the table depends on, which is the experiment, the
    /// version of Pericore and the catalogue of its family.
    pub fn key(&mut self, experiment: &Experiment) -> Result<String, ExperimentError> {
        let name = experiment.family()?.name;
        let family = *self.0.entry(name).or_insert_with(|| {
            let shipped = pericore_catalog::shipped().iter().find(|shipped| shipped.name == name);
            shipped.map_or(0, |shipped| XxHash64::oneshot(0, &shipped.contents()))
        });
        let parts = (RULES, env!("CARGO_PKG_VERSION"), pericore_table::TABLE, family, experiment);
        // An experiment is numbers, texts and lists of them: it can always be written.
        let text = serde_json::to_vec(&parts).unwrap_or_default();
        Ok(digest(&text))
    }
}

/// A digest of bytes: 16 hexadecimal digits. It finds accidents, not forgeries.
pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("{:016x}", XxHash64::oneshot(0, bytes))
}
