//! What a machine's name on the command line can set of the parameters: `e5-2600:sockets=2,regions=12`.

use std::fmt;

/// A parameter that the name of a machine can carry. As text it is what the parameter accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The key.
    pub key: &'static str,
    /// Least accepted value.
    pub least: u64,
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

/// A setting of a part, and what it does to the part's parameters.
pub type Settable<P> = (Setting, fn(&mut P, u64));

/// A key that the part has not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this part has no setting {key:?}; known: {known}")]
pub struct UnknownSetting {
    /// The key.
    pub key: String,
    /// Keys that there are.
    pub known: String,
}

/// Sets a parameter; values beyond the setting's limits are for the check of the parameters.
///
/// # Errors
/// [`UnknownSetting`] if the table has no such key.
pub fn set<P>(table: &[Settable<P>], parameters: &mut P, key: &str, value: u64) -> Result<(), UnknownSetting> {
    let Some((_, apply)) = table.iter().find(|(setting, _)| setting.key == key) else {
        let known: Vec<&str> = table.iter().map(|(setting, _)| setting.key).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(UnknownSetting { key: key.to_owned(), known });
    };
    apply(parameters, value);
    Ok(())
}

/// The key of the setting that each part has: cores of a socket that take part.
pub const CORES: &str = "cores";

/// The key of a policy of memory controllers: rows are closed by their last read or write (1), or later (0).
pub const CLOSED_PAGES: &str = "closed_pages";

/// The key of LLC slices in use.
pub const SLICES: &str = "slices";
