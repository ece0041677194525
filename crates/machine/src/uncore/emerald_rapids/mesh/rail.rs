//! One direction of a ring along a column or a row: a train of slots that never stops. A message waits for a slot that is free as far
//! as it wants to go.

/// Slots that are remembered; older ones have gone by.
const SLOTS: usize = 64;
/// Low bits of an entry, which hold links; the others hold the slot's number, up to [`HORIZON`](crate::engine::HORIZON).
const LINKS: u32 = 12;

/// The slots of one direction.
#[derive(Debug, Clone)]
pub struct Rail {
    /// Number of each slot and the links on which it is taken.
    slots: [u64; SLOTS],
}

impl Rail {
    /// A train of empty slots.
    pub const fn new() -> Self {
        Self { slots: [0; SLOTS] }
    }

    /// Takes `length` slots in a row, one or two, over the links of `path`, of which the first is number `slot` or later; gives its
    /// number. Slots are numbered by the cycle in which they pass the direction's first stop.
    #[inline]
    pub fn board(&mut self, slot: u64, path: u16, length: u64) -> u64 {
        let two = length > 1;
        let mut first = slot;
        loop {
            if two && self.is_taken(first + 1, path) {
                first += 2;
            } else if self.is_taken(first, path) {
                first += 1;
            } else {
                break;
            }
        }
        self.take(first, path);
        if two {
            self.take(first + 1, path);
        }
        first
    }

    #[inline]
    const fn is_taken(&self, slot: u64, path: u16) -> bool {
        let links = self.slots[slot as usize % SLOTS] ^ slot << LINKS;
        // Another slot's number leaves more than links.
        links < 1 << LINKS && links & path as u64 != 0
    }

    #[inline]
    const fn take(&mut self, slot: u64, path: u16) {
        let entry = &mut self.slots[slot as usize % SLOTS];
        if *entry >> LINKS != slot {
            *entry = slot << LINKS;
        }
        *entry |= path as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::Rail;

    #[test]
    fn a_slot_serves_messages_whose_ways_do_not_meet() {
        let mut rail = Rail::new();
        assert_eq!(rail.board(10, 0b0011, 1), 10);
        assert_eq!(rail.board(10, 0b1100, 1), 10, "beyond the first one's goal");
        assert_eq!(rail.board(10, 0b0110, 1), 11, "across both ways");
        assert_eq!(rail.board(9, 0b0001, 2), 11, "two slots in a row: 9 and 10 are not free together, nor 10 and 11");
    }

    #[test]
    fn slots_come_again_empty() {
        let mut rail = Rail::new();
        let late = 1 << 50;
        assert_eq!(rail.board(late, 0b111_1111_1111, 2), late);
        assert_eq!(rail.board(late + 64, 0b1, 1), late + 64);
        assert_eq!(rail.board(late + 1, 0b1, 1), late + 2);
    }
}
