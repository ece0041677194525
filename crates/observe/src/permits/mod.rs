//! Which register accesses are allowed at all: those to PMON units that the catalogue lists, at the places where
//! discovery found them. Who holds registers for others checks each operation here before it is carried out. What shows
//! which units there are (the identity of their PCI functions, discovery tables) may be read.
//!
//! What may be written follows from a register's role. [`Role::Identity`] and [`Role::FreeRunning`] never are; of the
//! others, bits that no document gives a meaning may be written only as the register was seen to hold them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use pericore_catalog::{FieldAccess, Register, Role, Unit};
use pericore_registers::{Address, Bdf, Operation, Width};

use crate::discover::{Cpu, Place, Presence, Socket, TableReport, Topology};

/// Why an operation is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotPermitted {
    /// No unit that was found has a register there, of that width.
    #[error("no PMON unit that was found has a register of that width there")]
    NoRegister,
    /// The CPU is not online, or in another socket.
    #[error("no CPU of that number was online")]
    NoCpu,
    /// Sessions never write registers of this role, or the unit does not answer.
    #[error("sessions only read that register")]
    ReadOnly,
    /// The value has bits that no document gives, and that the register was never seen to hold.
    #[error("bits {0:#x} of the value are in no document")]
    Undocumented(u64),
}

/// The registers that may be accessed.
#[derive(Debug, Default)]
pub struct Permits {
    registers: Vec<Permit>,
    /// The register at a place, and by how many bits its value is shifted there.
    places: HashMap<(Address, Width), (usize, u32)>,
    /// The socket of each CPU.
    sockets: HashMap<u32, u32>,
    /// PCI functions of units: their identity may be read.
    functions: HashSet<Bdf>,
    /// Discovery tables in memory, which may be read.
    tables: Vec<Range<u64>>,
}

/// What may be done with a register.
#[derive(Debug)]
struct Permit {
    /// Bits that may be written with any value; nothing if it is only read.
    writable: Option<u64>,
    /// Bits that it was seen to hold.
    seen: AtomicU64,
}

impl Permits {
    /// Nothing is allowed yet. MSRs are reached through these CPUs.
    pub fn new(cpus: &[Cpu]) -> Self {
        let sockets = cpus.iter().map(|cpu| (cpu.number, u32::from(cpu.package))).collect();
        Self { sockets, ..Self::default() }
    }

    /// Allows the registers of all units that discovery looked for. What does not answer may be read.
    pub fn add(&mut self, topology: &Topology) {
        for socket in &topology.sockets {
            for memory in socket.table().into_iter().flat_map(TableReport::memory) {
                if !self.tables.contains(&memory) {
                    self.tables.push(memory);
                }
            }
            for unit in topology.family.units {
                for (number, presence) in (0..).zip(socket.presence(unit)) {
                    self.add_instance(socket, unit, number, *presence == Presence::Present);
                }
            }
        }
    }

    fn add_instance(&mut self, socket: &Socket, unit: &'static Unit, number: u16, is_present: bool) {
        for register in unit.registers {
            let writable = writable(unit, register).filter(|_| is_present);
            for member in 0..register.count {
                if let Ok(place) = socket.locate(unit, number, register, member) {
                    self.add_register(place, writable);
                }
            }
        }
    }

    fn add_register(&mut self, place: Place, writable: Option<u64>) {
        let Place { address, width } = place;
        let Some(address) = self.by_socket(address) else { return };
        if let Address::Pci { bdf, .. } = address {
            self.functions.insert(bdf);
        }
        if let Some(&(known, 0)) = self.places.get(&(address, width)) {
            let known = &mut self.registers[known];
            // A unit may have been absent in an earlier look.
            known.writable = known.writable.or(writable);
            return;
        }
        let index = self.registers.len();
        self.registers.push(Permit { writable, seen: AtomicU64::new(0) });
        self.places.insert((address, width), (index, 0));
        // A register of 8 bytes outside MSRs is also written by halves.
        if width == Width::B8 && !matches!(address, Address::Msr { .. }) {
            self.places.entry((address, Width::B4)).or_insert((index, 0));
            self.places.entry((address.plus(4), Width::B4)).or_insert((index, 32));
        }
    }

    /// The MSRs of a socket are the same through each of its CPUs: its number stands for them.
    fn by_socket(&self, address: Address) -> Option<Address> {
        match address {
            Address::Msr { cpu, msr } => self.sockets.get(&cpu).map(|&socket| Address::Msr { cpu: socket, msr }),
            other => Some(other),
        }
    }

    /// True for what discovery looks at before it knows registers: a function's vendor and device, a table's qwords.
    fn is_of_discovery(&self, address: Address, width: Width) -> bool {
        match (address, width) {
            (Address::Pci { bdf, offset: 0 }, Width::B4) => self.functions.contains(&bdf),
            (Address::Mmio { physical }, Width::B8) => {
                physical.is_multiple_of(8) && self.tables.iter().any(|table| table.contains(&physical))
            }
            _ => false,
        }
    }

    fn find(&self, address: Address, width: Width) -> Result<(&Permit, u32), NotPermitted> {
        let address = self.by_socket(address).ok_or(NotPermitted::NoCpu)?;
        let (index, shift) = self.places.get(&(address, width)).ok_or(NotPermitted::NoRegister)?;
        Ok((&self.registers[*index], *shift))
    }

    /// Checks an operation.
    ///
    /// # Errors
    /// [`NotPermitted`], with the reason.
    pub fn check(&self, operation: Operation) -> Result<(), NotPermitted> {
        if matches!(operation, Operation::Read { address, width } if self.is_of_discovery(address, width)) {
            return Ok(());
        }
        let (permit, shift) = self.find(operation.address(), operation.width())?;
        let Operation::Write { value, width, .. } = operation else { return Ok(()) };
        let writable = permit.writable.ok_or(NotPermitted::ReadOnly)?;
        let allowed = (writable | permit.seen.load(Ordering::Relaxed)) >> shift;
        match value & !(allowed & width.mask()) {
            0 => Ok(()),
            bits => Err(NotPermitted::Undocumented(bits)),
        }
    }

    /// Notes what was read at an allowed place.
    pub fn note_read(&self, address: Address, width: Width, value: u64) {
        // What is absent reads as all ones, and holds nothing.
        if value != width.mask()
            && let Ok((permit, shift)) = self.find(address, width)
            && permit.writable.is_some()
        {
            permit.seen.fetch_or(value << shift, Ordering::Relaxed);
        }
    }
}

/// The bits of a register that sessions may write with any value; nothing if they never write it.
fn writable(unit: &Unit, register: &Register) -> Option<u64> {
    match register.role {
        Role::Control | Role::FixedControl | Role::Filter | Role::UnitControl | Role::GlobalControl => {
            Some(documented(unit, register))
        }
        // Acknowledged by writing what it says.
        Role::UnitStatus | Role::GlobalStatus | Role::OverflowControl => Some(documented(unit, register)),
        // Reset, and preset for samples by overflow.
        Role::Counter | Role::FixedCounter => Some(Width::for_bits(register.width).mask()),
        Role::FreeRunning | Role::Identity => None,
    }
}

/// The bits of a register that a document gives a meaning, whether for all events or for some.
pub(crate) fn documented(unit: &Unit, register: &Register) -> u64 {
    let sets = unit.field_sets.iter().filter(|_| register.role == Role::Control).flat_map(|set| set.fields);
    let has_meaning = |access: FieldAccess| !matches!(access, FieldAccess::Reserved | FieldAccess::Ignored);
    let fields = register.fields.iter().chain(sets).filter(|field| has_meaning(field.access));
    fields.fold(0, |mask, field| mask | field.bits.mask())
}

#[cfg(test)]
mod tests;
