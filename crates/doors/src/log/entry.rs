//! One access as text, and back.

use std::fmt;

use pericore_registers::{Address, Bdf, Operation, Outcome, Width};

/// Which way an access went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A read; its value is not compared.
    Read,
    /// A write of a value.
    Write(u64),
}

/// An access: where, how wide, which way, and whether it faulted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Where.
    pub address: Address,
    /// Cycle width.
    pub width: Width,
    /// Direction, and the value written.
    pub kind: Kind,
    /// True if the machine refused it.
    pub faulted: bool,
}

impl Entry {
    /// What an operation came to.
    pub const fn of(operation: Operation, outcome: &Outcome<u64>) -> Self {
        let faulted = outcome.is_err();
        match operation {
            Operation::Read { address, width } => Self { address, width, kind: Kind::Read, faulted },
            Operation::Write { address, width, value } => Self { address, width, kind: Kind::Write(value), faulted },
        }
    }

    /// The access with the value that was read, as a log shows it.
    pub fn with_value(&self, outcome: &Outcome<u64>) -> String {
        match (self.kind, outcome) {
            (Kind::Read, Ok(value)) => format!("{self} -> {value:#x}"),
            _ => self.to_string(),
        }
    }

    /// Reads a line of a log; `None` for what is not an access. Time, value read and meaning are left out.
    pub fn parse(line: &str) -> Option<Self> {
        let access = line.split(';').next()?;
        let mut words = access.split_whitespace().peekable();
        words.next_if(|word| word.parse::<f64>().is_ok());
        let operation = words.next()?;
        let (address, width) = match operation {
            "rdmsr" | "wrmsr" => {
                let cpu = words.next()?.strip_prefix("cpu")?.parse().ok()?;
                (Address::Msr { cpu, msr: u32::try_from(number(words.next()?)?).ok()? }, Width::B8)
            }
            "pcird" | "pciwr" => {
                let (place, width) = sized(words.next()?)?;
                let (bdf, offset) = place.split_once('+')?;
                (Address::Pci { bdf: parse_bdf(bdf)?, offset: u16::try_from(number(offset)?).ok()? }, width)
            }
            "memrd" | "memwr" => {
                let (place, width) = sized(words.next()?)?;
                (Address::Mmio { physical: number(place)? }, width)
            }
            _ => return None,
        };
        let rest: Vec<&str> = words.collect();
        let kind = match rest.first() {
            Some(&"<-") => Kind::Write(number(rest.get(1)?)?),
            _ if operation.ends_with("rd") || operation.starts_with("rd") => Kind::Read,
            _ => return None,
        };
        Some(Self { address, width, kind, faulted: rest.last() == Some(&"fault") })
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_write = matches!(self.kind, Kind::Write(_));
        let width = self.width.bytes();
        match self.address {
            Address::Msr { cpu, msr } => write!(f, "{}msr cpu{cpu} {msr:#x}", if is_write { "wr" } else { "rd" })?,
            Address::Pci { bdf, offset } => {
                write!(f, "pci{} {bdf}+{offset:#x}.{width}", if is_write { "wr" } else { "rd" })?;
            }
            Address::Mmio { physical } => write!(f, "mem{} {physical:#x}.{width}", if is_write { "wr" } else { "rd" })?,
        }
        if let Kind::Write(value) = self.kind {
            write!(f, " <- {value:#x}")?;
        }
        if self.faulted { f.write_str(" fault") } else { Ok(()) }
    }
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// `PLACE.WIDTH`.
fn sized(text: &str) -> Option<(&str, Width)> {
    let (place, width) = text.rsplit_once('.')?;
    let width = match width {
        "1" => Width::B1,
        "2" => Width::B2,
        "4" => Width::B4,
        "8" => Width::B8,
        _ => return None,
    };
    Some((place, width))
}

/// `SSSS:BB:DD.F`.
fn parse_bdf(text: &str) -> Option<Bdf> {
    let mut parts = text.split([':', '.']).map(|part| u16::from_str_radix(part, 16).ok());
    let mut next = || parts.next().flatten();
    let (segment, bus, device, function) = (next()?, next()?, next()?, next()?);
    Some(Bdf {
        segment,
        bus: bus.try_into().ok()?,
        device: device.try_into().ok()?,
        function: function.try_into().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(entry: &Entry) -> String {
        if entry.faulted { entry.to_string() } else { entry.with_value(&Ok(0x1234)) }
    }

    #[test]
    fn what_is_printed_is_read_back() {
        let pci = Address::Pci { bdf: Bdf::new(0xff, 16, 1), offset: 0xf0 };
        for entry in [
            Entry {
                address: Address::Msr { cpu: 3, msr: 0xd10 },
                width: Width::B8,
                kind: Kind::Write(0x40_0334),
                faulted: false,
            },
            Entry { address: Address::Msr { cpu: 0, msr: 0x620 }, width: Width::B8, kind: Kind::Read, faulted: true },
            Entry { address: pci, width: Width::B4, kind: Kind::Read, faulted: false },
            Entry { address: pci, width: Width::B1, kind: Kind::Write(7), faulted: false },
            Entry { address: pci, width: Width::B2, kind: Kind::Read, faulted: false },
            Entry {
                address: Address::Mmio { physical: 0xfb02_2808 },
                width: Width::B8,
                kind: Kind::Read,
                faulted: false,
            },
            Entry {
                address: Address::Mmio { physical: 0xfb02_2800 },
                width: Width::B4,
                kind: Kind::Write(1),
                faulted: false,
            },
        ] {
            assert_eq!(Entry::parse(&entry.to_string()), Some(entry), "{entry}");
            let line = format!("    0.000012345  {}    ; meaning", shown(&entry));
            assert_eq!(Entry::parse(&line), Some(entry), "{line}");
        }
    }

    #[test]
    fn what_is_no_access_is_refused() {
        for line in
            ["", "hello", "rdmsr 0xd10", "wrmsr cpu0 0xd10", "pciwr ff:10.0+0xf4.4 <- 0x1", "pcird 0000:ff:10.0+0xf4.3"]
        {
            assert_eq!(Entry::parse(line), None, "{line:?}");
        }
    }
}
