//! TLBs: which pages of memory a core knows the places of.

use pericore_engine::ParameterError;
use pericore_workload::PageSize;

/// No page has that number: with 4 KiB each they would take 16 TiB.
const FREE: u32 = u32::MAX;

/// A TLB's entries for pages of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlbSize {
    /// Entries; none if it keeps no pages of that size.
    pub entries: u16,
    /// Entries of a set.
    pub ways: u16,
}

impl TlbSize {
    /// A TLB that keeps no pages of a size.
    pub const NONE: Self = Self { entries: 0, ways: 1 };
}

/// What looks pages up in a core, as data with its source in the presets. Arrays have pages of 4 KiB first, then those
/// of 2 MiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranslationSizes {
    /// The first level of the data TLB.
    pub first: [TlbSize; 2],
    /// The second level.
    pub second: [TlbSize; 2],
    /// Core cycles that a page costs which only the second level has.
    pub second_cycles: u64,
    /// Core cycles of a walk besides the read of its line, the look-up in the second level among them.
    pub walk_cycles: u64,
    /// Walks under way at once, at most.
    pub walkers: u8,
}

/// Entries of a TLB at most.
const MOST_ENTRIES: u64 = 1 << 14;
/// Walkers at most.
const MOST_WALKERS: u64 = 16;

impl TranslationSizes {
    /// Checks what the data structures take for granted.
    ///
    /// # Errors
    /// [`ParameterError`] for the first value that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let range = ParameterError::unless_within;
        for TlbSize { entries, ways } in self.first.into_iter().chain(self.second) {
            range("tlb entries", entries.into(), 0, MOST_ENTRIES)?;
            range("tlb ways", ways.into(), 1, 64)?;
            let whole = u64::from(entries) / u64::from(ways) * u64::from(ways);
            range("tlb entries", entries.into(), whole, whole)?;
        }
        range("second_cycles", self.second_cycles, 1, 10_000)?;
        range("walk_cycles", self.walk_cycles, 1, 10_000)?;
        range("walkers", self.walkers.into(), 1, MOST_WALKERS)
    }
}

/// One level. A page's set is its number modulo the sets; of a set the page that was not used for the longest time
/// gives way (assumption: what the real ones do is not published).
#[derive(Debug)]
struct Level {
    ways: usize,
    sets: usize,
    /// Set by set, each with the page first that was used last.
    pages: Vec<u32>,
}

impl Level {
    fn new(TlbSize { entries, ways }: TlbSize) -> Self {
        let (entries, ways) = (usize::from(entries), usize::from(ways));
        Self { ways, sets: entries / ways, pages: vec![FREE; entries] }
    }

    fn set(&mut self, page: u32) -> &mut [u32] {
        let first = if self.sets == 0 { 0 } else { page as usize % self.sets * self.ways };
        let ways = self.ways.min(self.pages.len());
        &mut self.pages[first..first + ways]
    }

    /// Looks a page up, and counts it as used.
    fn find(&mut self, page: u32) -> bool {
        let set = self.set(page);
        let Some(way) = set.iter().position(|&known| known == page) else { return false };
        set[..=way].rotate_right(1);
        true
    }

    /// Takes a page in, in the place of the one that gives way.
    fn insert(&mut self, page: u32) {
        if self.find(page) {
            return;
        }
        let set = self.set(page);
        if let Some(last) = set.last_mut() {
            *last = page;
            set.rotate_right(1);
        }
    }
}

/// Where a page was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageFound {
    /// In the first level, which costs nothing.
    First,
    /// In the second only; the first has it from now on.
    Second,
    /// In none: its entry must be read in the page tables.
    Nowhere,
}

/// The data TLB of a core, for pages of one size. Its hardware threads share it, as the vendor's manual has it of all
/// of these cores.
#[derive(Debug)]
pub struct DataTlb {
    first: Level,
    second: Level,
}

impl DataTlb {
    /// One that knows no page yet.
    pub fn new(sizes: &TranslationSizes, pages: PageSize) -> Self {
        let size = match pages {
            PageSize::Small => 0,
            PageSize::Large => 1,
        };
        Self { first: Level::new(sizes.first[size]), second: Level::new(sizes.second[size]) }
    }

    /// Looks a page up.
    pub fn find(&mut self, page: u32) -> PageFound {
        if self.first.find(page) {
            return PageFound::First;
        }
        if !self.second.find(page) {
            return PageFound::Nowhere;
        }
        self.first.insert(page);
        PageFound::Second
    }

    /// A walk has found a page's place.
    pub fn fill(&mut self, page: u32) {
        self.first.insert(page);
        self.second.insert(page);
    }
}
