//! The discovery table of Emerald Rapids (1.9, 1.10.1) and the PCI function that leads to it.
//!
//! Each record tells where a PMON block's registers are. Field places follow the guide's code; the access type is in
//! bits 63:62, as that code, Linux and PCM have it. Packing of PCI addresses and unit types are public knowledge from
//! Linux's driver.

use pericore_catalog::{AddressSpace, Location, PciFunction, Register, Role, Unit};

use super::mmio;
use super::shape::Shape;
use super::variant::DiscoveryFault;
use crate::signal::Wiring;

/// Qwords from one record to the next.
const STRIDE: u64 = 4;
/// Access type of what lies in configuration space.
const IN_PCI: u64 = 2;
/// Bits of the global status registers (Table 1-8: two registers of 64).
const STATUS_BITS: u16 = 128;

/// Bit of the global status of each block of a socket: its place in the discovery table. The blocks after the last bit
/// share it.
pub fn status_positions(shape: &Shape, wiring: &Wiring) -> Vec<u16> {
    let mut next = 0;
    let per_socket = wiring.instances() / wiring.sockets();
    (0..per_socket)
        .map(|block| {
            let (_, unit, instance) = wiring.locate(block);
            let position = next.min(STATUS_BITS - 1);
            next += u16::from(shape.has(shape.family.units[unit], instance));
            position
        })
        .collect()
}

/// The table of one socket, as qwords.
pub fn table(shape: &Shape, wiring: &Wiring, socket: u16) -> Vec<u64> {
    let positions = status_positions(shape, wiring);
    let mut records = Vec::new();
    let mut global = None;
    for (index, unit) in shape.family.units.iter().enumerate() {
        if let Some(control) = unit.register(Role::GlobalControl) {
            global = Some((*unit, control));
        }
        let Some(kind) = unit.discovery_type else { continue };
        for instance in (0..unit.instances).filter(|&instance| shape.has(unit, instance)) {
            let position = positions[usize::from(wiring.instance(0, index, instance))];
            let id = u64::from(kind) | u64::from(instance) << 16 | u64::from(position) << 32;
            if let Some([layout, address]) = block(shape, socket, unit, instance) {
                records.push([layout, address, id, 0]);
            }
        }
    }
    let mut table = Vec::with_capacity((records.len() + 2) * STRIDE as usize);
    table.extend(global_record(shape, socket, global, records.len() as u64));
    table.extend(records.iter().flatten());
    // A record of zeros ends the table.
    table.extend([0; STRIDE as usize]);
    table
}

/// Puts the blocks of a table that lie in configuration space on a segment.
pub fn put_on_segment(table: &mut [u64], segment: u16) {
    for record in table.chunks_mut(STRIDE as usize).skip(1).filter(|record| record[0] >> 62 == IN_PCI) {
        record[1] |= u64::from(segment) << 28;
    }
}

/// Puts the global control where another table of the same machine has it, unless the first record says nothing.
pub fn place_global(table: &mut [u64], own: &[u64]) {
    if let ([layout, control, ..], [_, right, ..]) = (table, own)
        && ![0, u64::MAX].contains(layout)
    {
        *control = *right;
    }
}

/// Makes a record, counted from 1, that of a block as another table of the same machine has it.
pub fn place_record(table: &mut [u64], record: usize, own: &[u64], unit: &Unit, instance: u16) {
    let identity = unit.discovery_type.map(|kind| u64::from(kind) | u64::from(instance) << 16);
    let is_of_block = |record: &&[u64]| record.get(2).map(|identity| identity & 0xffff_ffff) == identity;
    let right = own.chunks(STRIDE as usize).skip(1).find(is_of_block);
    if let (Some(old), Some(right)) = (table.chunks_exact_mut(STRIDE as usize).nth(record), right) {
        old.copy_from_slice(right);
    }
}

/// Spoils a table as bad firmware would.
pub fn spoil(table: &mut [u64], fault: DiscoveryFault) {
    let record = STRIDE as usize;
    match fault {
        DiscoveryFault::None | DiscoveryFault::Absent => {}
        DiscoveryFault::AllOnes => table.fill(u64::MAX),
        DiscoveryFault::Zeros => table.fill(0),
        DiscoveryFault::Truncated(blocks) => {
            let kept = table.len().min(record * (usize::from(blocks) + 1));
            table[kept..].fill(0);
        }
        DiscoveryFault::WrongCount(blocks) => table[0] = (table[0] & !(0x3ff << 16)) | u64::from(blocks & 0x3ff) << 16,
        DiscoveryFault::NoStride => table[0] &= !0xff00,
        // Unit types that nobody knows, and controls where nothing is.
        DiscoveryFault::WrongBlocks => {
            for block in table.chunks_mut(record).skip(1) {
                block[1] = block[1].wrapping_add(0x1000);
                block[2] |= 0x8000;
            }
        }
    }
}

fn global_record(shape: &Shape, socket: u16, global: Option<(&Unit, &Register)>, blocks: u64) -> [u64; 4] {
    let Some((unit, control)) = global else { return [0; 4] };
    let status = unit.register(Role::GlobalStatus);
    let status_offset = status.map_or(0, |status| u64::from(status.offset - control.offset));
    let (access, address) = place(shape, socket, unit, control, 0).unwrap_or_default();
    [STRIDE << 8 | blocks << 16 | access << 62, address, status_offset | u64::from(STATUS_BITS) << 8, 0]
}

/// The first two qwords of a block's record.
fn block(shape: &Shape, socket: u16, unit: &Unit, instance: u16) -> Option<[u64; 2]> {
    let unit_control = unit.register(Role::UnitControl)?;
    let offset = |role| unit.register(role).map_or(0, |register| u64::from(register.offset - unit_control.offset));
    let (access, address) = place(shape, socket, unit, unit_control, instance)?;
    let layout = u64::from(unit.counters)
        | offset(Role::Control) << 8
        | u64::from(unit.counter_width) << 16
        | offset(Role::Counter) << 24
        | offset(Role::UnitStatus) << 32
        | access << 62;
    Some([layout, address])
}

/// Access type and packed address of a register.
fn place(shape: &Shape, socket: u16, unit: &Unit, register: &Register, instance: u16) -> Option<(u64, u64)> {
    let placement = &unit.placements[usize::from(register.placement)];
    let offset = u64::from(register.offset);
    let access = match placement.space {
        AddressSpace::Msr => 0,
        AddressSpace::Mmio => 1,
        AddressSpace::PciConfig => IN_PCI,
    };
    let address = match *placement.instances.get(usize::from(instance))? {
        Location::Msr { base } => u64::from(base) + offset,
        Location::Mmio { bar, index, offset: within } => mmio::base(bar, socket, index)? + within + offset,
        Location::Pci { device, function } => {
            let bus = u64::from(shape.bus(socket, placement.bus));
            bus << 20 | u64::from(device) << 15 | u64::from(function) << 12 | offset
        }
    };
    Some((access, address))
}

/// A dword of the owner's configuration space: header, PCI Express capability, and the DVSEC that leads to the table.
pub fn owner_config(owner: &PciFunction, socket: u16, offset: u16, fault: DiscoveryFault) -> u32 {
    match offset {
        // A capability list is there.
        0x04 => 0x0010_0006,
        // The BAR ignores sizing writes: firmware has fixed it.
        0x10 => mmio::discovery_base(socket) as u32,
        // No subsystem.
        0x2c => 0,
        0x34 => 0x40,
        // PCI Express capability: it makes configuration space 4096 bytes long.
        0x40 => 0x0002_0010,
        // DVSEC of version 1, the last; vendor Intel, length 16; entry ID 1: PMON discovery; table in BAR 0.
        0x100 if fault != DiscoveryFault::Absent => 0x0001_0023,
        0x104 => 0x0100_8086,
        0x108 => 0x0601_0001,
        _ => owner.header(offset),
    }
}
