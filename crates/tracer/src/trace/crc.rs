//! CRC-32 (ISO-HDLC: the polynomial of Ethernet and zlib), a byte at a time.

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ 0xEDB8_8320 } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
};

/// The checksum of some pieces, one after the other.
pub fn crc32(pieces: &[&[u8]]) -> u32 {
    let step = |crc: u32, byte: &u8| TABLE[usize::from(crc as u8 ^ byte)] ^ crc >> 8;
    !pieces.iter().flat_map(|piece| piece.iter()).fold(!0, step)
}
