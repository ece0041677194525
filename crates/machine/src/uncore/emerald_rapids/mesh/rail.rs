//! One direction of a ring along a column or a row: a train of slots that never stops. A message waits for a slot that is free as far
//! as it wants to go.

/// Slots that are remembered; older ones have gone by.
const SLOTS: usize = 64;

/// The slots of one direction.
#[derive(Debug, Clone)]
pub struct Rail {
    /// Number of each slot and the links on which it is taken.
    slots: [(u64, u16); SLOTS],
}

impl Rail {
    /// A train of empty slots.
    pub const fn new() -> Self {
        Self { slots: [(0, 0); SLOTS] }
    }

    /// Takes `length` slots in a row over the links of `path`, of which the first is number `slot` or later; gives its number. Slots
    /// are numbered by the cycle in which they pass the direction's first stop.
    pub fn board(&mut self, slot: u64, path: u16, length: u64) -> u64 {
        let mut first = slot;
        while let Some(taken) = (first..first + length).rev().find(|&slot| self.is_taken(slot, path)) {
            first = taken + 1;
        }
        for slot in first..first + length {
            let entry = &mut self.slots[slot as usize % SLOTS];
            if entry.0 != slot {
                *entry = (slot, 0);
            }
            entry.1 |= path;
        }
        first
    }

    const fn is_taken(&self, slot: u64, path: u16) -> bool {
        let (number, taken) = self.slots[slot as usize % SLOTS];
        number == slot && taken & path != 0
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
}
