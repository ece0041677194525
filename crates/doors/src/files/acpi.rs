//! The ACPI table that tells where memory-mapped configuration space is. Tools read it to learn the PCI segments and buses.

/// Where the table says configuration space is. Nothing is there: the doors are files.
const WINDOW: u64 = 0x8000_0000;

/// An MCFG table of one segment with 256 buses (PCI Firmware Specification 3.0, table 4-2).
pub fn mcfg() -> Vec<u8> {
    let mut table = Vec::new();
    table.extend(b"MCFG");
    table.extend(60u32.to_le_bytes());
    // Revision, checksum.
    table.extend([1, 0]);
    table.extend(b"PERICO");
    table.extend(b"PERICORE");
    table.extend(1u32.to_le_bytes());
    table.extend(b"PERI");
    table.extend(1u32.to_le_bytes());
    table.extend([0; 8]);
    table.extend(WINDOW.to_le_bytes());
    // Segment, first bus, last bus.
    table.extend([0, 0, 0, 255]);
    table.extend([0; 4]);
    let sum = table.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    table[9] = sum.wrapping_neg();
    table
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_is_as_long_as_it_says_and_sums_to_zero() {
        let table = super::mcfg();
        assert_eq!(table.len(), 60);
        assert_eq!(table.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)), 0);
    }
}
