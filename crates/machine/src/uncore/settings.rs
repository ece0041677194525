//! What a machine's name on the command line can set of the parameters: `e5-2600:sockets=2,regions=12`.

use super::Parameters;
use super::dram::{Layout, Timing};
use super::parameters::MOST_REGIONS;

/// A parameter that the name of a machine can carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The key.
    pub key: &'static str,
    /// Least accepted value.
    pub least: u64,
    /// Greatest accepted value.
    pub most: u64,
}

/// The settings of the E5-2600.
pub const SETTINGS: &[Setting] = &[
    Setting { key: "regions", least: 1, most: MOST_REGIONS as u64 },
    Setting { key: "directory", least: 0, most: 1 },
    Setting { key: "ranks", least: 1, most: Layout::RANKS as u64 },
];

impl Parameters {
    /// The same part with a setting of [`SETTINGS`]; values beyond its limits are for [`Parameters::check`].
    #[must_use]
    pub fn with_setting(self, key: &str, value: u64) -> Self {
        match key {
            "regions" => Self { regions: value as u8, ..self },
            "directory" => Self { directory: value != 0, ..self },
            "ranks" => Self { dram: Timing { ranks: value as u8, ..self.dram }, ..self },
            _ => self,
        }
    }
}
