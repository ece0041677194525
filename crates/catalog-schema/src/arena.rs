//! Where rows lie.

use std::mem::needs_drop;

use bumpalo_herd::Herd;

/// Memory for rows: what is put into it stays in its place, and all of it is given back together, when nothing can
/// refer to it any more. Threads may share it.
///
/// ```
/// use pericore_catalog_schema::Arena;
///
/// let arena = Arena::default();
/// let names = arena.list(["RD", "WR"].map(|name| arena.text(name)));
/// assert_eq!(names, ["RD", "WR"]);
/// ```
#[derive(Debug, Default)]
pub struct Arena(Herd);

impl Arena {
    /// A text.
    pub fn text(&self, text: &str) -> &str {
        self.0.get().alloc_str(text)
    }

    /// A row.
    pub fn row<T>(&self, row: T) -> &T {
        const { assert!(!needs_drop::<T>(), "rows have nothing to drop: their lists are in an arena, too") };
        self.0.get().alloc(row)
    }

    /// A list of rows.
    pub fn list<T>(&self, rows: impl IntoIterator<Item = T>) -> &[T] {
        const { assert!(!needs_drop::<T>(), "rows have nothing to drop: their lists are in an arena, too") };
        // First they are made: making a row may put its own lists here.
        let rows: Vec<T> = rows.into_iter().collect();
        self.0.get().alloc_slice_fill_iter(rows)
    }
}
