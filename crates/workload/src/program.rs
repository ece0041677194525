//! A program's own accesses in place of a generator's: what the model takes them from, and how its cores run them.

use std::fmt::Debug;

/// What left a thread's first-level caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProgramKind {
    /// A load that missed.
    Load,
    /// A store that missed: the line is read for ownership, and dirty in the first level from now on.
    Store,
    /// The first store to a line that a load had brought.
    Upgrade,
    /// A dirty line that had to make room in the first level.
    WriteBack,
    /// A line of instructions that missed.
    Fetch,
    /// Stores around the caches to one line, combined.
    NonTemporal,
    /// No access: the pages of a range are gone.
    Unmap,
    /// No access: the thread has come this far, and may be about to sleep.
    Progress,
}

impl ProgramKind {
    /// How many kinds there are.
    pub const COUNT: usize = Self::Progress as usize + 1;
}

/// One access of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramAccess {
    /// Virtual address of the first byte; for [`ProgramKind::Progress`], nanoseconds that the thread is about to sleep.
    pub address: u64,
    /// Bytes; for [`ProgramKind::Unmap`], of the range.
    pub size: u64,
    /// Instructions that the thread had begun. Never falls within a thread.
    pub instructions: u64,
    /// The thread, numbered from 0 in the order of their first accesses.
    pub thread: u32,
    /// Address space.
    pub process: u32,
    /// Address space that this one began as a copy of.
    pub forked_from: Option<u32>,
    /// What it is.
    pub kind: ProgramKind,
    /// Of a load or a store: how many of the thread's loads and stores ago the one was that brings what its address is
    /// made of; 0 if it waits for none.
    pub after: u8,
}

/// A stream of a program's accesses, in an order of its own that the model keeps to: the same stream gives the same
/// counts.
pub trait ProgramSource: Debug + Send {
    /// The next access, waiting for it if need be; `None` at the end, and ever after.
    fn next_access(&mut self) -> Option<ProgramAccess>;
}

/// Sizes of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageSize {
    /// 4 KiB.
    Small,
    /// 2 MiB.
    Large,
}

impl PageSize {
    /// Bytes, as a power of two.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Small => 12,
            Self::Large => 21,
        }
    }
}

/// On which node a page is put when it is first touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// On that of the socket that touches it.
    Local,
    /// On the nodes in turn, by page number.
    Interleave,
    /// On the node after that of the socket that touches it.
    Remote,
}

impl Policy {
    /// Reads a policy's name.
    ///
    /// # Errors
    /// [`SettingsError`] for any other text.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        match text {
            "local" => Ok(Self::Local),
            "interleave" => Ok(Self::Interleave),
            "remote" => Ok(Self::Remote),
            _ => {
                let accepted = "local, interleave or remote";
                Err(SettingsError::BadValue { key: "numa", value: text.to_owned(), accepted })
            }
        }
    }

    /// The node of a page that a socket touches first, on a machine with so many nodes.
    pub const fn node(self, socket: u8, page: u64, nodes: u8) -> u8 {
        match self {
            Self::Local => socket,
            Self::Interleave => (page % nodes as u64) as u8,
            Self::Remote => (socket + 1) % nodes,
        }
    }
}

/// How the model's cores run a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramSettings {
    /// Core cycles of a thousand instructions when nothing misses the first-level caches.
    pub cycles: u64,
    /// Misses that a core can have under way, L2 prefetches among them.
    pub misses: u8,
    /// Whether the L2's prefetchers are on.
    pub prefetch: bool,
    /// Size of all pages.
    pub pages: PageSize,
    /// Where pages are put on a machine with several sockets.
    pub numa: Policy,
}

/// Settings of a program's cores that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// No such key.
    #[error(
        "cores have no setting {key:?}; known: cpi=0.05 to 100, misses=1 to 16, prefetch=on|off, pages=4k|2M, numa=local|interleave|remote"
    )]
    UnknownKey {
        /// The key given.
        key: String,
    },
    /// A key that stands there twice.
    #[error("{key} stands there twice: leave one out")]
    Twice {
        /// The key.
        key: String,
    },
    /// No such value.
    #[error("{key}={value}: give {accepted}")]
    BadValue {
        /// The key.
        key: &'static str,
        /// The value given.
        value: String,
        /// What would do.
        accepted: &'static str,
    },
}

impl Default for ProgramSettings {
    /// A superscalar core on ordinary code: 0.5 cycles an instruction is an assumption between the width of 4 and
    /// typical integer code's 1; ten misses are the line-fill buffers of Intel's optimization manual for this core.
    fn default() -> Self {
        Self { cycles: 500, misses: 10, prefetch: true, pages: PageSize::Small, numa: Policy::Local }
    }
}

impl ProgramSettings {
    /// Reads `key=value,…`.
    ///
    /// # Errors
    /// [`SettingsError`] for the first thing that is wrong.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        if text.is_empty() {
            return Ok(settings);
        }
        let mut given: Vec<&str> = Vec::new();
        for option in text.split(',').map(str::trim) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            if given.contains(&key) {
                return Err(SettingsError::Twice { key: key.to_owned() });
            }
            given.push(key);
            let bad = |key, accepted| SettingsError::BadValue { key, value: value.to_owned(), accepted };
            match key {
                "cpi" => {
                    let cycles = value.parse::<f64>().ok().filter(|cpi| (0.05..=100.0).contains(cpi));
                    settings.cycles = (cycles.ok_or_else(|| bad("cpi", "0.05 to 100"))? * 1000.0).round() as u64;
                }
                "misses" => {
                    let misses = value.parse().ok().filter(|misses| (1..=16).contains(misses));
                    settings.misses = misses.ok_or_else(|| bad("misses", "1 to 16"))?;
                }
                "prefetch" => {
                    settings.prefetch = match value {
                        "on" => true,
                        "off" => false,
                        _ => return Err(bad("prefetch", "on or off")),
                    };
                }
                "pages" => {
                    settings.pages = match value {
                        "4k" | "4K" => PageSize::Small,
                        "2m" | "2M" => PageSize::Large,
                        _ => return Err(bad("pages", "4k or 2M")),
                    };
                }
                "numa" => settings.numa = Policy::parse(value)?,
                _ => return Err(SettingsError::UnknownKey { key: key.to_owned() }),
            }
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::{PageSize, Policy, ProgramSettings};

    #[test]
    fn settings_and_their_errors() {
        let all = ProgramSettings::parse("cpi=1.25,misses=4,prefetch=off,pages=2M,numa=interleave").unwrap();
        let (pages, numa) = (PageSize::Large, Policy::Interleave);
        assert_eq!(all, ProgramSettings { cycles: 1250, misses: 4, prefetch: false, pages, numa });
        assert_eq!(ProgramSettings::parse(""), Ok(ProgramSettings::default()));
        for (text, words) in [
            ("cpi=0", "cpi=0: give 0.05 to 100"),
            ("misses=17", "misses=17: give 1 to 16"),
            ("prefetch", "prefetch=: give on or off"),
            ("pages=1G", "pages=1G: give 4k or 2M"),
            ("cpi=0.5,cpi=2", "cpi stands there twice: leave one out"),
            ("numa=near", "numa=near: give local, interleave or remote"),
            ("page=4k", "no setting \"page\""),
        ] {
            assert!(ProgramSettings::parse(text).unwrap_err().to_string().contains(words), "{text}");
        }
    }
}
