//! The result of discovery, and where registers of an instance are.

use pericore_catalog::{Family, Location, Placement, Register, Role, SocketBus, Unit};
use pericore_registers::{Address, Bdf, Operation, Width};

use super::identity::{MEMORY_BAR, SliceCount};
use super::table::{Block, RecordFault};
use super::tables::TableReport;

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
    /// PCI segment of its buses.
    pub segment: u16,
    /// The buses of its stacks, by number, if the family's stacks have buses of their own and they were looked for;
    /// none for a stack that the part does not have.
    pub stacks: Vec<Option<u8>>,
    /// Base addresses of the memory controllers, by number, as far as they were looked for.
    memory: Vec<Option<u64>>,
    /// LLC slices in use, if something tells.
    slices: Option<SliceCount>,
    /// Discovery tables, if they were looked for.
    table: Option<TableReport>,
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

impl Place {
    /// A read of the register.
    pub const fn read(self) -> Operation {
        Operation::Read { address: self.address, width: self.width }
    }

    /// A write of `value` to it.
    pub const fn write(self, value: u64) -> Operation {
        Operation::Write { address: self.address, width: self.width, value }
    }
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
    /// The part does not have the stack.
    #[error("register {register} of {unit} lies on the bus of stack {stack}, which this part does not have")]
    NoStack {
        /// Unit.
        unit: &'static str,
        /// Register.
        register: &'static str,
        /// Stack.
        stack: u8,
    },
    /// The memory controller's base address is not known.
    #[error(
        "register {register} of {unit} lies behind the base address of memory controller {controller}, which firmware did not set or \
         which was not looked for; discover {unit} first, and populate the controller's channels"
    )]
    NoMemory {
        /// Unit.
        unit: &'static str,
        /// Register.
        register: &'static str,
        /// Memory controller.
        controller: u8,
    },
    /// Only the discovery table tells, and it does not.
    #[error(
        "only the discovery table tells where {register} of {unit} {instance} lies, and it has no usable record of it; \
         `pericore doctor` says why"
    )]
    NotListed {
        /// Unit.
        unit: &'static str,
        /// Register.
        register: &'static str,
        /// Instance.
        instance: u16,
    },
    /// The catalogue has no location for the instance.
    #[error(
        "the catalogue gives instance {instance} of {unit} no place for register {register}; correct its [[unit.placement]] in catalog/families"
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
        Self {
            number,
            cpu,
            bus,
            segment: 0,
            stacks: Vec::new(),
            memory: Vec::new(),
            slices: None,
            table: None,
            units: Vec::new(),
        }
    }

    /// The same with its buses on another PCI segment than the first.
    #[must_use]
    pub fn on_segment(self, segment: u16) -> Self {
        Self { segment, ..self }
    }

    /// The same with a bus for each of its stacks.
    #[must_use]
    pub fn with_stacks(self, stacks: Vec<Option<u8>>) -> Self {
        Self { stacks, ..self }
    }

    /// True if its PCI buses are known.
    pub(super) const fn has_buses(&self) -> bool {
        self.bus.is_some() || !self.stacks.is_empty()
    }

    /// What the socket's discovery tables came to; nothing if they were not looked for.
    pub const fn table(&self) -> Option<&TableReport> {
        self.table.as_ref()
    }

    /// How many LLC slices are in use, if something tells.
    pub const fn slices(&self) -> Option<&SliceCount> {
        self.slices.as_ref()
    }

    pub(super) fn set_table(&mut self, table: TableReport) {
        self.table = Some(table);
    }

    pub(super) fn set_slices(&mut self, slices: Option<SliceCount>) {
        self.slices = slices;
    }

    pub(super) fn set_memory(&mut self, bases: Vec<Option<u64>>) {
        self.memory = bases;
    }

    /// The discovery record of an instance.
    pub fn block(&self, unit: &Unit, instance: u16) -> Option<&Block> {
        let mut blocks = self.table.iter().flat_map(|table| &table.blocks);
        blocks.find(|block| block.unit.name == unit.name && block.instance == instance)
    }

    /// The numbers of the instances of a unit that are in discovery records and in no document.
    pub(super) fn beyond_the_documents(&self, unit: &Unit) -> Vec<u16> {
        let blocks = self.table.iter().flat_map(|table| &table.blocks);
        let beyond = blocks.filter(|block| block.unit.name == unit.name && block.instance >= unit.instances);
        let mut numbers: Vec<u16> = beyond.map(|block| block.instance).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Takes an instance's discovery record away, so that it is looked for at the catalogue's place.
    pub(super) fn take_block(&mut self, unit: &Unit, instance: u16) -> Option<Block> {
        let blocks = &mut self.table.as_mut()?.blocks;
        let at = blocks.iter().position(|block| block.unit.name == unit.name && block.instance == instance)?;
        Some(blocks.swap_remove(at))
    }

    /// Believes a record again.
    pub(super) fn put_block(&mut self, block: Block) {
        self.table.iter_mut().for_each(|table| table.blocks.push(block));
    }

    /// Notes that a record is not believed.
    pub(super) fn note_fault(&mut self, fault: RecordFault) {
        self.table.iter_mut().for_each(|table| table.faults.push(fault.clone()));
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

    /// One of its buses, if it is known.
    pub(super) fn bus_at(&self, bus: SocketBus) -> Option<u8> {
        match bus {
            SocketBus::Uncore(after) => self.bus?.checked_add(after),
            SocketBus::Stack(stack) => self.stacks.get(usize::from(stack)).copied().flatten(),
        }
    }

    /// The bus of a placement's PCI functions.
    fn bus_of(&self, unit: &Unit, placement: &Placement, register: &Register) -> Result<u8, LocateError> {
        let (unit, register) = (unit.name, register.name);
        self.bus_at(placement.bus).ok_or(match placement.bus {
            SocketBus::Stack(stack) if self.has_buses() => LocateError::NoStack { unit, register, stack },
            _ => LocateError::NoBus { unit, register },
        })
    }

    /// Where a member of a register array is for an instance of a unit: where the discovery table says, for the registers that
    /// it covers, else at the catalogue's place.
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
        if let Some(place) = self.listed(unit, instance, register, member) {
            return Ok(place);
        }
        let no_place = LocateError::NoPlace { unit: unit.name, register: register.name, instance };
        let placement = unit.placements.get(usize::from(register.placement));
        let found = placement.and_then(|placement| Some((placement, location(unit, placement, instance)?)));
        let Some((placement, location)) = found else {
            // An instance that no document has.
            return self.beside(unit, instance, register, member).ok_or(no_place);
        };
        let offset = register.member_offset(member);
        let width = Width::for_bits(register.width);
        match location {
            // RDMSR and WRMSR move 64 bits, whatever the register's width.
            Location::Msr { base } => {
                Ok(Place { address: Address::Msr { cpu: self.cpu, msr: base + offset }, width: Width::B8 })
            }
            Location::Pci { device, function } => {
                let bus = self.bus_of(unit, placement, register)?;
                let offset = u16::try_from(offset).map_err(|_| no_place)?;
                let bdf = Bdf { segment: self.segment, bus, device, function };
                Ok(Place { address: Address::Pci { bdf, offset }, width })
            }
            Location::Mmio { bar, index, offset: within } if bar == MEMORY_BAR => {
                let base = self.memory.get(usize::from(index)).copied().flatten();
                match base {
                    Some(base) => {
                        Ok(Place { address: Address::Mmio { physical: base + within + u64::from(offset) }, width })
                    }
                    None => self.beside(unit, instance, register, member).ok_or(LocateError::NoMemory {
                        unit: unit.name,
                        register: register.name,
                        controller: index,
                    }),
                }
            }
            Location::Mmio { .. } => self.beside(unit, instance, register, member).ok_or(LocateError::NotListed {
                unit: unit.name,
                register: register.name,
                instance,
            }),
        }
    }

    /// A register where its block's discovery record puts it. Records cover control, status, controls and counters; how far apart
    /// the members of an array are is in none of them.
    fn listed(&self, unit: &Unit, instance: u16, register: &Register, member: u8) -> Option<Place> {
        if register.placement != 0 {
            return None;
        }
        let block = self.block(unit, instance)?;
        let first = match register.role {
            Role::UnitControl => 0,
            Role::UnitStatus if block.status != 0 => block.status,
            Role::Control => block.control,
            Role::Counter => block.counter,
            _ => return None,
        };
        self.place(block, first + u32::from(register.stride) * u32::from(member), register)
    }

    /// A register at the catalogue's distance from its block's unit control, where the discovery record puts that.
    fn beside(&self, unit: &Unit, instance: u16, register: &Register, member: u8) -> Option<Place> {
        if register.placement != 0 {
            return None;
        }
        let distance = register.member_offset(member).checked_sub(unit.register(Role::UnitControl)?.offset)?;
        self.place(self.block(unit, instance)?, distance, register)
    }

    fn place(&self, block: &Block, distance: u32, register: &Register) -> Option<Place> {
        let address = block.place.plus(distance)?.address(self.cpu);
        let width = match address {
            Address::Msr { .. } => Width::B8,
            Address::Pci { .. } | Address::Mmio { .. } => Width::for_bits(register.width),
        };
        Some(Place { address, width })
    }
}

/// The location of an instance in a placement. A companion placement with fewer locations than the unit has instances serves
/// so many neighbours with each.
fn location(unit: &Unit, placement: &Placement, instance: u16) -> Option<Location> {
    let share = usize::from(unit.instances) / placement.instances.len().max(1);
    placement.instances.get(usize::from(instance) / share.max(1)).copied()
}

/// True if a register is the instance's own: one that serves several neighbours belongs to the first of them, and would be
/// counted more than once otherwise.
pub fn owns(unit: &Unit, instance: u16, register: &Register) -> bool {
    let Some(placement) = unit.placements.get(usize::from(register.placement)) else { return false };
    let share = (usize::from(unit.instances) / placement.instances.len().max(1)).max(1);
    // Records of instances that no document has tell of one placement only.
    let is_known = register.placement == 0 || location(unit, placement, instance).is_some();
    is_known && usize::from(instance) % share == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where no bus was looked for, the remedy is to look; a stack is only missing where buses are known.
    #[test]
    fn a_stack_is_only_missing_where_buses_were_looked_for() {
        let unit = crate::testing::e5_2600().unit("imc").unwrap();
        let placement = Placement { bus: SocketBus::Stack(2), ..unit.placements[0] };
        let refusal = |socket: Socket| socket.bus_of(unit, &placement, &unit.registers[0]).unwrap_err().to_string();
        let unknown = refusal(Socket::new(0, 0, None));
        assert!(unknown.contains("was not looked for; discover imc first"), "{unknown}");
        let absent = refusal(Socket::new(0, 0, None).with_stacks(vec![Some(0), Some(0x20), None]));
        assert!(absent.contains("the bus of stack 2, which this part does not have"), "{absent}");
    }
}
