//! Configuration space of the proxy device: nothing but an identity that no driver claims, and one BAR for each memory window.

use std::ops::Range;

/// Vendor of QEMU's own devices (Red Hat), and a device number that no driver knows.
const IDENTITY: u32 = 0x0fac_1b36;
/// Class: unassigned.
const CLASS: u32 = 0xff00_0000;
const BYTES: usize = 256;
const FIRST_BAR: usize = 0x10;
/// 32-bit BARs of a type 0 header.
pub const MOST_WINDOWS: usize = 6;

/// A range of physical addresses that the machine answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First address.
    pub first: u32,
    /// Bytes: a power of two, at least 16, that divides `first`.
    pub bytes: u32,
}

impl Window {
    /// The smallest windows that cover ranges of addresses: each a power of two large and aligned to its size.
    pub fn covering(ranges: &[Range<u64>]) -> Vec<Self> {
        let mut windows = Vec::new();
        for range in ranges {
            let mut at = range.start;
            while at < range.end {
                let aligned = if at == 0 { 1 << 31 } else { 1 << at.trailing_zeros().min(31) };
                let mut bytes = aligned;
                while bytes > 16 && at + bytes > range.end {
                    bytes /= 2;
                }
                windows.push(Self { first: at as u32, bytes: bytes as u32 });
                at += bytes;
            }
        }
        windows
    }
}

/// The proxy device's configuration space.
#[derive(Debug, Clone)]
pub struct ConfigSpace {
    values: [u8; BYTES],
    writable: [u8; BYTES],
}

impl ConfigSpace {
    /// A device with one BAR for each of up to six windows.
    pub fn new(windows: &[Window]) -> Self {
        let mut space = Self { values: [0; BYTES], writable: [0; BYTES] };
        space.values[..4].copy_from_slice(&IDENTITY.to_le_bytes());
        space.values[8..12].copy_from_slice(&CLASS.to_le_bytes());
        // Command: memory space and bus master.
        space.writable[4] = 0x06;
        space.writable[0x3c] = 0xff;
        for (index, window) in windows.iter().take(MOST_WINDOWS).enumerate() {
            let at = FIRST_BAR + 4 * index;
            space.writable[at..at + 4].copy_from_slice(&(!(window.bytes - 1)).to_le_bytes());
        }
        space
    }

    /// Reads; bytes beyond the end are zero.
    pub fn read(&self, offset: u32, bytes: u8) -> u64 {
        let byte = |index: u8| self.values.get(offset as usize + usize::from(index)).copied().unwrap_or(0);
        (0..bytes).rev().fold(0, |value, index| value << 8 | u64::from(byte(index)))
    }

    /// Writes the bits that can be written.
    pub fn write(&mut self, offset: u32, bytes: u8, value: u32) {
        for (index, byte) in value.to_le_bytes().into_iter().take(usize::from(bytes)).enumerate() {
            let at = offset as usize + index;
            if let (Some(old), Some(&mask)) = (self.values.get_mut(at), self.writable.get(at)) {
                *old = *old & !mask | byte & mask;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_tells_its_size() {
        let mut space = ConfigSpace::new(&[Window { first: 0xe000_0000, bytes: 0x80_0000 }]);
        space.write(0x10, 4, 0xffff_ffff);
        assert_eq!(space.read(0x10, 4), 0xff80_0000);
        space.write(0x10, 4, 0xe000_0000);
        assert_eq!(space.read(0x10, 4), 0xe000_0000);
        space.write(0x14, 4, 0xffff_ffff);
        assert_eq!(space.read(0x14, 4), 0, "no second window");
        assert_eq!(space.read(0, 2), 0x1b36);
        space.write(0xffff_fffe, 4, 1);
        assert_eq!(space.read(0xfe, 4), 0);
    }

    /// PCI Local Bus 3.0, 6.2.5.1: a base address in memory has 16 bytes at least, and lies at a multiple of its size.
    /// The interrupt line (0x3c) and two bits of the command are all else that is written.
    #[test]
    fn windows_have_sixteen_bytes_at_least_and_lie_at_multiples_of_their_size() {
        let covering = |range: Range<u64>| -> Vec<(u32, u32)> {
            let windows = Window::covering(std::slice::from_ref(&range));
            windows.iter().map(|window| (window.first, window.bytes)).collect()
        };
        assert_eq!(covering(0x1000..0x1008), [(0x1000, 16)]);
        assert_eq!(covering(0x1000..0x1018), [(0x1000, 16), (0x1010, 16)]);
        assert_eq!(covering(0x2800..0x5000), [(0x2800, 0x800), (0x3000, 0x1000), (0x4000, 0x1000)]);
        assert_eq!(covering(0..0x20), [(0, 0x20)]);
        assert_eq!(covering(0x1000..0x1000), []);
        let mut space = ConfigSpace::new(&[]);
        for at in (0..BYTES as u32).step_by(4) {
            space.write(at, 4, u32::MAX);
        }
        let changed: Vec<(u32, u64)> = (0..64).map(|index| (4 * index, space.read(4 * index, 4))).collect();
        let changed: Vec<_> = changed.into_iter().filter(|&(_, value)| value != 0).collect();
        assert_eq!(changed, [(0, 0x0fac_1b36), (4, 6), (8, 0xff00_0000), (0x3c, 0xff)]);
        space.write(0x3d, 1, 0x12);
        space.write(0x3c, 1, 0x34);
        assert_eq!((space.read(0x3c, 2), space.read(0x3a, 4)), (0x34, 0x34_0000));
    }

    #[test]
    fn windows_are_powers_of_two() {
        let windows = Window::covering(std::slice::from_ref(&(0xe000_0000..0xe180_0000)));
        assert_eq!(
            windows,
            [Window { first: 0xe000_0000, bytes: 0x100_0000 }, Window { first: 0xe100_0000, bytes: 0x80_0000 }]
        );
    }
}
