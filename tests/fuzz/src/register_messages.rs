//! Messages to the process that holds the registers, from a peer that has gone wrong: any frames and any bytes between
//! them. After discovery no register is touched but those of PMON units that the machine has, none is written but
//! controls, filters, gates, counters and status, and no bit that no document gives.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Write};
use std::rc::Rc;
use std::sync::LazyLock;

use pericore_catalog::{FieldAccess, Role};
use pericore_machine::MachineSpec;
use pericore_machine::chassis::{Chassis, RegisterPlace};
use pericore_observe::discover::Cpu;
use pericore_observe::register_process::serve_over;
use pericore_registers::{Address, Bdf, Outcome, RegisterSpace, Width};

use crate::input::Input;

/// The kinds of messages, of which this one looks for units.
const KINDS: u8 = 12;
const DISCOVER: u32 = 2;

/// Bytes of a discovery table in memory at most (Emerald Rapids 1.10.1).
const TABLE: u64 = 0x8_0000;

const MACHINES: [&str; 3] = ["e5-2600", "nehalem", "emerald-rapids"];

/// Machines as they begin, and what they have where.
static BEGIN: LazyLock<[(String, Vec<RegisterPlace>); 3]> = LazyLock::new(|| {
    MACHINES.map(|name| {
        let mut machine = MachineSpec::parse(name).expect("a machine").chassis().expect("a machine");
        (machine.dump(), machine.registers().collect())
    })
});

/// A machine that minds who touches what.
struct Guarded {
    machine: Chassis,
    /// The register at a place of 4 or 8 bytes, and the bits by which its value is shifted there.
    places: HashMap<(Address, Width), (RegisterPlace, u32)>,
    /// What registers were seen to hold.
    seen: HashMap<Address, u64>,
    /// PCI functions of units, and what discovery read in memory: tables among it.
    functions: HashSet<Bdf>,
    looked_at: Vec<u64>,
    is_discovery: Rc<Cell<bool>>,
}

impl Guarded {
    fn new(number: usize, is_discovery: Rc<Cell<bool>>) -> Self {
        let (begin, registers) = &BEGIN[number];
        let mut places = HashMap::new();
        let mut functions = HashSet::new();
        for place in registers {
            if let Address::Pci { bdf, .. } = place.address {
                functions.insert(bdf);
            }
            places.insert((place.address, place.width), (*place, 0));
            if place.width == Width::B8 && !matches!(place.address, Address::Msr { .. }) {
                places.entry((place.address, Width::B4)).or_insert((*place, 0));
                places.entry((place.address.plus(4), Width::B4)).or_insert((*place, 32));
            }
        }
        Self {
            machine: Chassis::load(begin).expect("a machine"),
            places,
            seen: HashMap::new(),
            functions,
            looked_at: Vec::new(),
            is_discovery,
        }
    }

    /// True for what shows which units there are: vendor and device of a unit's function, a table in memory.
    fn is_of_discovery(&self, address: Address, width: Width) -> bool {
        match (address, width) {
            (Address::Pci { bdf, offset: 0 }, Width::B4) => self.functions.contains(&bdf),
            (Address::Mmio { physical }, Width::B8) => {
                self.looked_at.iter().any(|&first| (first..first + TABLE).contains(&physical))
            }
            _ => false,
        }
    }

    /// The register of a unit at a place.
    fn place(&self, address: Address, width: Width) -> Option<(RegisterPlace, u32)> {
        // One socket: its MSRs are the same through each CPU.
        let address = match address {
            Address::Msr { msr, .. } => Address::Msr { cpu: 0, msr },
            other => other,
        };
        self.places.get(&(address, width)).copied()
    }
}

impl RegisterSpace for Guarded {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        let place = self.place(address, width);
        match (self.is_discovery.get(), address) {
            (true, Address::Mmio { physical }) => self.looked_at.push(physical),
            (true, _) => {}
            (false, _) => {
                assert!(place.is_some() || self.is_of_discovery(address, width), "{address} is read, {width:?}")
            }
        }
        let outcome = self.machine.read(address, width);
        if let (Some((place, shift)), Ok(value)) = (place, &outcome) {
            *self.seen.entry(place.address).or_default() |= value << shift;
        }
        outcome
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        assert!(!self.is_discovery.get(), "discovery writes {address}");
        let (place, shift) = self.place(address, width).unwrap_or_else(|| panic!("{address} is written, {width:?}"));
        assert!(!matches!(place.register.role, Role::FreeRunning | Role::Identity), "{} is written", place.name());
        let is_counter = matches!(place.register.role, Role::Counter | Role::FixedCounter);
        let allowed =
            if is_counter { u64::MAX } else { documented(&place) } | self.seen.get(&place.address).unwrap_or(&0);
        assert_eq!((value << shift) & !allowed, 0, "{} is written {value:#x}", place.name());
        self.machine.write(address, width, value)
    }
}

/// The bits of a register to which a document gives a meaning, whether for all events or for some.
fn documented(place: &RegisterPlace) -> u64 {
    let is_control = place.register.role == Role::Control;
    let sets = place.unit.field_sets.iter().filter(|_| is_control).flat_map(|set| set.fields);
    let fields = place.register.fields.iter().chain(sets);
    let known = fields.filter(|field| !matches!(field.access, FieldAccess::Reserved | FieldAccess::Ignored));
    known.fold(0, |mask, field| mask | field.bits.mask())
}

/// The connection: one frame after the other.
struct Connection {
    frames: Vec<Vec<u8>>,
    taken: usize,
    is_discovery: Rc<Cell<bool>>,
}

impl Read for Connection {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.frames.first().is_some_and(|frame| frame.len() == self.taken) {
            self.frames.remove(0);
            self.taken = 0;
        }
        let Some(frame) = self.frames.first() else { return Ok(0) };
        if self.taken == 0 {
            self.is_discovery.set(frame.starts_with(&DISCOVER.to_ne_bytes()));
        }
        let count = bytes.len().min(frame.len() - self.taken);
        bytes[..count].copy_from_slice(&frame[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A record: direction, space, width; the address; the value; the bits that stay.
fn record(input: &mut Input<'_>, places: &[RegisterPlace]) -> [u8; 32] {
    let mut record = [0; 32];
    let at = usize::from(input.byte()) << 8 | usize::from(input.byte());
    let place = places[at % places.len()];
    let (space, a, b) = match place.address {
        Address::Msr { cpu, msr } => (0, cpu, u64::from(msr)),
        Address::Pci { bdf: Bdf { segment, bus, device, function }, offset } => {
            let function = u32::from(bus) << 16 | u32::from(device) << 8 | u32::from(function);
            (1, function, u64::from(segment) << 16 | u64::from(offset))
        }
        Address::Mmio { physical } => (2, 0, physical),
    };
    record[..3].copy_from_slice(&[input.byte() % 2, space, place.width.bytes() as u8]);
    record[4..8].copy_from_slice(&a.to_ne_bytes());
    record[8..16].copy_from_slice(&b.to_ne_bytes());
    record[16..24].copy_from_slice(&(input.sized() & place.width.mask()).to_ne_bytes());
    record[24..].copy_from_slice(&input.sized().to_ne_bytes());
    // Somewhere near, of another width or direction, or nothing that there is.
    if input.byte().is_multiple_of(4) {
        let byte = usize::from(input.byte()) % record.len();
        record[byte] = input.byte();
    }
    record
}

fn any_frame(input: &mut Input<'_>, places: &[RegisterPlace]) -> Vec<u8> {
    let kind = [1, 1, 1, 3, u32::from(input.byte() % KINDS)][usize::from(input.byte() % 5)];
    let records: Vec<[u8; 32]> = (0..input.byte() % 8).map(|_| record(input, places)).collect();
    let text: Vec<u8> = (0..input.byte() % 16).map(|_| input.byte()).collect();
    let mut frame = frame(kind, &records, &text);
    // A frame that is none: cut off, or with another size in its head.
    match input.byte() % 16 {
        0 => frame.truncate(usize::from(input.byte())),
        1 => frame[4 + usize::from(input.byte()) % 8] = input.byte(),
        _ => {}
    }
    frame
}

fn frame(kind: u32, records: &[[u8; 32]], text: &[u8]) -> Vec<u8> {
    let sizes = [kind, records.len() as u32, text.len() as u32].map(u32::to_ne_bytes);
    [sizes.as_flattened(), records.as_flattened(), text].concat()
}

/// Any bytes.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let number = usize::from(input.byte()) % MACHINES.len();
    let is_discovery = Rc::new(Cell::new(false));
    let mut space = Guarded::new(number, Rc::clone(&is_discovery));
    let (family, cpus) = (space.machine.shape().family, space.machine.shape().cpus());
    let cpus: Vec<Cpu> = (0..cpus).map(|number| Cpu { number, package: 0 }).collect();
    let units: Vec<&str> = family.units.iter().map(|unit| unit.name).collect();
    let mut frames = Vec::new();
    while !input.0.is_empty() {
        // Before anything was looked for nothing may be touched either.
        if frames.len() == number {
            frames.push(frame(DISCOVER, &[], units.join("\n").as_bytes()));
        }
        frames.push(any_frame(&mut input, &BEGIN[number].1));
    }
    let connection = Connection { frames, taken: 0, is_discovery };
    let _ = serve_over(&mut space, family, &cpus, connection);
}
