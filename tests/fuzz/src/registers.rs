//! Any access of any width, alignment, address and order, with signals and time between: never a panic, and what the
//! documents say of widths, reserved bits, freezes and snapshots holds.

use pericore_catalog::{FieldAccess, Register, Role};
use pericore_machine::chassis::{
    Block, Chassis, DiscoveryFault, Faults, Intrusion, RegisterPlace, Rules, Shape, Variant,
};
use pericore_machine::signal::{SignalSink, Wire, Wiring};
use pericore_registers::{Address, Bdf, RegisterSpace};

use crate::input::Input;

struct Bench {
    machine: Chassis,
    places: Vec<RegisterPlace>,
    entries: Vec<(Wire, u64)>,
    /// No fault makes registers lie.
    honest: bool,
    /// The end is a dump, which costs more than the rest.
    dumps: bool,
}

impl Bench {
    fn new(input: &mut Input<'_>) -> Self {
        let family = ["nehalem", "e5-2600", "emerald-rapids"][usize::from(input.byte() % 3)];
        let family = pericore_catalog::family(family).expect("in the catalogue");
        let sockets = [1, 1, 1, 1, 1, 1, 2, 8][usize::from(input.byte() % 8)];
        let shape = Shape::new(family, sockets, 1 + u16::from(input.byte() % 64), 1 + u16::from(input.byte() % 2))
            .expect("a machine");
        let wiring = Wiring::new(family, sockets);
        let machine = Chassis::new(shape, wiring, |clock| 1 + clock.len() as u64);
        let places: Vec<RegisterPlace> = machine.registers().collect();
        let variant = variant(input, &places);
        let honest = variant.faults == Faults::default();
        let machine = machine.with_variant(&variant).expect("the blocks are there");
        let dumps = input.byte().is_multiple_of(8);
        Self { machine, places, entries: Vec::new(), honest, dumps }
    }

    fn place(&self, input: &mut Input<'_>) -> RegisterPlace {
        self.places[input.below(self.places.len())]
    }

    /// Somewhere: a register, near one, or anywhere.
    fn address(&self, input: &mut Input<'_>) -> Address {
        let place = self.place(input);
        match (input.byte() % 4, place.address) {
            (0, _) => Address::Msr { cpu: input.number() as u32, msr: input.number() as u32 },
            (1, _) => {
                let bdf = Bdf {
                    segment: (input.byte() % 2).into(),
                    bus: input.byte(),
                    device: input.byte(),
                    function: input.byte(),
                };
                Address::Pci { bdf, offset: input.number() as u16 }
            }
            (2, Address::Mmio { physical }) => Address::Mmio { physical: physical.wrapping_add(input.sized()) },
            (2, Address::Pci { bdf, offset }) => Address::Pci { bdf, offset: offset.wrapping_add(input.byte().into()) },
            (2, Address::Msr { cpu, msr }) => Address::Msr { cpu, msr: msr.wrapping_add(input.byte().into()) },
            (_, address) => address,
        }
    }

    fn wire(&self, input: &mut Input<'_>) -> (Wire, u64) {
        let instance = input.below(self.machine.wiring().instances().into()) as u16;
        let unit = self.machine.shape().family.units[self.machine.wiring().locate(instance).1];
        let signal = input.below(unit.signals.len());
        let attributes = unit.signals.get(signal).map_or(&[][..], |signal| signal.attributes);
        let bits = attributes.iter().fold(0, |mask, attribute| mask | attribute.bits.mask());
        (self.machine.wiring().wire(instance, signal as u16), input.sized() & bits)
    }

    fn step(&mut self, input: &mut Input<'_>) {
        match input.byte() % 10 {
            0 => {
                let (address, width) = (self.address(input), input.width());
                if let Ok(value) = self.machine.read(address, width) {
                    assert_eq!(value & !width.mask(), 0, "{address} reads wider than {width:?}");
                }
            }
            1 => {
                let (address, width, value) = (self.address(input), input.width(), input.sized());
                let _ = self.machine.write(address, width, value);
            }
            2 | 3 => self.select(input),
            4 => self.write_and_look(input),
            5 => {
                let ((wire, tag), count) = (self.wire(input), input.sized() as u32);
                let ahead = u64::from(input.byte());
                self.machine.pulse(wire, tag, self.machine.now() + ahead, count);
                self.machine.set_now(self.machine.now() + ahead);
            }
            6 => {
                let (wire, tag) = self.wire(input);
                self.machine.enter(wire, tag, self.machine.now());
                self.entries.push((wire, tag));
            }
            7 => {
                if !self.entries.is_empty() {
                    let (wire, tag) = self.entries.swap_remove(input.below(self.entries.len()));
                    self.machine.leave(wire, tag, self.machine.now());
                }
            }
            8 => {
                // Up to an hour of virtual time.
                let ticks = input.sized() % (1 << 44);
                self.machine.set_now(self.machine.now() + ticks);
            }
            _ => self.stand_still(input),
        }
    }

    /// Selects an event on a control.
    fn select(&mut self, input: &mut Input<'_>) {
        let place = self.place(input);
        if place.register.role != Role::Control || place.unit.events.is_empty() {
            return;
        }
        let event = &place.unit.events[input.below(place.unit.events.len())];
        let config = event
            .subevents
            .get(input.below(event.subevents.len() + 1))
            .map_or(event.config, |subevent| subevent.config);
        let enable = place.register.field("en").map_or(0, |field| field.bits.mask());
        let shape = input.sized() & 0xff9d_0000;
        let _ = self.machine.poke(&place, (config | enable | shape) & place.width.mask());
    }

    /// What a register shows after a write: no reserved bit, nothing beyond its width.
    fn write_and_look(&mut self, input: &mut Input<'_>) {
        let (place, value) = (self.place(input), input.sized());
        let _ = self.machine.poke(&place, value & place.width.mask());
        let Ok(shown) = self.machine.peek(&place) else { return };
        if self.honest {
            assert_eq!(shown & !visible(place.register), 0, "{} shows {shown:#x}", place.name());
        }
    }

    /// A frozen block's counters stand still, whatever signals come.
    fn stand_still(&mut self, input: &mut Input<'_>) {
        let Some(control) =
            Some(self.place(input)).filter(|place| place.register.role == Role::UnitControl && self.honest)
        else {
            return;
        };
        let field = |name: &str| control.register.field(name).map_or(0, |field| field.bits.mask());
        if self.machine.poke(&control, field("frz") | field("frz_en")).is_err() {
            return;
        }
        let same = |place: &&RegisterPlace| {
            (place.socket, place.unit.name, place.instance) == (control.socket, control.unit.name, control.instance)
                && matches!(place.register.role, Role::Counter | Role::FixedCounter)
        };
        let counters: Vec<RegisterPlace> = self.places.iter().filter(same).copied().collect();
        let before: Vec<_> = counters.iter().map(|place| self.machine.peek(place)).collect();
        for _ in 0..input.byte() % 8 {
            let (wire, tag) = self.wire(input);
            self.machine.pulse(wire, tag, self.machine.now(), 1 + u32::from(input.byte()));
            self.machine.set_now(self.machine.now() + u64::from(input.byte()));
        }
        let after: Vec<_> = counters.iter().map(|place| self.machine.peek(place)).collect();
        assert_eq!(before, after, "{} is frozen", control.name());
    }
}

/// The bits that a register can show.
fn visible(register: &Register) -> u64 {
    let shown =
        register.fields.iter().filter(|field| !matches!(field.access, FieldAccess::Reserved | FieldAccess::Ignored));
    shown.fold(0, |mask, field| mask | field.bits.mask())
}

fn variant(input: &mut Input<'_>, places: &[RegisterPlace]) -> Variant {
    let rules = [Rules::Documented, Rules::Documented, Rules::Strict, Rules::Lenient][usize::from(input.byte() % 4)];
    if !input.byte().is_multiple_of(4) {
        return Variant { rules, ..Variant::default() };
    }
    let mut block = || {
        let place = places[input.below(places.len())];
        Block::new(place.socket, place.unit.name, place.instance)
    };
    let (all_ones, hidden, stuck) = (vec![block()], vec![block()], vec![(block(), 1)]);
    let place = places[input.below(places.len())];
    let intrusion = Intrusion {
        first: input.sized() % 10_000,
        every: input.sized() % 10_000 * 1_000_000,
        address: place.address,
        width: place.width,
        value: input.sized() & place.width.mask(),
    };
    let discovery = [
        DiscoveryFault::None,
        DiscoveryFault::Absent,
        DiscoveryFault::AllOnes,
        DiscoveryFault::Zeros,
        DiscoveryFault::Truncated(input.byte().into()),
        DiscoveryFault::WrongCount(input.sized() as u16),
        DiscoveryFault::NoStride,
        DiscoveryFault::WrongBlocks,
    ][usize::from(input.byte() % 8)];
    let write_delay = u64::from(input.byte() % 2) * u64::from(input.byte());
    let faults =
        Faults { all_ones, hidden, stuck, discovery, intrusions: vec![intrusion], write_delay, ..Faults::default() };
    Variant { rules, faults, ..Variant::default() }
}

/// Any bytes.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let mut bench = Bench::new(&mut input);
    while !input.0.is_empty() {
        bench.step(&mut input);
    }
    if !bench.dumps {
        return;
    }
    let text = bench.machine.dump();
    let mut loaded = Chassis::load(&text).expect("what was dumped loads");
    assert_eq!(loaded.dump(), text, "dump and load are identity");
}
