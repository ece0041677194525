//! PCI functions of a family that have no PMON registers.

use serde::{Deserialize, Serialize};

/// A PCI function's identity, as its configuration header has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PciFunction<'c> {
    /// Device number, 0 to 31.
    pub device: u8,
    /// Function number, 0 to 7.
    pub function: u8,
    /// Device ID; the vendor is Intel.
    pub device_id: u16,
    /// Class code, 24 bits.
    pub class: u32,
    /// Revision.
    pub revision: u8,
    /// What it is there for.
    pub description: &'c str,
    /// Document.
    pub source: &'c str,
}

impl<'c> PciFunction<'c> {
    /// A dword of the header, without base addresses and capabilities: identity, class, header type of one of several
    /// functions, subsystem vendor; 0 elsewhere.
    pub fn header(&self, offset: u16) -> u32 {
        match offset {
            0x00 => u32::from(self.device_id) << 16 | VENDOR_INTEL,
            0x08 => self.class << 8 | u32::from(self.revision),
            0x0c => 0x0080_0000,
            0x2c => VENDOR_INTEL,
            _ => 0,
        }
    }
}

const VENDOR_INTEL: u32 = 0x8086;
