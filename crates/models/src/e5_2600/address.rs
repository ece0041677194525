//! Where a line lies: slice, channel, bank, row.

use crate::e5_2600::Parameters;
use pericore_parts::line::{LINE_BYTES, Place, deal};

/// Address bits whose parity gives each bit of the slice number, for the eight-slice part. Published by Maurice et al.,
/// "Reverse Engineering Intel Last-Level Cache Complex Addressing Using Performance Counters" (RAID 2015), Table 2.
const SLICE_BITS: [&[u32]; 3] = [
    &[6, 10, 12, 14, 16, 17, 18, 20, 22, 24, 25, 26, 27, 28, 30, 32, 33, 35, 36],
    &[7, 11, 13, 15, 17, 19, 20, 21, 22, 23, 24, 26, 28, 29, 31, 33, 34, 35, 37],
    &[8, 12, 13, 16, 19, 22, 23, 26, 27, 30, 31, 34, 35, 36, 37],
];

/// What each byte of a line number adds to the slice number.
static SLICE_OF_BYTE: [[u8; 256]; 4] = slice_of_byte();

const fn slice_of_byte() -> [[u8; 256]; 4] {
    let mut table = [[0; 256]; 4];
    let mut slice_bit = 0;
    while slice_bit < SLICE_BITS.len() {
        let mut index = 0;
        while index < SLICE_BITS[slice_bit].len() {
            let line_bit = SLICE_BITS[slice_bit][index] - 6;
            let mut byte = 0;
            while byte < 256 {
                if byte >> (line_bit % 8) & 1 == 1 {
                    table[(line_bit / 8) as usize][byte] ^= 1 << slice_bit;
                }
                byte += 1;
            }
            index += 1;
        }
        slice_bit += 1;
    }
    table
}

/// Address decoding, and the numbering of cores, slices and channels over the machine: socket by socket.
#[derive(Debug, Clone, Copy)]
pub struct AddressMap {
    /// Slices of a socket in use, and the bits of the hash that tell as many apart.
    slices: u8,
    hash_mask: u8,
    slice_mask: u8,
    slice_bits: u32,
    channel_bits: u32,
    /// Bits of a line number that choose the line within a row, the bank of a rank, and the rank.
    column_bits: u32,
    bank_bits: u32,
    rank_bits: u32,
    /// Bits of a line number within a socket's memory.
    node_bits: u32,
    /// The lowest bits, as many as there are of each.
    channel_mask: u32,
    bank_mask: u32,
    rank_mask: u32,
    node_mask: u32,
    regions: u8,
}

impl AddressMap {
    /// The decoding of a parameter set; stops with a core and a slice, and channels, are powers of two.
    pub const fn new(parameters: &Parameters) -> Self {
        let (banks, ranks) = (parameters.dram.banks_per_rank(), parameters.dram.ranks);
        let lines = parameters.node() / LINE_BYTES;
        Self {
            slices: parameters.slices,
            hash_mask: parameters.slices.next_power_of_two() - 1,
            slice_mask: parameters.cores - 1,
            slice_bits: parameters.cores.trailing_zeros(),
            channel_bits: parameters.channels.trailing_zeros(),
            column_bits: parameters.dram.lines_per_row.trailing_zeros(),
            bank_bits: banks.trailing_zeros(),
            rank_bits: ranks.trailing_zeros(),
            node_bits: lines.trailing_zeros(),
            channel_mask: parameters.channels as u32 - 1,
            bank_mask: banks as u32 - 1,
            rank_mask: ranks as u32 - 1,
            node_mask: (lines - 1) as u32,
            regions: parameters.regions,
        }
    }

    /// The node whose memory holds a line; nodes are numbered as the sockets are.
    #[inline]
    pub const fn home(&self, line: u32) -> u8 {
        // A line number is at most 31 bits wide, and so is a single socket's share of them.
        (line >> self.node_bits) as u8
    }

    /// The region of its home agent's memory in which a line lies.
    #[inline]
    pub const fn region(&self, line: u32) -> u8 {
        if self.regions == 1 {
            return 0;
        }
        let within = line & self.node_mask;
        ((within as u64 * self.regions as u64) >> self.node_bits) as u8
    }

    /// The socket of a core or a slice.
    #[inline]
    pub const fn socket(&self, stop: u16) -> u8 {
        (stop >> self.slice_bits) as u8
    }

    /// The first slice, and the first core, of a socket.
    #[inline]
    pub const fn first_stop(&self, socket: u8) -> u16 {
        (socket as u16) << self.slice_bits
    }

    /// A core's or slice's number within its socket.
    #[inline]
    pub const fn within(&self, stop: u16) -> u8 {
        stop as u8 & self.slice_mask
    }

    /// The home agent of a channel, and the channel's number there.
    #[inline]
    pub const fn home_and_channel(&self, channel: usize) -> (usize, usize) {
        (channel >> self.channel_bits, channel & self.channel_mask as usize)
    }

    /// The slice of a socket that handles a line.
    #[inline]
    pub fn slice(&self, socket: u8, line: u32) -> u16 {
        let bytes = line.to_le_bytes().map(usize::from);
        let t = &SLICE_OF_BYTE;
        let slice = (t[0][bytes[0]] ^ t[1][bytes[1]] ^ t[2][bytes[2]] ^ t[3][bytes[3]]) & self.hash_mask;
        let slice = if slice < self.slices { slice } else { deal(line, self.slices) };
        self.first_stop(socket) | u16::from(slice)
    }

    /// Where a line lies in memory. Lines go round the channels, then along a row; the channel and the bank are folded
    /// with higher bits so that strides and several streams spread (assumption: the real hash is not published).
    #[inline]
    pub const fn place(&self, line: u32) -> Place {
        let home = (line >> self.node_bits) as u16;
        let line = line & self.node_mask;
        let channel = (line ^ (line >> 7) ^ (line >> 13) ^ (line >> 20)) & self.channel_mask;
        let within = line >> self.channel_bits;
        let above_column = within >> self.column_bits;
        let above_bank = above_column >> self.bank_bits;
        let row = above_bank >> self.rank_bits;
        let bank = (above_column ^ row ^ (row >> 7)) & self.bank_mask;
        let rank = (above_bank ^ (row >> 3)) & self.rank_mask;
        let bank = (rank << self.bank_bits | bank) as u8;
        Place { channel: home << self.channel_bits | channel as u16, bank, row }
    }
}

#[cfg(test)]
mod tests {
    use super::{AddressMap, SLICE_BITS};
    use crate::e5_2600::Parameters;
    use std::collections::HashMap;

    #[test]
    fn lines_spread_evenly_over_slices_channels_and_banks() {
        let map = AddressMap::new(&Parameters::e5_2680());
        let (mut slices, mut banks) = ([0; 8], HashMap::new());
        for line in 0..1 << 18 {
            slices[usize::from(map.slice(0, line))] += 1;
            let place = map.place(line);
            *banks.entry((place.channel, place.bank)).or_insert(0) += 1;
        }
        assert_eq!(slices, [1 << 15; 8]);
        assert_eq!(banks.len(), 64);
        assert!(banks.values().all(|&lines| lines == 1 << 12), "{banks:?}");
    }

    #[test]
    fn fewer_slices_share_the_lines_of_those_that_are_not_in_use() {
        let all = AddressMap::new(&Parameters::e5_2680());
        for slices in 1..8 {
            let map = AddressMap::new(&Parameters { slices, ..Parameters::e5_2680() });
            for (first, stride) in [(0, 1), (1 << 29, 1), (12_345, 64), (7, 2048), (0, 1 << 13)] {
                let mut counts = vec![0_u32; slices.into()];
                for line in (0..1 << 16).map(|number| first + number * stride) {
                    let slice = map.slice(0, line);
                    counts[usize::from(slice)] += 1;
                    let published = all.slice(0, line);
                    if published < u16::from(slices) {
                        assert_eq!(slice, published);
                    } else if slices.is_power_of_two() {
                        assert_eq!(slice, published % u16::from(slices));
                    }
                }
                let even = (1 << 16) / u32::from(slices);
                assert!(
                    counts.iter().all(|count| count.abs_diff(even) < even / 20),
                    "{slices} by {stride}: {counts:?}"
                );
            }
            assert!((0..1000).all(|line| map.slice(1, line) == map.slice(0, line) + 8));
        }
    }

    #[test]
    fn the_table_is_the_published_parity() {
        let map = AddressMap::new(&Parameters::e5_2680());
        for line in (0..1_u64 << 30).step_by(999_983) {
            let parity = |bits: &[u32]| bits.iter().filter(|&&bit| (line << 6) >> bit & 1 == 1).count() as u16 & 1;
            let expected = SLICE_BITS.iter().enumerate().map(|(n, bits)| parity(bits) << n).sum::<u16>();
            assert_eq!(map.slice(0, line as u32), expected);
        }
    }

    #[test]
    fn the_second_sockets_lines_lie_in_its_own_channels() {
        let map = AddressMap::new(&Parameters::e5_2680().with_sockets(2));
        // 64 GiB are 2^30 lines.
        let (here, there) = (12_345, (1 << 30) + 12_345);
        assert_eq!((map.home(here), map.home(there)), (0, 1));
        let (near, far) = (map.place(here), map.place(there));
        assert_eq!((far.channel, far.bank, far.row), (near.channel + 4, near.bank, near.row));
        assert_eq!((map.slice(1, here), map.socket(11), map.within(11)), (map.slice(0, here) + 8, 1, 3));
    }

    #[test]
    fn regions_follow_each_other_in_order_of_address() {
        let map = AddressMap::new(&Parameters { regions: 3, ..Parameters::e5_2680().with_sockets(2) });
        // 2^30 lines of a socket: thirds begin at 357,913,942 and 715,827,883.
        let lines = [0, 357_913_941, 357_913_942, 715_827_882, 715_827_883, (1 << 30) - 1];
        assert_eq!(lines.map(|line| map.region(line)), [0, 0, 1, 1, 2, 2]);
        assert_eq!(lines.map(|line| map.region(line + (1 << 30))), [0, 0, 1, 1, 2, 2]);
        assert_eq!(AddressMap::new(&Parameters::e5_2680()).region(u32::MAX >> 2), 0);
    }

    #[test]
    fn no_two_lines_share_a_place() {
        for ranks in [1, 2, 8] {
            let mut parameters = Parameters::e5_2680();
            parameters.dram.ranks = ranks;
            let map = AddressMap::new(&parameters);
            let mut rows: HashMap<(u16, u8, u32), u32> = HashMap::new();
            for line in 0..1 << 16 {
                let place = map.place(line);
                assert!(place.bank < 8 * ranks);
                *rows.entry((place.channel, place.bank, place.row)).or_insert(0) += 1;
            }
            assert!(rows.values().all(|&lines| lines == 128));
        }
    }
}
