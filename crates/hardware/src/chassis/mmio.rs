//! Physical addresses of memory-mapped PMON registers, and how software finds them (Emerald Rapids 1.10.3).

use super::map::Place;

/// Bytes of a socket's share of each window.
const SOCKET_SHARE: u64 = 0x0080_0000;
/// Where the memory controllers' windows start: MMIO_BASE counts 8 MB units.
const MEMORY_WINDOW: u64 = 0xf000_0000;
/// Distance between memory controllers within a socket: MEMn_BAR counts pages.
const MEMORY_STRIDE: u64 = 0x0008_0000;
/// Where blocks without a documented place lie; only the discovery table tells.
const DISCOVERED_WINDOW: u64 = 0xe800_0000;
/// Distance between such blocks.
const DISCOVERED_STRIDE: u64 = 0x0001_0000;
/// Where the discovery tables lie.
const DISCOVERY_WINDOW: u64 = 0xe000_0000;
/// Bytes that software maps of a discovery table.
const DISCOVERY_BYTES: u64 = 0x8_0000;

/// The base that a catalogue location names.
pub fn base(bar: &str, socket: u16, index: u8) -> Option<u64> {
    let (window, stride) = match bar {
        "mem" => (MEMORY_WINDOW, MEMORY_STRIDE),
        "discovery" => (DISCOVERED_WINDOW, DISCOVERED_STRIDE),
        _ => return None,
    };
    Some(window + u64::from(socket) * SOCKET_SHARE + u64::from(index) * stride)
}

/// Base of a socket's discovery table.
pub const fn discovery_base(socket: u16) -> u64 {
    DISCOVERY_WINDOW + socket as u64 * SOCKET_SHARE
}

/// The value of the MMIO base register: address bits 51:23 in bits 28:0.
pub const fn mmio_base_register(socket: u16) -> u64 {
    (MEMORY_WINDOW + socket as u64 * SOCKET_SHARE) >> 23
}

/// The value of a memory controller's BAR register: address bits 22:12 in bits 10:0.
pub const fn memory_bar_register(controller: u16) -> u64 {
    ((controller as u64 * MEMORY_STRIDE) >> 12) & 0x7ff
}

/// What a physical address reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// A byte of a register, which has so many bytes.
    Register { socket: u16, place: Place, byte: u16, bytes: u16 },
    /// A byte of a socket's discovery table.
    Discovery { socket: u16, offset: u64 },
    /// A byte of a window without a register: reads as 0.
    Hole,
}

/// The memory-mapped registers of a socket, by address relative to socket 0's.
#[derive(Debug, Default)]
pub struct MmioMap {
    /// First address, bytes, register; sorted.
    registers: Vec<(u64, u16, Place)>,
}

impl MmioMap {
    /// The map of registers given as base address, offset, width in bits, and place.
    pub fn new(registers: Vec<((&str, u8), u64, u8, Place)>) -> Self {
        let placed = registers.into_iter().filter_map(|((bar, index), offset, width, place)| {
            Some((base(bar, 0, index)? + offset, u16::from(width / 8), place))
        });
        let mut registers: Vec<_> = placed.collect();
        registers.sort_by_key(|&(first, _, _)| first);
        Self { registers }
    }

    /// What an address reaches; `None` outside every window.
    pub fn reach(&self, physical: u64, sockets: u16) -> Option<Reached> {
        // The highest window first: each one's sockets end before the next window starts.
        let windows = [MEMORY_WINDOW, DISCOVERED_WINDOW, DISCOVERY_WINDOW];
        let window = windows.into_iter().find(|&window| window <= physical)?;
        let (socket, within) = ((physical - window) / SOCKET_SHARE, (physical - window) % SOCKET_SHARE);
        if socket >= u64::from(sockets) || self.registers.is_empty() {
            return None;
        }
        let socket = socket as u16;
        if window == DISCOVERY_WINDOW {
            let table = within < DISCOVERY_BYTES;
            return Some(if table { Reached::Discovery { socket, offset: within } } else { Reached::Hole });
        }
        let address = window + within;
        let after = self.registers.partition_point(|&(first, _, _)| first <= address);
        let found = after.checked_sub(1).map(|index| self.registers[index]);
        Some(match found.filter(|&(first, bytes, _)| address < first + u64::from(bytes)) {
            Some((first, bytes, place)) => Reached::Register { socket, place, byte: (address - first) as u16, bytes },
            None => Reached::Hole,
        })
    }
}
