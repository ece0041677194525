//! Folders of our own, by the XDG base directory rules.

use std::path::PathBuf;

/// The folder below the one that `variable` names, or below `usual` in the user's home. By the rules a path that is not absolute counts as none: it
/// would be another folder wherever we are started.
pub fn folder(variable: &str, usual: &str) -> Option<PathBuf> {
    let of = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = of(variable).or_else(|| Some(of("HOME")?.join(usual)))?;
    Some(base.join("pericore"))
}
