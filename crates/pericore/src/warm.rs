//! `--warm`: what a live machine's workload does is measured once, and taken from a folder from then on.

use std::path::PathBuf;

use clap::Args;
use pericore_doors::WindowCache;

use crate::failure::Failure;
use crate::xdg;

/// Where steady phases of live machines are kept.
#[derive(Debug, Clone, Default, Args)]
pub struct WarmArgs {
    /// Keep the workload's steady phase in a folder (`$XDG_CACHE_HOME/pericore/warm` by default), and take it from
    /// there the next time: a live machine then starts at once. The folder has 1 GiB at most: what was used longest ago
    /// goes first
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, require_equals = true, requires = "machine")]
    warm: Option<Option<PathBuf>>,
}

impl WarmArgs {
    /// Refuses the option for a run that is no live machine's.
    ///
    /// # Errors
    /// It is given.
    pub fn must_be_absent(&self) -> Result<(), Failure> {
        if self.warm.is_none() {
            return Ok(());
        }
        Err(Failure::usage(
            "--warm: only the steady phase of a live machine is kept; leave it out for a scenario or --cold",
        ))
    }

    /// The folder, if one is to be used.
    ///
    /// # Errors
    /// None is given, and the environment names none.
    pub fn cache(&self) -> Result<Option<WindowCache>, Failure> {
        let folder = match &self.warm {
            None => return Ok(None),
            Some(Some(folder)) => folder.clone(),
            Some(None) => {
                let cache = xdg::folder("XDG_CACHE_HOME", ".cache");
                cache
                    .ok_or_else(|| Failure::usage("--warm: HOME names no folder; give one: --warm=FOLDER"))?
                    .join("warm")
            }
        };
        Ok(Some(WindowCache::new(folder)))
    }
}
