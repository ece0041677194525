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
    ///
    /// # Panics
    /// If `msb` is below `lsb`, or above 63.
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

    #[test]
    fn a_value_that_is_too_wide_does_not_spill_over() {
        // The umask of an event select register of the E5-2600, bits 15:8 (Table 2-10 of its guide).
        let umask = BitRange::new(15, 8);
        assert_eq!((umask.lsb, umask.width, umask.msb(), umask.max(), umask.mask()), (8, 8, 15, 0xff, 0xff00));
        assert_eq!(umask.set(0x40_0037, 0x1_23), 0x40_2337);
        assert_eq!(umask.set(0x40_ff37, 0), 0x40_0037);
        assert_eq!(umask.get(0xffff_ffff_ffff_12ff), 0x12);
        let all = BitRange::new(63, 0);
        assert_eq!((all.width, all.msb(), all.mask()), (64, 63, u64::MAX));
        assert_eq!((all.set(1, u64::MAX - 1), all.get(u64::MAX - 1)), (u64::MAX - 1, u64::MAX - 1));
        let top = BitRange::new(63, 63);
        assert_eq!((top.max(), top.mask(), top.get(1 << 63), top.set(0, 3)), (1, 1 << 63, 1, 1 << 63));
        let bits = |msb, lsb| BitRange::new(msb, lsb).to_string();
        assert_eq!((bits(1, 0), bits(0, 0)), ("1:0".to_owned(), "0".to_owned()));
    }

    #[test]
    fn ranges_overlap_if_they_share_a_bit_and_not_if_they_only_touch() {
        let overlap = |a: (u8, u8), b: (u8, u8)| {
            let (a, b) = (BitRange::new(a.0, a.1), BitRange::new(b.0, b.1));
            assert_eq!(a.overlaps(b), b.overlaps(a), "{a} and {b}");
            a.overlaps(b)
        };
        assert!(overlap((15, 8), (8, 0)) && overlap((15, 8), (23, 15)) && overlap((63, 0), (31, 31)));
        assert!(overlap((7, 7), (7, 7)) && overlap((31, 24), (28, 26)));
        assert!(!overlap((15, 8), (7, 0)) && !overlap((15, 8), (16, 16)) && !overlap((63, 63), (62, 0)));
    }

    /// Without it, a mistaken table would give masks of other fields.
    #[test]
    fn ranges_that_a_register_cannot_have_are_refused() {
        let refused = |msb, lsb| std::panic::catch_unwind(|| BitRange::new(msb, lsb)).is_err();
        assert!(refused(7, 8) && refused(64, 0) && refused(64, 64));
        assert!(!refused(8, 8) && !refused(63, 0));
    }
}
