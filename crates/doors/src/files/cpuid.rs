//! `/dev/cpu/N/cpuid` by the rules of Linux's cpuid driver: the offset's low half is the leaf, its high half the subleaf; each 16
//! bytes are one answer, and further ones come from the following leaves.

use super::FileError;
use crate::backend::Backend;

const BYTES: usize = 16;

/// Reads `size / 16` answers.
pub fn read(backend: &impl Backend, cpu: u32, offset: u64, size: usize) -> Result<Vec<u8>, FileError> {
    if !size.is_multiple_of(BYTES) {
        return Err(libc::EINVAL);
    }
    let answers = (0..(size / BYTES) as u64).flat_map(|index| {
        let place = offset.wrapping_add(index);
        backend.cpuid(cpu, place as u32, (place >> 32) as u32)
    });
    Ok(answers.flat_map(u32::to_le_bytes).collect())
}
