//! Sizes of the caches: those that are known when the model is compiled, and the most that there is room for.

/// Sets of the L2, as a power of two, and its ways: 2 MB (Intel optimization manual, Golden Cove server).
pub const L2_SET_BITS: u32 = 11;
pub const L2_WAYS: usize = 16;
/// Sets of a slice, as a power of two, and its ways, of the largest part. The snoop filter has as many sets in all
/// parts (assumption).
pub const MOST_SET_BITS: u32 = 12;
pub const MOST_WAYS: usize = 20;

/// Bytes of an L2.
pub const L2_BYTES: u64 = (L2_WAYS as u64) << (L2_SET_BITS + 6);

/// How much of the room for a unit's tags is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TagSize {
    /// Sets, as a power of two.
    pub set_bits: u32,
    /// Ways, one bit each.
    pub ways: u32,
}

impl TagSize {
    /// That of so many sets, as a power of two, and so many ways.
    pub const fn new(set_bits: u32, ways: u32) -> Self {
        Self { set_bits, ways: u32::MAX >> (u32::BITS - ways) }
    }

    /// The set of a line.
    #[inline]
    pub const fn set_of(self, line: u32) -> u32 {
        line & ((1 << self.set_bits) - 1)
    }
}
