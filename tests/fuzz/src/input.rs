//! What a fuzzer made up, as numbers.

use pericore_registers::Width;

/// The input, taken from the front.
pub struct Input<'a>(pub &'a [u8]);

impl Input<'_> {
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub fn number(&mut self) -> u64 {
        (0..8).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    /// Numbers of all sizes, small ones often.
    pub fn sized(&mut self) -> u64 {
        let bytes = self.byte() % 9;
        (0..bytes).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (usize::from(self.byte()) << 8 | usize::from(self.byte())) % limit.max(1)
    }

    pub fn width(&mut self) -> Width {
        [Width::B1, Width::B2, Width::B4, Width::B8][usize::from(self.byte() % 4)]
    }
}
