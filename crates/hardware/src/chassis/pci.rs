//! PCI functions of the uncore bus: configuration headers, and where PMON registers lie in them.

use pericore_catalog::{Identity, OnePer, Register, Role};

use super::map::Place;
use super::mmio;
use super::shape::Shape;
use crate::pmon::Bank;
use crate::signal::Wiring;

/// Size of a function's configuration space.
pub const CONFIG_BYTES: u16 = 4096;

/// Intel's PCI vendor ID.
const VENDOR_INTEL: u32 = 0x8086;

/// Class code of a performance-counter function: signal processing controller, performance counters.
const CLASS_PERFORMANCE_COUNTERS: u32 = 0x1101_0000;

/// Header type 0 with the multi-function bit, in the third byte of its dword.
const HEADER_MULTI_FUNCTION: u32 = 0x0080_0000;

/// Status register: there is a list of capabilities.
const STATUS_CAPABILITIES: u32 = 0x0010_0000;

/// Where functions with extended configuration space have their PCI Express capability; without one, systems stop at
/// byte 256.
const EXPRESS_CAPABILITY: u16 = 0x40;

/// A PCI Express capability of version 2, the last of its list.
const EXPRESS_VERSION_2: u32 = 0x0002_0010;

/// A PCI function.
#[derive(Debug)]
pub struct Function {
    /// The block that it belongs to; PMON instance of a socket.
    pub owner: u16,
    device_id: u16,
    /// Offset, bytes, register; sorted by offset.
    registers: Vec<(u16, u16, Place)>,
}

impl Function {
    /// A function without registers.
    pub const fn new(owner: u16) -> Self {
        Self { owner, device_id: 0, registers: Vec::new() }
    }

    /// Sets the device ID, if the catalogue gives one.
    pub fn set_device_id(&mut self, device_id: Option<u16>) {
        self.device_id = device_id.unwrap_or(self.device_id);
    }

    /// Puts a register of `width` bits at a byte offset.
    pub fn add(&mut self, offset: u16, width: u8, place: Place) {
        let at = self.registers.partition_point(|&(other, _, _)| other < offset);
        self.registers.insert(at, (offset, u16::from(width / 8), place));
    }

    /// The register that holds the byte at `offset`, the byte's place in it, and its bytes.
    #[inline]
    pub fn register(&self, offset: u16) -> Option<(Place, u16, u16)> {
        let after = self.registers.partition_point(|&(first, _, _)| first <= offset);
        let &(first, bytes, place) = self.registers.get(after.checked_sub(1)?)?;
        (offset < first + bytes).then_some((place, offset - first, bytes))
    }

    /// A dword of the header or of its capabilities, or 0 elsewhere.
    pub fn config(&self, offset: u16) -> u32 {
        match offset {
            0x00 => u32::from(self.device_id) << 16 | VENDOR_INTEL,
            0x04 if self.is_express() => STATUS_CAPABILITIES,
            0x08 => CLASS_PERFORMANCE_COUNTERS,
            0x0c => HEADER_MULTI_FUNCTION,
            0x2c => VENDOR_INTEL,
            0x34 if self.is_express() => EXPRESS_CAPABILITY.into(),
            EXPRESS_CAPABILITY if self.is_express() => EXPRESS_VERSION_2,
            _ => 0,
        }
    }

    /// True if registers lie beyond byte 256 and the capability is in nobody's way.
    fn is_express(&self) -> bool {
        self.registers.last().is_some_and(|&(last, _, _)| last >= 0x100) && self.register(EXPRESS_CAPABILITY).is_none()
    }
}

/// What an identity register holds, as software reads it to find its way.
fn identity(shape: &Shape, socket: u16, register: &Register, member: u8) -> Option<u64> {
    let (identity, field) = (register.identity?, register.lowest_field()?);
    let slices = u32::from(shape.slices);
    let present = u64::MAX.checked_shr(64 - slices).unwrap_or(0);
    let value = match identity {
        Identity::NodeId => u64::from(socket),
        Identity::NodeMap => {
            let width = shape.family.identity(Identity::NodeId)?.1.lowest_field()?.bits.width;
            (0..shape.sockets).fold(0, |map, node| map | u64::from(node) << (u16::from(width) * node))
        }
        Identity::MemoryBase => mmio::mmio_base_register(socket),
        Identity::MemoryOffset => mmio::memory_bar_register(u16::from(member)),
        Identity::Links => (1 << shape.family.unit_per(OnePer::Link)?.instances) - 1,
        Identity::SlicesLow => present & 0xffff_ffff,
        Identity::SlicesHigh => present >> 32,
        Identity::SliceCount => u64::from(slices),
        Identity::StackBuses => {
            let buses = register.stack_buses().zip(shape.stack_buses(socket));
            let buses = buses.fold(0, |all, (field, bus)| all | u64::from(bus) << field.bits.lsb);
            return Some(buses | 1 << register.field("valid")?.bits.lsb);
        }
    };
    Some(value << field.bits.lsb)
}

/// Writes the identity registers of every socket.
pub fn preset_identities(shape: &Shape, wiring: &Wiring, bank: &mut Bank) {
    for (unit_index, unit) in shape.family.units.iter().enumerate() {
        for (index, register) in unit.registers.iter().enumerate().filter(|(_, r)| r.role == Role::Identity) {
            for (socket, member) in (0..shape.sockets).flat_map(|s| (0..register.count).map(move |m| (s, m))) {
                if let Some(value) = identity(shape, socket, register, member) {
                    let number = wiring.instance(socket, unit_index, 0);
                    let slot = bank.layout(number).at(index, member);
                    bank.preset(number, slot, value);
                }
            }
        }
    }
}
