//! A program of which only windows are run in detail.

use pericore_workload::Sampling;

use super::buffers::FoundIn;
use super::windows::{Stage, Windows};
use super::{Program, Waiting};

impl Program {
    /// Is run in windows only from now on: what lies between them passes by function (`by_function.rs`).
    pub fn sample(&mut self, sampling: Sampling) {
        self.windows = Some(Windows::new(sampling));
    }

    /// One of so many accesses is counted from the stretch of the next window on.
    pub const fn set_density(&mut self, one_in: u32) {
        if let Some(windows) = &mut self.windows {
            windows.set_density(one_in);
        }
    }

    /// What the accesses that have their turn now are to the sample; nothing if there is none.
    pub fn stage(&self) -> Option<Stage> {
        self.windows.as_ref().map(Windows::stage)
    }

    /// True if all accesses of a window have had their turn, or none has been opened yet.
    pub fn is_between_windows(&self) -> bool {
        self.waiting == 0 && !self.ended && self.windows.as_ref().is_some_and(Windows::is_shut)
    }

    /// No more can be read for now.
    #[inline]
    pub(super) fn is_shut(&self) -> bool {
        self.ended || self.windows.as_ref().is_some_and(Windows::is_shut)
    }

    /// What was passed over has found a line.
    pub(super) const fn count_passed_over(&mut self, found: FoundIn) {
        self.counts.beyond_l2 += !matches!(found, FoundIn::L2) as u64;
        self.count_brought(found);
    }

    /// What was prefetched meanwhile was found somewhere.
    pub(super) const fn count_brought(&mut self, found: FoundIn) {
        self.counts.brought += matches!(found, FoundIn::Memory) as u64;
    }

    /// A window is over, if one was open.
    pub(super) fn close_window(&mut self) {
        if let Some(windows) = &mut self.windows {
            windows.close();
        }
    }

    /// The next access of a hardware thread before the next window, which is to have no time; none when the window
    /// begins, or the program has ended.
    pub(super) fn pass_over(&mut self) -> Option<(usize, Waiting)> {
        if !self.windows.as_mut()?.pass_one() {
            return None;
        }
        let access = self.read()?;
        self.counts.passed_over += 1;
        Some(access)
    }

    /// The next window begins.
    pub(super) fn open_window(&mut self) {
        if let Some(windows) = &mut self.windows {
            windows.open();
        }
    }
}
