//! PCI functions without PMON registers that tools look for, or that a bus scan needs to find the others.

use pericore_registers::Bdf;

/// A function that answers with a header and nothing else.
#[derive(Debug, Clone, Copy)]
struct Bystander {
    family: &'static str,
    device: u8,
    function: u8,
    device_id: u16,
    /// Class and revision, as in the header.
    class: u32,
}

const fn bystander(device: u8, function: u8, device_id: u16) -> Bystander {
    // Class: system peripheral, other.
    Bystander { family: "e5-2600", device, function, device_id, class: 0x0880_0007 }
}

/// The functions 0 of slots whose PMON functions have higher numbers: a bus scan stops at a slot without function 0. PCM looks
/// for the home agent's. Device IDs: Intel's E5-2600 data sheet, volume 2, table of devices.
const BYSTANDERS: [Bystander; 2] = [bystander(14, 0, 0x3CA0), bystander(19, 0, 0x3CE4)];

/// The configuration dword of a bystander at an aligned offset; `None` if the function is none. `first_bus` is the bus of
/// the socket's uncore.
pub fn dword(family: &str, first_bus: u8, bdf: Bdf, offset: u16) -> Option<u32> {
    let found = BYSTANDERS.iter().find(|bystander| {
        bystander.family == family && (bystander.device, bystander.function) == (bdf.device, bdf.function)
    });
    let bystander = found.filter(|_| bdf.segment == 0 && bdf.bus == first_bus)?;
    Some(match offset {
        0x00 => u32::from(bystander.device_id) << 16 | 0x8086,
        0x08 => bystander.class,
        // Several functions.
        0x0c => 0x0080_0000,
        0x2c => 0x8086,
        _ => 0,
    })
}
