//! Comparing many small words at once.

/// The positions of the words that equal `value` under `mask`, one bit each.
///
/// Four lanes that are joined at the end: the compiler makes vector code of it, which the plain loop does not get.
#[inline]
pub fn matches<const N: usize>(words: &[u32; N], mask: u32, value: u32) -> u32 {
    const { assert!(N <= 32 && N.is_multiple_of(4)) };
    let mut lanes = [0_u32; 4];
    let mut bits = [1_u32, 2, 4, 8];
    for four in words.chunks_exact(4) {
        for lane in 0..4 {
            lanes[lane] |= if four[lane] & mask == value { bits[lane] } else { 0 };
            bits[lane] = bits[lane].wrapping_shl(4);
        }
    }
    lanes[0] | lanes[1] | lanes[2] | lanes[3]
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn every_position_is_found() {
        for position in 0..20 {
            let mut words = [0xF000_0001_u32; 20];
            words[position] = 0x8000_0002;
            assert_eq!(matches(&words, 0xFF, 2), 1 << position);
            assert_eq!(matches(&words, u32::MAX, 2), 0);
        }
        assert_eq!(matches(&[7; 32], u32::MAX, 7), u32::MAX);
    }
}
