//! Quantities that metrics estimate: bytes, ratios, latencies.

use pericore_dram::Command;
use pericore_facts::LineState;
use pericore_facts::e5_2600::RequestKind;

use super::slice::ClassKey;
use super::snapshot::Snapshot;
use super::stay::Stay;
use super::window::Window;

/// Bytes that crossed a memory channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelBytes {
    /// Read from DRAM.
    pub read: u64,
    /// Written to DRAM.
    pub written: u64,
}

/// Data reads that looked up the LLC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DataReads {
    /// Look-ups.
    pub lookups: u64,
    /// Look-ups that found nothing.
    pub misses: u64,
    /// Mean stay of those that missed in the table of requests, in uncore cycles: cycles spent in the window over
    /// entries that began in it. `None` if none began.
    pub miss_latency: Option<f64>,
}

impl Window<'_> {
    /// Bytes of one channel.
    pub fn bytes(&self, channel: u16) -> Option<ChannelBytes> {
        const LINE: u64 = 64;
        let count = |at: &Snapshot, commands: &[Command]| {
            let cells = at.cells.channels.get(usize::from(channel))?;
            Some(commands.iter().map(|&command| cells.command(command)).sum::<u64>())
        };
        let lines = |commands: &[Command]| Some(count(self.to, commands)? - count(self.from, commands)?);
        Some(ChannelBytes {
            read: LINE * lines(&[Command::Read, Command::Underfill])?,
            written: LINE * lines(&[Command::WriteMajor, Command::WriteOpportunistic])?,
        })
    }

    /// Modified lines that snoops of other sockets found and that home agents wrote to memory, over the machine.
    pub fn snoop_writes(&self) -> u64 {
        let count = |at: &Snapshot| at.cells.homes.iter().map(|home| home.snoop_writes).sum::<u64>();
        count(self.to) - count(self.from)
    }

    /// Reads whose data came from the cache of another socket, over the machine.
    pub fn forwards(&self) -> u64 {
        let count = |at: &Snapshot| at.cells.homes.iter().map(|home| home.forwards).sum::<u64>();
        count(self.to) - count(self.from)
    }

    /// Data reads over all slices.
    pub fn data_reads(&self) -> DataReads {
        let lookups = |at: &Snapshot, only_invalid: bool| {
            let wanted =
                |key: ClassKey| key.kind == RequestKind::DataRead && (!only_invalid || key.state == LineState::Invalid);
            at.cells.slices.iter().flat_map(|slice| slice.classes(wanted)).map(|class| class.lookups).sum::<u64>()
        };
        let misses = |at: &Snapshot| {
            let wanted = |key: ClassKey| key.kind == RequestKind::DataRead && key.miss;
            at.cells.slices.iter().flat_map(|slice| slice.classes(wanted)).map(|class| class.tor).sum::<Stay>()
        };
        let (before, after) = (misses(self.from), misses(self.to));
        let entries = after.entries - before.entries;
        DataReads {
            lookups: lookups(self.to, false) - lookups(self.from, false),
            misses: lookups(self.to, true) - lookups(self.from, true),
            miss_latency: (entries > 0).then(|| (after.cycles - before.cycles) as f64 / entries as f64),
        }
    }
}
