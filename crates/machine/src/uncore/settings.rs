//! What a machine's name on the command line can set of the parameters: `e5-2600:sockets=2,regions=12`.

use std::fmt;

use super::Parameters;
use super::dram::{Layout, Timing};
use super::parameters::MOST_REGIONS;

/// A parameter that the name of a machine can carry. As text it is what the parameter accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The key.
    pub key: &'static str,
    least: u64,
    /// Greatest accepted value.
    pub most: u64,
    /// Powers of two only.
    doubles: bool,
}

impl Setting {
    /// A number between two others, both included.
    pub const fn range(key: &'static str, least: u64, most: u64) -> Self {
        Self { key, least, most, doubles: false }
    }

    /// A power of two up to another.
    pub const fn doubles(key: &'static str, most: u64) -> Self {
        Self { key, least: 1, most, doubles: true }
    }

    /// True if the parameter can have the value.
    pub const fn accepts(self, value: u64) -> bool {
        value >= self.least && value <= self.most && (!self.doubles || value.is_power_of_two())
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.doubles { "power of two" } else { "number" };
        write!(f, "a {kind} from {} to {}", self.least, self.most)
    }
}

/// The settings of the E5-2600.
pub const SETTINGS: &[Setting] = &[
    Setting::range("regions", 1, MOST_REGIONS as u64),
    Setting::range("directory", 0, 1),
    Setting::range("ranks", 1, Layout::RANKS as u64),
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
