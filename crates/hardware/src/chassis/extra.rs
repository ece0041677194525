//! PCI functions that have nothing to do with the uncore, such as the many virtual ones of a network adapter.

use pericore_registers::Bdf;

/// The most that a machine can have more.
pub const MOST: u16 = 4096;

/// A virtual function of a network adapter of Intel's, with extended configuration space.
const DEVICE_ID: u32 = 0x1889;

/// Network controller, Ethernet.
const CLASS: u32 = 0x0200_0000;

/// Functions of a bus.
const BUS: u16 = 256;

/// Which of a machine's extra functions a function is: they fill the buses of segment 0 from 1 on. With eight sockets,
/// which share the buses, the first uncore bus is 30: 16 buses of extra functions end before it.
fn number(bdf: Bdf) -> Option<u16> {
    let before = bdf.bus.checked_sub(1).filter(|_| bdf.segment == 0)?;
    Some(u16::from(before) * BUS + u16::from(bdf.device) * 8 + u16::from(bdf.function))
}

/// A dword of the configuration header of one of `count` extra functions.
pub fn config(count: u16, bdf: Bdf, offset: u16) -> Option<u32> {
    number(bdf).filter(|&number| number < count)?;
    Some(match offset {
        0x00 => DEVICE_ID << 16 | 0x8086,
        0x04 => 0x0010_0000,
        0x08 => CLASS,
        0x0c => 0x0080_0000,
        0x2c => 0x8086,
        0x34 => 0x40,
        // A PCI Express capability makes configuration space 4096 bytes long.
        0x40 => 0x0002_0010,
        _ => 0,
    })
}
