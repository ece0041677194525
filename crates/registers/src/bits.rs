//! Bit ranges of a register.

use std::fmt;

/// A contiguous run of bits of a register of up to 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BitRange {
    /// Lowest bit, 0 to 63.
    pub lsb: u8,
    /// Number of bits, 1 to 64.
    pub width: u8,
}

impl BitRange {
    /// The range `msb:lsb`, both included.
    pub const fn new(msb: u8, lsb: u8) -> Self {
        assert!(msb >= lsb && msb < 64);
        Self { lsb, width: msb - lsb + 1 }
    }

    /// Highest bit.
    pub const fn msb(self) -> u8 {
        self.lsb + self.width - 1
    }

    /// The largest value that the range holds.
    pub const fn max(self) -> u64 {
        if self.width >= 64 { u64::MAX } else { (1 << self.width) - 1 }
    }

    /// The range's bits, in place.
    pub const fn mask(self) -> u64 {
        self.max() << self.lsb
    }

    /// The range's value in `register`.
    pub const fn get(self, register: u64) -> u64 {
        (register >> self.lsb) & self.max()
    }

    /// `register` with the range set to `value`; bits of `value` above the range's width are dropped.
    pub const fn set(self, register: u64, value: u64) -> u64 {
        (register & !self.mask()) | ((value & self.max()) << self.lsb)
    }

    /// True if both ranges share a bit.
    pub const fn overlaps(self, other: Self) -> bool {
        self.mask() & other.mask() != 0
    }
}

impl fmt::Display for BitRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.width == 1 { write!(f, "{}", self.lsb) } else { write!(f, "{}:{}", self.msb(), self.lsb) }
    }
}

#[cfg(test)]
mod tests {
    use super::BitRange;

    #[test]
    fn get_and_set_are_inverse_and_leave_the_rest() {
        let thresh = BitRange::new(31, 24);
        assert_eq!(thresh.mask(), 0xff00_0000);
        assert_eq!(thresh.set(0xffff_ffff_ffff_ffff, 0x12), 0xffff_ffff_12ff_ffff);
        assert_eq!(thresh.get(0x1234_5678), 0x12);
        assert_eq!(BitRange::new(63, 0).max(), u64::MAX);
        assert_eq!(BitRange::new(63, 32).to_string(), "63:32");
        assert_eq!(BitRange::new(22, 22).to_string(), "22");
    }
}
