//! What memory reads and writes, counted for warm-up and curves: a machine that keeps no truth has this all the same.

use pericore_dram::Command;
use pericore_engine::Tick;
use pericore_facts::FactReader;
use pericore_facts::emerald_rapids::{ExpanderFact, Fact, MemoryFact};

/// Lines read and written: of memory behind the memory controllers, and behind CXL links.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryTraffic {
    /// Reads, writes.
    pub dram: [u64; 2],
    /// See `dram`.
    pub expander: [u64; 2],
}

impl FactReader<Fact> for MemoryTraffic {
    #[inline(always)]
    fn read(&mut self, _: Tick, fact: Fact) {
        match fact {
            Fact::Memory(_, MemoryFact::Command(sent)) => match sent.record.command {
                Command::Read | Command::Underfill => self.dram[0] += 1,
                Command::WriteMajor | Command::WriteOpportunistic => self.dram[1] += 1,
                _ => {}
            },
            Fact::Expander(_, ExpanderFact::Sends { writes, .. }) => self.expander[usize::from(writes)] += 1,
            _ => {}
        }
    }
}
