//! How a program is to be traced.

use crate::Error;
use crate::layout;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// Size and shape of a first-level cache, with lines of 64 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes.
    pub bytes: u32,
    /// Ways of each set.
    pub ways: u32,
}

impl Geometry {
    /// 32 KiB in 8 ways.
    pub const L1: Self = Self { bytes: 32 << 10, ways: 8 };

    /// Sets of the cache.
    ///
    /// # Errors
    /// [`Error::Geometry`] if the sets are no power of 2, or the cache is too large.
    pub fn sets(self) -> Result<u32, Error> {
        let lines = self.bytes / layout::LINE as u32;
        let sets = lines.checked_div(self.ways).unwrap_or(0);
        let whole =
            sets.checked_mul(self.ways).and_then(|lines| lines.checked_mul(layout::LINE as u32)) == Some(self.bytes);
        if whole && sets.is_power_of_two() && lines as usize <= layout::MOST_LINES {
            Ok(sets)
        } else {
            Err(Error::Geometry(self))
        }
    }
}

/// How a program is to be traced.
#[derive(Debug)]
pub struct Options {
    /// The cache that loads and stores go through.
    pub data_cache: Geometry,
    /// The cache that instruction fetches go through.
    pub fetch_cache: Geometry,
    /// QEMU's CPU model. `max` has everything that QEMU can translate.
    pub cpu: String,
    /// Whether programs that are exec()ed are traced too.
    pub follow: bool,
    /// Whether SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 sent to this process are passed on to the program, and do nothing to
    /// this process, while it runs. What the terminal sends reaches the program anyway and is not passed on.
    pub forward_signals: bool,
    /// QEMU. By default `qemu-x86_64` from the PATH.
    pub qemu: Option<PathBuf>,
    /// Standard input, output and error of the program, where they are not to be those of this process.
    pub streams: [Option<OwnedFd>; 3],
}

impl Default for Options {
    fn default() -> Self {
        Self {
            data_cache: Geometry::L1,
            fetch_cache: Geometry::L1,
            cpu: "max".to_owned(),
            follow: true,
            forward_signals: true,
            qemu: None,
            streams: [None, None, None],
        }
    }
}
