//! Serves the proxy device's socket.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};

use pericore_registers::{Address, Operation, Width};

use super::config::ConfigSpace;
use super::message::{self, HEADER_BYTES, Header, Message, MessageError};
use crate::guest::clock::GuestClock;
use crate::guest::hardware::Hardware;

/// The proxy connection failed.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// The connection.
    #[error("the memory proxy's connection to QEMU broke ({0}); QEMU's own messages tell why")]
    Io(#[from] io::Error),
    /// Not the protocol.
    #[error("QEMU's x-pci-proxy-dev sent {0}; the protocol is private to QEMU, and 7.2 is known to work")]
    Message(#[from] MessageError),
}

/// Answers until QEMU hangs up.
///
/// # Errors
/// [`ProxyError`] if what comes is not the protocol. QEMU then waits for an answer for ever: end it.
pub fn serve(
    mut stream: UnixStream,
    mut config: ConfigSpace,
    hardware: &Mutex<Hardware>,
    clock: &GuestClock,
) -> Result<(), ProxyError> {
    let mut header = [0; HEADER_BYTES];
    let mut data = [0; message::MOST_DATA as usize];
    loop {
        // File descriptors that come along are for DMA and interrupts, of which the machine has none: reading without asking for
        // them drops them.
        match stream.read(&mut header[..1]) {
            Ok(0) => return Ok(()),
            Ok(_) => stream.read_exact(&mut header[1..])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let header = Header::parse(&header)?;
        let data = &mut data[..header.size];
        stream.read_exact(data)?;
        let access = |operation| {
            let mut hardware = hardware.lock().unwrap_or_else(PoisonError::into_inner);
            // The clock is read under the lock, so that accesses happen in the order of their times.
            let now = clock.now();
            hardware.access(operation, now).and_then(Result::ok)
        };
        let answer = match Message::parse(header, data)? {
            Message::Ignored => continue,
            Message::Reset => 0,
            Message::ConfigRead { offset, bytes } => config.read(offset, bytes),
            Message::ConfigWrite { offset, bytes, value } => {
                config.write(offset, bytes, value);
                0
            }
            Message::MemoryRead { physical, bytes } => {
                access(Operation::Read { address: Address::Mmio { physical }, width: width(bytes) }).unwrap_or(u64::MAX)
            }
            Message::MemoryWrite { physical, bytes, value } => {
                let width = width(bytes);
                let value = value & width.mask();
                access(Operation::Write { address: Address::Mmio { physical }, width, value });
                0
            }
        };
        stream.write_all(&message::reply(answer))?;
    }
}

const fn width(bytes: u8) -> Width {
    match bytes {
        1 => Width::B1,
        2 => Width::B2,
        4 => Width::B4,
        _ => Width::B8,
    }
}

#[cfg(test)]
mod tests;
