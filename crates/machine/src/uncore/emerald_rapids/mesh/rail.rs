//! One direction of a ring along a column or a row: a train of slots that never stops. A message waits for a slot that is free as far
//! as it wants to go.

/// Slots that are remembered; older ones have gone by.
const SLOTS: usize = 64;
/// Low bits of an entry, which hold links. The others hold the slot's number but for the bits that its place says, and for the highest:
/// numbers come again after 2^32, long after [`Rail::sweep`].
const LINKS: u32 = 6;
const _: () = assert!(1 << LINKS == SLOTS);

/// Cycles after which a rail is to be swept. Nobody waits for so long.
pub const SWEEP: u64 = 1 << 30;

/// The slots of one direction.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub struct Rail {
    /// Number of each slot and the links on which it is taken.
    slots: [u32; SLOTS],
}

impl Default for Rail {
    /// A train of empty slots.
    fn default() -> Self {
        Self { slots: [0; SLOTS] }
    }
}

impl Rail {
    /// Takes `length` slots in a row, one or two, over the links of `path`, of which the first is number `slot` or later; gives its
    /// number. Slots are numbered by the cycle in which they pass the direction's first stop.
    #[inline]
    pub fn board(&mut self, slot: u64, path: u8, length: u64) -> u64 {
        let two = length > 1;
        let mut first = slot;
        loop {
            let (taken, next) = (self.links(first), if two { self.links(first + 1) } else { 0 });
            if next & path != 0 {
                first += 2;
            } else if taken & path != 0 {
                first += 1;
            } else {
                self.take(first, taken | path);
                if two {
                    self.take(first + 1, next | path);
                }
                return first;
            }
        }
    }

    /// The links on which a slot is taken.
    #[inline]
    const fn links(&self, slot: u64) -> u8 {
        let links = self.slots[slot as usize % SLOTS] ^ Self::empty(slot);
        // Another slot's number leaves more than links.
        if links < 1 << LINKS { links as u8 } else { 0 }
    }

    #[inline]
    const fn take(&mut self, slot: u64, links: u8) {
        self.slots[slot as usize % SLOTS] = Self::empty(slot) | links as u32;
    }

    /// The entry of a slot that is taken nowhere.
    #[inline]
    const fn empty(slot: u64) -> u32 {
        slot as u32 & !((1 << LINKS) - 1)
    }

    /// Empties the slots that have gone by before `now`, so that none is taken for one whose number it shares. To be done when no more
    /// than twice [`SWEEP`] has passed since.
    pub fn sweep(&mut self, now: u64) {
        for (place, entry) in (0..).zip(&mut self.slots) {
            let slot = *entry & !((1 << LINKS) - 1) | place;
            if slot.wrapping_sub(now as u32) > u32::MAX / 2 {
                *entry = Self::empty(slot.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Rail, SWEEP};

    #[test]
    fn a_slot_serves_messages_whose_ways_do_not_meet() {
        let mut rail = Rail::default();
        assert_eq!(rail.board(10, 0b0011, 1), 10);
        assert_eq!(rail.board(10, 0b1100, 1), 10, "beyond the first one's goal");
        assert_eq!(rail.board(10, 0b0110, 1), 11, "across both ways");
        assert_eq!(rail.board(9, 0b0001, 2), 11, "two slots in a row: 9 and 10 are not free together, nor 10 and 11");
    }

    #[test]
    fn slots_come_again_empty() {
        let mut rail = Rail::default();
        let late = 1 << 50;
        assert_eq!(rail.board(late, 0b11_1111, 2), late);
        assert_eq!(rail.board(late + 64, 0b1, 1), late + 64);
        assert_eq!(rail.board(late + 1, 0b1, 1), late + 2);
    }

    #[test]
    fn slots_come_again_empty_however_late() {
        let mut rail = Rail::default();
        let last = 1 << 32;
        for now in (0..last).step_by(SWEEP as usize) {
            rail.sweep(now);
            // Each at a place of its own, so that nothing takes the first one's.
            let slot = now + 100 + 2 * (now / SWEEP);
            assert_eq!(rail.board(slot, 0b1, 1), slot);
            rail.sweep(slot);
            assert_eq!(rail.board(slot, 0b1, 1), slot + 1, "it has yet to come");
        }
        rail.sweep(last);
        assert_eq!(rail.board(last + 100, 0b1, 1), last + 100);
    }
}
