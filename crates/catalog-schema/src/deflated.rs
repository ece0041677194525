//! Bytes that take less room in the binary: DEFLATE (RFC 1951), after their length in four bytes, least significant
//! first.

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_slice_iter_to_slice;

/// The best that the compressor can do: what is embedded is compressed once, in the build.
const LEVEL: u8 = 10;

/// The bytes, compressed.
///
/// # Panics
/// They are 4 GiB or more.
pub fn deflate(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("less than 4 GiB");
    let mut all = length.to_le_bytes().to_vec();
    all.extend(compress_to_vec(bytes, LEVEL));
    all
}

/// What [`deflate`] compressed; nothing if these bytes are not from there, or not all of them.
pub fn inflate(deflated: &[u8]) -> Option<Vec<u8>> {
    let (length, stream) = deflated.split_first_chunk::<4>()?;
    // A stream of DEFLATE has at most 1032 times its size: a length beyond that is none.
    let length = u32::from_le_bytes(*length) as usize;
    if length > stream.len().saturating_mul(1032) {
        return None;
    }
    let mut bytes = vec![0; length];
    let inflated = decompress_slice_iter_to_slice(&mut bytes, std::iter::once(stream), false, true).ok()?;
    (inflated == length).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_come_back() {
        let many: Vec<u8> = (0..100_000_u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).collect();
        for bytes in [&b""[..], b"a", &[0; 70_000], &many] {
            assert_eq!(inflate(&deflate(bytes)).as_deref(), Some(bytes), "of {} bytes", bytes.len());
        }
        assert!(deflate(&[0; 70_000]).len() < 200, "smaller");
    }

    /// A stored block by hand: RFC 1951, 3.2.4. 01: the last block, stored; 2 bytes, and their complement.
    #[test]
    fn a_stream_by_hand() {
        let stream = [1, 2, 0, 0xFD, 0xFF, b'o', b'k'];
        let of_length = |length: u8| inflate(&[&[length, 0, 0, 0][..], &stream].concat());
        assert_eq!(of_length(2).as_deref(), Some(&b"ok"[..]));
        assert_eq!(of_length(3), None, "one byte more than there is");
        assert_eq!(of_length(1), None, "one byte less");
        assert_eq!(inflate(&[2, 0, 0, 0, 1, 2, 0, 0xFD]), None, "broken off");
        assert_eq!(inflate(&[0xFF, 0xFF, 0xFF, 0xFF, 3, 0]), None, "a length that no stream of two bytes has");
        assert_eq!(inflate(&[1, 0]), None, "no length");
    }
}
