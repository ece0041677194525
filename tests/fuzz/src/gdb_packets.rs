//! Any bytes from a gdb stub: the same packets however they are cut, and each one encodes to itself.

use pericore_doors::guest::gdb::Registers;
use pericore_doors::guest::gdb::packet::{Decoder, PacketError, encode};
use pericore_doors::guest::gdb::reply::{self, Stop};

fn packets(chunks: impl Iterator<Item = impl AsRef<[u8]>>) -> Vec<Result<Vec<u8>, PacketError>> {
    let (mut decoder, mut packets) = (Decoder::default(), Vec::new());
    for chunk in chunks {
        decoder.push(chunk.as_ref());
        packets.extend(std::iter::from_fn(|| decoder.next_payload().transpose()));
    }
    packets
}

/// Any bytes.
pub fn run(data: &[u8]) {
    let Some((&cut, bytes)) = data.split_first() else { return };
    let whole = packets(std::iter::once(bytes));
    assert_eq!(whole, packets(bytes.chunks(usize::from(cut).max(1))));
    for payload in whole.into_iter().flatten() {
        assert_eq!(packets(std::iter::once(encode(&payload))), [Ok(payload.clone())]);
        let _ = (Stop::parse(&payload), Registers::parse(&payload));
        if let Some(bytes) = reply::hex(&payload) {
            assert!(reply::to_hex(&bytes).eq_ignore_ascii_case(&String::from_utf8(payload).unwrap()));
        }
    }
}
