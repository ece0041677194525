//! Where functions start, from the table that stack unwinding uses (`.eh_frame_hdr`; LSB core, 10.6.2). Code compiled for x86-64
//! has it, and it survives stripping.

use core::slice;

use crate::sys::ProgramHeader;

const EH_FRAME: u32 = 0x6474_E550;
/// Encodings: an unsigned count of 4 bytes; signed 4-byte offsets from the table's own start.
const COUNT_UDATA4: u8 = 0x03;
const TABLE_DATAREL_SDATA4: u8 = 0x3B;
const HEADER_BYTES: usize = 12;

/// The sorted function starts of an object.
pub struct Functions {
    table: usize,
    entries: &'static [[i32; 2]],
}

impl Functions {
    /// The table of an object that is loaded at `base`; `None` if it has none of the usual form.
    pub fn of(base: usize, headers: &[ProgramHeader]) -> Option<Self> {
        let header = headers.iter().find(|header| header.kind == EH_FRAME)?;
        let table = base + header.address as usize;
        let bytes = header.memory_size as usize;
        if bytes < HEADER_BYTES {
            return None;
        }
        // SAFETY: the loader has mapped the segment for good; it is aligned to 4 bytes.
        let (encodings, count) = unsafe {
            (core::ptr::read_unaligned(table as *const [u8; 4]), core::ptr::read_unaligned((table + 8) as *const u32))
        };
        let is_usual = encodings[0] == 1 && encodings[2] == COUNT_UDATA4 && encodings[3] == TABLE_DATAREL_SDATA4;
        let room = (bytes - HEADER_BYTES) / size_of::<[i32; 2]>();
        if !is_usual || count as usize > room || !table.is_multiple_of(align_of::<i32>()) {
            return None;
        }
        // SAFETY: as above, and `count` entries fit into the segment.
        let entries = unsafe { slice::from_raw_parts((table + HEADER_BYTES) as *const [i32; 2], count as usize) };
        Some(Self { table, entries })
    }

    /// Start of the function that an address lies in.
    pub fn containing(&self, address: usize) -> Option<usize> {
        let start = |entry: &[i32; 2]| self.table.wrapping_add_signed(entry[0] as isize);
        let after = self.entries.partition_point(|entry| start(entry) <= address);
        self.entries.get(after.checked_sub(1)?).map(start)
    }
}
