//! Lines: their size, where they lie in memory, and who gets those that a hash would give to nobody.

/// Bytes of a line.
pub const LINE_BYTES: u64 = 64;

/// A line's place in a memory channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// Channel, numbered over the machine's sockets.
    pub channel: u16,
    /// Bank of the channel, ranks counted in.
    pub bank: u8,
    /// Row of the bank.
    pub row: u32,
}

/// The slice, among so many, of a line whose hash names one that is not in use (assumption: hashes of parts whose slices are no power of two
/// are not published; this one is even, and leaves all other lines where they are).
#[inline]
pub const fn deal(line: u32, slices: u8) -> u8 {
    (((line.wrapping_mul(0x9E37_79B1) >> 8) as u64 * slices as u64) >> 24) as u8
}
