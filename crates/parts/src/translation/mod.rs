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

use pericore_engine::Tick;
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

    /// Begins the next walk of a core: as [`PageWalks::begin`].
    pub fn begin(&mut self, core: usize) -> Option<(u16, u32)> {
        self.of(core)?.begin()
    }

    /// The walk that a core has begun last begins again later: as [`PageWalks::give_up`].
    pub fn give_up(&mut self, core: usize) {
        self.of(core).into_iter().for_each(PageWalks::give_up);
    }

    /// A line has come to a core: as [`PageWalks::came`].
    pub fn came(&mut self, core: usize, line: u32, ends: Tick) -> bool {
        self.of(core).is_some_and(|walks| walks.came(line, ends))
    }

    /// Walks of a core end: as [`PageWalks::end`].
    pub fn end(&mut self, core: usize, now: Tick) {
        self.of(core).into_iter().for_each(|walks| walks.end(now));
    }

    /// Takes out a core's first access whose page is known: as [`PageWalks::take_known`].
    pub fn take_known(&mut self, core: usize) -> Option<(u16, A)> {
        self.of(core)?.take_known()
    }

    /// An access that was taken out is the first to be taken again: as [`PageWalks::keep`].
    pub fn keep(&mut self, core: usize, thread: u16, access: A) {
        self.of(core).into_iter().for_each(|walks| walks.keep(thread, access));
    }

    /// Takes a page in by function; true if a line of the page tables must be read for that.
    pub fn warm(&mut self, core: usize, page: u32) -> bool {
        self.of(core).is_some_and(|walks| walks.warm(page))
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
