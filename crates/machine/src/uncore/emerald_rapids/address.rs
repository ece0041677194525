//! Where a line lies: home socket, agent, subchannel, bank, row.
//!
//! Line numbers have 32 bits: two of region (socket 0's memory, socket 1's, CXL memory, devices), thirty within it.

use crate::ledger::emerald_rapids::Target;
use crate::uncore::dram::Timing;

/// Lines of a region.
pub const REGION_BITS: u32 = 30;
/// Agents of a socket.
pub const AGENTS: u32 = 64;
/// Memory channels of a socket.
pub const CHANNELS: u32 = 8;
/// Subchannels of a socket.
pub const SUBCHANNELS: u32 = 2 * CHANNELS;

/// How a subchannel's memory is built.
const MEMORY: Timing = Timing::ddr5_5600();
/// Lines of a row.
pub const LINES_PER_ROW: u32 = MEMORY.lines_per_row;
/// Banks of a rank.
pub const BANKS: u32 = MEMORY.banks_per_rank() as u32;
/// Ranks of a subchannel.
pub const RANKS: u32 = MEMORY.ranks as u32;

/// A line's place in a socket's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Channel of the socket.
    pub channel: u8,
    /// Subchannel of the channel.
    pub pseudo: u8,
    /// Bank of the subchannel, ranks counted in.
    pub bank: u8,
    /// Row of the bank.
    pub row: u32,
}

/// Folds the bits of a line number so that strides spread (assumption: the real hashes are not published).
const fn fold(line: u32) -> u32 {
    let mixed = line.wrapping_mul(0x9E37_79B1);
    mixed ^ (mixed >> 15)
}

/// The agent that handles a line.
pub const fn agent(line: u32) -> u8 {
    // Neighbours go to different agents; what lies a multiple of 64 lines apart spreads by the higher bits.
    ((line ^ fold(line >> 6)) % AGENTS) as u8
}

/// The memory of a line, and its socket: devices and CXL memory belong to the socket in the highest bit within the region.
pub const fn target(line: u32) -> (Target, u8) {
    match line >> REGION_BITS {
        0 => (Target::Ddr, 0),
        1 => (Target::Ddr, 1),
        2 => (Target::Expander, (line >> (REGION_BITS - 1) & 1) as u8),
        _ => (Target::Device, (line >> (REGION_BITS - 1) & 1) as u8),
    }
}

/// Where a line lies in memory. Lines go round the subchannels, then along a row.
pub const fn place(line: u32) -> Place {
    let line = line & ((1 << REGION_BITS) - 1);
    let sub = (line ^ fold(line >> 4)) % SUBCHANNELS;
    let above_column = line / SUBCHANNELS / LINES_PER_ROW;
    let row = above_column / (BANKS * RANKS);
    let bank = (above_column ^ fold(row)) % BANKS;
    let rank = ((above_column / BANKS) ^ (row >> 3)) % RANKS;
    Place { channel: (sub / 2) as u8, pseudo: (sub % 2) as u8, bank: (rank * BANKS + bank) as u8, row }
}

#[cfg(test)]
mod tests {
    use super::{agent, place};
    use std::collections::HashMap;

    #[test]
    fn lines_spread_evenly() {
        for stride in [1, 2, 64, 1000] {
            let (mut agents, mut subchannels) = ([0; 64], [0; 16]);
            for line in (0..1 << 14).map(|n| n * stride) {
                agents[usize::from(agent(line))] += 1;
                let place = place(line);
                subchannels[usize::from(place.channel * 2 + place.pseudo)] += 1;
            }
            assert!(agents.iter().all(|&n| (128..=384).contains(&n)), "{stride}: {agents:?}");
            assert!(subchannels.iter().all(|&n| (700..=1400).contains(&n)), "{stride}: {subchannels:?}");
        }
    }

    #[test]
    fn no_two_lines_share_a_place() {
        let mut rows: HashMap<(u8, u8, u8, u32), u32> = HashMap::new();
        for line in 0..1 << 17 {
            let place = place(line);
            *rows.entry((place.channel, place.pseudo, place.bank, place.row)).or_insert(0) += 1;
        }
        assert!(rows.values().all(|&lines| lines == 64));
    }
}
