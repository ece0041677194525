//! Framing of the gdb remote protocol: `$payload#checksum`, with escapes and run lengths.

/// Bytes of a payload beyond which the peer is not a gdb stub: QEMU's packets end at 4096, doubled by encoding.
pub const MOST_PAYLOAD: usize = 64 * 1024;

/// A payload in a frame, ready to send.
pub fn encode(payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![b'$'];
    for &byte in payload {
        if matches!(byte, b'$' | b'#' | b'}' | b'*') {
            frame.extend([b'}', byte ^ 0x20]);
        } else {
            frame.push(byte);
        }
    }
    let sum = checksum(&frame[1..]);
    frame.extend(format!("#{sum:02x}").bytes());
    frame
}

fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, &byte| sum.wrapping_add(byte))
}

/// A frame that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// Checksum.
    #[error("checksum {found:#04x} where the packet adds up to {computed:#04x}")]
    Checksum {
        /// As sent.
        found: u8,
        /// As it should be.
        computed: u8,
    },
    /// Not two hexadecimal digits after `#`.
    #[error("a packet ends without its two-digit checksum")]
    NoChecksum,
    /// A run length below the smallest, or of nothing.
    #[error("a run length repeats nothing")]
    Run,
    /// `}` ends the packet.
    #[error("an escape at the end of a packet")]
    Escape,
    /// Longer than any stub's.
    #[error("a packet of more than {MOST_PAYLOAD} bytes")]
    TooLong,
}

/// Cuts a stream of bytes into payloads. Acknowledgements and bytes between packets are dropped, as the protocol asks.
#[derive(Debug, Default)]
pub struct Decoder {
    pending: Vec<u8>,
}

impl Decoder {
    /// Takes in bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// The next complete payload.
    ///
    /// # Errors
    /// [`PacketError`]; the offending packet is consumed.
    pub fn next_payload(&mut self) -> Result<Option<Vec<u8>>, PacketError> {
        let Some(start) = self.pending.iter().position(|&byte| byte == b'$') else {
            self.pending.clear();
            return Ok(None);
        };
        self.pending.drain(..start);
        let Some(end) = self.pending.iter().position(|&byte| byte == b'#') else {
            if self.pending.len() > MOST_PAYLOAD {
                self.pending.clear();
                return Err(PacketError::TooLong);
            }
            return Ok(None);
        };
        let Some(digits) = self.pending.get(end + 1..end + 3) else { return Ok(None) };
        let found = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let found = found.and_then(|text| u8::from_str_radix(text, 16).ok());
        let body: Vec<u8> = self.pending.drain(..end + 3).skip(1).take(end - 1).collect();
        let found = found.ok_or(PacketError::NoChecksum)?;
        let computed = checksum(&body);
        if found != computed {
            return Err(PacketError::Checksum { found, computed });
        }
        unpack(&body).map(Some)
    }
}

/// Undoes escapes and run lengths.
fn unpack(body: &[u8]) -> Result<Vec<u8>, PacketError> {
    let mut payload = Vec::with_capacity(body.len());
    let mut bytes = body.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'}' => payload.push(bytes.next().ok_or(PacketError::Escape)? ^ 0x20),
            // The count is a printable character, 29 more than the further repeats; the least is 3.
            b'*' => {
                let count = bytes.next().and_then(|count| count.checked_sub(29)).filter(|&count| count >= 3);
                let (count, &last) = count.zip(payload.last()).ok_or(PacketError::Run)?;
                payload.extend(std::iter::repeat_n(last, usize::from(count)));
            }
            plain => payload.push(plain),
        }
        if payload.len() > MOST_PAYLOAD {
            return Err(PacketError::TooLong);
        }
    }
    Ok(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> Result<Option<Vec<u8>>, PacketError> {
        let mut decoder = Decoder::default();
        decoder.push(bytes);
        decoder.next_payload()
    }

    /// The examples of the protocol's manual (GDB, appendix E.1).
    #[test]
    fn the_manuals_run_length_example() {
        assert_eq!(decode(b"+$0* #7a"), Ok(Some(b"0000".to_vec())));
        assert_eq!(decode(b"$OK#9a"), Ok(Some(b"OK".to_vec())));
    }

    #[test]
    fn what_is_encoded_decodes() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)), Ok(Some(all)));
    }

    #[test]
    fn a_packet_may_come_byte_by_byte_and_another_after_it() {
        let mut decoder = Decoder::default();
        for &byte in b"+$OK#9a" {
            assert_eq!(decoder.next_payload(), Ok(None));
            decoder.push(&[byte]);
        }
        decoder.push(b"+$T05#b9");
        assert_eq!(decoder.next_payload(), Ok(Some(b"OK".to_vec())));
        assert_eq!(decoder.next_payload(), Ok(Some(b"T05".to_vec())));
        assert_eq!(decoder.next_payload(), Ok(None));
    }

    /// The longest payload may come in pieces, and a run length may make it so long; what is longer is no stub's.
    #[test]
    fn a_payload_has_64_kilobytes_at_most() {
        let mut decoder = Decoder::default();
        decoder.push(b"$");
        decoder.push(&vec![b'x'; MOST_PAYLOAD - 1]);
        assert_eq!(decoder.next_payload(), Ok(None), "it may still end");
        // 65,535 times 0x78, modulo 256: 0x88.
        decoder.push(b"#88");
        assert_eq!(decoder.next_payload(), Ok(Some(vec![b'x'; MOST_PAYLOAD - 1])));
        decoder.push(b"$");
        decoder.push(&vec![b'x'; MOST_PAYLOAD]);
        assert_eq!(decoder.next_payload(), Err(PacketError::TooLong));
        decoder.push(b"$OK#9a");
        assert_eq!(decoder.next_payload(), Ok(Some(b"OK".to_vec())));
        // `x*~` is x and 97 more of it. 668 times 98 and 72 are 65,536.
        let longest = [b"x*~".repeat(668), vec![b'x'; 72]].concat();
        assert_eq!(unpack(&longest).map(|payload| payload.len()), Ok(MOST_PAYLOAD));
        assert_eq!(unpack(&[&longest[..], b"x"].concat()), Err(PacketError::TooLong));
    }

    /// GDB's manual, E.1: the count is a printable character, 29 more than the repeats; three at least. What has a
    /// meaning is escaped with its sixth bit turned over.
    #[test]
    fn run_lengths_begin_at_three_and_escapes_turn_a_bit_over() {
        assert_eq!(unpack(b"a* b"), Ok(b"aaaab".to_vec()));
        assert_eq!([unpack(b"a*\x1f"), unpack(b"a*\x1c"), unpack(b"a*")], [const { Err(PacketError::Run) }; 3]);
        assert_eq!(unpack(b"a}\x03}\x5d"), Ok(b"a#}".to_vec()));
        assert_eq!(encode(b"a#$}*"), b"$a}\x03}\x04}\x5d}\x0a#c3");
    }

    #[test]
    fn broken_packets_are_named_and_skipped() {
        let mut decoder = Decoder::default();
        decoder.push(b"$OK#00$OK#zz$*!#4b$}#7d$OK#9a");
        assert_eq!(decoder.next_payload(), Err(PacketError::Checksum { found: 0, computed: 0x9a }));
        assert_eq!(decoder.next_payload(), Err(PacketError::NoChecksum));
        assert_eq!(decoder.next_payload(), Err(PacketError::Run));
        assert_eq!(decoder.next_payload(), Err(PacketError::Escape));
        assert_eq!(decoder.next_payload(), Ok(Some(b"OK".to_vec())));
    }
}
