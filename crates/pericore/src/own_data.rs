//! The user's own catalogue data: folders that `PERICORE_CATALOG` names, or those of the XDG data directories.

use std::env;
use std::path::PathBuf;

use pericore_catalog::own;

use crate::failure::Failure;
use crate::xdg;

/// Variable that names the folders, with colons between; none if it is empty.
const VARIABLE: &str = "PERICORE_CATALOG";

/// Adds the data to the catalogue.
///
/// # Errors
/// Every defect of the data, with file, line and what to do.
pub fn load() -> Result<(), Failure> {
    own::load(&folders()).map_err(Failure::usage)
}

fn folders() -> Vec<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE) {
        return env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()).collect();
    }
    let system = env::var_os("XDG_DATA_DIRS").unwrap_or_else(|| "/usr/local/share:/usr/share".into());
    let system = env::split_paths(&system).filter(|path| path.is_absolute()).map(|path| path.join("pericore"));
    let folders = xdg::folder("XDG_DATA_HOME", ".local/share").into_iter().chain(system);
    folders.map(|folder| folder.join("catalog")).filter(|folder| folder.is_dir()).collect()
}
