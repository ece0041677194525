//! PCI configuration files: `/proc/bus/pci/BB/DD.F` and sysfs' `config`. Any span is carried out as aligned cycles of 1, 2 and 4
//! bytes, as Linux does it; what lies beyond the end is cut off.

use std::fmt::Write;

use pericore_registers::{AccessError, Address, Bdf, Operation, Width};

use crate::backend::Backend;
use crate::platform::Platform;

/// Aligned cycles that cover a span: offset and width.
fn cycles(offset: u64, size: usize, limit: u16) -> Vec<(u16, Width)> {
    let end = offset.saturating_add(size as u64).min(u64::from(limit));
    let mut at = offset;
    let mut cycles = Vec::new();
    while at < end {
        let width = match (at % 4, end - at) {
            (0, 4..) => Width::B4,
            (0 | 2, 2..) => Width::B2,
            _ => Width::B1,
        };
        cycles.push((at as u16, width));
        at += u64::from(width.bytes());
    }
    cycles
}

/// Reads a span of configuration space.
pub fn read(backend: &impl Backend, bdf: Bdf, limit: u16, offset: u64, size: usize) -> Vec<u8> {
    let mut data = Vec::with_capacity(size.min(usize::from(limit)));
    for (offset, width) in cycles(offset, size, limit) {
        let address = Address::Pci { bdf, offset };
        let value = match backend.access(Operation::Read { address, width }).outcome {
            Ok(value) => value,
            // Without the right the file ends after the header.
            Err(AccessError::Permission { .. }) => break,
            // A cycle that nothing answers reads as all ones.
            Err(_) => u64::MAX,
        };
        data.extend(&value.to_le_bytes()[..usize::from(width.bytes())]);
    }
    data
}

/// Writes a span of configuration space; the bytes written.
///
/// # Errors
/// EPERM if the machine denies it.
pub fn write(backend: &impl Backend, bdf: Bdf, limit: u16, offset: u64, data: &[u8]) -> Result<usize, i32> {
    let mut rest = data;
    for (offset, width) in cycles(offset, data.len(), limit) {
        let (now, later) = rest.split_at(usize::from(width.bytes()));
        rest = later;
        let mut bytes = [0; 8];
        bytes[..now.len()].copy_from_slice(now);
        let address = Address::Pci { bdf, offset };
        // A cycle that nothing answers is dropped.
        let outcome = backend.access(Operation::Write { address, width, value: u64::from_le_bytes(bytes) }).outcome;
        if let Err(AccessError::Permission { .. }) = outcome {
            return Err(libc::EPERM);
        }
    }
    Ok(data.len() - rest.len())
}

/// `/proc/bus/pci/devices`: bus, device and function; vendor and device; interrupt; BARs and their sizes.
pub fn device_list(platform: &Platform) -> String {
    let mut list = String::new();
    for function in &platform.functions {
        let bdf = function.bdf;
        let place = u32::from(bdf.bus) << 8 | u32::from(bdf.device) << 3 | u32::from(bdf.function);
        let (vendor, device) = (function.id & 0xffff, function.id >> 16);
        let _ = write!(list, "{place:04x}\t{vendor:04x}{device:04x}\t0");
        // Seven BARs and seven sizes.
        (0..14).for_each(|_| list.push_str("\t               0"));
        list.push('\n');
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quadword_is_two_dwords_and_odd_ends_are_narrow() {
        assert_eq!(cycles(0xa0, 8, 4096), [(0xa0, Width::B4), (0xa4, Width::B4)]);
        assert_eq!(cycles(1, 8, 256), [(1, Width::B1), (2, Width::B2), (4, Width::B4), (8, Width::B1)]);
        assert_eq!(cycles(3, 3, 256), [(3, Width::B1), (4, Width::B2)]);
    }

    #[test]
    fn spans_end_where_the_space_ends() {
        assert_eq!(cycles(0xfe, 100, 256), [(0xfe, Width::B2)]);
        assert_eq!(cycles(256, 4, 256), []);
        assert_eq!(cycles(u64::MAX, 4, 256), []);
    }
}
