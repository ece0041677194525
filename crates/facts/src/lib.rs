//! What happens in a software Xeon, as typed records: what a model reports, and readers read.
//!
//! A model knows neither events nor counters. It reports facts to a [`FactReader`], which it is generic over: one
//! reader makes of them the signals that PMON hardware receives, another, written apart, the truth. A fact that nobody
//! reads costs nothing, since the reader `()` is empty.
//!
//! What the families have in common lies here; each family's facts are a module.

mod channel;
pub mod e5_2600;
pub mod emerald_rapids;
mod line_state;
pub mod nehalem;

pub use channel::ChannelFact;
pub use line_state::LineState;
pub use pericore_dram::{Command, CommandLog, CommandRecord, MajorMode, MemoryState, Pending};

use pericore_engine::Tick;

/// Reads facts of a kind, in the order in which they happen.
pub trait FactReader<F> {
    /// Something happened at a tick of virtual time.
    fn read(&mut self, at: Tick, fact: F);
}

/// Nobody reads.
impl<F> FactReader<F> for () {
    #[inline(always)]
    fn read(&mut self, _at: Tick, _fact: F) {}
}

/// Two readers, the first first.
impl<F: Copy, A: FactReader<F>, B: FactReader<F>> FactReader<F> for (A, B) {
    #[inline(always)]
    fn read(&mut self, at: Tick, fact: F) {
        self.0.read(at, fact);
        self.1.read(at, fact);
    }
}

/// A reader that is lent.
impl<F, R: FactReader<F>> FactReader<F> for &mut R {
    #[inline(always)]
    fn read(&mut self, at: Tick, fact: F) {
        (**self).read(at, fact);
    }
}

/// A reader that may be absent.
impl<F, R: FactReader<F>> FactReader<F> for Option<R> {
    #[inline(always)]
    fn read(&mut self, at: Tick, fact: F) {
        if let Some(reader) = self {
            reader.read(at, fact);
        }
    }
}
