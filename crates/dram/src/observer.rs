//! What a channel says of itself, in terms that no family of machines and no catalogue enters.

use super::plan::Lane;
use crate::facts::{CommandRecord, MajorMode, MemoryState, Pending};

/// A command on the channel's bus.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    /// What and when.
    pub record: CommandRecord,
    /// Whom it served, if it served somebody.
    pub lane: Lane,
    /// The major mode before it.
    pub mode: MajorMode,
    /// It served a request that had waited for so long that it went before younger row hits.
    pub starved: bool,
}

/// Hears everything that happens in a channel, in the order of time. Cycles are the channel's.
pub trait Observer {
    /// The channel starts with this many ranks, in read major mode, with all clocks on.
    fn begins(&mut self, ranks: u8);
    /// A command has gone out.
    fn command(&mut self, sent: &Sent);
    /// A request, isochronous or not, takes an entry of a queue (`full`: the last one).
    fn enters(&mut self, queue: Pending, isochronous: bool, full: bool, cycle: u64);
    /// A request that came at `entered` gives its entry back (`was_full`: there was no other).
    fn leaves(&mut self, queue: Pending, was_full: bool, entered: u64, cycle: u64);
    /// A read is answered from a pending write.
    fn forwards(&mut self, cycle: u64);
    /// A write replaces a pending one.
    fn merges(&mut self, cycle: u64);
    /// The major mode changes; `preempts` if what it leaves has requests that wait, and what it goes on to has some.
    fn changes_mode(&mut self, from: MajorMode, to: MajorMode, preempts: bool, cycle: u64);
    /// A read closes a row that this queue was waiting for.
    fn preempts(&mut self, victim: Pending, cycle: u64);
    /// A state begins or ends.
    fn state(&mut self, state: MemoryState, on: bool, cycle: u64);
    /// An error is corrected.
    fn corrects(&mut self, cycle: u64);
}
