//! A register space in a hash map: holds what is written, counts nothing by itself.

use std::collections::HashMap;

use pericore_catalog::{Family, family};
use pericore_registers::{AccessError, Address, Bdf, Outcome, RegisterSpace, Width};

use crate::discover::Cpu;

/// The family that the tests use.
pub fn e5_2600() -> &'static Family {
    family("e5-2600").expect("the catalogue has the family")
}

/// Two CPUs in each of two packages.
pub const CPUS: [Cpu; 4] = [
    Cpu { number: 0, package: 0 },
    Cpu { number: 1, package: 0 },
    Cpu { number: 2, package: 1 },
    Cpu { number: 3, package: 1 },
];

/// Bus, device, function.
pub type Function = (u8, u8, u8);

/// Registers by address, and a log of all accesses.
#[derive(Debug, Default)]
pub struct Fake {
    /// Dwords of PCI functions by offset.
    pub functions: HashMap<Function, HashMap<u16, u32>>,
    /// MSRs by socket and number; others fault.
    pub msrs: HashMap<(u32, u32), u64>,
    /// Reads in order.
    pub reads: Vec<Address>,
    /// Writes in order.
    pub writes: Vec<(Address, u64)>,
    /// Addresses that fault from now on.
    pub broken: Vec<Address>,
}

impl Fake {
    /// A machine of two sockets with all CBos, HAs, channels and UBoxes; socket 0 on bus 0xff, socket 1 on 0x7f.
    pub fn two_sockets() -> Self {
        let mut fake = Self::default();
        for (socket, bus) in [(0, 0xff), (1, 0x7f)] {
            fake.set_pci((bus, 11, 0), 0x00, 0x3ce0_8086);
            fake.set_pci((bus, 11, 0), 0x40, socket);
            // Entry 0 holds node 0, entry 1 node 1.
            fake.set_pci((bus, 11, 0), 0x54, 0o10);
            fake.set_pci((bus, 14, 1), 0x00, 0x3c46_8086);
            for (function, id) in [(0, 0x3cb0_8086), (1, 0x3cb1_8086), (4, 0x3cb4_8086), (5, 0x3cb5_8086)] {
                fake.set_pci((bus, 16, function), 0x00, id);
            }
            let slices = (0..8).flat_map(|slice| (0x04..=0x19).map(move |offset| 0xD00 + 0x20 * slice + offset));
            fake.msrs.extend(slices.chain(0xC08..=0xC17).map(|msr| ((socket, msr), 0)));
        }
        fake
    }

    /// Sets a dword of configuration space.
    pub fn set_pci(&mut self, function: Function, offset: u16, value: u32) {
        self.functions.entry(function).or_default().insert(offset, value);
    }

    /// The writes as text, MSRs without the CPU.
    pub fn written(&self) -> Vec<String> {
        let text = |(address, value): &(Address, u64)| match address {
            Address::Msr { msr, .. } => format!("{msr:x}={value:x}"),
            Address::Pci { bdf, offset } => format!("{:x}.{:x}+{offset:x}={value:x}", bdf.device, bdf.function),
            Address::Mmio { physical } => format!("{physical:x}={value:x}"),
        };
        self.writes.iter().map(text).collect()
    }
}

const fn key(bdf: Bdf) -> Function {
    (bdf.bus, bdf.device, bdf.function)
}

impl RegisterSpace for Fake {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.reads.push(address);
        if self.broken.contains(&address) {
            return Err(AccessError::GeneralProtection { address });
        }
        match address {
            Address::Msr { cpu, msr } => {
                assert_eq!(width, Width::B8);
                self.msrs.get(&(cpu / 2, msr)).copied().ok_or(AccessError::GeneralProtection { address })
            }
            Address::Pci { bdf, offset } => {
                let Some(dwords) = self.functions.get(&key(bdf)) else { return Ok(width.mask()) };
                let dword = |offset: u16| u64::from(dwords.get(&offset).copied().unwrap_or(0));
                Ok((dword(offset) | dword(offset + 4) << 32) & width.mask())
            }
            Address::Mmio { .. } => Err(AccessError::Unreachable { address }),
        }
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.writes.push((address, value));
        if self.broken.contains(&address) {
            return Err(AccessError::GeneralProtection { address });
        }
        match address {
            Address::Msr { cpu, msr } => match self.msrs.get_mut(&(cpu / 2, msr)) {
                Some(register) => *register = value,
                None => return Err(AccessError::GeneralProtection { address }),
            },
            Address::Pci { bdf, offset } => {
                if let Some(dwords) = self.functions.get_mut(&key(bdf)) {
                    dwords.insert(offset, value as u32);
                    if width == Width::B8 {
                        dwords.insert(offset + 4, (value >> 32) as u32);
                    }
                }
            }
            Address::Mmio { .. } => return Err(AccessError::Unreachable { address }),
        }
        Ok(())
    }
}
