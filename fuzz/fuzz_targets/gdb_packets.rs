//! Any bytes from a gdb stub: the same packets however they are cut, and each one encodes to itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
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

fuzz_target!(|input: (u8, &[u8])| {
    let (cut, bytes) = input;
    let whole = packets(std::iter::once(bytes));
    assert_eq!(whole, packets(bytes.chunks(usize::from(cut).max(1))));
    for payload in whole.into_iter().flatten() {
        assert_eq!(packets(std::iter::once(encode(&payload))), [Ok(payload.clone())]);
        let _ = (Stop::parse(&payload), Registers::parse(&payload));
        if let Some(bytes) = reply::hex(&payload) {
            assert!(reply::to_hex(&bytes).eq_ignore_ascii_case(&String::from_utf8(payload).unwrap()));
        }
    }
});
