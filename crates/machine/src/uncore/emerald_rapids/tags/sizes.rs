//! Sizes of the caches, which are known when the model is compiled.

/// Sets of the L2, as a power of two, and its ways: 2 MB (Intel optimization manual, Golden Cove server).
pub const L2_SET_BITS: u32 = 11;
pub const L2_WAYS: usize = 16;
/// Sets of a slice, as a power of two, and its ways: 5 MB (vendor's product data: 320 MB in 64 slices; ways are an
/// assumption).
pub const SLICE_SET_BITS: u32 = 12;
pub const SLICE_WAYS: usize = 20;

/// Bytes of an L2, and of a slice.
pub const L2_BYTES: u64 = (L2_WAYS as u64) << (L2_SET_BITS + 6);
pub const SLICE_BYTES: u64 = (SLICE_WAYS as u64) << (SLICE_SET_BITS + 6);
