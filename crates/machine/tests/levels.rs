//! What stands on wires that nobody hears is left unsaid until somebody may begin to: then it is what a sink that heard everything knows,
//! and counters read as if they had been told all along.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use pericore_catalog::{Event, Role, SignalKind, Unit};
use pericore_machine::chassis::{Chassis, RegisterPlace};
use pericore_machine::signal::{SignalSink, Tick, Wire, Wiring};
use pericore_machine::steady::Recorder;
use pericore_machine::workload::Scenario;
use pericore_machine::{Machine, MachineSpec};
use pericore_registers::RegisterSpace;

/// Machines and what they run, so that every level that may be left unsaid holds something at times.
const RUNS: &[(&str, &str)] = &[
    ("e5-2600", "random:footprint=64M,requests=12000,read=60"),
    ("e5-2600", "mixed:footprint=1M,requests=20000,threads=16"),
    ("e5-2600", "dma-write:footprint=16M,requests=6000"),
    ("e5-2600:sockets=2", "random:footprint=2M,requests=12000,read=60,remote=40,threads=32"),
    ("e5-2600:sockets=4", "mixed:footprint=8M,requests=12000,remote=60,threads=64"),
    ("nehalem:sockets=2", "mixed:footprint=64M,requests=12000,remote=50,threads=16"),
    ("nehalem:sockets=2", "ntstore:footprint=64M,requests=8000,remote=60,threads=16"),
    ("nehalem:sockets=2", "dma-write:footprint=16M,requests=4000,remote=60"),
    ("emerald-rapids:sockets=2", "mixed:footprint=64M,requests=16000,remote=50,threads=128"),
    ("emerald-rapids:sockets=2", "ntstore:footprint=64M,requests=16000,remote=70,threads=128"),
    ("emerald-rapids:sockets=2", "dma-write:footprint=16M,requests=4000,remote=50"),
    // Lines between devices wait where they come in.
    ("emerald-rapids", "dma-write:footprint=16M,requests=2000,peer=60"),
    // Reads that keep the queues of memory full.
    ("emerald-rapids", "stream:footprint=1G,requests=64000,threads=128"),
    ("emerald-rapids", "random:footprint=1G,requests=64000,threads=128"),
    ("emerald-rapids", "chase:footprint=1G,requests=1500"),
];

/// Pauses of a run, at which listeners change.
const PAUSES: u64 = 40;

/// Pseudo-random numbers from a seed.
struct Random(u64);

impl Random {
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    const fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn chance(&mut self, per_cent: u64) -> bool {
        self.next() % 100 < per_cent
    }
}

const fn mixed(value: u64) -> u64 {
    let mixed = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

fn machine(spec: &str, workload: &str) -> Machine {
    let spec = MachineSpec::parse(spec).expect("a machine");
    let scenario = Scenario::of(workload, &spec.limits().expect("a model")).expect("a workload");
    Machine::for_scenario(&spec, &scenario).expect("a machine")
}

/// The length of a run's parts: the run takes some `PAUSES` of them.
fn part(spec: &str, workload: &str) -> Tick {
    let mut machine = machine(spec, workload);
    let step = machine.clocks().ticks_per_second() / 1_000_000;
    while !machine.finished() {
        machine.run_for(step);
    }
    machine.now() / PAUSES
}

/// Entries by tag.
type Entries = BTreeMap<u64, i64>;

/// Hears some wires, other ones in each part of a run, and takes down the entries of levels.
#[derive(Default)]
struct Fickle {
    /// None hears everything.
    seed: Option<u64>,
    levels: HashMap<Wire, Entries>,
    /// What it was asked about in this part, wires and instances, and whether it hears them.
    asked: RefCell<HashMap<Wire, bool>>,
    asked_any: RefCell<HashMap<u16, bool>>,
    /// Wires whose entries came or went in this part.
    said: BTreeSet<(u16, u16)>,
    /// Wires on which something was found standing.
    stood: BTreeSet<(u16, u16)>,
}

impl Fickle {
    fn change(&mut self, wire: Wire, tag: u64, by: i64) {
        let entries = self.levels.entry(wire).or_default();
        *entries.entry(tag).or_default() += by;
        entries.retain(|_, count| *count != 0);
        self.said.insert((wire.instance, wire.signal));
    }

    /// What it says of itself to whoever asks.
    fn is_told(&self, wire: Wire) -> bool {
        let by_instance = || self.asked_any.borrow().get(&wire.instance).copied();
        self.asked.borrow().get(&wire).copied().or_else(by_instance).unwrap_or(true)
    }

    fn next_part(&mut self) {
        self.seed = self.seed.map(|seed| seed + 1);
        self.asked.borrow_mut().clear();
        self.asked_any.borrow_mut().clear();
        self.said.clear();
    }
}

impl SignalSink for Fickle {
    fn pulse(&mut self, _: Wire, _: u64, _: Tick, _: u32) {}

    fn enter(&mut self, wire: Wire, tag: u64, _: Tick) {
        self.change(wire, tag, 1);
    }

    fn leave(&mut self, wire: Wire, tag: u64, _: Tick) {
        self.change(wire, tag, -1);
    }

    fn occupancy(&mut self, wire: Wire, entries: &[(u64, u32)], _: Tick) {
        let mut sum = Entries::new();
        entries.iter().for_each(|&(tag, count)| *sum.entry(tag).or_default() += i64::from(count));
        sum.retain(|_, count| *count != 0);
        if !sum.is_empty() {
            self.stood.insert((wire.instance, wire.signal));
        }
        self.levels.insert(wire, sum);
    }

    fn observes(&self, wire: Wire) -> bool {
        let number = u64::from(wire.instance) << 16 | u64::from(wire.signal);
        let own = self.seed.is_none_or(|seed| mixed(mixed(seed) ^ number).is_multiple_of(2));
        let hears =
            own && self.seed.is_none_or(|seed| !mixed(mixed(seed) ^ u64::from(wire.instance)).is_multiple_of(4));
        self.asked.borrow_mut().insert(wire, hears);
        hears
    }

    fn observes_any(&self, instance: u16) -> bool {
        let hears = self.seed.is_none_or(|seed| !mixed(mixed(seed) ^ u64::from(instance)).is_multiple_of(4));
        self.asked_any.borrow_mut().insert(instance, hears);
        hears
    }
}

/// The signals that wires are of.
fn signals(wiring: &Wiring, wires: impl Iterator<Item = (u16, u16)>) -> BTreeSet<String> {
    let name = |(instance, signal): (u16, u16)| {
        let unit = wiring.family().units[wiring.locate(instance).1];
        format!("{} {}/{}", wiring.family().name, unit.name, unit.signals[usize::from(signal)].name)
    };
    wires.map(name).collect()
}

#[test]
fn what_stands_is_what_was_left_unsaid() {
    let runs = (0..).zip(RUNS).map(|(seed, (spec, workload))| left_unsaid(spec, workload, seed));
    let (unsaid, stood): (Vec<_>, Vec<_>) = runs.unzip();
    let (unsaid, stood): (BTreeSet<String>, BTreeSet<String>) =
        (unsaid.into_iter().flatten().collect(), stood.into_iter().flatten().collect());
    assert!(!unsaid.is_empty());
    let never: Vec<&String> = unsaid.difference(&stood).collect();
    assert!(never.is_empty(), "left unsaid, and never found standing: {never:?}");
}

/// The same of a few requests, which is quick.
#[test]
fn levels_of_short_runs_are_what_was_unsaid() {
    for (spec, workload) in [
        ("e5-2600:sockets=2", "random:footprint=64k,requests=2000,read=60,remote=40,threads=32"),
        ("emerald-rapids", "stream:footprint=16M,requests=4000,threads=64,read=50"),
        ("nehalem:sockets=2", "mixed:footprint=64k,requests=2000,remote=50,threads=16"),
    ] {
        assert!(!left_unsaid(spec, workload, 300).0.is_empty(), "{spec}");
    }
}

/// A run with a sink that hears everything beside one that does not: each level that the second hears is what the first
/// knows. Signals of which something was left unsaid, and on which something was found when somebody began to hear.
fn left_unsaid(spec: &str, workload: &str, seed: u64) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut unsaid = BTreeSet::new();
    let part = part(spec, workload) / 8;
    let (mut one, mut other) = (machine(spec, workload), machine(spec, workload));
    let mut random = Random(seed);
    let (mut all, mut some) = (Fickle::default(), Fickle { seed: Some(seed << 32), ..Fickle::default() });
    while !one.finished() {
        let ticks = 1 + random.next() % (2 * part);
        one.run_into_any(ticks, &mut all);
        other.run_into_any(ticks, &mut some);
        for (&wire, entries) in &all.levels {
            if some.is_told(wire) {
                let told = some.levels.get(&wire).cloned().unwrap_or_default();
                let name = signals(one.chassis().wiring(), [(wire.instance, wire.signal)].into_iter());
                assert_eq!(&told, entries, "{spec}, {workload}, {name:?} at {}", one.now());
            }
        }
        unsaid.extend(signals(one.chassis().wiring(), all.said.difference(&some.said).copied()));
        all.next_part();
        some.next_part();
    }
    let stood = signals(one.chassis().wiring(), some.stood.iter().copied());
    (unsaid, stood)
}

/// Tells hardware everything, whether it hears it or not.
struct Everything<'a>(&'a mut Chassis);

impl SignalSink for Everything<'_> {
    fn pulse(&mut self, wire: Wire, tag: u64, tick: Tick, count: u32) {
        self.0.pulse(wire, tag, tick, count);
    }

    fn enter(&mut self, wire: Wire, tag: u64, tick: Tick) {
        self.0.enter(wire, tag, tick);
    }

    fn leave(&mut self, wire: Wire, tag: u64, tick: Tick) {
        self.0.leave(wire, tag, tick);
    }
}

/// A control value: mostly an event of a level, shaped somehow.
fn control(unit: &Unit, place: &RegisterPlace, random: &mut Random) -> u64 {
    let of_level =
        |event: &&Event| event.signal.is_none_or(|signal| unit.signals[usize::from(signal)].kind == SignalKind::Level);
    let levels: Vec<&Event> = unit.events.iter().filter(of_level).collect();
    let event = match levels.is_empty() || random.chance(10) {
        false => levels[random.below(levels.len())],
        true if unit.events.is_empty() => return random.next(),
        true => &unit.events[random.below(unit.events.len())],
    };
    let configs: Vec<u64> = event.subevents.iter().map(|subevent| subevent.config).chain([event.config]).collect();
    let mut value = configs[random.below(configs.len())];
    for field in place.register.fields {
        let bits = match field.name {
            "en" => u64::from(random.chance(90)),
            "invert" | "edge_det" => u64::from(random.chance(30)),
            "thresh" if random.chance(40) => random.next() % 6,
            _ => continue,
        };
        value = field.bits.set(value, bits);
    }
    value
}

#[test]
fn counters_start_from_what_stands() {
    (100..).zip(RUNS).for_each(|(seed, (spec, workload))| starts_with_its_occupancy(spec, workload, seed, 0));
}

/// The same of a few requests, which is quick; nothing counts in the first half of each run.
#[test]
fn counters_of_short_runs_start_with_the_occupancy() {
    let runs = [
        ("e5-2600:sockets=2", "random:footprint=64k,requests=2000,read=60,remote=40,threads=32"),
        ("emerald-rapids", "stream:footprint=16M,requests=4000,threads=64,read=50"),
        ("emerald-rapids:sockets=2", "dma-write:footprint=1M,requests=400,remote=50"),
    ];
    (200..).zip(runs).for_each(|(seed, (spec, workload))| starts_with_its_occupancy(spec, workload, seed, PAUSES / 2));
}

/// Counters that are programmed while a workload runs, from one of its parts on, and read again and again.
fn starts_with_its_occupancy(spec: &str, workload: &str, seed: u64, first: u64) {
    let part = part(spec, workload);
    let (mut machine, mut model) = (machine(spec, workload), machine(spec, workload));
    let mut hardware = MachineSpec::parse(spec).expect("a machine").chassis().expect("hardware");
    let of = |role: Role| move |place: &RegisterPlace| place.register.role == role;
    let places: Vec<RegisterPlace> = hardware.registers().collect();
    let controls: Vec<&RegisterPlace> = places.iter().filter(|place| of(Role::Control)(place)).collect();
    let filters: Vec<&RegisterPlace> = places.iter().filter(|place| of(Role::Filter)(place)).collect();
    let counters: Vec<&RegisterPlace> = places.iter().filter(|place| of(Role::Counter)(place)).collect();
    let mut random = Random(seed);
    let mut counted = 0;
    let write = |machine: &mut Machine, hardware: &mut Chassis, place: &RegisterPlace, value: u64| {
        let outcomes = [machine as &mut dyn RegisterSpace, hardware]
            .map(|space| space.write(place.address, place.width, value).is_ok());
        assert_eq!(outcomes[0], outcomes[1]);
    };
    for place in places.iter().filter(|place| of(Role::GlobalControl)(place)) {
        let enables = place.register.fields.iter().filter(|field| field.name.starts_with("en_pc"));
        let value = enables.fold(0, |value, field| field.bits.set(value, field.bits.max()));
        write(&mut machine, &mut hardware, place, value);
    }
    machine.run_for(first * part);
    model.run_into_any(first * part, &mut Everything(&mut hardware));
    hardware.set_now(model.now());
    while !machine.finished() {
        for _ in 0..controls.len() / 4 {
            let (place, value) = if random.chance(10) && !filters.is_empty() {
                (filters[random.below(filters.len())], random.next() & random.next() & random.next())
            } else {
                let place = controls[random.below(controls.len())];
                (place, control(place.unit, place, &mut random))
            };
            write(&mut machine, &mut hardware, place, value);
        }
        let ticks = 1 + random.next() % (2 * part);
        machine.run_for(ticks);
        model.run_into_any(ticks, &mut Everything(&mut hardware));
        hardware.set_now(model.now());
        for place in &counters {
            let [lazy, told] = [&mut machine as &mut dyn RegisterSpace, &mut hardware]
                .map(|space| space.read(place.address, place.width).expect("a counter"));
            assert_eq!(lazy, told, "{spec}, {workload}, {} at {}", place.name(), machine.now());
            counted += u64::from(told != 0);
        }
    }
    assert!(counted > PAUSES, "{spec}, {workload}: hardly anything counts");
}

#[test]
fn a_recording_begins_with_what_stands() {
    for (spec, workload) in RUNS {
        let (mut unheard, mut told) = (machine(spec, workload), machine(spec, workload));
        let mut hardware = MachineSpec::parse(spec).expect("a machine").chassis().expect("hardware");
        let (grid, half) = (hardware.clock_grid(), PAUSES / 2 * part(spec, workload));
        unheard.run_for(half);
        told.run_into_any(half, &mut Everything(&mut hardware));
        let (cell, cells) = ((half / 8 / grid).max(1) * grid, 4);
        let [lazy, full] = [(&mut unheard, None), (&mut told, Some(&hardware))].map(|(machine, hardware)| {
            let mut recorder = Recorder::new(hardware.unwrap_or_else(|| machine.chassis()), half, cell, cells);
            machine.run_into_any(cell * Tick::from(cells), &mut recorder);
            recorder.finish()
        });
        let mut stood = 0;
        for (instance, cell) in (0..full.instances()).flat_map(|instance| (0..cells).map(move |cell| (instance, cell)))
        {
            let [lazy, full] = [&lazy, &full].map(|recording| {
                let mut levels = recording.levels(instance, cell).to_vec();
                levels.sort_unstable();
                levels
            });
            stood += full.len();
            assert_eq!(lazy, full, "{spec}, {workload}, instance {instance}, cell {cell}");
        }
        assert!(stood > 0, "{spec}, {workload}: nothing stands");
    }
}
