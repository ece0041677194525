//! The user's own catalogue data: folders that `PERICORE_CATALOG` names, or those of the XDG data directories. What
//! another user could have written is not read: data says which registers are written.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use pericore_catalog::own;

use crate::failure::Failure;
use crate::{notice, xdg};

/// Variable that names the folders, with colons between; none if it is empty.
const VARIABLE: &str = "PERICORE_CATALOG";

/// Adds the data to the catalogue.
///
/// # Errors
/// Every defect of the data, with file, line and what to do.
pub fn load() -> Result<(), Failure> {
    let user = nix::unistd::geteuid().as_raw();
    own::load(&folders(user), user).map_err(Failure::usage)
}

fn folders(user: u32) -> Vec<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE) {
        return env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()).collect();
    }
    let system = env::var_os("XDG_DATA_DIRS").unwrap_or_else(|| "/usr/local/share:/usr/share".into());
    let system = env::split_paths(&system).filter(|path| path.is_absolute()).map(|path| path.join("pericore"));
    let folders = xdg::folder("XDG_DATA_HOME", ".local/share").into_iter().chain(system);
    let folders = folders.map(|folder| folder.join("catalog")).filter(|folder| folder.is_dir());
    folders.filter(|folder| is_ours(folder, user)).collect()
}

/// True if a folder that nobody has named is this user's or root's. Another's is told, and keeps nobody from anything:
/// it is such as the home folder of the user for whom somebody does root's work.
fn is_ours(folder: &Path, user: u32) -> bool {
    let owner = fs::metadata(folder).map_or(user, |metadata| metadata.uid());
    let is_ours = owner == user || owner == 0;
    if !is_ours {
        notice::warn(format!("{} is left aside: it belongs to user {owner}", folder.display()));
    }
    is_ours
}
