//! The result of discovery, and where registers of an instance are.

use pericore_catalog::{Family, Location, Placement, Register, Unit};
use pericore_registers::{Address, Bdf, Width};

/// An online logical CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    /// Its number.
    pub number: u32,
    /// The package (socket) that it is in.
    pub package: u16,
}

/// The sockets of a machine and the unit instances that answer.
#[derive(Debug, Clone)]
pub struct Topology {
    /// Processor family.
    pub family: &'static Family,
    /// Sockets by number.
    pub sockets: Vec<Socket>,
}

/// A socket.
#[derive(Debug, Clone)]
pub struct Socket {
    /// Package number.
    pub number: u16,
    /// Logical CPU through which the socket's MSRs are reached.
    pub cpu: u32,
    /// Uncore bus, if one was looked for.
    pub bus: Option<u8>,
    units: Vec<(&'static str, Vec<Presence>)>,
}

/// Whether a unit instance answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// It does.
    Present,
    /// It does not.
    Absent {
        /// What was seen instead.
        why: String,
    },
}

/// A register of an instance: where, and with which cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// Address.
    pub address: Address,
    /// Cycle width.
    pub width: Width,
}

/// A register that has no address here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocateError {
    /// The socket's uncore bus is not known.
    #[error(
        "register {register} of {unit} lies on the socket's uncore bus, which was not looked for; discover {unit} first"
    )]
    NoBus {
        /// Unit.
        unit: &'static str,
        /// Register.
        register: &'static str,
    },
    /// Memory-mapped.
    #[error("register {register} of {unit} is memory-mapped, which this version cannot reach yet; choose other events")]
    NotYet {
        /// Unit.
        unit: &'static str,
        /// Register.
        register: &'static str,
    },
    /// The catalogue has no location for the instance.
    #[error(
        "the catalogue gives instance {instance} of {unit} no place for register {register}; correct catalog/units"
    )]
    NoPlace {
        /// Unit.
        unit: &'static str,
        /// Register.
        register: &'static str,
        /// Instance.
        instance: u16,
    },
}

impl Socket {
    /// A socket whose units were not probed yet.
    pub const fn new(number: u16, cpu: u32, bus: Option<u8>) -> Self {
        Self { number, cpu, bus, units: Vec::new() }
    }

    /// Records which instances of a unit answer.
    pub fn set_presence(&mut self, unit: &Unit, instances: Vec<Presence>) {
        self.units.retain(|(name, _)| *name != unit.name);
        self.units.push((unit.name, instances));
    }

    /// All instances of a unit, by number; empty if the unit was not probed.
    pub fn presence(&self, unit: &Unit) -> &[Presence] {
        self.units.iter().find(|(name, _)| *name == unit.name).map_or(&[], |(_, instances)| instances)
    }

    /// The numbers of the instances that answer.
    pub fn present(&self, unit: &Unit) -> Vec<u16> {
        let numbered = (0..).zip(self.presence(unit));
        numbered.filter(|(_, presence)| **presence == Presence::Present).map(|(number, _)| number).collect()
    }

    /// The bus of a placement's PCI functions, if the socket's uncore bus is known.
    pub(super) fn bus_of(&self, placement: Option<&Placement>) -> Option<u8> {
        self.bus?.checked_add(placement.map_or(0, |placement| placement.bus))
    }

    /// Where a member of a register array is for an instance of a unit.
    ///
    /// # Errors
    /// [`LocateError`] if it cannot be reached.
    pub fn locate(
        &self,
        unit: &'static Unit,
        instance: u16,
        register: &'static Register,
        member: u8,
    ) -> Result<Place, LocateError> {
        let placement = unit.placements.get(usize::from(register.placement));
        let places = placement.map_or(&[][..], |placement| placement.instances);
        // A companion placement with a single location serves all instances.
        let location = places.get(usize::from(instance)).or(if places.len() == 1 { places.first() } else { None });
        let Some(location) = location else {
            return Err(LocateError::NoPlace { unit: unit.name, register: register.name, instance });
        };
        let offset = register.member_offset(member);
        match *location {
            // RDMSR and WRMSR move 64 bits, whatever the register's width.
            Location::Msr { base } => {
                Ok(Place { address: Address::Msr { cpu: self.cpu, msr: base + offset }, width: Width::B8 })
            }
            Location::Pci { device, function } => {
                let bus =
                    self.bus_of(placement).ok_or(LocateError::NoBus { unit: unit.name, register: register.name })?;
                let offset = u16::try_from(offset).map_err(|_| LocateError::NoPlace {
                    unit: unit.name,
                    register: register.name,
                    instance,
                })?;
                let address = Address::Pci { bdf: Bdf::new(bus, device, function), offset };
                Ok(Place { address, width: Width::for_bits(register.width) })
            }
            Location::Mmio { .. } => Err(LocateError::NotYet { unit: unit.name, register: register.name }),
        }
    }
}
