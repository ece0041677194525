//! Where in memory the pages of a generated workload lie, and the tables that say so.

use crate::program::PageSize;
use crate::shuffle::Shuffle;

/// Bytes of a page's entry in the page tables (SDM, volume 3, 4.5).
const ENTRY: u64 = 8;

/// The last level of the page tables of a workload, which has an entry for each page: at the top of its node's memory,
/// where no page lies, in one piece and in the order of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageTables {
    size: PageSize,
    /// Frames of the node that pages can have; the tables begin behind the last of them.
    frames: u64,
}

impl PageTables {
    /// Those of pages of a size in so many bytes of memory.
    pub const fn new(size: PageSize, within: u64) -> Self {
        let tables = (within >> size.bits()) * ENTRY;
        Self { size, frames: (within - tables) >> size.bits() }
    }

    /// Size of the pages.
    pub const fn size(&self) -> PageSize {
        self.size
    }

    /// Bytes that pages can have: all before the tables.
    pub const fn start(&self) -> u64 {
        self.frames << self.size.bits()
    }

    /// Where in the node's memory the entry of a page lies, counted from 1 as [`Access::page`](crate::Access::page) is.
    pub const fn entry(&self, page: u32) -> u64 {
        self.start() + (page as u64 - 1) * ENTRY
    }
}

/// The frames of a workload's pages: one after another, as if all were one page, or each anywhere in its node's
/// memory, as on a machine whose memory has been given out and taken back for a while.
#[derive(Debug, Clone, Copy)]
pub struct Frames {
    /// Frames of a node, the bits of an address within one, and their order.
    scattered: Option<(u64, u32, Shuffle)>,
}

impl Frames {
    /// Those of pages of a size in so many bytes of memory; a footprint in one piece if it has no pages. Another seed
    /// gives other frames.
    pub fn new(pages: Option<PageSize>, within: u64, seed: u64) -> Self {
        let scattered = pages.map(|size| {
            let (bits, frames) = (size.bits(), PageTables::new(size, within).frames);
            (frames, bits, Shuffle::new(frames, seed.wrapping_mul(0xD6E8_FEB8_6659_FD93)))
        });
        Self { scattered }
    }

    /// Where in the first node's memory a byte of the footprint lies.
    #[inline]
    pub fn place(&self, address: u64) -> u64 {
        match self.scattered {
            None => address,
            Some((frames, bits, order)) => {
                order.at_below(address >> bits, frames) << bits | address & ((1 << bits) - 1)
            }
        }
    }

    /// Number of the page of a byte of the footprint, counted from 1; 0 if that is in one piece.
    #[inline]
    pub fn page(&self, address: u64) -> u32 {
        self.scattered.map_or(0, |(_, bits, _)| (address >> bits) as u32 + 1)
    }

    /// The byte of the footprint that lies at a place, if one does; otherwise one beyond the footprint.
    pub fn address(&self, place: u64) -> u64 {
        match self.scattered {
            Some((frames, bits, order)) if place >> bits < frames => {
                order.place_below(place >> bits, frames) << bits | place & ((1 << bits) - 1)
            }
            _ => place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Frames, PageSize, PageTables};

    #[test]
    fn a_page_stays_together_and_each_has_a_frame_of_its_own() {
        let frames = |pages, seed| Frames::new(pages, 3 << 30, seed);
        assert_eq!(frames(None, 1).place(0x12_3456), 0x12_3456);
        for (size, bits) in [(PageSize::Small, 12), (PageSize::Large, 21)] {
            let (first, second) = (frames(Some(size), 1), frames(Some(size), 2));
            let mut of_pages: Vec<u64> = (0..1000).map(|page| first.place(page << bits)).collect();
            assert_eq!(first.place((7 << bits) + 0x123), of_pages[7] + 0x123);
            assert_eq!(first.address(of_pages[7] + 0x123), (7 << bits) + 0x123);
            assert!(of_pages.iter().all(|place| place.trailing_zeros() >= bits && *place < 3 << 30));
            assert!(of_pages.windows(2).filter(|pair| pair[1] == pair[0] + (1 << bits)).count() < 10, "no walk");
            assert_ne!(second.place(0), of_pages[0]);
            assert_eq!(first.address(3 << 30), 3 << 30, "behind the last frame");
            of_pages.sort_unstable();
            of_pages.dedup();
            assert_eq!(of_pages.len(), 1000);
        }
    }

    /// By hand: 3 GiB have 786,432 pages of 4 KiB, whose entries take 6 MiB; and 1,536 of 2 MiB, whose entries take 12
    /// KiB and so the last of the frames.
    #[test]
    fn page_tables_lie_behind_all_pages() {
        let (small, large) = (PageTables::new(PageSize::Small, 3 << 30), PageTables::new(PageSize::Large, 3 << 30));
        assert_eq!((small.start(), large.start()), ((3 << 30) - (6 << 20), (3 << 30) - (2 << 20)));
        assert_eq!([1, 2, 9].map(|page| small.entry(page) - small.start()), [0, 8, 64]);
        for size in [PageSize::Small, PageSize::Large] {
            let (tables, frames) = (PageTables::new(size, 3 << 30), Frames::new(Some(size), 3 << 30, 1));
            let pages = tables.start() >> size.bits();
            let highest = (0..pages).map(|page| frames.place(page << size.bits())).max();
            assert_eq!(highest, Some((pages - 1) << size.bits()), "as many frames as pages, and none behind");
            assert!(tables.entry(pages as u32) + 8 <= 3 << 30);
            assert_eq!([0, (1 << size.bits()) - 1, 1 << size.bits()].map(|byte| frames.page(byte)), [1, 1, 2]);
        }
        assert_eq!(Frames::new(None, 3 << 30, 1).page(1 << 21), 0);
    }
}
