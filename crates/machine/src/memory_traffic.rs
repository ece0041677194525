//! What memory reads and writes, counted for warm-up and curves: a machine that keeps no truth has this all the same.

use pericore_dram::Command;
use pericore_engine::Tick;
use pericore_facts::e5_2600::E5Fact;
use pericore_facts::emerald_rapids::{ExpanderFact, Fact, MemoryFact};
use pericore_facts::nehalem::NehalemFact;
use pericore_facts::{ChannelFact, FactReader};

/// Why there is no account.
pub const NO_TRUTH: &str = "this machine keeps no truth";

/// Lines read and written: of memory behind the memory controllers, and behind CXL links.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryTraffic {
    /// Reads, writes.
    pub dram: [u64; 2],
    /// See `dram`.
    pub expander: [u64; 2],
}

impl MemoryTraffic {
    #[inline(always)]
    const fn add(&mut self, command: Command) {
        match command {
            Command::Read | Command::Underfill => self.dram[0] += 1,
            Command::WriteMajor | Command::WriteOpportunistic => self.dram[1] += 1,
            _ => {}
        }
    }
}

impl FactReader<E5Fact<'_>> for MemoryTraffic {
    #[inline(always)]
    fn read(&mut self, _: Tick, fact: E5Fact<'_>) {
        if let E5Fact::Memory(_, ChannelFact::Command(record)) = fact {
            self.add(record.command);
        }
    }
}

impl FactReader<NehalemFact<'_>> for MemoryTraffic {
    #[inline(always)]
    fn read(&mut self, _: Tick, fact: NehalemFact<'_>) {
        if let NehalemFact::Command { record, .. } = fact {
            self.add(record.command);
        }
    }
}

impl FactReader<Fact> for MemoryTraffic {
    #[inline(always)]
    fn read(&mut self, _: Tick, fact: Fact) {
        match fact {
            Fact::Memory(_, MemoryFact::Command(sent)) => self.add(sent.record.command),
            Fact::Expander(_, ExpanderFact::Sends { writes, .. }) => self.expander[usize::from(writes)] += 1,
            _ => {}
        }
    }
}
