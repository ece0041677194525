//! Which register an address stands for.

use crate::encode::parse_number;
use crate::model::{Family, Location, Placement, Register, Unit};

/// An address as people and traces write it, without the machine that would make it complete: PCI buses and the bases of
/// memory windows differ from machine to machine, functions and offsets do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressQuery<'a> {
    /// MSR number.
    Msr(u32),
    /// Byte of a PCI function's configuration space. The bus stays out: firmware chooses it.
    Pci {
        /// Device number.
        device: u8,
        /// Function number.
        function: u8,
        /// Byte offset.
        offset: u32,
    },
    /// Byte of a memory window.
    Mmio {
        /// Name and index of the window, as the catalogue has them: `mem`, 0. Without it all windows are meant.
        window: Option<(&'a str, u8)>,
        /// Byte offset from the window's base.
        offset: u64,
    },
}

/// A text that is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no address: {problem}; write 0xd10 or msr:0xd10, pci:10.0+0xd8 or 0000:ff:10.0+0xd8, mmio:mem0+0x22840"
)]
pub struct AddressError {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// A register of one instance.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The unit.
    pub unit: &'static Unit,
    /// Number of the instance; none if the address of no instance is known, or no particular one is meant.
    pub instance: Option<u16>,
    /// The register.
    pub register: &'static Register,
    /// Member of a register array; 0 for a single register.
    pub member: u8,
    /// How many bytes into the register the address points; 0 for MSRs.
    pub byte: u8,
}

impl<'a> AddressQuery<'a> {
    /// Reads an address: `0xd10`, `msr:0xd10`, `pci:10.0+0xd8` (numbers as lspci prints them), `0000:ff:10.0+0xd8`,
    /// `D16:F0+0xd8` (decimal, as the guides print them), `mmio:mem0+0x22840`, `mmio:0x22840`.
    ///
    /// # Errors
    /// A text in no such form, or with numbers out of range.
    pub fn parse(text: &'a str) -> Result<Self, AddressError> {
        Self::read(text.trim()).map_err(|problem| AddressError { text: text.to_owned(), problem })
    }

    fn read(text: &'a str) -> Result<Self, &'static str> {
        if let Some(number) = strip_prefix(text, "msr:") {
            return msr(number);
        }
        if let Some(rest) = strip_prefix(text, "mmio:") {
            return mmio(rest);
        }
        if let Some(rest) = strip_prefix(text, "pci:").or_else(|| strip_prefix(text, "pcicfg:")) {
            return pci(rest);
        }
        match text.split_once('+') {
            None => msr(text),
            Some((place, _)) if place.contains([':', '.']) => pci(text),
            Some(_) => mmio(text),
        }
    }
}

fn strip_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let start = text.get(..prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

fn msr(text: &str) -> Result<AddressQuery<'_>, &'static str> {
    let number = parse_number(text).ok_or("it is no number")?;
    u32::try_from(number).map(AddressQuery::Msr).map_err(|_| "MSR numbers have 32 bits")
}

fn mmio(text: &str) -> Result<AddressQuery<'_>, &'static str> {
    let (window, offset) = match text.split_once('+') {
        Some((window, offset)) => (Some(window), offset),
        None => (None, text),
    };
    let offset = parse_number(offset).ok_or("the offset is no number")?;
    let Some(name) = window else { return Ok(AddressQuery::Mmio { window: None, offset }) };
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let index = name[stem.len()..].parse().map_err(|_| "the memory window needs its number, as in mem0")?;
    Ok(AddressQuery::Mmio { window: Some((stem, index)), offset })
}

fn pci(text: &str) -> Result<AddressQuery<'_>, &'static str> {
    let (place, offset) = text.split_once('+').ok_or("the offset after a \"+\" is missing")?;
    let offset = parse_number(offset).ok_or("the offset is no number")?;
    let offset = u32::try_from(offset).ok().filter(|offset| *offset < 0x1000).ok_or("offsets end at 0xfff")?;
    let (device, function) =
        guides_function(place).or_else(|| linux_function(place)).ok_or("it names no PCI function")?;
    if device > 31 || function > 7 {
        return Err("devices end at 31 (0x1f) and functions at 7");
    }
    Ok(AddressQuery::Pci { device, function, offset })
}

/// `D16:F0`, decimal.
fn guides_function(place: &str) -> Option<(u8, u8)> {
    let (device, function) = place.split_once(':')?;
    let device = strip_prefix(device, "d")?;
    let function = strip_prefix(function, "f")?;
    Some((device.parse().ok()?, function.parse().ok()?))
}

/// `10.0`, `ff:10.0` or `0000:ff:10.0`, hexadecimal.
fn linux_function(place: &str) -> Option<(u8, u8)> {
    let (front, function) = place.rsplit_once('.')?;
    let mut parts = front.rsplit(':');
    let device = hex(parts.next()?, 2)?;
    // Bus and segment must be numbers, and are not looked at.
    if parts.next().is_some_and(|bus| hex(bus, 2).is_none())
        || parts.next().is_some_and(|segment| hex(segment, 4).is_none())
    {
        return None;
    }
    if parts.next().is_some() {
        return None;
    }
    Some((u8::try_from(device).ok()?, u8::try_from(hex(function, 1)?).ok()?))
}

fn hex(digits: &str, most: usize) -> Option<u32> {
    let is_hex = !digits.is_empty() && digits.len() <= most && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if is_hex { u32::from_str_radix(digits, 16).ok() } else { None }
}

/// All registers at an address: one, unless a memory window's number is left out or units share a place.
pub fn find_address(family: &'static Family, query: &AddressQuery<'_>) -> Vec<Place> {
    let mut found = Vec::new();
    for unit in family.units.iter().copied() {
        for (index, placement) in unit.placements.iter().enumerate() {
            for (instance, location) in placement.instances.iter().enumerate() {
                let Some(relative) = relative(*location, query) else { continue };
                let registers = unit.registers.iter().filter(|register| usize::from(register.placement) == index);
                for register in registers {
                    let Some((member, byte)) = member_at(register, placement, relative) else { continue };
                    found.push(Place { unit, instance: u16::try_from(instance).ok(), register, member, byte });
                }
            }
        }
    }
    found
}

/// How far the address lies behind an instance's location, if it can belong to it at all.
fn relative(location: Location, query: &AddressQuery<'_>) -> Option<u64> {
    match (location, *query) {
        (Location::Msr { base }, AddressQuery::Msr(msr)) => Some(u64::from(msr.checked_sub(base)?)),
        (Location::Pci { device, function }, AddressQuery::Pci { device: d, function: f, offset }) => {
            (device == d && function == f).then_some(u64::from(offset))
        }
        (Location::Mmio { bar, index, offset: base }, AddressQuery::Mmio { window, offset }) => {
            let is_meant = window.is_none_or(|(name, i)| i == index && name.eq_ignore_ascii_case(bar));
            if is_meant { offset.checked_sub(base) } else { None }
        }
        _ => None,
    }
}

/// The member of a register array at `relative`, and the byte within it.
fn member_at(register: &Register, placement: &Placement, relative: u64) -> Option<(u8, u8)> {
    let bytes = match placement.space {
        // An MSR number is a whole register.
        pericore_registers::AddressSpace::Msr => 1,
        _ => u64::from(register.width / 8),
    };
    (0..register.count).find_map(|member| {
        let byte = relative.checked_sub(u64::from(register.member_offset(member)))?;
        if byte < bytes { Some((member, u8::try_from(byte).ok()?)) } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form_of_an_address() {
        let pci = AddressQuery::Pci { device: 16, function: 0, offset: 0xd8 };
        for text in
            ["pci:10.0+0xd8", "10.0+0xd8", "ff:10.0+0xD8", "0000:ff:10.0+216", "D16:F0+0xd8", "PCI:0000:ff:10.0+0xd8"]
        {
            assert_eq!(AddressQuery::parse(text), Ok(pci), "{text}");
        }
        for text in ["0xD10", "msr:0xd10", "MSR:3344", " 3344 "] {
            assert_eq!(AddressQuery::parse(text), Ok(AddressQuery::Msr(0xd10)), "{text}");
        }
        let window = Some(("mem", 2));
        assert_eq!(AddressQuery::parse("mmio:mem2+0x40"), Ok(AddressQuery::Mmio { window, offset: 0x40 }));
        assert_eq!(AddressQuery::parse("mem2+64"), Ok(AddressQuery::Mmio { window, offset: 0x40 }));
        assert_eq!(AddressQuery::parse("mmio:0x22840"), Ok(AddressQuery::Mmio { window: None, offset: 0x22840 }));
    }

    #[test]
    fn refuses_what_is_no_address() {
        for text in [
            "",
            "msr:",
            "0x",
            "0x1ffffffff",
            "pci:10.0",
            "10.8+0",
            "20.0+0",
            "10.0+0x1000",
            "x:10.0+0",
            "0:0:0:1.0+0",
            "mmio:mem+4",
            "é:é",
        ] {
            assert!(AddressQuery::parse(text).is_err(), "{text}");
        }
    }
}
