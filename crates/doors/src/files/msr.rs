//! `/dev/cpu/N/msr` by the rules of Linux's msr driver: the offset is the MSR's number, and a count of n*8 accesses the same MSR
//! n times; other counts are EINVAL, #GP is EIO.

use pericore_registers::{Address, Operation, Width};

use super::{FileError, errno};
use crate::backend::Backend;

const BYTES: usize = 8;

/// Reads `size / 8` times.
pub fn read(backend: &impl Backend, cpu: u32, offset: u64, size: usize) -> Result<Vec<u8>, FileError> {
    if !size.is_multiple_of(BYTES) {
        return Err(libc::EINVAL);
    }
    let mut data = Vec::with_capacity(size);
    // The driver keeps the low half of the offset.
    let address = Address::Msr { cpu, msr: offset as u32 };
    while data.len() < size {
        match backend.access(Operation::Read { address, width: Width::B8 }).outcome {
            Ok(value) => data.extend(value.to_le_bytes()),
            Err(error) if data.is_empty() => return Err(errno(&error, libc::EIO)),
            Err(_) => break,
        }
    }
    Ok(data)
}

/// Writes each 8 bytes in turn.
pub fn write(backend: &impl Backend, cpu: u32, offset: u64, data: &[u8]) -> Result<usize, FileError> {
    if !data.len().is_multiple_of(BYTES) {
        return Err(libc::EINVAL);
    }
    let address = Address::Msr { cpu, msr: offset as u32 };
    for (index, bytes) in data.chunks_exact(BYTES).enumerate() {
        let value = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
        let write = Operation::Write { address, width: Width::B8, value };
        if let Err(error) = backend.access(write).outcome {
            return if index == 0 { Err(errno(&error, libc::EIO)) } else { Ok(index * BYTES) };
        }
    }
    Ok(data.len())
}
