//! Quantities that metrics estimate: bytes, ratios, latencies.

use super::cells::{SliceCells, Stay};
use super::record::{Command, LineState, RequestKind};
use super::window::{Snapshot, Window};

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
    /// Mean stay of those that missed in the table of requests, in uncore cycles: cycles spent in the window over entries that
    /// began in it. `None` if none began.
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
        let lookups = |at: &Snapshot, states: &[usize]| {
            let of = |slice: &SliceCells| {
                let by_state = &slice.lookups[RequestKind::DataRead as usize];
                states.iter().flat_map(|&state| by_state[state].iter().flatten()).sum::<u64>()
            };
            at.cells.slices.iter().map(of).sum::<u64>()
        };
        let misses = |at: &Snapshot| {
            let stays =
                at.cells.slices.iter().flat_map(|slice| slice.tor[RequestKind::DataRead as usize][1].iter().flatten());
            stays.fold(Stay::default(), |sum, stay| Stay {
                entries: sum.entries + stay.entries,
                cycles: sum.cycles + stay.cycles,
            })
        };
        let every: Vec<usize> = (0..LineState::COUNT).collect();
        let (before, after) = (misses(self.from), misses(self.to));
        let entries = after.entries - before.entries;
        DataReads {
            lookups: lookups(self.to, &every) - lookups(self.from, &every),
            misses: lookups(self.to, &[0]) - lookups(self.from, &[0]),
            miss_latency: (entries > 0).then(|| (after.cycles - before.cycles) as f64 / entries as f64),
        }
    }
}
