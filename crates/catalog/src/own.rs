//! Users' own data: folders with files like those of `catalog/`, added to the shipped catalogue without a new build.
//!
//! A folder adds events, metrics and registers to blocks (`blocks/cha-v3/metrics-mine.toml`), new blocks, and families
//! (`families/mine.toml`). Its files are read and checked by the compiler of the shipped ones. Only families that
//! it touches are compiled; the others stay as they were packed.

use std::path::PathBuf;

use pericore_catalog_compiler::{Diagnostics, Files, compile_own, lower};

use crate::model::lasting;
use crate::rows::{Arena, Family};
use crate::shipped::{Shipped, in_the_binary, know, sources};

/// Why users' own data cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OwnError {
    /// A folder that was named is not there.
    #[error("{}: no folder of catalogue data; correct its path, or leave it out", .0.display())]
    NoFolder(PathBuf),
    /// The data has defects: each with file, line and what to do.
    #[error("{0}; with PERICORE_CATALOG= no data but the shipped is read")]
    Defects(Diagnostics),
    /// Families were asked for before.
    #[error("own data has to be loaded before the first family is asked for; call own::load earlier")]
    TooLate,
}

/// Adds what folders have to the families that [`crate::shipped()`] gives, for as long as the process lives. Call it
/// once, before any other function of this crate. Files and folders have to belong to `user` (a user ID) or root, and
/// nobody else may write them: they decide which registers are written.
///
/// # Errors
/// [`OwnError`]; the shipped families stay as they are.
pub fn load(folders: &[PathBuf], user: u32) -> Result<(), OwnError> {
    if folders.is_empty() {
        return Ok(());
    }
    let own = compile(lasting(), folders, user)?;
    know(own.into_iter().map(|family| Shipped::compiled(lasting(), family)).collect()).ok_or(OwnError::TooLate)
}

/// The families that folders touch, with what these add. The rows lie in the arena, and go with it.
///
/// # Errors
/// As [`load`].
pub fn compile<'c>(to: &'c Arena, folders: &[PathBuf], user: u32) -> Result<Vec<Family<'c>>, OwnError> {
    if let Some(missing) = folders.iter().find(|folder| !folder.is_dir()) {
        return Err(OwnError::NoFolder(missing.clone()));
    }
    let mut diagnostics = Diagnostics::default();
    let mut files = Files::shipped(sources());
    folders.iter().for_each(|folder| files.lay_over(folder, user, &mut diagnostics));
    let touched = |block: &&&str| files.has_own(&format!("blocks/{block}/"));
    let extended = in_the_binary().iter().filter(|shipped| shipped.blocks.iter().any(|block| touched(&block)));
    let extended: Vec<&str> = extended.map(|shipped| shipped.name).collect();
    let taken = in_the_binary().iter().flat_map(|shipped| std::iter::once(&shipped.name).chain(shipped.aliases));
    let taken: Vec<&str> = taken.copied().collect();
    let catalogue = compile_own(&files, &extended, &taken, diagnostics).map_err(OwnError::Defects)?;
    Ok(catalogue.families.iter().map(|family| lower::family(to, family)).collect())
}
