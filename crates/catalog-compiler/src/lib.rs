//! Compiles the catalogue data.
//!
//! `read` turns the TOML files into [`schema`] rows, `resolve` computes encodings and signals, `validate` checks by named
//! rules, `lower` makes compiled rows of them and [`emit`] packs these. All errors are collected and reported together, each
//! with file, line and what to do: a person who edits the catalogue fixes them in one round.

mod diagnostics;
pub mod emit;
mod files;
mod kernel;
pub mod lower;
mod read;
mod resolve;
pub mod schema;
mod validate;

use std::path::Path;

pub use diagnostics::{Diagnostic, Diagnostics, Place, RowAt};
pub use files::Files;
pub use kernel::KernelTables;
pub use pericore_catalog_schema::Arena;

/// Reads and validates the catalogue under `root`.
///
/// # Errors
/// Every defect found, in file order.
pub fn compile(root: &Path) -> Result<schema::Catalogue, Diagnostics> {
    compile_files(&Files::of(root))
}

/// Reads and validates a catalogue.
///
/// # Errors
/// Every defect found, in file order.
pub fn compile_files(files: &Files) -> Result<schema::Catalogue, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let catalogue = read::catalogue(files, &mut diagnostics);
    checked(catalogue, diagnostics)
}

/// Reads the tables of what Linux's driver offers, in the folder `kernel` under `root`; the rows lie in the arena.
///
/// # Errors
/// Every defect found, in file order.
pub fn compile_kernel<'c>(to: &'c Arena, root: &Path) -> Result<KernelTables<'c>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let tables = kernel::read(to, root, &mut diagnostics);
    diagnostics.into_result(tables)
}

/// Reads and validates what users' folders add to shipped families: their own families, and the `extended` ones, which
/// have a block that users add to. `taken` are the names of the shipped families.
///
/// # Errors
/// Every defect found, in file order, those in `diagnostics` first.
pub fn compile_own(
    files: &Files,
    extended: &[&str],
    taken: &[&str],
    mut diagnostics: Diagnostics,
) -> Result<schema::Catalogue, Diagnostics> {
    let catalogue = read::own(files, extended, &mut diagnostics);
    for family in catalogue.families.iter().filter(|family| !extended.contains(&family.name.as_str())) {
        for name in std::iter::once(&family.name).chain(&family.aliases) {
            if taken.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                let message = format!("a shipped family is called {name:?}");
                diagnostics.report(family.place, message, "choose another name or alias");
            }
        }
    }
    checked(catalogue, diagnostics)
}

fn checked(mut catalogue: schema::Catalogue, mut diagnostics: Diagnostics) -> Result<schema::Catalogue, Diagnostics> {
    resolve::all(&mut catalogue, &mut diagnostics);
    validate::all(&catalogue, &mut diagnostics);
    diagnostics.into_result(catalogue)
}
