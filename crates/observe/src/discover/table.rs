//! The discovery table in memory (Emerald Rapids 1.9): what it says, and whether that can be.
//!
//! A table comes from firmware, and firmware errs. Nothing is believed before it is checked: a table that cannot be right as a
//! whole is a [`TableError`], a record that cannot be is a [`RecordFault`], and whatever the table leaves out is looked for at
//! the catalogue's places.

use std::fmt;

use pericore_catalog::{AddressSpace, Family, Unit};
use pericore_registers::{AccessError, Address, Bdf, Operation, Outcome, RegisterSpace, Width};

/// Bytes that hold a table at most (1.10.1, UNCORE_DISCOVERY_MAP_SIZE).
pub(super) const WINDOW: u64 = 0x8_0000;
/// Bytes of a qword.
const QWORD: u64 = 8;
/// Qwords that a record needs (1.10.1, `uncore_unit_discovery`).
const RECORD_QWORDS: u64 = 3;
/// Physical addresses have at most so many bits on these processors.
const PHYSICAL_BITS: u32 = 52;
/// Bytes of a PCI function's configuration space.
const CONFIG_BYTES: u64 = 4096;

/// Instances of a unit at most: the global status has a bit for each of a socket's blocks, and no more (Table 1-8).
const MOST_INSTANCES: u16 = 128;

/// True if a socket may have an instance of a unit: those of the documents, and, where tables list a unit, more.
pub fn may_have(unit: &Unit, instance: u16) -> bool {
    instance < unit.instances || unit.discovery_type.is_some() && instance < MOST_INSTANCES
}

/// Why a table as a whole is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// No PCI function leads to one.
    #[error(
        "no PCI function of this socket leads to a discovery table; units are looked for at their documented places, and the CXL \
         blocks cannot be found: update the firmware, or look whether it hides the function"
    )]
    NoOwner,
    /// The base address register of the owner is unusable.
    #[error("{owner}: {what}; report the firmware fault")]
    BaseAddress {
        /// PCI function that leads to the table.
        owner: Bdf,
        /// What is wrong.
        what: &'static str,
    },
    /// Its memory cannot be read.
    #[error("the table cannot be read: {0}")]
    Access(#[from] AccessError),
    /// It reads as all ones.
    #[error(
        "the table at {base:#x} reads as all ones: its memory is switched off or hidden; report the firmware fault"
    )]
    AllOnes {
        /// Physical address.
        base: u64,
    },
    /// It reads as zeros.
    #[error("the table at {base:#x} is empty; report the firmware fault")]
    Empty {
        /// Physical address.
        base: u64,
    },
    /// Its records are too close together to hold what they must.
    #[error(
        "the table at {base:#x} has {stride} qwords from one record to the next, but a record takes {RECORD_QWORDS}; report the firmware fault"
    )]
    Stride {
        /// Physical address.
        base: u64,
        /// Qwords.
        stride: u64,
    },
    /// It would not fit where it lies.
    #[error(
        "the table at {base:#x} announces {blocks} blocks of {stride} qwords, more than its {WINDOW} bytes hold; report the firmware fault"
    )]
    TooLong {
        /// Physical address.
        base: u64,
        /// Blocks announced.
        blocks: u64,
        /// Qwords.
        stride: u64,
    },
}

impl TableError {
    /// The physical address of the table, where it has one that could be read.
    pub(super) const fn base(&self) -> Option<u64> {
        match self {
            Self::AllOnes { base } | Self::Empty { base } | Self::Stride { base, .. } | Self::TooLong { base, .. } => {
                Some(*base)
            }
            Self::NoOwner | Self::BaseAddress { .. } | Self::Access(_) => None,
        }
    }
}

/// A record that is not believed. The block is looked for at the catalogue's place instead, if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordFault {
    /// Record, counted from 1 as the blocks are.
    pub record: u64,
    /// What cannot be.
    pub what: String,
    /// The unit, if the record tells of one more instance of it than the documents have: if that is true, it has no
    /// place in the catalogue, and is not counted.
    pub beyond: Option<&'static str>,
}

impl fmt::Display for RecordFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {}: {}", self.record, self.what)
    }
}

/// Where a record puts a block's unit control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockPlace {
    /// MSR number.
    Msr(u32),
    /// PCI function and byte offset.
    Pci(Bdf, u16),
    /// Physical address.
    Mmio(u64),
}

impl BlockPlace {
    pub(super) const fn space(self) -> AddressSpace {
        match self {
            Self::Msr(_) => AddressSpace::Msr,
            Self::Pci(..) => AddressSpace::PciConfig,
            Self::Mmio(_) => AddressSpace::Mmio,
        }
    }

    /// The place so many bytes (MSR numbers) further on.
    pub(super) fn plus(self, distance: u32) -> Option<Self> {
        Some(match self {
            Self::Msr(msr) => Self::Msr(msr.checked_add(distance)?),
            Self::Pci(bdf, offset) => {
                let sum = u64::from(offset) + u64::from(distance);
                Self::Pci(bdf, u16::try_from(sum).ok().filter(|_| sum < CONFIG_BYTES)?)
            }
            Self::Mmio(physical) => Self::Mmio(physical.checked_add(distance.into())?),
        })
    }

    /// The address, with MSRs reached through a logical CPU.
    pub(super) const fn address(self, cpu: u32) -> Address {
        match self {
            Self::Msr(msr) => Address::Msr { cpu, msr },
            Self::Pci(bdf, offset) => Address::Pci { bdf, offset },
            Self::Mmio(physical) => Address::Mmio { physical },
        }
    }
}

impl fmt::Display for BlockPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Msr(msr) => write!(f, "msr {msr:#x}"),
            Self::Pci(bdf, offset) => write!(f, "pci {bdf}+{offset:#x}"),
            Self::Mmio(physical) => write!(f, "mmio {physical:#x}"),
        }
    }
}

/// A record that is believed.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// Unit.
    pub unit: &'static Unit,
    /// Instance within the socket.
    pub instance: u16,
    /// Its unit control.
    pub place: BlockPlace,
    /// From there to the first control.
    pub control: u32,
    /// From there to the first counter.
    pub counter: u32,
    /// From there to the status.
    pub status: u32,
    /// Bit of the socket's global status.
    pub status_position: u16,
    /// Its record in its table, counted from 1.
    pub record: u64,
}

/// A record as it stands in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub(super) number: u64,
    qwords: [u64; RECORD_QWORDS as usize],
}

/// A table as it stands in memory, with a plausible frame.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) base: u64,
    pub(super) announced: u64,
    pub(super) records: Vec<Record>,
}

impl Table {
    /// Reads a table; records of zeros, which hold no block, are left out.
    pub(super) fn read(space: &mut impl RegisterSpace, base: u64) -> Result<Self, TableError> {
        let frame = qwords(space, base, 0)?;
        let [layout, control, _] = frame;
        if layout == u64::MAX {
            return Err(TableError::AllOnes { base });
        }
        let (stride, blocks) = (bits(layout, 8, 8), bits(layout, 16, 10));
        if (layout, control) == (0, 0) {
            return Err(TableError::Empty { base });
        }
        if stride < RECORD_QWORDS {
            return Err(TableError::Stride { base, stride });
        }
        if (blocks + 1) * stride * QWORD > WINDOW {
            return Err(TableError::TooLong { base, blocks, stride });
        }
        let mut records = Vec::new();
        for number in 1..=blocks {
            let qwords = qwords(space, base, number * stride * QWORD)?;
            if qwords != [0; RECORD_QWORDS as usize] {
                records.push(Record { number, qwords });
            }
        }
        if records.is_empty() {
            return Err(TableError::Empty { base });
        }
        Ok(Self { base, announced: blocks, records })
    }
}

fn qwords(space: &mut impl RegisterSpace, base: u64, offset: u64) -> Outcome<[u64; RECORD_QWORDS as usize]> {
    let at = |index: u64| Address::Mmio { physical: base.saturating_add(offset + index * QWORD) };
    let reads: [Operation; 3] = [0, 1, 2].map(|index| Operation::Read { address: at(index), width: Width::B8 });
    let mut outcomes = Vec::with_capacity(reads.len());
    space.batch(&reads, &mut outcomes);
    let mut found = [0; RECORD_QWORDS as usize];
    for (qword, outcome) in found.iter_mut().zip(outcomes) {
        *qword = outcome?;
    }
    Ok(found)
}

const fn bits(value: u64, lsb: u32, width: u32) -> u64 {
    value >> lsb & ((1 << width) - 1)
}

impl Record {
    /// The segment and bus that the record names, if it puts its block in PCI configuration space.
    pub(super) fn bus(&self) -> Option<(u16, u8)> {
        match self.place() {
            Ok(BlockPlace::Pci(bdf, _)) => Some((bdf.segment, bdf.bus)),
            _ => None,
        }
    }

    /// Packing of PCI addresses: as Linux's driver has it (UNCORE_DISCOVERY_PCI_*); access type in bits 63:62, as 1.10.1's code has
    /// it.
    fn place(&self) -> Result<BlockPlace, String> {
        let [layout, address, _] = self.qwords;
        let absurd = || format!("its address {address:#x} cannot be");
        match layout >> 62 {
            0 => match u32::try_from(address) {
                Ok(msr) if msr != 0 => Ok(BlockPlace::Msr(msr)),
                _ => Err(absurd()),
            },
            1 if address == 0 || address % 4 != 0 || address >> PHYSICAL_BITS != 0 => Err(absurd()),
            1 => Ok(BlockPlace::Mmio(address)),
            2 if address >> 31 != 0 || address % 4 != 0 || address == 0 => Err(absurd()),
            2 => {
                let bdf = Bdf {
                    segment: bits(address, 28, 3) as u16,
                    bus: bits(address, 20, 8) as u8,
                    device: bits(address, 15, 5) as u8,
                    function: bits(address, 12, 3) as u8,
                };
                Ok(BlockPlace::Pci(bdf, bits(address, 0, 12) as u16))
            }
            other => Err(format!("its access type {other} has no meaning")),
        }
    }

    fn unit(&self, family: &'static Family) -> Option<&'static Unit> {
        let kind = bits(self.qwords[2], 0, 16) as u16;
        family.units.iter().copied().find(|unit| unit.discovery_type == Some(kind))
    }

    /// The unit of which the record tells of an instance that the documents do not have.
    pub(super) fn beyond(&self, family: &'static Family) -> Option<&'static str> {
        let unit = self.unit(family)?;
        (bits(self.qwords[2], 16, 16) >= u64::from(unit.instances)).then_some(unit.name)
    }

    /// The block that the record tells of.
    pub(super) fn block(&self, family: &'static Family) -> Result<Block, String> {
        let [layout, _, identity] = self.qwords;
        if self.qwords.iter().all(|&qword| qword == u64::MAX) {
            return Err("it reads as all ones".to_owned());
        }
        let (kind, instance) = (bits(identity, 0, 16) as u16, bits(identity, 16, 16) as u16);
        let Some(unit) = self.unit(family) else {
            return Err(format!("no unit of {} has type {kind:#x}", family.name));
        };
        let name = unit.name;
        if !may_have(unit, instance) {
            return Err(format!("{name} has {} instances at most, and this is number {instance}", unit.instances));
        }
        let place = self.place().map_err(|what| format!("{name} {instance}: {what}"))?;
        let expected = unit.placements.first().map(|placement| placement.space);
        if expected.is_some_and(|space| space != place.space()) {
            return Err(format!("{name} {instance} does not lie in {} space", place.space()));
        }
        let (counters, width) = (bits(layout, 0, 8), bits(layout, 16, 8));
        if counters < u64::from(unit.counters) || width != u64::from(unit.counter_width) {
            return Err(format!(
                "{name} {instance} has {} counters of {} bits, not {counters} of {width}",
                unit.counters, unit.counter_width
            ));
        }
        let (control, counter) = (bits(layout, 8, 8) as u32, bits(layout, 24, 8) as u32);
        // Controls are at least as far apart as MSRs or dwords are.
        let reach = (counters as u32 - 1) * if place.space() == AddressSpace::Msr { 1 } else { 4 };
        let overlap = control <= counter + reach && counter <= control + reach;
        if control == 0 || counter == 0 || overlap {
            return Err(format!("{name} {instance}: controls at {control:#x} and counters at {counter:#x} cannot be"));
        }
        if place.plus(control.max(counter) + reach).is_none() {
            return Err(format!("{name} {instance} would end beyond its function's configuration space"));
        }
        let (status, status_position) = (bits(layout, 32, 8) as u32, bits(identity, 32, 16) as u16);
        Ok(Block { unit, instance, place, control, counter, status, status_position, record: self.number })
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
