//! From addresses to registers. The places are the same in every socket, so the map is made once for all.

use pericore_catalog::{Location, Placement, Unit};

use super::mmio::MmioMap;
use super::pci::Function;
use crate::pmon::{Bank, RegisterRef, SlotRef};
use crate::signal::Wiring;

/// A register of an instance of a socket, by its rows in the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Index among the family's units.
    pub unit: u16,
    /// Instance within the socket.
    pub instance: u16,
    /// Register.
    pub register: RegisterRef,
}

/// A register of a socket, as the hardware numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// PMON instance, numbered over the socket.
    pub block: u16,
    pub slot: SlotRef,
}

/// Functions of a bus.
const FUNCTIONS: usize = 256;

/// All registers of a socket by address.
#[derive(Debug, Default)]
pub struct AddressMap {
    first_msr: u32,
    /// By MSR number less the first.
    msrs: Vec<Option<Place>>,
    /// By bus, device and function: index into `functions`, plus 1.
    functions_by_number: Vec<u16>,
    functions: Vec<Function>,
    mmio: MmioMap,
}

/// The instance that the registers at a location belong to: a companion placement may serve several, and is the first
/// one's.
pub fn owner(unit: &Unit, placement: &Placement, location: usize) -> u16 {
    let share = usize::from(unit.instances) / placement.instances.len().max(1);
    (location * share.max(1)) as u16
}

impl AddressMap {
    /// The map of a socket.
    pub fn new(wiring: &Wiring, bank: &Bank) -> Self {
        let mut map = Self::default();
        let mut msrs = Vec::new();
        let mut memory = Vec::new();
        for (unit_index, unit) in wiring.family().units.iter().enumerate().filter(|(_, unit)| unit.instances > 0) {
            let layout = bank.layout(wiring.instance(0, unit_index, 0));
            for (placement_index, placement) in unit.placements.iter().enumerate() {
                for (number, &location) in placement.instances.iter().enumerate() {
                    let block = wiring.instance(0, unit_index, owner(unit, placement, number));
                    if let Location::Pci { device, function } = location {
                        let device_id = placement.device_ids.get(number).or(placement.device_ids.first());
                        let bus = placement.bus.number();
                        map.add_function(bus, device, function, block).set_device_id(device_id.copied());
                    }
                    let here =
                        |register: &&pericore_catalog::Register| usize::from(register.placement) == placement_index;
                    for (register_index, register) in unit.registers.iter().enumerate().filter(|(_, r)| here(r)) {
                        for member in 0..register.count {
                            let place = Place { block, slot: layout.at(register_index, member) };
                            let offset = register.member_offset(member);
                            match location {
                                Location::Msr { base } => msrs.push((base + offset, place)),
                                Location::Pci { device, function } => {
                                    let bus = placement.bus.number();
                                    let function = map.add_function(bus, device, function, block);
                                    function.add(offset as u16, register.width, place);
                                }
                                Location::Mmio { bar, index, offset: within } => {
                                    memory.push(((bar, index), within + u64::from(offset), register.width, place));
                                }
                            }
                        }
                    }
                }
            }
        }
        map.first_msr = msrs.iter().map(|&(msr, _)| msr).min().unwrap_or_default();
        let last = msrs.iter().map(|&(msr, _)| msr + 1).max().unwrap_or_default();
        map.msrs = vec![None; (last - map.first_msr) as usize];
        for (msr, place) in msrs {
            map.msrs[(msr - map.first_msr) as usize] = Some(place);
        }
        map.mmio = MmioMap::new(memory);
        map
    }

    fn add_function(&mut self, bus: u8, device: u8, function: u8, owner: u16) -> &mut Function {
        let number = function_number(bus, device, function);
        if self.functions_by_number.len() <= number {
            self.functions_by_number.resize((usize::from(bus) + 1) * FUNCTIONS, 0);
        }
        if self.functions_by_number[number] == 0 {
            self.functions.push(Function::new(owner));
            self.functions_by_number[number] = self.functions.len() as u16;
        }
        let index = usize::from(self.functions_by_number[number]) - 1;
        &mut self.functions[index]
    }

    /// The register behind an MSR number.
    #[inline]
    pub fn msr(&self, number: u32) -> Option<Place> {
        *self.msrs.get(number.checked_sub(self.first_msr)? as usize)?
    }

    /// A PCI function; `bus` counts from the socket's uncore bus, or is the number of a stack.
    #[inline]
    pub fn function(&self, bus: u8, device: u8, function: u8) -> Option<&Function> {
        if device >= 32 || function >= 8 {
            return None;
        }
        let index = *self.functions_by_number.get(function_number(bus, device, function))?;
        self.functions.get(usize::from(index).checked_sub(1)?)
    }

    /// The memory-mapped registers.
    pub const fn mmio(&self) -> &MmioMap {
        &self.mmio
    }
}

fn function_number(bus: u8, device: u8, function: u8) -> usize {
    usize::from(bus) * FUNCTIONS + usize::from(device) * 8 + usize::from(function)
}
