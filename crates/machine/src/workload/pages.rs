//! Virtual to physical pages by first touch.

use super::program::PageSize;
use std::collections::{BTreeMap, HashMap};

/// The page tables of all processes, and the frames of memory.
///
/// A page gets the next frame when it is first touched, or the frame that was given back last. A forked process begins with the
/// frames of its parent; the first of its stores to each of them gives it one of its own. Files and memory that processes share are not
/// known as such: each process has pages of its own for them.
#[derive(Debug)]
pub struct Pages {
    bits: u32,
    frames: u64,
    /// Frames that were ever given out.
    used: u64,
    free: Vec<u64>,
    processes: HashMap<u32, BTreeMap<u64, Frame>>,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    number: u64,
    /// The parent has it, too: it is neither written to nor given back.
    borrowed: bool,
}

impl Pages {
    /// No pages, on a machine with so many bytes of memory.
    pub fn new(size: PageSize, memory: u64) -> Self {
        let bits = size.bits();
        Self { bits, frames: (memory >> bits).max(1), used: 0, free: Vec::new(), processes: HashMap::new() }
    }

    /// Bytes of all frames that were ever in use.
    pub const fn touched(&self) -> u64 {
        self.used << self.bits
    }

    /// The physical address of a virtual one, which is touched by it.
    pub fn touch(&mut self, process: u32, forked_from: Option<u32>, address: u64, store: bool) -> u64 {
        let (page, offset) = (address >> self.bits, address & ((1 << self.bits) - 1));
        if !self.processes.contains_key(&process) {
            let mut table = forked_from.and_then(|parent| self.processes.get(&parent)).cloned().unwrap_or_default();
            table.values_mut().for_each(|frame| frame.borrowed = true);
            self.processes.insert(process, table);
        }
        let known = self.processes.get(&process).and_then(|table| table.get(&page)).copied();
        let frame = match known.filter(|frame| !(store && frame.borrowed)) {
            Some(frame) => frame.number,
            None => {
                let number = self.frame();
                self.processes.entry(process).or_default().insert(page, Frame { number, borrowed: false });
                number
            }
        };
        frame << self.bits | offset
    }

    fn frame(&mut self) -> u64 {
        self.free.pop().unwrap_or_else(|| {
            // A program that touches more than the machine has begins again at the first frame, as if those had been swapped out.
            let frame = self.used % self.frames;
            self.used += 1;
            frame
        })
    }

    /// The pages that lie wholly in a range are gone.
    pub fn unmap(&mut self, process: u32, address: u64, bytes: u64) {
        let Some(table) = self.processes.get_mut(&process) else { return };
        let first = address.saturating_add((1 << self.bits) - 1) >> self.bits;
        let last = address.saturating_add(bytes) >> self.bits;
        if first >= last {
            return;
        }
        let gone: Vec<(u64, Frame)> = table.range(first..last).map(|(&page, &frame)| (page, frame)).collect();
        for (page, frame) in gone {
            table.remove(&page);
            if !frame.borrowed {
                self.free.push(frame.number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PageSize, Pages};

    #[test]
    fn frames_go_out_by_first_touch_and_come_back() {
        let mut pages = Pages::new(PageSize::Small, 64 << 30);
        assert_eq!(pages.touch(0, None, 0x7000_0123, false), 0x123);
        assert_eq!(pages.touch(0, None, 0x9000_0004, true), 0x1004);
        assert_eq!(pages.touch(0, None, 0x7000_0FFF, true), 0xFFF);
        assert_eq!(pages.touch(1, None, 0x7000_0000, false), 0x2000, "another address space");
        pages.unmap(0, 0x7000_0001, 0x1FFE);
        assert_eq!(pages.touch(0, None, 0x7000_0000, false), 0, "half a page is kept");
        pages.unmap(0, 0x7000_0000, 1 << 40);
        assert_eq!(pages.touch(0, None, 0x5000_0000, false), 0x1000, "the frame given back last");
        assert_eq!(pages.touched(), 3 << 12);
    }

    #[test]
    fn a_forked_process_copies_what_it_writes_to() {
        let mut pages = Pages::new(PageSize::Large, 64 << 30);
        assert_eq!(pages.touch(0, None, 0x20_0000, true), 0);
        assert_eq!(pages.touch(1, Some(0), 0x20_0040, false), 0x40);
        assert_eq!(pages.touch(1, Some(0), 0x20_0040, true), 0x20_0040);
        assert_eq!(pages.touch(0, None, 0x20_0080, false), 0x80);
        assert_eq!(pages.touch(2, Some(0), 0x20_0000, false), 0);
        pages.unmap(2, 0x20_0000, 0x20_0000);
        assert_eq!(pages.touch(0, None, 0x40_0000, false), 0x40_0000, "the parent keeps its frame");
    }

    #[test]
    fn memory_is_bounded() {
        let mut pages = Pages::new(PageSize::Small, 8 << 12);
        for page in 0..20_u64 {
            assert!(pages.touch(0, None, page << 12, true) < 8 << 12);
        }
    }
}
