//! What a bus cycle comes to.

use pericore_catalog::PciFunction;
use pericore_registers::{AccessError, Address, Bdf, Outcome, RegisterSpace, Width};

use super::map::Place;
use super::variant::{Presence, Rules};
use super::{Chassis, discovery, extra, mmio, pci};
use crate::pmon::SlotRef;
use crate::signal::Tick;

/// What a cycle reaches.
pub enum Reached {
    /// Nothing that answers: reads as all ones, writes are dropped.
    Absent,
    /// A dword of configuration space, or of a window of memory, without a PMON register.
    Config(u32),
    /// An MSR of the core's side, if there is one.
    Core { socket: u16, cpu: u32, msr: u32 },
    /// A register of so many bytes, and the first of them that the cycle covers.
    Register { socket: u16, place: Place, byte: u16, bytes: u16 },
    /// The discovery table.
    Discovery { socket: u16, offset: u64 },
}

impl Chassis {
    /// What a cycle reaches.
    #[inline]
    pub(super) fn reach(&self, address: Address, width: Width) -> Result<Reached, AccessError> {
        match address {
            Address::Msr { cpu, msr } => {
                let socket = self.socket_of_cpu.get(cpu as usize).ok_or(AccessError::Unreachable { address })?;
                let socket = u16::from(*socket);
                if width != Width::B8 {
                    return Err(AccessError::BadCycle { address, width });
                }
                match self.map.msr(msr) {
                    Some(place) if self.presence(socket, place.block) == Presence::Hidden => self.missing_msr(address),
                    Some(place) => Ok(Reached::Register { socket, place, byte: 0, bytes: 8 }),
                    None => Ok(Reached::Core { socket, cpu, msr }),
                }
            }
            Address::Pci { bdf, offset } => {
                let aligned = offset & (width.bytes().min(4) - 1) == 0;
                if !aligned || u32::from(offset) + u32::from(width.bytes()) > u32::from(pci::CONFIG_BYTES) {
                    return Err(AccessError::BadCycle { address, width });
                }
                Ok(self.reach_function(bdf, offset))
            }
            Address::Mmio { physical } => {
                if physical & u64::from(width.bytes() - 1) != 0 {
                    return Err(AccessError::BadCycle { address, width });
                }
                let sockets = if self.tables.is_empty() { 0 } else { self.shape.sockets };
                match self.map.mmio().reach(physical, sockets) {
                    Some(mmio::Reached::Register { socket, place, .. })
                        if self.presence(socket, place.block) == Presence::Hidden =>
                    {
                        Ok(Reached::Absent)
                    }
                    Some(mmio::Reached::Register { socket, place, byte, bytes }) => {
                        Ok(Reached::Register { socket, place, byte, bytes })
                    }
                    Some(mmio::Reached::Discovery { socket, offset }) => Ok(Reached::Discovery { socket, offset }),
                    Some(mmio::Reached::Hole) => Ok(Reached::Config(0)),
                    None => Err(AccessError::Unreachable { address }),
                }
            }
        }
    }

    /// True if the machine has no such MSR, and its rules let accesses to it pass all the same.
    pub fn passes_msr(&self, cpu: u32, msr: u32) -> bool {
        let is_of_core = |socket: &u8| self.core.read(cpu, u16::from(*socket), msr, self.now).is_some();
        self.rules == Rules::Lenient
            && self.map.msr(msr).is_none()
            && !self.socket_of_cpu.get(cpu as usize).is_some_and(is_of_core)
    }

    fn missing_msr(&self, address: Address) -> Result<Reached, AccessError> {
        match self.rules {
            Rules::Lenient => Ok(Reached::Config(0)),
            Rules::Documented | Rules::Strict => Err(AccessError::GeneralProtection { address }),
        }
    }

    fn reach_function(&self, bdf: Bdf, offset: u16) -> Reached {
        if let Some((owner, socket)) = self.discovery_owner(bdf) {
            return Reached::Config(discovery::owner_config(owner, socket, offset & !3, self.discovery_fault));
        }
        let function = self.shape.socket_of_bus(bdf.bus).and_then(|(socket, bus)| {
            let function = self.map.function(bus, bdf.device, bdf.function)?;
            let is_here = bdf.segment == self.segment_of(socket);
            (is_here && self.presence(socket, function.owner) != Presence::Hidden).then_some((socket, function))
        });
        let Some((socket, function)) = function else {
            let extra = extra::config(self.functions, bdf, offset & !3).filter(|_| self.functions > 0);
            return extra.map_or(Reached::Absent, Reached::Config);
        };
        match function.register(offset) {
            Some((place, byte, bytes)) => Reached::Register { socket, place, byte, bytes },
            None => Reached::Config(function.config(offset & !3)),
        }
    }

    /// The PCI function that leads to a socket's discovery table, if it is one, and the socket.
    fn discovery_owner(&self, bdf: Bdf) -> Option<(&'static PciFunction, u16)> {
        let owner = self.shape.family.discovery.as_ref()?;
        if self.tables.is_empty() || (bdf.device, bdf.function) != (owner.device, owner.function) {
            return None;
        }
        let is_its = |&socket: &u16| (self.segment_of(socket), self.shape.first_bus(socket)) == (bdf.segment, bdf.bus);
        (0..self.shape.sockets).find(is_its).map(|socket| (owner, socket))
    }

    /// The PMON registers that a cycle reaches: instance and slot.
    pub fn touched(&self, address: Address, width: Width) -> impl Iterator<Item = (u16, SlotRef)> + '_ {
        let halves = match (address, width) {
            (Address::Msr { .. }, _) => [Some((address, width)), None],
            (_, Width::B8) => [Some((address, Width::B4)), later_byte(address, 4).map(|high| (high, Width::B4))],
            _ => [Some((address, width)), None],
        };
        halves.into_iter().flatten().filter_map(|(address, width)| match self.reach(address, width) {
            Ok(Reached::Register { socket, place, .. }) => Some(self.behind(socket, place)),
            _ => None,
        })
    }

    /// The instances whose counters a write may make listen to something else.
    pub fn programs(&self, address: Address, width: Width) -> [Option<u16>; 2] {
        let touched = self.touched(address, width).filter(|&(number, slot)| !self.bank.is_counter(number, slot));
        let mut instances = touched.map(|(number, _)| number);
        [instances.next(), instances.next()]
    }

    #[inline]
    fn number(&self, socket: u16, block: u16) -> u16 {
        socket * self.per_socket + block
    }

    /// The register that answers at a place.
    #[inline]
    pub(super) fn behind(&self, socket: u16, place: Place) -> (u16, SlotRef) {
        let at = (self.number(socket, place.block), place.slot);
        if self.redirects.is_empty() { at } else { self.redirects.behind(at) }
    }

    #[inline]
    fn presence(&self, socket: u16, block: u16) -> Presence {
        self.presence[usize::from(self.number(socket, block))]
    }

    #[inline]
    fn read_cycle(&mut self, address: Address, width: Width) -> Outcome<u64> {
        Ok(match self.reach(address, width)? {
            Reached::Register { socket, place, byte, bytes } => {
                if byte + width.bytes() > bytes {
                    // A quadword of memory over two dword registers.
                    let low = self.read_cycle(address, Width::B4)?;
                    return Ok(low | self.read_cycle(address.plus(4), Width::B4)? << 32);
                }
                match self.presence(socket, place.block) {
                    Presence::AllOnes => width.mask(),
                    _ => {
                        let (number, slot) = self.behind(socket, place);
                        self.bank.read(number, slot, self.now) >> (8 * byte) & width.mask()
                    }
                }
            }
            Reached::Absent => width.mask(),
            Reached::Config(dword) => match address {
                Address::Pci { offset, .. } => u64::from(dword) >> (8 * (offset % 4)) & width.mask(),
                Address::Msr { .. } | Address::Mmio { .. } => 0,
            },
            Reached::Discovery { socket, offset } => {
                let qword = self.tables[usize::from(socket)].get((offset / 8) as usize).copied().unwrap_or(0);
                qword >> (8 * (offset % 8)) & width.mask()
            }
            Reached::Core { socket, cpu, msr } => match self.core.read(cpu, socket, msr, self.now) {
                Some(value) => value,
                None => self.missing_msr(address).map(|_| 0)?,
            },
        })
    }

    fn write_cycle(&mut self, address: Address, width: Width, value: u64, at: Tick) -> Outcome<()> {
        match self.reach(address, width)? {
            Reached::Core { socket, cpu, msr } => {
                if self.core.write(cpu, socket, msr, value, at).is_none() {
                    self.missing_msr(address)?;
                }
            }
            Reached::Register { socket, place, byte, bytes } => {
                if byte + width.bytes() > bytes {
                    self.write_cycle(address, Width::B4, value, at)?;
                    return self.write_cycle(address.plus(4), Width::B4, value >> 32, at);
                }
                if self.presence(socket, place.block) == Presence::AllOnes {
                    return Ok(());
                }
                let (number, slot) = self.behind(socket, place);
                let (value, written) = ((value & width.mask()) << (8 * byte), width.mask() << (8 * byte));
                if self.rules == Rules::Strict
                    && let Some(broken) = self.bank.breaks_rule(number, slot, value, written)
                {
                    return Err(refusal(address, &broken));
                }
                self.bank.write(number, slot, value, written, at);
            }
            Reached::Absent | Reached::Config(_) | Reached::Discovery { .. } => {}
        }
        Ok(())
    }

    /// A write at a moment.
    pub(super) fn write_at(&mut self, address: Address, width: Width, value: u64, at: Tick) -> Outcome<()> {
        match (address, width) {
            (Address::Pci { .. }, Width::B8) => {
                self.reach(address, width)?;
                self.write_cycle(address, Width::B4, value, at)?;
                self.write_cycle(address.plus(4), Width::B4, value >> 32, at)
            }
            _ => self.write_cycle(address, width, value, at),
        }
    }

    /// The short way to what is read most: an MSR, or a register of 8 bytes in a function. Time stands between the two
    /// dword cycles that the latter comes to.
    #[inline]
    fn whole_register(&self, address: Address, width: Width) -> Option<(u16, SlotRef)> {
        let (socket, place) = match address {
            _ if width != Width::B8 => return None,
            Address::Msr { cpu, msr } => (u16::from(*self.socket_of_cpu.get(cpu as usize)?), self.map.msr(msr)?),
            Address::Pci { bdf, offset } => {
                let (socket, bus) = self.shape.socket_of_bus(bdf.bus)?;
                let here = bdf.segment == self.segment_of(socket);
                let function = self.map.function(bus, bdf.device, bdf.function).filter(|_| here)?;
                let (place, byte, bytes) = function.register(offset)?;
                (socket, (byte, bytes).eq(&(0, 8)).then_some(place)?)
            }
            Address::Mmio { physical } if !self.tables.is_empty() => {
                match self.map.mmio().reach(physical, self.shape.sockets)? {
                    mmio::Reached::Register { socket, place, byte: 0, bytes: 8 } => (socket, place),
                    _ => return None,
                }
            }
            Address::Mmio { .. } => return None,
        };
        let number = self.number(socket, place.block);
        (self.presence[usize::from(number)] == Presence::Present).then(|| self.behind(socket, place))
    }

    /// True if the rules let the cycle be carried out byte by byte.
    fn bytewise(&self, address: Address, width: Width) -> bool {
        let misaligned = || match address {
            Address::Msr { .. } => false,
            Address::Pci { offset, .. } => offset & (width.bytes().min(4) - 1) != 0,
            Address::Mmio { physical } => physical & u64::from(width.bytes() - 1) != 0,
        };
        self.rules == Rules::Lenient && misaligned()
    }
}

/// The address so many bytes further on, unless space ends before.
fn later_byte(address: Address, bytes: u16) -> Option<Address> {
    Some(match address {
        Address::Msr { .. } => return None,
        Address::Pci { bdf, offset } => Address::Pci { bdf, offset: offset.checked_add(bytes)? },
        Address::Mmio { physical } => Address::Mmio { physical: physical.checked_add(bytes.into())? },
    })
}

/// The strict machine's answer. A CPU knows one for MSRs; on other buses only an emulated machine can refuse.
fn refusal(address: Address, broken: &crate::pmon::RuleBroken) -> AccessError {
    match address {
        Address::Msr { .. } => AccessError::GeneralProtection { address },
        Address::Pci { .. } | Address::Mmio { .. } => {
            AccessError::Io { address, message: format!("undefined: {broken}") }
        }
    }
}

impl RegisterSpace for Chassis {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        if !self.denied.is_nothing() {
            self.denied.check(address, false)?;
        }
        if let Some((number, slot)) = self.whole_register(address, width) {
            return Ok(self.bank.read(number, slot, self.now));
        }
        match (address, width) {
            _ if self.bytewise(address, width) => (0..width.bytes()).try_fold(0, |value, byte| {
                let next = later_byte(address, byte).ok_or(AccessError::BadCycle { address, width })?;
                Ok(value | self.read_cycle(next, Width::B1)? << (8 * byte))
            }),
            // A quadword is two dword cycles, low first.
            (Address::Pci { .. }, Width::B8) => {
                self.reach(address, width)?;
                let low = self.read_cycle(address, Width::B4)?;
                Ok(low | self.read_cycle(address.plus(4), Width::B4)? << 32)
            }
            _ => self.read_cycle(address, width),
        }
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        if !self.denied.is_nothing() {
            self.denied.check(address, true)?;
        }
        if self.write_delay > 0 && matches!(self.reach(address, width)?, Reached::Register { .. }) {
            self.later.put_off(self.now.saturating_add(self.write_delay), address, width, value);
            self.next_due = self.later.next_due();
            return Ok(());
        }
        if self.bytewise(address, width) {
            return (0..width.bytes()).try_for_each(|byte| {
                let next = later_byte(address, byte).ok_or(AccessError::BadCycle { address, width })?;
                self.write_cycle(next, Width::B1, value >> (8 * byte), self.now)
            });
        }
        self.write_at(address, width, value, self.now)
    }

    fn pci_segments(&mut self) -> Vec<u16> {
        if self.segment == 0 { vec![0] } else { vec![0, self.segment] }
    }
}
