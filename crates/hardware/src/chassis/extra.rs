//! PCI functions that have nothing to do with the uncore, such as the many virtual ones of a network adapter.

use pericore_registers::Bdf;

use super::shape::Shape;

/// The most that a machine can have more.
pub const MOST: u16 = 4096;

/// A virtual function of a network adapter of Intel's, with extended configuration space.
const DEVICE_ID: u32 = 0x1889;

/// Network controller, Ethernet.
const CLASS: u32 = 0x0200_0000;

/// Functions of a bus.
const BUS: u16 = 256;

/// Which of a machine's extra functions a function of segment 0 is: they fill the buses from 1 on, but those of
/// the uncore.
fn number(shape: &Shape, bdf: Bdf) -> Option<u16> {
    let is_free = |bus: u8| {
        bus != 0
            && shape.socket_of_bus(bus).is_none()
            && (0..shape.sockets).all(|socket| shape.first_bus(socket) != bus)
    };
    if bdf.segment != 0 || !is_free(bdf.bus) {
        return None;
    }
    let before = (1..bdf.bus).filter(|&bus| is_free(bus)).count() as u16;
    Some(before * BUS + u16::from(bdf.device) * 8 + u16::from(bdf.function))
}

/// A dword of the configuration header of one of `count` extra functions.
pub fn config(shape: &Shape, count: u16, bdf: Bdf, offset: u16) -> Option<u32> {
    number(shape, bdf).filter(|&number| number < count)?;
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

#[cfg(test)]
mod tests {
    use pericore_registers::Bdf;

    use super::config;
    use crate::chassis::Shape;

    #[test]
    fn as_many_are_there_as_were_wanted() {
        let family = pericore_catalog::family("emerald-rapids").unwrap();
        for (sockets, count) in [(1, 2000), (2, 1), (8, super::MOST)] {
            let shape = Shape::new(family, sockets, 8, 1).unwrap();
            let all = (0..=255).flat_map(|bus| (0..=255).map(move |slot: u8| Bdf::new(bus, slot >> 3, slot & 7)));
            let present = all.filter(|&bdf| config(&shape, count, bdf, 0).is_some()).count();
            assert_eq!(present, usize::from(count), "{sockets} sockets");
        }
    }
}
