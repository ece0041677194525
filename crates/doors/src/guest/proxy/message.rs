//! Messages of QEMU's multi-process protocol, as QEMU 7.2 has them: a header of 16 bytes, then up to 192 bytes of data. All numbers
//! are little-endian; structures are laid out as C lays them out on x86-64.

/// Bytes of a header.
pub const HEADER_BYTES: usize = 16;
/// The most data that a message has: eight regions of three quadwords.
pub const MOST_DATA: u64 = 192;

/// A header that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// Unknown command.
    #[error("command {0} is not in the protocol of QEMU 7.2")]
    Command(i32),
    /// The data's size does not fit the command.
    #[error("command {command} came with {size} bytes of data")]
    Size {
        /// Command.
        command: i32,
        /// Size that the header gives.
        size: u64,
    },
    /// A cycle of a width that no bus has.
    #[error("an access of {0} bytes")]
    Width(u32),
}

/// What a header announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    command: Command,
    /// Bytes of data that follow.
    pub size: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    SyncMemory,
    Reply,
    ConfigWrite,
    ConfigRead,
    BarWrite,
    BarRead,
    SetInterrupt,
    Reset,
}

/// A message from QEMU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// Something that a device without DMA and interrupts need not act on, and that expects no answer.
    Ignored,
    /// A configuration read; answer with the value.
    ConfigRead {
        /// Byte offset.
        offset: u32,
        /// Bytes: 1, 2 or 4.
        bytes: u8,
    },
    /// A configuration write; answer with anything.
    ConfigWrite {
        /// Byte offset.
        offset: u32,
        /// Bytes: 1, 2 or 4.
        bytes: u8,
        /// Value.
        value: u32,
    },
    /// A load from a BAR; answer with the value.
    MemoryRead {
        /// Physical address.
        physical: u64,
        /// Bytes: 1, 2, 4 or 8.
        bytes: u8,
    },
    /// A store to a BAR; answer with anything.
    MemoryWrite {
        /// Physical address.
        physical: u64,
        /// Bytes: 1, 2, 4 or 8.
        bytes: u8,
        /// Value.
        value: u64,
    },
    /// Device reset; answer with anything.
    Reset,
}

impl Header {
    /// Reads a header.
    ///
    /// # Errors
    /// [`MessageError`] if the command is unknown or cannot have so much data.
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Self, MessageError> {
        let number = i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let size = quadword(bytes, 8);
        // enum MPQemuCmd, in its order.
        let (command, expected) = match number {
            0 => (Command::SyncMemory, MOST_DATA),
            1 => (Command::Reply, 8),
            2 => (Command::ConfigWrite, 12),
            3 => (Command::ConfigRead, 12),
            4 => (Command::BarWrite, 24),
            5 => (Command::BarRead, 24),
            6 => (Command::SetInterrupt, 0),
            7 => (Command::Reset, 0),
            unknown => return Err(MessageError::Command(unknown)),
        };
        if size != expected {
            return Err(MessageError::Size { command: number, size });
        }
        Ok(Self { command, size: size as usize })
    }
}

impl Message {
    /// Reads the data of a message.
    ///
    /// # Errors
    /// [`MessageError`] if the data are shorter than announced, or the access has an impossible width.
    pub fn parse(header: Header, data: &[u8]) -> Result<Self, MessageError> {
        if data.len() != header.size {
            return Err(MessageError::Size { command: header.command as i32, size: data.len() as u64 });
        }
        // struct PciConfDataMsg: address, value, length. struct BarAccessMsg: address, value, size, is-memory.
        Ok(match header.command {
            Command::SyncMemory | Command::Reply | Command::SetInterrupt => Self::Ignored,
            Command::Reset => Self::Reset,
            Command::ConfigRead => Self::ConfigRead { offset: dword(data, 0), bytes: width(dword(data, 8), 4)? },
            Command::ConfigWrite => {
                Self::ConfigWrite { offset: dword(data, 0), bytes: width(dword(data, 8), 4)?, value: dword(data, 4) }
            }
            Command::BarRead => Self::MemoryRead { physical: quadword(data, 0), bytes: width(dword(data, 16), 8)? },
            Command::BarWrite => Self::MemoryWrite {
                physical: quadword(data, 0),
                bytes: width(dword(data, 16), 8)?,
                value: quadword(data, 8),
            },
        })
    }
}

/// An answer, ready to send.
pub fn reply(value: u64) -> [u8; HEADER_BYTES + 8] {
    let mut bytes = [0; HEADER_BYTES + 8];
    bytes[0] = Command::Reply as u8;
    bytes[8] = 8;
    bytes[HEADER_BYTES..].copy_from_slice(&value.to_le_bytes());
    bytes
}

fn width(bytes: u32, most: u8) -> Result<u8, MessageError> {
    match bytes {
        1 | 2 | 4 | 8 if bytes <= u32::from(most) => Ok(bytes as u8),
        other => Err(MessageError::Width(other)),
    }
}

fn dword(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte))
}

fn quadword(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(command: i32, size: u64) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&command.to_le_bytes());
        bytes[8..].copy_from_slice(&size.to_le_bytes());
        bytes
    }

    #[test]
    fn a_store_of_eight_bytes() {
        let header = Header::parse(&header(4, 24)).unwrap();
        let mut data = [0; 24];
        data[..8].copy_from_slice(&0xf002_2840_u64.to_le_bytes());
        data[8..16].copy_from_slice(&0xcf05_u64.to_le_bytes());
        data[16] = 8;
        data[20] = 1;
        let expected = Message::MemoryWrite { physical: 0xf002_2840, bytes: 8, value: 0xcf05 };
        assert_eq!(Message::parse(header, &data), Ok(expected));
        data[16] = 3;
        assert_eq!(Message::parse(header, &data), Err(MessageError::Width(3)));
        assert_eq!(Message::parse(header, &data[..23]), Err(MessageError::Size { command: 4, size: 23 }));
    }

    /// struct PciConfDataMsg: address, value, length; a configuration cycle has four bytes at most.
    #[test]
    fn configuration_cycles() {
        let data = |offset: u32, value: u32, bytes: u32| [offset, value, bytes].map(u32::to_le_bytes).concat();
        let parse = |command, data: &[u8]| Message::parse(Header::parse(&header(command, 12)).unwrap(), data);
        let read = Message::ConfigRead { offset: 0x10, bytes: 2 };
        assert_eq!(parse(3, &data(0x10, 9, 2)), Ok(read));
        let write = Message::ConfigWrite { offset: 0x0102, bytes: 4, value: 0x8765_4321 };
        assert_eq!(parse(2, &data(0x0102, 0x8765_4321, 4)), Ok(write));
        for bytes in [0, 3, 8, 256 + 4] {
            assert_eq!(parse(3, &data(0, 0, bytes)), Err(MessageError::Width(bytes)));
        }
    }

    /// Each command comes with as much data as its structure has, and no other amount.
    #[test]
    fn each_command_has_its_size() {
        for (command, size) in [(0, 192), (1, 8), (2, 12), (3, 12), (4, 24), (5, 24), (6, 0), (7, 0)] {
            assert_eq!(Header::parse(&header(command, size)).map(|header| header.size), Ok(size as usize));
            let more = Header::parse(&header(command, size + 1));
            assert_eq!(more, Err(MessageError::Size { command, size: size + 1 }));
        }
        let parsed = |command, size: usize| {
            Message::parse(Header::parse(&header(command, size as u64)).unwrap(), &vec![0; size])
        };
        assert_eq!([parsed(0, 192), parsed(1, 8), parsed(6, 0)], [const { Ok(Message::Ignored) }; 3]);
        assert_eq!(parsed(7, 0), Ok(Message::Reset));
    }

    #[test]
    fn impossible_headers() {
        assert_eq!(Header::parse(&header(8, 0)), Err(MessageError::Command(8)));
        assert_eq!(Header::parse(&header(-1, 0)), Err(MessageError::Command(-1)));
        assert_eq!(Header::parse(&header(3, u64::MAX)), Err(MessageError::Size { command: 3, size: u64::MAX }));
    }

    #[test]
    fn a_reply_reads_as_one() {
        let bytes = reply(0x0123_4567_89ab_cdef);
        let head = Header::parse(bytes.first_chunk().unwrap()).unwrap();
        assert_eq!((head.command, quadword(&bytes, 16)), (Command::Reply, 0x0123_4567_89ab_cdef));
    }
}
