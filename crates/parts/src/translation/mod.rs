//! Looking pages up: a core's data TLB of two levels, its page walkers, and the accesses that wait for them.
//!
//! A family's model looks up each access of a workload that has pages, before its caches are. A page that the second
//! level has costs some cycles, of which out-of-order execution hides all but those of a load that others wait for. A
//! page that no level has is walked for: a line of the page tables is read through the core's caches as any other, and
//! the access goes out when that has come. Meanwhile its thread goes on with others, unless it waits for the access
//! itself.

mod tlb;
mod walks;

#[cfg(test)]
mod tests;

use pericore_workload::PageTables;

use crate::line::LINE_BYTES;

pub use tlb::{DataTlb, PageFound, TlbSize, TranslationSizes};
pub use walks::PageWalks;

/// Bits of a page's number within its node: 64 GiB have so many pages of 4 KiB, counted from 1.
const PAGE_BITS: u32 = 25;

/// What looks pages up in all cores of a machine. `A` is an access as the model holds it.
#[derive(Debug)]
pub struct Translation<A> {
    /// By core; none if what runs has no pages.
    cores: Vec<PageWalks<A>>,
    tables: Option<PageTables>,
}

impl<A: Copy> Translation<A> {
    /// Nothing has pages.
    pub const fn off() -> Self {
        Self { cores: Vec::new(), tables: None }
    }

    /// For a workload with such page tables, if it has any, on cores that know no page yet.
    pub fn new(tables: Option<PageTables>, sizes: &TranslationSizes, cores: usize) -> Self {
        let of_core = |tables: &PageTables| (0..cores).map(|_| PageWalks::new(sizes, tables.size())).collect();
        Self { cores: tables.as_ref().map_or_else(Vec::new, of_core), tables }
    }

    /// True if what runs has pages.
    #[inline]
    pub const fn is_on(&self) -> bool {
        !self.cores.is_empty()
    }

    /// That of a core, if what runs has pages.
    #[inline]
    pub fn of(&mut self, core: usize) -> Option<&mut PageWalks<A>> {
        self.cores.get_mut(core)
    }

    /// True if accesses of a thread wait on a core.
    #[inline]
    pub fn delays(&self, core: usize, thread: u16) -> bool {
        self.cores.get(core).is_some_and(|walks| walks.waiting(thread) > 0)
    }

    /// The line of a node's memory that has a page's entry, counted from the node's first.
    pub fn entry(&self, page: u32) -> u32 {
        self.tables.map_or(0, |tables| (tables.entry(page) / LINE_BYTES) as u32)
    }

    /// The page of a line over the nodes of a machine, each of so many bytes and with page tables of its own; and the
    /// line that has the page's entry.
    pub fn page_among_nodes(&self, page: u32, line: u32, node: u64) -> (u32, u32) {
        let number = u64::from(line) * LINE_BYTES / node;
        let first = (number * node / LINE_BYTES) as u32;
        ((number as u32) << PAGE_BITS | page, first + self.entry(page))
    }
}
