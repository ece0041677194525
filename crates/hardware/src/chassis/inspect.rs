//! The machine's registers by name, for people who look at it.

use pericore_catalog::{Location, Register, Role, Unit};
use pericore_registers::{Address, Bdf, Outcome, RegisterSpace, Width};

use super::{Block, Chassis, mmio};

/// A register of a machine: its names and its address.
#[derive(Debug, Clone, Copy)]
pub struct RegisterPlace {
    /// Socket.
    pub socket: u16,
    /// Unit.
    pub unit: &'static Unit,
    /// Instance within the socket.
    pub instance: u16,
    /// Register.
    pub register: &'static Register,
    /// Member of the array.
    pub member: u8,
    /// Address; MSRs on the first CPU of the socket.
    pub address: Address,
    /// The cycle that reads it whole.
    pub width: Width,
}

impl RegisterPlace {
    /// `socket/unit+instance/register`: `0/cbo3/ctl1`.
    pub fn name(&self) -> String {
        let number = if self.unit.instances > 1 { self.instance.to_string() } else { String::new() };
        format!("{}/{}{number}/{}", self.socket, self.unit.name, self.register.member_name(self.member))
    }
}

impl Chassis {
    /// Every register of the machine: socket by socket, unit by unit, instance by instance.
    pub fn registers(&self) -> impl Iterator<Item = RegisterPlace> {
        self.blocks().flat_map(move |(socket, unit, instance)| {
            let members =
                unit.registers.iter().flat_map(|register| (0..register.count).map(move |member| (register, member)));
            members.filter_map(move |(register, member)| self.place(socket, unit, instance, register, member))
        })
    }

    /// The registers that a name stands for: `[socket/]unit[instance]/register`, in any case; what is left out means
    /// all.
    pub fn find_registers(&self, name: &str) -> Vec<RegisterPlace> {
        let parts: Vec<&str> = name.split('/').collect();
        let (socket, block, register) = match parts.as_slice() {
            [block, register] => (None, *block, *register),
            [socket, block, register] => (Some(*socket), *block, *register),
            _ => return Vec::new(),
        };
        let matches = |place: &RegisterPlace| {
            socket.is_none_or(|socket| place.socket.to_string() == socket)
                && numbered(place.unit.name, place.instance, block)
                && numbered(place.register.name, place.member.into(), register)
        };
        self.registers().filter(matches).collect()
    }

    /// The PMON blocks that a name stands for: `[socket/]unit[instance]`, in any case; what is left out means all.
    pub fn find_blocks(&self, name: &str) -> Vec<Block> {
        let (socket, block) = name.split_once('/').map_or((None, name), |(socket, block)| (Some(socket), block));
        let found = self.blocks().filter(|&(number, unit, instance)| {
            socket.is_none_or(|socket| number.to_string() == socket) && numbered(unit.name, instance, block)
        });
        found.map(|(socket, unit, instance)| Block::new(socket, unit.name, instance)).collect()
    }

    /// The programmable counters among the registers that a name stands for, with their blocks.
    pub fn find_counters(&self, name: &str) -> Vec<(Block, u8)> {
        let places = self.find_registers(name).into_iter().filter(|place| place.register.role == Role::Counter);
        places.map(|place| (Block::new(place.socket, place.unit.name, place.instance), place.member)).collect()
    }

    /// Every block of the machine: socket, unit and instance.
    fn blocks(&self) -> impl Iterator<Item = (u16, &'static Unit, u16)> {
        let units = move |socket| self.shape.family.units.iter().map(move |unit| (socket, *unit));
        (0..self.shape.sockets).flat_map(units).flat_map(|(socket, unit)| {
            let present = (0..unit.instances).filter(|&instance| self.shape.has(unit, instance));
            present.map(move |instance| (socket, unit, instance))
        })
    }

    /// A register's value, whole and at once: no bus comes between.
    ///
    /// # Errors
    /// As [`RegisterSpace::read`].
    pub fn peek(&mut self, place: &RegisterPlace) -> Outcome<u64> {
        self.by_itself(|machine| machine.read(place.address, place.width))
    }

    /// Writes a register as software would.
    ///
    /// # Errors
    /// As [`RegisterSpace::write`].
    pub fn poke(&mut self, place: &RegisterPlace, value: u64) -> Outcome<()> {
        self.by_itself(|machine| machine.write(place.address, place.width, value))
    }

    /// Without what the system denies: this is a look from outside.
    fn by_itself<T>(&mut self, access: impl FnOnce(&mut Self) -> T) -> T {
        let denied = std::mem::take(&mut self.denied);
        let outcome = access(self);
        self.denied = denied;
        outcome
    }

    /// Where a register of a block is; `None` if the block has none of its own.
    fn place(
        &self,
        socket: u16,
        unit: &'static Unit,
        instance: u16,
        register: &'static Register,
        member: u8,
    ) -> Option<RegisterPlace> {
        let placement = &unit.placements[usize::from(register.placement)];
        let found = (0..placement.instances.len())
            .find(|&location| super::map::owner(unit, placement, location) == instance)?;
        let offset = register.member_offset(member);
        let address = match placement.instances[found] {
            Location::Msr { base } => Address::Msr { cpu: self.shape.first_cpu(socket), msr: base + offset },
            Location::Pci { device, function } => {
                let bus = self.shape.bus(socket, placement.bus);
                let segment = self.segment_of(socket);
                Address::Pci { bdf: Bdf { segment, bus, device, function }, offset: offset as u16 }
            }
            Location::Mmio { bar, index, offset: within } => {
                Address::Mmio { physical: mmio::base(bar, socket, index)? + within + u64::from(offset) }
            }
        };
        let width = match address {
            Address::Msr { .. } => Width::B8,
            Address::Pci { .. } | Address::Mmio { .. } => Width::for_bits(register.width),
        };
        Some(RegisterPlace { socket, unit, instance, register, member, address, width })
    }
}

/// True if `asked` is a name alone, or with its number behind it.
fn numbered(plain: &str, number: u16, asked: &str) -> bool {
    plain.eq_ignore_ascii_case(asked) || format!("{plain}{number}").eq_ignore_ascii_case(asked)
}
