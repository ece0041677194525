//! A machine under raw access: values through addresses, signals under their names. Nothing here reads a code, a mask or an address
//! from the catalogue.

use pericore_machine::chassis::{Chassis, Shape};
use pericore_machine::signal::{SignalSink, Wire, Wiring};
use pericore_registers::{Address, Bdf, RegisterSpace, Width};

/// Ticks of a cycle of every clock but DRAM's.
pub const CYCLE: u64 = 8;
/// Ticks of a DRAM clock.
pub const DCLK: u64 = 27;

/// The uncore bus of a lone Emerald Rapids, B30 in the guide's tables.
pub const B30: u8 = 0xfe;

/// A machine, and the names of its signals.
pub struct Raw {
    /// The hardware.
    pub machine: Chassis,
    wiring: Wiring,
}

impl Raw {
    /// A machine of eight cores of two threads a socket.
    pub fn new(family: &str, sockets: u16) -> Self {
        let family = pericore_catalog::family(family).expect("the family is in the catalogue");
        Self::of(Shape::new(family, sockets, 8, 2).expect("a machine of that size"))
    }

    /// A machine of that shape.
    pub fn of(shape: Shape) -> Self {
        let (family, sockets) = (shape.family, shape.sockets);
        let period = |clock: &str| if clock == "dclk" { DCLK } else { CYCLE };
        Self {
            machine: Chassis::new(shape, Wiring::new(family, sockets), period),
            wiring: Wiring::new(family, sockets),
        }
    }

    /// A machine whose clocks all have the same period.
    pub fn with_period(family: &str, sockets: u16, period: u64) -> Self {
        let family = pericore_catalog::family(family).expect("the family is in the catalogue");
        let shape = Shape::new(family, sockets, 8, 2).expect("a machine of that size");
        Self {
            machine: Chassis::new(shape, Wiring::new(family, sockets), |_| period),
            wiring: Wiring::new(family, sockets),
        }
    }

    /// Lets time go on to the start of a cycle.
    pub fn at(&mut self, cycle: u64) {
        self.machine.set_now(cycle * CYCLE);
    }

    /// Lets time go on to the start of a DRAM cycle.
    pub fn at_dclk(&mut self, cycle: u64) {
        self.machine.set_now(cycle * DCLK);
    }

    /// Writes an MSR on CPU 0.
    pub fn wrmsr(&mut self, msr: u32, value: u64) {
        self.wrmsr_on(0, msr, value);
    }

    /// Reads an MSR on CPU 0.
    pub fn rdmsr(&mut self, msr: u32) -> u64 {
        self.rdmsr_on(0, msr)
    }

    /// Writes an MSR on a CPU.
    pub fn wrmsr_on(&mut self, cpu: u32, msr: u32, value: u64) {
        self.machine.write(Address::Msr { cpu, msr }, Width::B8, value).expect("the MSR exists");
    }

    /// Reads an MSR on a CPU.
    pub fn rdmsr_on(&mut self, cpu: u32, msr: u32) -> u64 {
        self.machine.read(Address::Msr { cpu, msr }, Width::B8).expect("the MSR exists")
    }

    /// Reads a dword of configuration space.
    pub fn pci(&mut self, bus: u8, device: u8, function: u8, offset: u16) -> u32 {
        let address = Address::Pci { bdf: Bdf::new(bus, device, function), offset };
        self.machine.read(address, Width::B4).expect("a possible cycle") as u32
    }

    /// Writes a dword of configuration space.
    pub fn pci_write(&mut self, bus: u8, device: u8, function: u8, offset: u16, value: u32) {
        let address = Address::Pci { bdf: Bdf::new(bus, device, function), offset };
        self.machine.write(address, Width::B4, value.into()).expect("a possible cycle");
    }

    /// Reads a counter of configuration space: two dwords, the low one first.
    pub fn pci_count(&mut self, bus: u8, device: u8, function: u8, offset: u16) -> u64 {
        let low = self.pci(bus, device, function, offset);
        u64::from(low) | u64::from(self.pci(bus, device, function, offset + 4)) << 32
    }

    /// Writes a register of two dwords: the upper first, for the lower one starts counting.
    pub fn pci_write_long(&mut self, bus: u8, device: u8, function: u8, offset: u16, value: u64) {
        self.pci_write(bus, device, function, offset + 4, (value >> 32) as u32);
        self.pci_write(bus, device, function, offset, value as u32);
    }

    /// Reads physical memory.
    pub fn memory(&mut self, physical: u64, width: Width) -> u64 {
        self.machine.read(Address::Mmio { physical }, width).expect("the window answers")
    }

    /// Writes physical memory.
    pub fn memory_write(&mut self, physical: u64, width: Width, value: u64) {
        self.machine.write(Address::Mmio { physical }, width, value).expect("the window answers");
    }

    /// A signal of an instance of socket 0.
    pub fn wire(&mut self, unit: &str, instance: u16, signal: &str) -> Wire {
        self.wire_of(0, unit, instance, signal)
    }

    /// A signal of an instance of a socket.
    pub fn wire_of(&mut self, socket: u16, unit: &str, instance: u16, signal: &str) -> Wire {
        self.wiring.signal(socket, unit, instance, signal).expect("the unit has the signal")
    }

    /// A signal of an instance of socket 0, if the unit has it.
    pub fn try_wire(&mut self, unit: &str, instance: u16, signal: &str) -> Option<Wire> {
        self.wiring.signal(0, unit, instance, signal).ok()
    }

    /// True if the signal's tags carry the attribute.
    pub fn has_attribute(&self, unit: &str, signal: &str, attribute: &str) -> bool {
        self.wiring.attribute(unit, signal, attribute).is_ok()
    }

    /// A tag with these attributes; others are 0.
    pub fn tag(&self, unit: &str, signal: &str, attributes: &[(&str, u64)]) -> u64 {
        attributes.iter().fold(0, |tag, &(name, value)| {
            let bits = self.wiring.attribute(unit, signal, name).expect("the signal has the attribute");
            assert_eq!(value & bits.max(), value, "{name}={value:#x} fits");
            bits.set(tag, value)
        })
    }

    /// `count` increments at a cycle.
    pub fn pulse(&mut self, wire: Wire, tag: u64, cycle: u64, count: u32) {
        self.machine.pulse(wire, tag, cycle * CYCLE, count);
    }

    /// An entry arrives at a level.
    pub fn enter(&mut self, wire: Wire, tag: u64, cycle: u64) {
        self.machine.enter(wire, tag, cycle * CYCLE);
    }

    /// An entry leaves a level.
    pub fn leave(&mut self, wire: Wire, tag: u64, cycle: u64) {
        self.machine.leave(wire, tag, cycle * CYCLE);
    }
}
