//! What a PCI function is, by the first dword of its configuration space.

use pericore_registers::{AccessError, Address, Bdf, RegisterSpace, Width};

/// PCI vendor ID of Intel.
pub(super) const VENDOR_INTEL: u64 = 0x8086;

/// Vendor and device of a function, or nothing where the system does not have the bus.
pub(super) fn identity(space: &mut impl RegisterSpace, bdf: Bdf) -> Result<Option<u64>, AccessError> {
    match space.read(Address::Pci { bdf, offset: 0 }, Width::B4) {
        Ok(identity) => Ok(Some(identity)),
        Err(denied @ AccessError::Permission { .. }) => Err(denied),
        Err(_) => Ok(None),
    }
}
