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
