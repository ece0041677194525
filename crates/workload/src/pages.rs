//! Virtual to physical pages by first touch.

use super::program::{PageSize, Policy};
use std::collections::{BTreeMap, HashMap};

/// The memory of a machine's sockets as the physical address space shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nodes {
    /// Nodes: one for each socket.
    pub count: u8,
    /// Bytes of memory of a node.
    pub bytes: u64,
    /// Bytes from the start of one node's memory to that of the next.
    pub span: u64,
}

/// The frames of one node.
#[derive(Debug, Default, Clone)]
struct Frames {
    /// Frames that were ever given out.
    used: u64,
    free: Vec<u64>,
}

/// The page tables of all processes, and the frames of memory.
///
/// A page gets the next frame of the node that the policy names when it is first touched, or the frame of that node that was given back last. A forked process begins with the
/// frames of its parent; the first of its stores to each of them gives it one of its own. Files and memory that processes share are not
/// known as such: each process has pages of its own for them.
#[derive(Debug)]
pub struct Pages {
    bits: u32,
    policy: Policy,
    nodes: Nodes,
    frames: Vec<Frames>,
    processes: HashMap<u32, BTreeMap<u64, Frame>>,
    /// What was looked up last of those pages that share an entry: nearly every access finds its page here.
    recent: Box<[Recent]>,
}

/// Entries of pages that were looked up.
const RECENT: usize = 1024;

/// A page that was looked up.
#[derive(Debug, Clone, Copy)]
struct Recent {
    process: u32,
    page: u64,
    frame: Frame,
}

impl Recent {
    /// No page has that number: addresses end before.
    const NONE: Self = Self { process: 0, page: u64::MAX, frame: Frame { number: 0, borrowed: true } };

    const fn entry(process: u32, page: u64) -> usize {
        (page ^ (process as u64) << 5) as usize % RECENT
    }
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    number: u64,
    /// The parent has it, too: it is neither written to nor given back.
    borrowed: bool,
}

impl Pages {
    /// No pages, on a machine with such memory.
    pub fn new(size: PageSize, policy: Policy, nodes: Nodes) -> Self {
        let frames = vec![Frames::default(); usize::from(nodes.count)];
        let recent = vec![Recent::NONE; RECENT].into_boxed_slice();
        Self { bits: size.bits(), policy, nodes, frames, processes: HashMap::new(), recent }
    }

    /// Bytes of all frames that were ever in use.
    pub fn touched(&self) -> u64 {
        self.frames.iter().map(|node| node.used << self.bits).sum()
    }

    /// The physical address of a virtual one, which is touched by it from a socket.
    pub fn touch(&mut self, process: u32, forked_from: Option<u32>, address: u64, store: bool, socket: u8) -> u64 {
        let (page, offset) = (address >> self.bits, address & ((1 << self.bits) - 1));
        let entry = Recent::entry(process, page);
        let recent = self.recent[entry];
        if recent.page == page && recent.process == process && !(store && recent.frame.borrowed) {
            return recent.frame.number << self.bits | offset;
        }
        if !self.processes.contains_key(&process) {
            let mut table = forked_from.and_then(|parent| self.processes.get(&parent)).cloned().unwrap_or_default();
            table.values_mut().for_each(|frame| frame.borrowed = true);
            self.processes.insert(process, table);
        }
        let known = self.processes.get(&process).and_then(|table| table.get(&page)).copied();
        let frame = match known.filter(|frame| !(store && frame.borrowed)) {
            Some(frame) => frame,
            None => {
                let number = self.frame(self.policy.node(socket, page, self.nodes.count));
                let frame = Frame { number, borrowed: false };
                self.processes.entry(process).or_default().insert(page, frame);
                frame
            }
        };
        self.recent[entry] = Recent { process, page, frame };
        frame.number << self.bits | offset
    }

    fn frame(&mut self, number: u8) -> u64 {
        let first = u64::from(number) * (self.nodes.span >> self.bits);
        let node = &mut self.frames[usize::from(number)];
        node.free.pop().unwrap_or_else(|| {
            // A program that touches more than a node has begins again at its first frame, as if those had been swapped out.
            let frame = first + node.used % (self.nodes.bytes >> self.bits).max(1);
            node.used += 1;
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
            let recent = &mut self.recent[Recent::entry(process, page)];
            if recent.process == process && recent.page == page {
                *recent = Recent::NONE;
            }
            if !frame.borrowed {
                let node = frame.number / (self.nodes.span >> self.bits).max(1);
                self.frames[node as usize].free.push(frame.number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Nodes, PageSize, Pages, Policy};

    const ONE: Nodes = Nodes { count: 1, bytes: 64 << 30, span: 64 << 30 };

    #[test]
    fn frames_go_out_by_first_touch_and_come_back() {
        let mut pages = Pages::new(PageSize::Small, Policy::Local, ONE);
        assert_eq!(pages.touch(0, None, 0x7000_0123, false, 0), 0x123);
        assert_eq!(pages.touch(0, None, 0x9000_0004, true, 0), 0x1004);
        assert_eq!(pages.touch(0, None, 0x7000_0FFF, true, 0), 0xFFF);
        assert_eq!(pages.touch(1, None, 0x7000_0000, false, 0), 0x2000, "another address space");
        pages.unmap(0, 0x7000_0001, 0x1FFE);
        assert_eq!(pages.touch(0, None, 0x7000_0000, false, 0), 0, "half a page is kept");
        pages.unmap(0, 0x7000_0000, 1 << 40);
        assert_eq!(pages.touch(0, None, 0x5000_0000, false, 0), 0x1000, "the frame given back last");
        assert_eq!(pages.touched(), 3 << 12);
    }

    /// Of two pages that are gone the frame of the second is the first to be given out again.
    #[test]
    fn a_page_that_was_gone_has_a_new_frame() {
        let mut pages = Pages::new(PageSize::Small, Policy::Local, ONE);
        assert_eq!([0x1000, 0x2000].map(|address| pages.touch(0, None, address, true, 0)), [0, 0x1000]);
        pages.unmap(0, 0x1000, 0x2000);
        assert_eq!(pages.touch(0, None, 0x1000, true, 0), 0x1000);
    }

    #[test]
    fn a_forked_process_copies_what_it_writes_to() {
        let mut pages = Pages::new(PageSize::Large, Policy::Local, ONE);
        assert_eq!(pages.touch(0, None, 0x20_0000, true, 0), 0);
        assert_eq!(pages.touch(1, Some(0), 0x20_0040, false, 0), 0x40);
        assert_eq!(pages.touch(1, Some(0), 0x20_0040, true, 0), 0x20_0040);
        assert_eq!(pages.touch(0, None, 0x20_0080, false, 0), 0x80);
        assert_eq!(pages.touch(2, Some(0), 0x20_0000, false, 0), 0);
        pages.unmap(2, 0x20_0000, 0x20_0000);
        assert_eq!(pages.touch(0, None, 0x40_0000, false, 0), 0x40_0000, "the parent keeps its frame");
    }

    #[test]
    fn memory_is_bounded() {
        let mut pages = Pages::new(PageSize::Small, Policy::Local, Nodes { bytes: 8 << 12, ..ONE });
        for page in 0..20_u64 {
            assert!(pages.touch(0, None, page << 12, true, 0) < 8 << 12);
        }
    }

    #[test]
    fn policies_place_pages_on_nodes() {
        let two = Nodes { count: 2, bytes: 8 << 30, span: 8 << 30 };
        let nodes = |policy| {
            let mut pages = Pages::new(PageSize::Small, policy, two);
            let mut node = |page: u64, socket| pages.touch(0, None, page << 12, true, socket) >> 33;
            [node(4, 0), node(5, 0), node(6, 1), node(7, 1), node(4, 1)]
        };
        // A page stays where its first touch put it.
        assert_eq!(nodes(Policy::Local), [0, 0, 1, 1, 0]);
        assert_eq!(nodes(Policy::Remote), [1, 1, 0, 0, 1]);
        assert_eq!(nodes(Policy::Interleave), [0, 1, 0, 1, 0]);
    }

    #[test]
    fn a_frame_goes_back_to_its_node() {
        let two = Nodes { count: 2, bytes: 8 << 30, span: 8 << 30 };
        let mut pages = Pages::new(PageSize::Small, Policy::Local, two);
        assert_eq!(pages.touch(0, None, 0, true, 1), 8 << 30);
        pages.unmap(0, 0, 1 << 12);
        assert_eq!(pages.touch(0, None, 1 << 20, true, 0), 0);
        assert_eq!(pages.touch(0, None, 2 << 20, true, 1), 8 << 30);
    }
}
