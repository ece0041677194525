//! Comparing many small words at once.

/// The positions of the words that equal `value` under `mask`, one bit each.
///
/// The compiler does not make vector code of the plain loop, and tags are compared all the time.
#[inline]
pub fn matches<const N: usize>(words: &[u32; N], mask: u32, value: u32) -> u32 {
    const { assert!(N <= 32 && N & 3 == 0) };
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 belongs to every x86-64 processor, and each load of four words lies within the array.
    unsafe {
        use std::arch::x86_64::{
            __m128i, _mm_and_si128, _mm_castsi128_ps, _mm_cmpeq_epi32, _mm_loadu_si128, _mm_movemask_epi8,
            _mm_movemask_ps, _mm_packs_epi16, _mm_packs_epi32, _mm_set1_epi32,
        };
        let (mask, value) = (_mm_set1_epi32(mask as i32), _mm_set1_epi32(value as i32));
        // All ones where a word of four is equal.
        let equal = |index: usize| -> __m128i {
            let four = _mm_loadu_si128(words.as_ptr().add(index).cast());
            _mm_cmpeq_epi32(_mm_and_si128(four, mask), value)
        };
        let mut found = 0;
        let mut index = 0;
        while index + 16 <= N {
            let (low, high) =
                (_mm_packs_epi32(equal(index), equal(index + 4)), _mm_packs_epi32(equal(index + 8), equal(index + 12)));
            found |= (_mm_movemask_epi8(_mm_packs_epi16(low, high)) as u32) << index;
            index += 16;
        }
        while index < N {
            found |= (_mm_movemask_ps(_mm_castsi128_ps(equal(index))) as u32) << index;
            index += 4;
        }
        found
    }
    #[cfg(not(target_arch = "x86_64"))]
    plain(words, mask, value)
}

/// The highest bits of words, one bit each.
#[inline]
pub fn signs<const N: usize>(words: &[u32; N]) -> u32 {
    const { assert!(N <= 32 && N & 3 == 0) };
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 belongs to every x86-64 processor, and each load of four words lies within the array.
    unsafe {
        use std::arch::x86_64::{_mm_castsi128_ps, _mm_loadu_si128, _mm_movemask_ps};
        let mut signs = 0;
        let mut index = 0;
        while index < N {
            let four = _mm_loadu_si128(words.as_ptr().add(index).cast());
            signs |= (_mm_movemask_ps(_mm_castsi128_ps(four)) as u32) << index;
            index += 4;
        }
        signs
    }
    #[cfg(not(target_arch = "x86_64"))]
    plain(words, 1 << 31, 1 << 31)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn plain<const N: usize>(words: &[u32; N], mask: u32, value: u32) -> u32 {
    words.iter().enumerate().fold(0, |found, (position, word)| found | u32::from(word & mask == value) << position)
}

#[cfg(test)]
mod tests {
    use super::{matches, plain, signs};

    #[test]
    fn every_position_is_found() {
        for position in 0..20 {
            let mut words = [0xF000_0001_u32; 20];
            words[position] = 0x8000_0002;
            assert_eq!(matches(&words, 0xFF, 2), 1 << position);
            assert_eq!(matches(&words, u32::MAX, 2), 0);
            assert_eq!(plain(&words, 0xFF, 2), 1 << position);
        }
        assert_eq!(matches(&[7; 32], u32::MAX, 7), u32::MAX);
    }

    #[test]
    fn the_highest_bits_are_found() {
        let words: [u32; 20] = std::array::from_fn(|position| if position % 3 == 1 { u32::MAX } else { u32::MAX >> 1 });
        assert_eq!(signs(&words), 0b1001_0010_0100_1001_0010);
        assert_eq!(signs(&words), plain(&words, 1 << 31, 1 << 31));
    }
}
