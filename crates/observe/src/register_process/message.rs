//! What goes over a connection to the register process: frames of fixed records in the machine's byte order, which both
//! ends share.
//!
//! A frame is a kind, a number of records and a number of bytes of text, each of 32 bits; then the records of 32 bytes;
//! then the text. A request has operations as records, a reply outcomes. Buffers are kept: once they have grown,
//! nothing is allocated.

use std::io::{self, Read, Write};

use pericore_registers::{AccessError, Address, Bdf, Operation, Outcome, Width};

use crate::linux::REMEDIES;

/// Bytes of a frame's head, and of a record.
const HEAD: usize = 12;
const RECORD: usize = 32;

/// Bytes that are received at once: the lists of most sockets.
const FIRST: usize = 1 << 14;

/// Records and bytes of text in a frame at most: discovery of eight sockets takes a hundredth of that.
const MOST_RECORDS: usize = 1 << 20;
const MOST_TEXT: usize = 1 << 22;

/// What a frame is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum MessageKind {
    /// Carry a list out.
    Operations = 1,
    /// Look for the units that the text names, one a line.
    Discover,
    /// Open now what these operations need.
    Hold,
    /// Give up the rights that nothing takes any more.
    GiveUp,
    /// The journal of the session that begins is at the path in the text.
    Journal,
    /// This process ends by itself: nothing is left to put back but what it has reported.
    Leave,
    /// A connection, whose socket comes along, for the socket of the machine in the text; none for any.
    Connect,
    /// Outcomes of a list.
    Outcomes,
    /// What discovery read: an operation and its outcome in turn. The text has the PCI segments.
    Found,
    /// It is done; or not, and the text says why not.
    Done,
    /// It is refused.
    Refused,
}

impl MessageKind {
    fn of(number: u32) -> Option<Self> {
        use MessageKind::{
            Connect, Discover, Done, Found, GiveUp, Hold, Journal, Leave, Operations, Outcomes, Refused,
        };
        let all = [Operations, Discover, Hold, GiveUp, Journal, Leave, Connect, Outcomes, Found, Done, Refused];
        all.into_iter().find(|kind| *kind as u32 == number)
    }
}

/// A frame that is put together, or that came.
#[derive(Debug)]
pub(super) struct Frame {
    bytes: Vec<u8>,
    records: usize,
    text: Vec<u8>,
}

impl Default for Frame {
    /// With room for the lists of a large socket.
    fn default() -> Self {
        Self { bytes: Vec::with_capacity(1 << 16), records: 0, text: Vec::with_capacity(1 << 10) }
    }
}

impl Frame {
    /// Begins a frame.
    pub(super) fn begin(&mut self) {
        self.bytes.clear();
        self.bytes.resize(HEAD, 0);
        self.text.clear();
        self.records = 0;
    }

    /// Adds text.
    pub(super) fn push_text(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
    }

    /// The text.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    fn push(&mut self, record: [u8; RECORD]) {
        self.bytes.extend_from_slice(&record);
        self.records += 1;
    }

    /// Adds an operation with the bits that it keeps.
    pub(super) fn push_operation(&mut self, operation: Operation, keeps: u64) {
        let (is_write, value) = match operation {
            Operation::Read { .. } => (0, 0),
            Operation::Write { value, .. } => (1, value),
        };
        let (space, a, b) = packed(operation.address());
        let width = u8::try_from(operation.width().bytes()).unwrap_or(0);
        let mut record = [0; RECORD];
        record[..4].copy_from_slice(&[is_write, space, width, 0]);
        record[4..8].copy_from_slice(&a.to_ne_bytes());
        record[8..16].copy_from_slice(&b.to_ne_bytes());
        record[16..24].copy_from_slice(&value.to_ne_bytes());
        record[24..].copy_from_slice(&keeps.to_ne_bytes());
        self.push(record);
    }

    /// Adds what came of an operation.
    pub(super) fn push_outcome(&mut self, outcome: &Outcome<u64>) {
        let (tag, value) = match outcome {
            Ok(value) => (0, *value),
            Err(AccessError::GeneralProtection { .. }) => (1, 0),
            Err(AccessError::Unreachable { .. }) => (2, 0),
            Err(AccessError::BadCycle { .. }) => (3, 0),
            Err(AccessError::Permission { remedy, .. }) => {
                let known = REMEDIES.iter().position(|known| known == remedy);
                (4, known.unwrap_or(usize::MAX) as u64)
            }
            Err(AccessError::Io { message, .. }) => {
                self.text.extend_from_slice(message.as_bytes());
                (5, message.len() as u64)
            }
        };
        let mut record = [0; RECORD];
        record[0] = tag;
        record[8..16].copy_from_slice(&u64::to_ne_bytes(value));
        self.push(record);
    }

    /// How many records there are.
    pub(super) const fn records(&self) -> usize {
        self.records
    }

    fn record(&self, index: usize) -> io::Result<&[u8; RECORD]> {
        let start = HEAD + index * RECORD;
        let record = self.bytes.get(start..start + RECORD).and_then(|record| record.try_into().ok());
        record.ok_or_else(damaged)
    }

    /// An operation, and the bits that it keeps.
    pub(super) fn operation(&self, index: usize) -> io::Result<(Operation, u64)> {
        let record = self.record(index)?;
        let address = unpacked(record[1], number32(&record[4..8]), number64(&record[8..16])).ok_or_else(damaged)?;
        let widths = [Width::B1, Width::B2, Width::B4, Width::B8];
        let width = widths.into_iter().find(|width| width.bytes() == u16::from(record[2])).ok_or_else(damaged)?;
        let (value, keeps) = (number64(&record[16..24]), number64(&record[24..]));
        match record[0] {
            0 => Ok((Operation::Read { address, width }, 0)),
            1 if value & !width.mask() == 0 => Ok((Operation::Write { address, width, value }, keeps)),
            _ => Err(damaged()),
        }
    }

    /// What came of an operation; `read` bytes of the text belong to outcomes before.
    pub(super) fn outcome(&self, index: usize, of: Operation, read: &mut usize) -> io::Result<Outcome<u64>> {
        let record = self.record(index)?;
        let (address, value) = (of.address(), number64(&record[8..16]));
        Ok(match record[0] {
            0 => Ok(value),
            1 => Err(AccessError::GeneralProtection { address }),
            2 => Err(AccessError::Unreachable { address }),
            3 => Err(AccessError::BadCycle { address, width: of.width() }),
            4 => {
                let index = usize::try_from(value).unwrap_or(usize::MAX);
                Err(AccessError::Permission { address, remedy: REMEDIES.get(index).ok_or_else(damaged)? })
            }
            5 => {
                let end =
                    usize::try_from(value).ok().and_then(|length| read.checked_add(length)).ok_or_else(damaged)?;
                let text = self.text.get(*read..end).ok_or_else(damaged)?;
                *read = end;
                Err(AccessError::Io { address, message: String::from_utf8_lossy(text).into_owned() })
            }
            _ => return Err(damaged()),
        })
    }

    /// Sends the frame.
    pub(super) fn send(&mut self, kind: MessageKind, to: &mut impl Write) -> io::Result<()> {
        self.finish(kind)?;
        to.write_all(&self.bytes)
    }

    /// The frame's bytes, for a message that takes a socket along.
    pub(super) fn finish(&mut self, kind: MessageKind) -> io::Result<&[u8]> {
        let small = |number: usize, most: usize| u32::try_from(number).ok().filter(|_| number <= most);
        let too_large = || io::Error::from(io::ErrorKind::InvalidInput);
        let records = small(self.records, MOST_RECORDS).ok_or_else(too_large)?;
        let text = small(self.text.len(), MOST_TEXT).ok_or_else(too_large)?;
        for (place, number) in self.bytes.chunks_exact_mut(4).zip([kind as u32, records, text]) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        self.bytes.extend_from_slice(&self.text);
        Ok(&self.bytes)
    }

    /// Receives a frame; nothing if the other end has closed the connection between two frames.
    ///
    /// # Errors
    /// The system's, and `InvalidData` for what is no frame, or is larger than any.
    pub(super) fn receive(&mut self, from: &mut impl Read) -> io::Result<Option<MessageKind>> {
        self.begin();
        // Nobody sends a second frame before the reply to the first: what is there belongs to this one.
        self.bytes.resize(FIRST, 0);
        let mut filled = 0;
        while filled < HEAD {
            match from.read(&mut self.bytes[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let head = |at: usize| number32(&self.bytes[4 * at..4 * at + 4]) as usize;
        let (kind, records, text) = (head(0), head(1), head(2));
        let kind = u32::try_from(kind).ok().and_then(MessageKind::of).ok_or_else(damaged)?;
        if records > MOST_RECORDS || text > MOST_TEXT {
            return Err(damaged());
        }
        let end = HEAD + records * RECORD;
        if filled > end + text {
            return Err(damaged());
        }
        self.bytes.resize(end + text, 0);
        from.read_exact(&mut self.bytes[filled..])?;
        self.text.extend_from_slice(&self.bytes[end..]);
        self.bytes.truncate(end);
        self.records = records;
        Ok(Some(kind))
    }
}

/// The space of an address, and its numbers.
fn packed(address: Address) -> (u8, u32, u64) {
    match address {
        Address::Msr { cpu, msr } => (0, cpu, msr.into()),
        Address::Pci { bdf: Bdf { segment, bus, device, function }, offset } => {
            let function = u32::from(bus) << 16 | u32::from(device) << 8 | u32::from(function);
            (1, function, u64::from(segment) << 16 | u64::from(offset))
        }
        Address::Mmio { physical } => (2, 0, physical),
    }
}

fn unpacked(space: u8, a: u32, b: u64) -> Option<Address> {
    let byte = |shift: u32| (a >> shift & 0xff) as u8;
    match space {
        0 => Some(Address::Msr { cpu: a, msr: u32::try_from(b).ok()? }),
        1 => {
            let both = u32::try_from(b).ok()?;
            let bdf = Bdf { segment: (both >> 16) as u16, bus: byte(16), device: byte(8), function: byte(0) };
            Some(Address::Pci { bdf, offset: both as u16 })
        }
        2 => Some(Address::Mmio { physical: b }),
        _ => None,
    }
}

fn number32(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_ne_bytes)
}

fn number64(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_ne_bytes)
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not a message of the register process")
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
