//! Machines that differ from the documented one: stricter, more lenient, or broken in ways that real ones are.

use pericore_registers::{Address, Width};

use super::denied::Denied;
use crate::signal::{Tick, Wiring, WiringError};

/// How a machine differs from the documented one; by default it does not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variant {
    /// What becomes of accesses that the documents leave undefined.
    pub rules: Rules,
    /// What is broken.
    pub faults: Faults,
    /// PCI segment of the last socket's buses, 0 to 7; those of all others are on segment 0.
    pub segment: u16,
    /// PCI functions besides those of the uncore.
    pub functions: u16,
    /// What its system denies.
    pub denied: Denied,
}

impl Variant {
    /// A machine that is broken in many ways at once, each chosen by `seed`.
    pub fn hostile(wiring: &Wiring, seed: u64) -> Self {
        let mut random = seed;
        let mut below = |limit: u64| {
            // SplitMix64.
            random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (random ^ (random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ (mixed >> 31)) % limit.max(1)
        };
        let mut block = || {
            let (socket, unit, instance) = wiring.locate(below(wiring.instances().into()) as u16);
            Block::new(socket, wiring.family().units[unit].name, instance)
        };
        let (all_ones, hidden, stuck) = (vec![block()], vec![block()], vec![(block(), 0)]);
        let discovery = match below(7) {
            0 => DiscoveryFault::Absent,
            1 => DiscoveryFault::AllOnes,
            2 => DiscoveryFault::Zeros,
            3 => DiscoveryFault::Truncated(below(100) as u16),
            4 => DiscoveryFault::WrongCount(below(1024) as u16),
            5 => DiscoveryFault::NoStride,
            _ => DiscoveryFault::WrongBlocks,
        };
        let write_delay = below(1000);
        Self {
            rules: Rules::Documented,
            faults: Faults { all_ones, hidden, stuck, discovery, write_delay, ..Faults::default() },
            ..Self::default()
        }
    }
}

/// What becomes of accesses that the documents leave undefined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rules {
    /// What `catalog/undefined.toml` says.
    #[default]
    Documented,
    /// They fail: reserved bits that are written as 1, event selects that nothing answers to, events on counters that
    /// may not take them, inversion and edge detection without a threshold.
    Strict,
    /// They pass: any counter takes any event, MSRs that do not exist read as 0, cycles need no alignment.
    Lenient,
}

impl Rules {
    /// How each is written.
    const NAMES: [(&str, Self); 3] =
        [("documented", Self::Documented), ("strict", Self::Strict), ("lenient", Self::Lenient)];

    /// The rules of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, rules)| *rules)
    }

    /// How they are written.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, rules)| *rules == self).map_or("documented", |(name, _)| name)
    }
}

/// What is broken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    /// Blocks whose registers read as all ones and take no writes.
    pub all_ones: Vec<Block>,
    /// Blocks that are not there: their MSRs raise #GP, their PCI functions are absent, their memory reads as all ones.
    pub hidden: Vec<Block>,
    /// Counters that never move by themselves.
    pub stuck: Vec<(Block, u8)>,
    /// Blocks whose counters stand, whatever controls and freezes say.
    pub frozen: Vec<Block>,
    /// Blocks whose clock runs at half its rate.
    pub halved: Vec<Block>,
    /// Counters of so many bits, whatever the documents say.
    pub widths: Vec<(Block, u8, u8)>,
    /// Blocks of a unit, each of which answers at the other's addresses.
    pub swapped: Vec<(Block, Block)>,
    /// Blocks whose addresses lead to another one of the unit.
    pub misplaced: Vec<(Block, Block)>,
    /// Counters whose addresses lead to another one of the unit.
    pub misplaced_counters: Vec<((Block, u8), (Block, u8))>,
    /// What firmware made of the discovery tables.
    pub discovery: DiscoveryFault,
    /// Writes by somebody else.
    pub intrusions: Vec<Intrusion>,
    /// Ticks until a write to a PMON register takes effect.
    pub write_delay: Tick,
}

/// A PMON block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Socket.
    pub socket: u16,
    /// Unit, as the catalogue names it.
    pub unit: String,
    /// Instance within the socket.
    pub instance: u16,
}

impl Block {
    /// The instance of a unit in a socket.
    pub fn new(socket: u16, unit: &str, instance: u16) -> Self {
        Self { socket, unit: unit.to_owned(), instance }
    }

    /// Its machine-wide number.
    pub(super) fn number(&self, wiring: &Wiring) -> Result<u16, WiringError> {
        let family = wiring.family();
        let no_unit = || WiringError::NoUnit { family: family.name, unit: self.unit.clone() };
        let index = family.unit_index(&self.unit).ok_or_else(no_unit)?;
        let unit = family.units[index];
        if self.instance >= unit.instances || self.socket >= wiring.sockets() {
            return Err(WiringError::NoInstance { unit: unit.name, count: unit.instances, instance: self.instance });
        }
        Ok(wiring.instance(self.socket, index, self.instance))
    }
}

/// What firmware made of a discovery table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DiscoveryFault {
    /// It is right.
    #[default]
    None,
    /// Nothing leads to it.
    Absent,
    /// It reads as all ones.
    AllOnes,
    /// It is empty.
    Zeros,
    /// Zeros follow the first so many blocks; the count stays as it was.
    Truncated(u16),
    /// It announces so many blocks.
    WrongCount(u16),
    /// The distance between records is 0.
    NoStride,
    /// Every block has an unknown type and a wrong address.
    WrongBlocks,
}

/// A write by somebody else: firmware, another tool, a virtual machine monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intrusion {
    /// When first.
    pub first: Tick,
    /// Ticks until it happens again; 0 for never.
    pub every: Tick,
    /// Where.
    pub address: Address,
    /// How wide.
    pub width: Width,
    /// What.
    pub value: u64,
}

/// Whether a block answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Presence {
    /// As it should.
    #[default]
    Present,
    /// It is not there.
    Hidden,
    /// All ones.
    AllOnes,
}
