//! The bits of a home agent's snoop directory.

/// Words of a page of bits: 4 KiB.
const PAGE: usize = 512;

/// The directory bits of a socket's memory. Pages of which no bit was ever set are not there: memory is large, and
/// what a workload reaches of it is not.
#[derive(Debug)]
pub struct Directory {
    pages: Vec<Option<Box<[u64; PAGE]>>>,
}

impl Directory {
    /// No line is anywhere else. `lines` is a power of two.
    pub fn new(lines: u64) -> Self {
        let words = (lines.div_ceil(64) as usize).next_power_of_two();
        Self { pages: vec![None; words.div_ceil(PAGE)] }
    }

    const fn place(&self, line: u32) -> (usize, usize, u32) {
        let word = line as usize / 64;
        ((word / PAGE) & (self.pages.len() - 1), word % PAGE, line % 64)
    }

    /// A line's bit.
    pub fn get(&self, line: u32) -> bool {
        let (page, word, bit) = self.place(line);
        self.pages[page].as_ref().is_some_and(|page| page[word] >> bit & 1 == 1)
    }

    /// Changes a line's bit.
    pub fn set(&mut self, line: u32, elsewhere: bool) {
        let (page, word, bit) = self.place(line);
        if !elsewhere && self.pages[page].is_none() {
            return;
        }
        let page = self.pages[page].get_or_insert_with(|| Box::new([0; PAGE]));
        page[word] = page[word] & !(1 << bit) | u64::from(elsewhere) << bit;
    }
}
