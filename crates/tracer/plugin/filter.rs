//! An L1 cache as a filter: what hits is not told.
//!
//! Set-associative, least recently used, write-back, write-allocate. The ways of a set lie in the order of their use, the latest
//! first, so that most accesses end with one comparison.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const DIRTY: u64 = 1;
const VALID: u64 = 2;

/// What an access met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The line, in a state that allows the access.
    Hit,
    /// The line, not written to before: a store has to ask for ownership.
    Upgrade,
    /// Nothing. The address of the line that had to go, if it was dirty.
    Miss(Option<u64>),
}

/// The tags of a filter, and its shape.
#[derive(Clone, Copy)]
pub struct Filter<'a> {
    tags: &'a [AtomicU64],
    set_mask: u64,
    ways: usize,
}

/// The tag of the line that holds an address, dirty.
const fn dirty_tag(address: u64) -> u64 {
    address >> 4 | VALID | DIRTY
}

const fn address_of(tag: u64) -> u64 {
    (tag & !(VALID | DIRTY)) << 4
}

impl<'a> Filter<'a> {
    /// A filter over tags that start as 0. `sets` is a power of 2; `sets` times `ways` tags are used.
    #[inline(always)]
    pub fn new(tags: &'a [AtomicU64], sets: u32, ways: u32) -> Self {
        Self { tags, set_mask: u64::from(sets) - 1, ways: ways as usize }
    }

    /// The ways of the set that an address falls into.
    #[inline(always)]
    fn set(&self, address: u64) -> &'a [AtomicU64] {
        let start = (address >> 6 & self.set_mask) as usize * self.ways;
        // SAFETY: `Filter::new`'s shape is within the tags: the tracer checks it against `MOST_LINES` before it starts QEMU.
        unsafe { self.tags.get_unchecked(start..start + self.ways) }
    }

    /// True if the line was the last used of its set and allows the access: nothing changes then, and nothing needs to be told.
    #[inline(always)]
    pub fn hits_first(&self, address: u64, store: bool) -> bool {
        let set = self.set(address);
        // SAFETY: a set has at least one way.
        let first = unsafe { set.get_unchecked(0) }.load(Relaxed);
        first | u64::from(!store) == dirty_tag(address)
    }

    /// One access to the line that holds an address.
    #[inline]
    pub fn touch(&self, address: u64, store: bool) -> Outcome {
        let set = self.set(address);
        let wanted = dirty_tag(address);
        let tag_of = |way: usize| set[way].load(Relaxed);
        let found = (0..set.len()).find(|&way| tag_of(way) | DIRTY == wanted);
        // A line that is new takes the place of one that was removed, or of the last.
        let place = found.or_else(|| (0..set.len()).find(|&way| tag_of(way) == 0)).unwrap_or(set.len() - 1);
        let old = tag_of(place);
        for way in (1..=place).rev() {
            set[way].store(tag_of(way - 1), Relaxed);
        }
        let was_dirty = old & DIRTY != 0;
        let dirty = store || found.is_some() && was_dirty;
        set[0].store(if dirty { wanted } else { wanted & !DIRTY }, Relaxed);
        match found {
            Some(_) if store && !was_dirty => Outcome::Upgrade,
            Some(_) => Outcome::Hit,
            None => Outcome::Miss(was_dirty.then(|| address_of(old))),
        }
    }

    /// Removes a line. True if it was dirty. Any thread may call it, while no other changes the filter.
    pub fn remove(&self, address: u64) -> bool {
        self.replace(address, |_| 0)
    }

    /// Makes a line clean. True if it was dirty. Any thread may call it, while no other changes the filter.
    pub fn clean(&self, address: u64) -> bool {
        self.replace(address, |tag| tag & !DIRTY)
    }

    /// True if the line is there. Any thread may call it, while no other changes the filter.
    pub fn holds(&self, address: u64) -> bool {
        self.set(address).iter().any(|way| way.load(Relaxed) | DIRTY == dirty_tag(address))
    }

    /// The addresses of all lines, and whether they are dirty.
    pub fn lines(&self) -> impl Iterator<Item = (u64, bool)> + use<'a> {
        let tags = (self.set_mask as usize + 1) * self.ways;
        let held = self.tags[..tags].iter().map(|tag| tag.load(Relaxed)).filter(|tag| *tag != 0);
        held.map(|tag| (address_of(tag), tag & DIRTY != 0))
    }

    fn replace(&self, address: u64, new: impl Fn(u64) -> u64) -> bool {
        let wanted = dirty_tag(address);
        self.set(address).iter().any(|way| {
            let tag = way.load(Relaxed);
            tag | DIRTY == wanted && way.compare_exchange(tag, new(tag), Relaxed, Relaxed).is_ok() && tag & DIRTY != 0
        })
    }

    /// Removes all lines of a range of addresses, dirty or not.
    pub fn remove_range(&self, start: u64, bytes: u64) {
        let (first, last) = (start & !63, start.saturating_add(bytes.max(1) - 1) & !63);
        let tags = (self.set_mask as usize + 1) * self.ways;
        if (last - first) / 64 < tags as u64 / self.ways as u64 {
            for line in 0..=(last - first) / 64 {
                self.remove(first + line * 64);
            }
            return;
        }
        for tag in &self.tags[..tags] {
            let value = tag.load(Relaxed);
            if value != 0 && (first..=last).contains(&address_of(value)) {
                let _ = tag.compare_exchange(value, 0, Relaxed, Relaxed);
            }
        }
    }
}
