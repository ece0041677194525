//! Addresses in the three register spaces of a Xeon.

use std::fmt;

/// One of the three address spaces that hold uncore registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AddressSpace {
    /// Model-specific registers, reached with RDMSR and WRMSR on a logical CPU of the package.
    Msr,
    /// PCI configuration space.
    PciConfig,
    /// Memory-mapped registers at a physical address.
    Mmio,
}

impl AddressSpace {
    /// The name used in the catalogue and in machine-readable output: `msr`, `pcicfg` or `mmio`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Msr => "msr",
            Self::PciConfig => "pcicfg",
            Self::Mmio => "mmio",
        }
    }
}

impl fmt::Display for AddressSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A PCI function: segment, bus, device (5 bits), function (3 bits).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bdf {
    /// PCI segment group.
    pub segment: u16,
    /// Bus number.
    pub bus: u8,
    /// Device number, 0 to 31.
    pub device: u8,
    /// Function number, 0 to 7.
    pub function: u8,
}

impl Bdf {
    /// A function on segment 0.
    pub const fn new(bus: u8, device: u8, function: u8) -> Self {
        Self { segment: 0, bus, device, function }
    }
}

impl fmt::Display for Bdf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:02x}:{:02x}.{:x}", self.segment, self.bus, self.device, self.function)
    }
}

/// Where one register access goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Address {
    /// MSR `msr` as seen by logical CPU `cpu`. Uncore MSRs are package-scoped: any CPU of the package will do.
    Msr {
        /// Logical CPU that executes the access.
        cpu: u32,
        /// MSR number.
        msr: u32,
    },
    /// Byte offset in a PCI function's configuration space.
    Pci {
        /// The function.
        bdf: Bdf,
        /// Byte offset, 0 to 4095.
        offset: u16,
    },
    /// Physical memory address.
    Mmio {
        /// Byte address.
        physical: u64,
    },
}

impl Address {
    /// The space that the address lies in.
    pub const fn space(&self) -> AddressSpace {
        match self {
            Self::Msr { .. } => AddressSpace::Msr,
            Self::Pci { .. } => AddressSpace::PciConfig,
            Self::Mmio { .. } => AddressSpace::Mmio,
        }
    }

    /// The address `bytes` further on (for MSRs: the MSR number plus `bytes`).
    #[must_use]
    pub const fn plus(self, bytes: u16) -> Self {
        match self {
            Self::Msr { cpu, msr } => Self::Msr { cpu, msr: msr + bytes as u32 },
            Self::Pci { bdf, offset } => Self::Pci { bdf, offset: offset + bytes },
            Self::Mmio { physical } => Self::Mmio { physical: physical + bytes as u64 },
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Msr { cpu, msr } => write!(f, "msr {msr:#x} on cpu {cpu}"),
            Self::Pci { bdf, offset } => write!(f, "pci {bdf}+{offset:#x}"),
            Self::Mmio { physical } => write!(f, "mmio {physical:#x}"),
        }
    }
}

/// Width of one bus cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Width {
    /// 8 bits.
    B1,
    /// 16 bits.
    B2,
    /// 32 bits.
    B4,
    /// 64 bits: an MSR, an MMIO quadword, or in PCI configuration space two dword cycles, low dword first.
    B8,
}

impl Width {
    /// Width in bytes: 1, 2, 4 or 8.
    pub const fn bytes(self) -> u16 {
        match self {
            Self::B1 => 1,
            Self::B2 => 2,
            Self::B4 => 4,
            Self::B8 => 8,
        }
    }

    /// The values that fit: `2^bits - 1`.
    pub const fn mask(self) -> u64 {
        match self {
            Self::B8 => u64::MAX,
            narrow => (1 << (narrow.bytes() * 8)) - 1,
        }
    }

    /// The narrowest cycle that holds a register of `bits` bits.
    pub const fn for_bits(bits: u8) -> Self {
        match bits {
            0..=8 => Self::B1,
            9..=16 => Self::B2,
            17..=32 => Self::B4,
            _ => Self::B8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTER: Bdf = Bdf { segment: 1, bus: 0xff, device: 16, function: 3 };

    /// The spaces' names are part of `list --registers --json`; addresses stand in plans, errors and recordings, as other tools write them.
    #[test]
    fn addresses_are_written_as_other_tools_write_them() {
        let names = [AddressSpace::Msr, AddressSpace::PciConfig, AddressSpace::Mmio].map(|space| space.to_string());
        assert_eq!(names, ["msr", "pcicfg", "mmio"]);
        assert_eq!(Bdf::new(0x7f, 8, 2).to_string(), "0000:7f:08.2");
        assert_eq!(COUNTER.to_string(), "0001:ff:10.3");
        for (address, space, written) in [
            (Address::Msr { cpu: 10, msr: 0xd16 }, "msr", "msr 0xd16 on cpu 10"),
            (Address::Pci { bdf: COUNTER, offset: 0xa0 }, "pcicfg", "pci 0001:ff:10.3+0xa0"),
            (Address::Mmio { physical: 0xfe00_2838 }, "mmio", "mmio 0xfe002838"),
        ] {
            assert_eq!((address.space().name(), address.to_string().as_str()), (space, written));
        }
    }

    /// Counter 2 of a box stands two strides behind counter 0: two MSRs, or 16 bytes.
    #[test]
    fn plus_stays_in_the_space_and_moves_the_place_alone() {
        assert_eq!(Address::Msr { cpu: 3, msr: 0xd16 }.plus(2), Address::Msr { cpu: 3, msr: 0xd18 });
        let in_function = |offset| Address::Pci { bdf: COUNTER, offset };
        assert_eq!(in_function(0xa0).plus(16), in_function(0xb0));
        // The lower half of a register above 4 GiB.
        let at = |physical| Address::Mmio { physical };
        assert_eq!(at(0x1_ffff_fffc).plus(4), at(0x2_0000_0000));
        assert_eq!(at(8).plus(0), at(8));
    }

    #[test]
    fn widths_hold_their_bits_and_no_more() {
        let all = [Width::B1, Width::B2, Width::B4, Width::B8];
        assert_eq!(all.map(Width::bytes), [1, 2, 4, 8]);
        assert_eq!(all.map(Width::mask), [0xff, 0xffff, 0xffff_ffff, 0xffff_ffff_ffff_ffff]);
        let narrowest = |bits: [u8; 8]| bits.map(|bits| Width::for_bits(bits).bytes());
        assert_eq!(narrowest([1, 8, 9, 16, 17, 32, 33, 64]), [1, 1, 2, 2, 4, 4, 8, 8]);
    }
}
