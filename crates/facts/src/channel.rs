//! What happens in a memory channel, of whatever family.

use pericore_dram::{CommandRecord, MajorMode, MemoryState, Pending};

/// One thing that happens in a memory channel.
#[derive(Debug, Clone, Copy)]
pub enum ChannelFact {
    /// It starts with so many ranks, in read major mode, with all clocks on.
    Starts(u8),
    /// A command goes out.
    Command(CommandRecord),
    /// A request takes an entry of a pending queue.
    Enters(Pending),
    /// An entry is given back, which was taken at a cycle of the channel's clock.
    Leaves(Pending, u64),
    /// An entry, which was taken at a cycle, is still there: reported when somebody wants the state of a moment.
    Stays(Pending, u64),
    /// A read is answered from a pending write.
    Forwards,
    /// A write replaces a pending one.
    Merges,
    /// The major mode changes.
    Mode {
        /// From this one.
        from: MajorMode,
        /// To this one.
        to: MajorMode,
    },
    /// A read closes a row that this queue was waiting for.
    Preempts(Pending),
    /// A state begins or ends.
    State(MemoryState, bool),
    /// An error is corrected.
    Corrects,
}
