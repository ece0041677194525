//! The lines of caching agents, beside those of their tables of requests.

use pericore_facts::emerald_rapids::{FilterVictim, SnoopReply};

use super::binding::Line;
use super::levels::{LevelNumber, LevelRow};
use crate::signals::table::lines;

lines! {
    /// Agents.
    AgentLines<LevelRow> in "agents" {
        /// Cores' requests that wait.
        ingress: LevelNumber,
        /// Snoops, reads, writebacks of the other socket that do.
        outside: [LevelNumber; 3],
        /// A stack's request comes.
        devices: Line,
        /// By cause; one core, several.
        snooped: [[Line; 2]; 4],
        /// A read for ownership finds its line shared.
        claimed_shared: Line,
        drops_silently: Line,
        dropped: [Line; FilterVictim::COUNT],
        /// Of a device, a streaming store, others, a writeback.
        granted: [Line; 4],
        entry_freed: Line,
        takes_data: Line,
        snoop_sent: Line,
        /// All; of this socket's snoops.
        answered: [[Line; SnoopReply::COUNT]; 2],
        /// Reads, writes.
        hitme_looked_up: [Line; 2],
        /// By what stays: nothing or a shared copy, an owner.
        hitme_hit: [Line; 2],
        /// Reads; for ownership of a line that this socket does not share, that it shares.
        hitme_missed: [Line; 3],
        hitme_updated: Line,
    }
}
