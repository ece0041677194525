//! Where a line lies: home socket, agent, subchannel, bank, row.
//!
//! Line numbers have 32 bits: two of region (socket 0's memory, socket 1's, CXL memory, devices), thirty within it.

use pericore_dram::Timing;

use pericore_facts::emerald_rapids::{Target, stop_port};
use pericore_parts::line::deal;

/// Bytes of a line, as a shift.
pub const LINE_SHIFT: u32 = 6;
/// Lines of a page of 4 KiB, as a shift.
pub const PAGE_LINES_SHIFT: u32 = 6;
/// Lines of a region.
pub const REGION_BITS: u32 = 30;
/// Bytes of a region.
pub const REGION_BYTES: u64 = 64 << REGION_BITS;
/// Ports of a stack.
pub const PORTS: u16 = 8;
/// Agents of a socket that there is room for.
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

/// The port to the mesh of what a stack sends about a line: its lower four ports share one, the upper four the other.
pub const fn mesh_port(line: u32) -> u8 {
    stop_port(port(line))
}

/// The port of a line's device.
pub const fn port(line: u32) -> u8 {
    (line as u16 / 8 % PORTS) as u8
}

/// A line's place in a socket's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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

/// True if a line's page belongs to a share of all pages, per cent, that lies scattered among the others.
pub const fn is_of_share(line: u32, share: u8) -> bool {
    let page = (line >> PAGE_LINES_SHIFT).wrapping_mul(0xC2B2_AE35) >> 16;
    page % 100 < share as u32
}

/// Spreads the lines of a region between what is remote, common and neither.
const fn scatter(line: u32) -> u32 {
    line.wrapping_mul(0x85EB_CA6B) >> 16
}

/// The socket whose memory holds a line of a region for the threads of both sockets: one line in 64.
pub const fn common_home(line: u32) -> Option<u32> {
    let hash = scatter(line);
    if hash % 64 == 7 { Some(hash >> 8 & 1) } else { None }
}

/// True if threads find a line of a region, of which the share `remote` (per cent) is so, in the other socket's memory.
pub const fn is_remote(line: u32, remote: u8) -> bool {
    common_home(line).is_none() && scatter(line) % 100 < remote as u32
}

/// The subchannel of a line among `1 << bits` of them, its bank and its row. Lines go round the subchannels, then
/// along a row.
#[inline]
pub const fn among(line: u32, bits: u32) -> (u32, u8, u32) {
    // Powers of two: masks and shifts, since what the compiler does not know it would divide by.
    let sub = (line ^ fold(line >> 4)) & ((1 << bits) - 1);
    let above_column = (line >> bits) / LINES_PER_ROW;
    let row = above_column / (BANKS * RANKS);
    let bank = (above_column ^ fold(row)) % BANKS;
    let rank = ((above_column / BANKS) ^ (row >> 3)) % RANKS;
    (sub, (rank * BANKS + bank) as u8, row)
}

/// How a socket's memory lies over its agents and channels: over all of them, or, with sub-NUMA clusters, each part of it over a part
/// of them, in the order of their numbers, which is that of their places on the mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Map {
    /// Bits of the number of clusters.
    cluster_bits: u32,
    /// Places for agents of a cluster.
    places: u32,
    /// Agents of a cluster in use, and the bits of the hash that tell as many apart.
    agents: u32,
    hash_mask: u32,
}

impl Map {
    /// Of a socket with 1, 2 or 4 clusters, places for agents, and so many agents in use; with clusters, all of them.
    pub const fn new(clusters: u8, places: u8, agents: u8) -> Self {
        let cluster_bits = clusters.trailing_zeros();
        let agents = agents as u32 >> cluster_bits;
        Self { cluster_bits, places: places as u32 >> cluster_bits, agents, hash_mask: agents.next_power_of_two() - 1 }
    }

    /// A line of a socket's memory, moved into a cluster.
    #[inline]
    pub const fn within(self, cluster: u32, line: u32) -> u32 {
        self.first(cluster) | line & (self.first(1) - 1)
    }

    /// First line of a cluster, within its socket's memory.
    pub const fn first(self, cluster: u32) -> u32 {
        cluster << (REGION_BITS - self.cluster_bits)
    }

    /// The cluster that an agent, or the core beside it, belongs to.
    #[inline]
    pub const fn cluster_of(self, agent: u8) -> u32 {
        agent as u32 / self.places
    }

    /// The cluster of a line, and its number within the cluster's memory.
    const fn split(self, line: u32) -> (u32, u32) {
        let bits = REGION_BITS - self.cluster_bits;
        let line = line & ((1 << REGION_BITS) - 1);
        (line >> bits, line & ((1 << bits) - 1))
    }

    /// The agent that handles a line.
    #[inline]
    pub const fn agent(self, line: u32) -> u8 {
        let (cluster, _) = self.split(line);
        // Neighbours go to different agents; what lies a multiple of 64 lines apart spreads by the higher bits.
        let agent = (line ^ fold(line >> 6)) & self.hash_mask;
        let agent = if agent < self.agents { agent } else { deal(line, self.agents as u8) as u32 };
        (cluster * self.agents + agent) as u8
    }

    /// Where a line lies in memory. Lines go round the subchannels, then along a row.
    #[inline]
    pub const fn place(self, line: u32) -> Place {
        let (cluster, line) = self.split(line);
        let bits = SUBCHANNELS.trailing_zeros() - self.cluster_bits;
        let (sub, bank, row) = among(line, bits);
        let sub = (cluster << bits) + sub;
        Place { channel: (sub / 2) as u8, pseudo: (sub % 2) as u8, bank, row }
    }
}

/// The memory of a line, and its socket: devices and CXL memory belong to the socket in the highest bit within the region.
#[inline]
pub const fn target(line: u32) -> (Target, u8) {
    match line >> REGION_BITS {
        0 => (Target::Ddr, 0),
        1 => (Target::Ddr, 1),
        2 => (Target::Expander, (line >> (REGION_BITS - 1) & 1) as u8),
        _ => (Target::Device, (line >> (REGION_BITS - 1) & 1) as u8),
    }
}

/// A line of the memory behind a socket's CXL links.
pub const fn expander(socket: u8, line: u32) -> u32 {
    let half = REGION_BITS - 1;
    2 << REGION_BITS | (socket as u32) << half | line & ((1 << half) - 1)
}

/// The agent of a line without clusters.
#[cfg(test)]
pub const fn agent(line: u32) -> u8 {
    Map::new(1, AGENTS as u8, AGENTS as u8).agent(line)
}

#[cfg(test)]
mod tests {
    use super::{Map, REGION_BITS, agent};
    use std::collections::{HashMap, HashSet};

    const WHOLE: Map = Map::new(1, 64, 64);

    #[test]
    fn lines_spread_evenly() {
        for stride in [1, 2, 64, 1000] {
            let (mut agents, mut subchannels) = ([0; 64], [0; 16]);
            for line in (0..1 << 14).map(|n| n * stride) {
                agents[usize::from(agent(line))] += 1;
                let place = WHOLE.place(line);
                subchannels[usize::from(place.channel * 2 + place.pseudo)] += 1;
            }
            assert!(agents.iter().all(|&n| (128..=384).contains(&n)), "{stride}: {agents:?}");
            assert!(subchannels.iter().all(|&n| (700..=1400).contains(&n)), "{stride}: {subchannels:?}");
        }
    }

    #[test]
    fn fewer_agents_share_the_lines_of_those_that_are_not_in_use() {
        for agents in [1, 5, 20, 32, 33, 48, 60, 63] {
            let map = Map::new(1, 64, agents);
            for stride in [1, 64, 1000] {
                let mut counts = vec![0_u32; agents.into()];
                for line in (0..1 << 16).map(|number| number * stride) {
                    let agent = map.agent(line);
                    counts[usize::from(agent)] += 1;
                    let published = super::agent(line);
                    assert!(agent == published || published >= agents, "{line}");
                }
                let even = (1 << 16) / u32::from(agents);
                assert!(counts.iter().all(|count| count.abs_diff(even) < even / 4), "{agents} by {stride}: {counts:?}");
            }
        }
    }

    #[test]
    fn no_two_lines_share_a_place() {
        let mut rows: HashMap<(u8, u8, u8, u32), u32> = HashMap::new();
        for line in 0..1 << 17 {
            let place = WHOLE.place(line);
            *rows.entry((place.channel, place.pseudo, place.bank, place.row)).or_insert(0) += 1;
        }
        assert!(rows.values().all(|&lines| lines == 64));
    }

    /// A thread that walks with a stride of a power of two, from 64 KiB to 32 MiB, keeps both ranks and several
    /// banks busy: so that the columns of a matrix do not all lie in one bank.
    #[test]
    fn lines_a_power_of_two_apart_spread_over_ranks_and_banks() {
        for shift in 10..20 {
            let (mut ranks, mut banks) = ([0; 2], HashSet::new());
            for place in (0..64).map(|number| WHOLE.place(number << shift)) {
                ranks[usize::from(place.bank) / 32] += 1;
                banks.insert(place.bank);
            }
            assert!(ranks.iter().all(|&lines| lines >= 8) && banks.len() >= 8, "{shift}: {ranks:?}, {banks:?}");
        }
    }

    #[test]
    fn a_cluster_keeps_its_lines_to_itself() {
        for clusters in [2_u8, 4] {
            let map = Map::new(clusters, 64, 64);
            for cluster in 0..u32::from(clusters) {
                let (mut agents, mut channels) = (HashSet::new(), HashSet::new());
                let mut rows: HashMap<(u8, u8, u8, u32), u32> = HashMap::new();
                for line in (0..1 << 15).map(|line| line + map.first(cluster)) {
                    agents.insert(map.agent(line));
                    let place = map.place(line);
                    channels.insert(place.channel);
                    *rows.entry((place.channel, place.pseudo, place.bank, place.row)).or_insert(0) += 1;
                }
                assert!(agents.iter().all(|&agent| map.cluster_of(agent) == cluster));
                assert_eq!((agents.len(), channels.len()), (64 / usize::from(clusters), 8 / usize::from(clusters)));
                assert!(rows.values().all(|&lines| lines == 64));
            }
            assert_eq!(map.first(clusters.into()), 1 << REGION_BITS);
        }
    }
}
