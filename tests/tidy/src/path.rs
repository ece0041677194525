//! Parts of a path, for the rules.

/// The folder of a file, without the last `/`; empty at the root.
pub fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// True if `path` is `prefix`, or lies in it: `a/b` holds `a/b.rs` and `a/b/c.rs`, and not `a/bc.rs`.
pub fn lies_in(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest == ".rs" || rest.starts_with('/'))
}

#[test]
fn a_folder_holds_its_files_and_the_module_of_its_name() {
    assert!(lies_in("a/b/c.rs", "a/b") && lies_in("a/b.rs", "a/b") && lies_in("a/b.rs", "a/b.rs"));
    assert!(!lies_in("a/bc.rs", "a/b") && !lies_in("a/b", "a/b/c"));
    assert_eq!((folder_of("a/b/c.rs"), folder_of("README.md")), ("a/b", ""));
}
