//! Stub functions: PCI functions without PMON registers that tools look for, or that a bus scan needs to find the
//! others. A family of the catalogue has them as `[[stub]]`, on each socket's uncore bus.

use pericore_machine::chassis::Shape;
use pericore_registers::Bdf;

/// The configuration dword of a stub at an aligned offset; `None` if the function is none.
pub fn dword(shape: &Shape, bdf: Bdf, offset: u16) -> Option<u32> {
    let (_, bus) = shape.socket_of_bus(bdf.bus)?;
    if bdf.segment != 0 || bus != 0 {
        return None;
    }
    let mut stubs = shape.family.stubs.iter();
    let stub = stubs.find(|stub| (stub.device, stub.function) == (bdf.device, bdf.function))?;
    Some(stub.header(offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The home agent itself is D14:F0 of an E5-2600's uncore bus, 8086:3CA0, beside its counters in D14:F1 (data
    /// sheet, volume 2): on no other bus, in no other segment, and nothing else is one.
    #[test]
    fn a_stub_is_on_its_sockets_uncore_bus_alone() {
        let shape = Shape::new(pericore_catalog::family("e5-2600").unwrap(), 1, 2, 1).unwrap();
        let bus = (0..=u8::MAX).find(|&bus| shape.socket_of_bus(bus) == Some((0, 0))).unwrap();
        let identity = |bdf| dword(&shape, bdf, 0);
        let agent = Bdf::new(bus, 14, 0);
        assert_eq!(identity(agent), Some(0x3ca0_8086));
        let elsewhere = Bdf { segment: 1, ..agent };
        let others = [elsewhere, Bdf::new(bus - 1, 14, 0), Bdf::new(bus, 14, 1), Bdf::new(bus, 15, 0)];
        assert_eq!(others.map(identity), [None; 4]);
    }
}
