//! The windows of a sampled program: where they lie, and which of their accesses are counted.
//!
//! The program is cut into stretches of equal numbers of accesses, and in each lies one window, at a place that the
//! seed chooses. Only windows take virtual time. Each begins with accesses that fill queues, rows and buffers, and
//! ends with some that keep the cores busy until the last of those that are counted is done.
//!
//! Threads come in turns of some hundred accesses and more each, and run side by side since the stream is read ahead.
//! So windows of several threads are longer, by all that is read ahead at both ends.

use pericore_engine::Random;
use pericore_workload::Sampling;

/// Accesses that are read ahead for all threads together.
pub const AHEAD: usize = 4096;

/// Accesses of a window, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    /// Before those that are counted.
    lead: u64,
    /// Counted: with fewer, the number that is under way would matter.
    counted: u64,
    /// Behind those.
    behind: u64,
}

impl Size {
    /// The first of a program, which is counted from its first access on, so many at most.
    const fn of_first(stretch: u64) -> Self {
        const MOST: u64 = 50_000;
        Self { lead: 0, counted: if stretch < MOST { stretch } else { MOST }, behind: 250 }
    }

    const OF_ONE_THREAD: Self = Self { lead: 500, counted: 1000, behind: 250 };
    const OF_SEVERAL: Self = Self { lead: AHEAD as u64 + 500, counted: 4000, behind: AHEAD as u64 };

    const fn whole(self) -> u64 {
        self.lead + self.counted + self.behind
    }
}

/// Accesses that have had their turn while no window is open: more than any has.
const NONE_OPEN: u64 = u64::MAX;

/// What accesses are to a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// They come before those that are counted.
    Lead,
    /// They are counted.
    Counted,
    /// They come behind, or no window is open.
    Behind,
}

/// The windows of a program.
#[derive(Debug)]
pub struct Windows {
    one_in: u64,
    random: Random,
    /// Of the next window, or of the one that is open.
    size: Size,
    /// Accesses before the next window.
    before: u64,
    /// Accesses from the open window to the end of its stretch.
    rest: u64,
    /// Accesses of the open window that are still to be read.
    to_read: u64,
    /// Accesses of it that have had their turn.
    made: u64,
    /// The thread of the last access.
    thread: u32,
    /// Threads have taken turns since the last window.
    interleave: bool,
}

impl Windows {
    /// Before the first.
    pub fn new(sampling: Sampling) -> Self {
        let (one_in, random) = (u64::from(sampling.one_in), Random::new(sampling.seed, 0));
        let size = Size::of_first(Size::OF_ONE_THREAD.counted * one_in);
        let (before, rest, to_read, made) = (0, 0, 0, NONE_OPEN);
        Self { one_in, random, size, before, rest, to_read, made, thread: 0, interleave: false }
    }

    /// Stretches behind the one of the open window have one access counted of so many.
    pub const fn set_density(&mut self, one_in: u32) {
        self.one_in = one_in as u64;
    }

    /// Chooses where the window of the next stretch lies.
    fn place(&mut self) {
        self.size = if std::mem::take(&mut self.interleave) { Size::OF_SEVERAL } else { Size::OF_ONE_THREAD };
        let free = (self.size.counted * self.one_in).saturating_sub(self.size.whole());
        let offset = self.random.below(free + 1);
        self.before = self.rest + offset;
        self.rest = free - offset;
    }

    /// An access of a thread is read, of whatever stage.
    #[inline]
    pub const fn see(&mut self, thread: u32) {
        self.interleave |= self.thread != thread;
        self.thread = thread;
    }

    /// True if an access lies before the next window, which is one nearer then.
    pub const fn pass_one(&mut self) -> bool {
        let passes = self.before > 0;
        self.before -= passes as u64;
        passes
    }

    /// The next window begins.
    pub const fn open(&mut self) {
        (self.to_read, self.made) = (self.size.whole(), 0);
    }

    /// All accesses of the window have had their turn, if one was open.
    pub fn close(&mut self) {
        if self.made != NONE_OPEN {
            self.made = NONE_OPEN;
            self.place();
        }
    }

    /// True if no access of a window is left to be read.
    #[inline]
    pub const fn is_shut(&self) -> bool {
        self.to_read == 0
    }

    /// An access of the window is read.
    #[inline]
    pub const fn read_one(&mut self) {
        self.to_read -= 1;
    }

    /// An access of the window has had its turn.
    #[inline]
    pub const fn made_one(&mut self) {
        self.made += 1;
    }

    /// What the accesses that have their turn now are.
    pub const fn stage(&self) -> Stage {
        let Size { lead, counted, .. } = self.size;
        if self.made < lead {
            Stage::Lead
        } else if self.made < lead + counted {
            Stage::Counted
        } else {
            Stage::Behind
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Stage, Windows};
    use pericore_workload::Sampling;

    /// Places of the windows behind the first, each by the number of its first access from there on.
    fn places(one_in: u32, seed: u64, count: usize) -> Vec<u64> {
        let mut windows = Windows::new(Sampling { one_in, seed });
        windows.open();
        windows.close();
        let mut at = 0;
        let mut place = |windows: &mut Windows| {
            while windows.pass_one() {
                at += 1;
            }
            windows.open();
            windows.close();
            at += 1750;
            at - 1750
        };
        (0..count).map(|_| place(&mut windows)).collect()
    }

    /// One window of 500, 1000 and 250 accesses in each stretch of 50,000, somewhere else in nearly each.
    #[test]
    fn each_stretch_has_a_window_somewhere() {
        let places = places(50, 1, 10);
        for (stretch, place) in (0..).zip(&places) {
            assert!((stretch * 50_000..=(stretch + 1) * 50_000 - 1750).contains(place), "{places:?}");
        }
        let mut within: Vec<u64> = places.iter().map(|place| place % 50_000 / 5_000).collect();
        within.sort_unstable();
        within.dedup();
        assert!(within.len() >= 5, "{places:?}");
        assert_ne!(places, self::places(50, 2, 10));
    }

    #[test]
    fn a_half_is_all_that_can_be_counted_of_windows_that_touch() {
        let places = places(2, 9, 1000);
        assert!((0..).zip(&places).all(|(stretch, place)| (stretch * 2000..=stretch * 2000 + 250).contains(place)));
    }

    /// Accesses of a window by what they are.
    fn stages(windows: &mut Windows, threads: u32) -> [usize; 3] {
        while windows.pass_one() {
            windows.see(0);
        }
        windows.open();
        let mut stages = Vec::new();
        while !windows.is_shut() {
            windows.read_one();
            windows.see(stages.len() as u32 % threads);
            stages.push(windows.stage());
            windows.made_one();
        }
        windows.close();
        assert!(stages.is_sorted_by_key(|&stage| stage as u8));
        let of = |stage| stages.iter().filter(|&&other| other == stage).count();
        [Stage::Lead, Stage::Counted, Stage::Behind].map(of)
    }

    /// The first stretch of 1,000 times 10 accesses is counted whole, and of the others a window, of several threads a
    /// longer one.
    #[test]
    fn the_middle_of_a_window_is_counted() {
        let mut windows = Windows::new(Sampling { one_in: 10, seed: 3 });
        assert!(windows.is_shut() && windows.stage() == Stage::Behind);
        assert_eq!(stages(&mut windows, 1), [0, 10_000, 250]);
        assert_eq!(stages(&mut windows, 1), [500, 1000, 250]);
        assert_eq!(stages(&mut windows, 2), [500, 1000, 250]);
        assert_eq!(stages(&mut windows, 2), [4596, 4000, 4096]);
        let mut few = Windows::new(Sampling { one_in: 1000, seed: 3 });
        assert_eq!(stages(&mut few, 1), [0, 50_000, 250]);
    }

    /// Windows of 1,750 that touch, then one in each 100,000.
    #[test]
    fn the_density_changes_from_the_next_stretch_on() {
        let mut windows = Windows::new(Sampling { one_in: 50, seed: 3 });
        windows.set_density(2);
        let length = |windows: &mut Windows| {
            let mut length = 0;
            windows.close();
            while windows.pass_one() {
                length += 1;
            }
            windows.open();
            length
        };
        assert_eq!(length(&mut windows), 0, "the first of all begins at once");
        assert!((0..10).all(|_| length(&mut windows) <= 500));
        windows.set_density(100);
        let lengths: Vec<u64> = (0..10).map(|_| length(&mut windows)).collect();
        let sum: u64 = lengths.iter().sum();
        assert!((10 * 98_250 - 98_250..=10 * 98_250 + 98_250).contains(&sum), "{lengths:?}");
    }
}
