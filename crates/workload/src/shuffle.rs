//! Numbers in an order without a pattern, each once.

/// What numbers are multiplied by, one after another. Odd numbers, and so one to one among numbers of any bits.
const ODD: [u64; 3] = [0x9E37_79B9_7F4A_7C15, 0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB];
/// What takes each of them back.
const BACK: [u64; 3] = [back(ODD[0]), back(ODD[1]), back(ODD[2])];

/// The number by which an odd number has a product of 1, of 64 bits.
const fn back(odd: u64) -> u64 {
    // Right in the lowest three bits; each step doubles those that are right.
    let (mut inverse, mut step) = (odd, 0);
    while step < 5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

/// The numbers of so many bits in another order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shuffle {
    bits: u32,
    mask: u64,
    /// Another order for another key, which lies within the mask.
    key: u64,
}

impl Shuffle {
    /// An order of the numbers below the next power of two of `count`, 2 at least.
    pub const fn new(count: u64, key: u64) -> Self {
        let bits = if count < 2 { 1 } else { u64::BITS - (count - 1).leading_zeros() };
        let mask = (1 << bits) - 1;
        Self { bits, mask, key: key & mask }
    }

    /// The number of the order that comes after another.
    pub const fn next(&self, number: u64) -> u64 {
        (number + 1) & self.mask
    }

    /// The number at a place of the order.
    pub fn at(&self, place: u64) -> u64 {
        // Folding the upper half in is one to one as well.
        let mut number = place ^ self.key;
        for odd in ODD {
            number = number.wrapping_mul(odd) & self.mask;
            number ^= number >> self.half();
        }
        number
    }

    /// The place of a number.
    fn place_of(&self, mut number: u64) -> u64 {
        for back in BACK.into_iter().rev() {
            let mut folded = number;
            for _ in 0..self.bits.div_ceil(self.half()) {
                folded = number ^ (folded >> self.half());
            }
            number = folded.wrapping_mul(back) & self.mask;
        }
        number ^ self.key
    }

    const fn half(&self) -> u32 {
        if self.bits < 4 { 1 } else { self.bits / 2 }
    }

    /// The number at a place, of the numbers below `count` alone: an order of these. The place must be below it, too.
    pub fn at_below(&self, place: u64, count: u64) -> u64 {
        let mut number = self.at(place);
        // The order goes in circles, and so each number that is too great has one after it that is not.
        while number >= count {
            number = self.at(number);
        }
        number
    }

    /// The place of a number of those below `count`.
    pub fn place_below(&self, number: u64, count: u64) -> u64 {
        let mut place = self.place_of(number);
        while place >= count {
            place = self.place_of(place);
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::Shuffle;

    #[test]
    fn every_number_has_one_place_and_keys_give_other_orders() {
        for count in [1, 2, 3, 100, 4096, 5000] {
            let of = |key| {
                let shuffle = Shuffle::new(count, key);
                (0..count).map(|place| shuffle.at_below(place, count)).collect::<Vec<_>>()
            };
            let mut sorted = of(7);
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..count), "{count}");
            assert!(count < 100 || of(7) != of(8), "{count}");
            let shuffle = Shuffle::new(count, 7);
            assert!(
                (0..count).all(|place| shuffle.place_below(shuffle.at_below(place, count), count) == place),
                "{count}"
            );
        }
    }
}
