//! `/dev/mem`: physical addresses are offsets. Only registers are there; a read or write is one bus cycle of 1, 2, 4 or 8 bytes.

use pericore_registers::{Address, Operation, Width};

use super::{FileError, errno};
use crate::backend::Backend;

fn width(size: usize) -> Result<Width, FileError> {
    match size {
        1 => Ok(Width::B1),
        2 => Ok(Width::B2),
        4 => Ok(Width::B4),
        8 => Ok(Width::B8),
        _ => Err(libc::EINVAL),
    }
}

/// Reads one cycle.
pub fn read(backend: &impl Backend, physical: u64, size: usize) -> Result<Vec<u8>, FileError> {
    let operation = Operation::Read { address: Address::Mmio { physical }, width: width(size)? };
    let value = backend.access(operation).outcome.map_err(|error| errno(&error, libc::EFAULT))?;
    Ok(value.to_le_bytes()[..size].to_vec())
}

/// Writes one cycle.
pub fn write(backend: &impl Backend, physical: u64, data: &[u8]) -> Result<usize, FileError> {
    let width = width(data.len())?;
    let mut bytes = [0; 8];
    bytes[..data.len()].copy_from_slice(data);
    let operation = Operation::Write { address: Address::Mmio { physical }, width, value: u64::from_le_bytes(bytes) };
    backend.access(operation).outcome.map_err(|error| errno(&error, libc::EFAULT))?;
    Ok(data.len())
}
