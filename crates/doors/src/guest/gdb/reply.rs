//! What the stub's payloads mean.

/// General registers of an x86-64 vCPU, by their number in the stub's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Register {
    /// RAX.
    Rax = 0,
    /// RSP.
    Rsp = 7,
    /// RIP.
    Rip = 16,
}

/// The registers that calls of kernel functions use: a register list (`g`) cut to its first 17.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    values: [u64; 17],
}

impl Registers {
    /// Reads a register list: 17 little-endian quadwords in hexadecimal, then more that is not looked at.
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let bytes = hex(payload.get(..17 * 16)?)?;
        let mut values = [0; 17];
        for (value, bytes) in values.iter_mut().zip(bytes.chunks_exact(8)) {
            *value = little_endian(bytes);
        }
        Some(Self { values })
    }

    /// Integer argument `index` of the System V calling convention, 0 to 5.
    pub const fn argument(&self, index: usize) -> u64 {
        // RDI, RSI, RDX, RCX, R8, R9.
        const PLACES: [usize; 6] = [5, 4, 3, 2, 8, 9];
        self.values[PLACES[index]]
    }

    /// The stack pointer.
    pub const fn rsp(&self) -> u64 {
        self.values[Register::Rsp as usize]
    }

    /// The instruction pointer.
    pub const fn rip(&self) -> u64 {
        self.values[Register::Rip as usize]
    }
}

/// Why the guest is not running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// By a signal: 5 at a breakpoint or after a step, 2 after an interrupt.
    Signal {
        /// Number.
        signal: u8,
        /// The vCPU that stopped, from 0.
        cpu: u32,
    },
    /// The machine is gone.
    Exited,
}

impl Stop {
    /// Reads a stop reply (`S05`, `T05thread:…`, `W00`, `X09`).
    pub fn parse(payload: &[u8]) -> Option<Self> {
        match payload.split_first()? {
            (b'S' | b'T', rest) => {
                let (digits, details) = rest.split_at_checked(2)?;
                Some(Self::Signal {
                    signal: *hex(digits)?.first()?,
                    cpu: thread(details).unwrap_or(1).saturating_sub(1),
                })
            }
            (b'W' | b'X', _) => Some(Self::Exited),
            _ => None,
        }
    }
}

/// The number after `thread:`; QEMU counts vCPUs from 1.
fn thread(details: &[u8]) -> Option<u32> {
    let details = std::str::from_utf8(details).ok()?;
    let number = details.split(';').find_map(|detail| detail.strip_prefix("thread:"))?;
    u32::from_str_radix(number, 16).ok()
}

/// Bytes from hexadecimal digits.
pub fn hex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

/// Hexadecimal digits of bytes.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A number from at most eight little-endian bytes.
pub fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_follow_the_calling_convention() {
        let list: String = (0..24u64).map(|value| to_hex(&value.to_le_bytes())).collect();
        let registers = Registers::parse(list.as_bytes()).unwrap();
        let arguments: Vec<u64> = (0..6).map(|index| registers.argument(index)).collect();
        assert_eq!(arguments, [5, 4, 3, 2, 8, 9]);
        assert_eq!((registers.rsp(), registers.rip()), (7, 16));
        assert_eq!(Registers::parse(&list.as_bytes()[..100]), None);
        assert_eq!(Registers::parse(b"xx"), None);
    }

    #[test]
    fn stop_replies() {
        assert_eq!(Stop::parse(b"T05thread:09;"), Some(Stop::Signal { signal: 5, cpu: 8 }));
        assert_eq!(Stop::parse(b"S02"), Some(Stop::Signal { signal: 2, cpu: 0 }));
        assert_eq!(Stop::parse(b"W00"), Some(Stop::Exited));
        for broken in [&b""[..], b"T", b"T5", b"Tzz", b"OK", b"E01"] {
            assert_eq!(Stop::parse(broken), None);
        }
    }
}
