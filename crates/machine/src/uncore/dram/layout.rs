//! How ranks, bank groups and banks of a channel are numbered.
//!
//! Bank `b` of rank `r` has the number `banks * r + b` and belongs to the rank's group `b % groups`, so that neighbours are in
//! different groups. Groups are numbered over the channel, too.

use super::timing::Timing;

/// The numbers of ranks and groups, for banks and as masks of banks.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Ranks of the channel.
    pub ranks: usize,
    /// Groups of the channel.
    pub groups: usize,
    bank_bits: u32,
    group_bits: u32,
}

impl Layout {
    /// Ranks that the data structures have room for.
    pub const RANKS: usize = 8;
    /// Groups of all ranks that they have room for.
    pub const GROUPS: usize = 16;
    /// Banks of all ranks that they have room for.
    pub const BANKS: usize = 64;

    /// The numbering of a channel whose timing has been checked.
    pub fn new(timing: &Timing) -> Self {
        let bank_bits = u32::from(timing.banks_per_rank()).trailing_zeros();
        let group_bits = u32::from(timing.groups).trailing_zeros();
        let ranks = usize::from(timing.ranks);
        Self { ranks, groups: ranks << group_bits, bank_bits, group_bits }
    }

    /// Rank of a bank.
    pub const fn rank_of(&self, bank: usize) -> usize {
        (bank >> self.bank_bits) % Self::RANKS
    }

    /// A bank's number within its rank.
    pub const fn within_rank(&self, bank: u8) -> u8 {
        bank & ((1 << self.bank_bits) - 1)
    }

    /// Group of a bank, over the channel.
    pub const fn group_of(&self, bank: usize) -> usize {
        let group = bank & ((1 << self.group_bits) - 1);
        ((bank >> self.bank_bits) << self.group_bits | group) % Self::GROUPS
    }

    /// The banks of a rank, as numbers.
    pub const fn range(&self, rank: usize) -> std::ops::Range<usize> {
        rank << self.bank_bits..(rank + 1) << self.bank_bits
    }

    /// The banks of a rank, as a mask.
    pub const fn banks_of(&self, rank: usize) -> u64 {
        (u64::MAX >> (Self::BANKS as u32 - (1 << self.bank_bits))) << (rank << self.bank_bits)
    }

    /// The groups of a rank, as numbers.
    pub const fn groups_of(&self, rank: usize) -> std::ops::Range<usize> {
        rank << self.group_bits..(rank + 1) << self.group_bits
    }

    /// All ranks, as a mask.
    pub const fn all_ranks(&self) -> u8 {
        u8::MAX >> (Self::RANKS - self.ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::{Layout, Timing};

    #[test]
    fn neighbours_are_in_different_groups() {
        let ddr4 = Layout::new(&Timing::ddr4_3200());
        assert_eq!((ddr4.rank_of(15), ddr4.rank_of(16), ddr4.within_rank(17)), (0, 1, 1));
        assert_eq!([0, 1, 2, 3, 4, 16, 31].map(|bank| ddr4.group_of(bank)), [0, 1, 2, 3, 0, 4, 7]);
        assert_eq!((ddr4.banks_of(1), ddr4.groups_of(1), ddr4.all_ranks()), (0xFFFF_0000, 4..8, 3));
        // Without groups a group is a rank.
        let ddr3 = Layout::new(&Timing { ranks: 8, ..Timing::ddr3_1600() });
        assert_eq!((ddr3.group_of(7), ddr3.group_of(63), ddr3.groups_of(7)), (0, 7, 7..8));
        assert_eq!((ddr3.banks_of(7), ddr3.all_ranks()), (0xFF << 56, 0xFF));
        let whole = Layout::new(&Timing { ranks: 1, groups: 16, ..Timing::ddr5_5600() });
        assert_eq!((whole.banks_of(0), whole.all_ranks(), whole.range(0)), (u64::MAX, 1, 0..64));
    }
}
