//! Where in memory the pages of a generated workload lie.

use crate::program::PageSize;
use crate::shuffle::Shuffle;

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
            let bits = size.bits();
            let frames = within >> bits;
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
    use super::{Frames, PageSize};

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
}
