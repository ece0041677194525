//! Compiles the catalogue data.
//!
//! `read` turns the TOML files into [`schema`] rows, `resolve` computes encodings and signals, `validate` checks by named
//! rules, `lower` makes compiled rows of them and [`emit`] packs these. All errors are collected and reported together, each
//! with file, line and what to do: a person who edits the catalogue fixes them in one round.

mod diagnostics;
pub mod emit;
mod lower;
mod read;
mod resolve;
pub mod schema;
mod validate;

use std::path::Path;

pub use diagnostics::{Diagnostic, Diagnostics, Place};

/// Reads and validates the catalogue under `root`.
///
/// # Errors
/// Every defect found, in file order.
pub fn compile(root: &Path) -> Result<schema::Catalogue, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let mut catalogue = read::catalogue(root, &mut diagnostics);
    resolve::all(&mut catalogue, &mut diagnostics);
    validate::all(&catalogue, &mut diagnostics);
    diagnostics.into_result(catalogue)
}
