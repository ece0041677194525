//! Windows, as they are kept: blocks of one or more of them.

use pericore_observe::session::Sample;

/// How many figures are known: accesses, those that went beyond the L2, lines that memory has read.
pub const FIGURES: usize = 3;
/// These figures, of windows or of all accesses. Of a workload the first is what its length is given in.
pub type Figures = [f64; FIGURES];

/// Windows of the same events are added up two by two when there are more blocks than this.
const MOST_BLOCKS: usize = 512;

/// Windows, and what is known of their accesses.
#[derive(Debug, Clone, Default)]
pub struct WindowBlock {
    pub sample: Sample,
    pub truth: Option<Sample>,
    pub figures: Figures,
    /// How many.
    pub windows: u64,
}

impl WindowBlock {
    /// Adds later windows.
    pub fn add(&mut self, later: &Self) {
        self.sample.add(&later.sample);
        if let Some(truth) = &later.truth {
            self.truth.get_or_insert_default().add(truth);
        }
        self.figures = std::array::from_fn(|index| self.figures[index] + later.figures[index]);
        self.windows += later.windows;
    }

    /// True if other windows have counted the same events.
    pub fn counts_the_same(&self, other: &Self) -> bool {
        let pairs = self.sample.counts.iter().zip(&other.sample.counts);
        pairs.into_iter().all(|(one, other)| one.count.is_some() == other.count.is_some())
    }
}

/// Windows in the order in which they came, in a bounded number of blocks.
#[derive(Debug, Default)]
pub struct WindowBlocks {
    blocks: Vec<WindowBlock>,
    windows: u64,
}

impl WindowBlocks {
    /// None yet.
    pub const fn new() -> Self {
        Self { blocks: Vec::new(), windows: 0 }
    }

    /// The blocks.
    pub fn all(&self) -> &[WindowBlock] {
        &self.blocks
    }

    /// Windows in all of them.
    pub const fn windows(&self) -> u64 {
        self.windows
    }

    /// Keeps a window.
    pub fn keep(&mut self, window: WindowBlock) {
        self.windows += window.windows;
        self.blocks.push(window);
        let mut most = 1;
        while self.blocks.len() > MOST_BLOCKS && most < self.windows {
            self.fold(most);
            most *= 2;
        }
    }

    /// Adds blocks of so many windows at most up that have counted the same events, each with the next of its kind.
    fn fold(&mut self, most: u64) {
        let mut folded: Vec<WindowBlock> = Vec::with_capacity(MOST_BLOCKS);
        // Places of blocks that wait for their partner.
        let mut waiting: Vec<usize> = Vec::new();
        for block in self.blocks.drain(..) {
            if block.windows > most {
                folded.push(block);
                continue;
            }
            match waiting.iter().position(|&place| folded[place].counts_the_same(&block)) {
                Some(at) => folded[waiting.swap_remove(at)].add(&block),
                None => {
                    waiting.push(folded.len());
                    folded.push(block);
                }
            }
        }
        self.blocks = folded;
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_BLOCKS, WindowBlock, WindowBlocks};

    /// 100,000 windows, each counted once, in 512 blocks at most, which are about equally long.
    #[test]
    fn blocks_are_bounded_and_lose_nothing() {
        let mut blocks = WindowBlocks::new();
        for _ in 0..100_000 {
            blocks.keep(WindowBlock { figures: [1.0, 2.0, 3.0], windows: 1, ..WindowBlock::default() });
            assert!(blocks.all().len() <= MOST_BLOCKS);
        }
        let sum: f64 = blocks.all().iter().map(|block| block.figures[1]).sum();
        assert_eq!((blocks.windows(), sum), (100_000, 200_000.0));
        assert!(blocks.all().iter().all(|block| block.windows <= 512), "{:?}", blocks.all().len());
    }
}
