//! A digest for names of cached files.

/// FNV-1a, 64 bits: it tells texts apart, and not forgeries.
pub fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
