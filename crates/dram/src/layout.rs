//! How ranks, bank groups and banks of a channel are numbered.
//!
//! Bank `b` of rank `r` has the number `banks * r + b` and belongs to the rank's group `b % groups`, so that neighbours are in
//! different groups. A group is called by its first bank.

use super::timing::Timing;

/// The numbers of ranks and groups, for banks and as masks of banks.
#[derive(Debug, Clone)]
pub struct Layout {
    ranks: u8,
    /// Bits of a bank's number within its rank.
    bank_bits: u8,
    /// The bits of a bank's number that tell its group.
    group_mask: u8,
    /// The banks of rank 0, as a mask.
    first: u64,
}

impl Layout {
    /// Ranks that the data structures have room for.
    pub const RANKS: usize = 8;
    /// Banks of all ranks that they have room for.
    pub const BANKS: usize = 64;

    /// The numbering of a channel whose timing has been checked.
    pub const fn new(timing: &Timing) -> Self {
        let banks = timing.banks_per_rank();
        Self {
            ranks: timing.ranks,
            bank_bits: banks.trailing_zeros() as u8,
            group_mask: (Self::BANKS as u8 - banks) | (timing.groups - 1),
            first: u64::MAX >> (Self::BANKS as u8 - banks),
        }
    }

    /// Ranks of the channel.
    #[inline(always)]
    pub const fn ranks(&self) -> usize {
        self.ranks as usize
    }

    /// Rank of a bank.
    #[inline(always)]
    pub const fn rank_of(&self, bank: usize) -> usize {
        (bank >> self.bank_bits) % Self::RANKS
    }

    /// A bank's number within its rank.
    #[inline(always)]
    pub const fn within_rank(&self, bank: usize) -> u8 {
        bank as u8 & ((1 << self.bank_bits) - 1)
    }

    /// Group of a bank.
    #[inline(always)]
    pub const fn group_of(&self, bank: usize) -> usize {
        bank & (self.group_mask as usize % Self::BANKS)
    }

    /// The banks of a rank, as numbers.
    pub const fn range(&self, rank: usize) -> std::ops::Range<usize> {
        rank << self.bank_bits..(rank + 1) << self.bank_bits
    }

    /// The banks of a rank, as a mask.
    #[inline(always)]
    pub const fn banks_of(&self, rank: usize) -> u64 {
        self.first << (rank << self.bank_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::{Layout, Timing};

    #[test]
    fn neighbours_are_in_different_groups() {
        let ddr4 = Layout::new(&Timing::ddr4_3200());
        assert_eq!((ddr4.rank_of(15), ddr4.rank_of(16), ddr4.within_rank(17)), (0, 1, 1));
        assert_eq!([0, 1, 2, 3, 4, 16, 31].map(|bank| ddr4.group_of(bank)), [0, 1, 2, 3, 0, 16, 19]);
        assert_eq!(ddr4.banks_of(1), 0xFFFF_0000);
        // Without groups a group is a rank.
        let ddr3 = Layout::new(&Timing { ranks: 8, ..Timing::ddr3_1600() });
        assert_eq!((ddr3.group_of(7), ddr3.group_of(63)), (0, 56));
        assert_eq!(ddr3.banks_of(7), 0xFF << 56);
        let whole = Layout::new(&Timing { ranks: 1, groups: 16, ..Timing::ddr5_5600() });
        assert_eq!((whole.banks_of(0), whole.range(0)), (u64::MAX, 0..64));
    }
}
