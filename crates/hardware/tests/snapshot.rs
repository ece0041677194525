//! A dumped and loaded machine is the same machine: it dumps the same, and goes on the same.

use pericore_hardware::chassis::{Chassis, RegisterPlace, Shape, SnapshotError, Variant};
use pericore_hardware::signal::{SignalSink, Wire, Wiring};
use pericore_registers::{AccessError, Address, Bdf, Outcome, RegisterSpace, Width};
use proptest::prelude::*;

/// Something that happens to a machine.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Writes a register, by its number among all.
    Write(u32, u64),
    /// Writes a control so that an event is selected, by number of the control and of the unit's subevents.
    Select(u32, u32, u64),
    Pulse(u32, u64, u32),
    Enter(u32, u64),
    Leave(u32),
    Run(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (any::<u32>(), any::<u64>()).prop_map(|(at, value)| Step::Write(at, value)),
        4 => (any::<u32>(), any::<u32>(), any::<u64>()).prop_map(|(at, event, shape)| Step::Select(at, event, shape)),
        4 => (any::<u32>(), any::<u64>(), 1u32..100).prop_map(|(wire, tag, count)| Step::Pulse(wire, tag, count)),
        4 => (any::<u32>(), any::<u64>()).prop_map(|(wire, tag)| Step::Enter(wire, tag)),
        2 => any::<u32>().prop_map(Step::Leave),
        4 => (0u64..3000).prop_map(Step::Run),
    ];
    prop::collection::vec(step, 1..80)
}

/// A machine, its registers, and the entries that are in its levels.
struct Bench {
    machine: Chassis,
    places: Vec<RegisterPlace>,
    entries: Vec<(Wire, u64)>,
}

impl Bench {
    fn new(machine: Chassis) -> Self {
        Self { places: machine.registers().collect(), machine, entries: Vec::new() }
    }

    fn wire(&self, number: u32) -> (Wire, u64) {
        let instances = u32::from(self.machine.wiring().instances());
        let instance = (number % instances) as u16;
        let unit = self.machine.shape().family.units[self.machine.wiring().locate(instance).1];
        let signals = unit.signals.len().max(1) as u32;
        let signal = (number / instances % signals) as u16;
        let bits = unit
            .signals
            .get(usize::from(signal))
            .map_or(0, |signal| signal.attributes.iter().fold(0, |mask, attribute| mask | attribute.bits.mask()));
        (self.machine.wiring().wire(instance, signal), bits)
    }

    fn step(&mut self, step: Step) {
        let now = self.machine.now();
        match step {
            Step::Write(at, value) => {
                let place = self.places[at as usize % self.places.len()];
                let _ = self.machine.poke(&place, value & place.width.mask());
            }
            Step::Select(at, event, shape) => {
                let controls: Vec<&RegisterPlace> =
                    self.places.iter().filter(|place| place.register.name == "ctl").collect();
                let place = *controls[at as usize % controls.len()];
                let subevents: Vec<u64> =
                    place.unit.events.iter().flat_map(|event| event.subevents).map(|s| s.config).collect();
                let Some(config) = subevents.get(event as usize % subevents.len().max(1)) else { return };
                let enable = place.register.field("en").map_or(0, |field| field.bits.mask());
                let thresh =
                    place.register.field("thresh").map_or(0, |field| field.bits.mask() & (shape % 4) << field.bits.lsb);
                let edges = shape >> 8 & 0x0094_0000;
                let _ = self.machine.poke(&place, (config | enable | thresh | edges) & place.width.mask());
            }
            Step::Pulse(wire, tag, count) => {
                let (wire, bits) = self.wire(wire);
                self.machine.pulse(wire, tag & bits, now + tag % 64, count);
                self.machine.set_now(now + 64);
            }
            Step::Enter(wire, tag) => {
                let (wire, bits) = self.wire(wire);
                self.machine.enter(wire, tag & bits, now);
                self.entries.push((wire, tag & bits));
            }
            Step::Leave(number) => {
                if !self.entries.is_empty() {
                    let (wire, tag) = self.entries.swap_remove(number as usize % self.entries.len());
                    self.machine.leave(wire, tag, now);
                }
            }
            Step::Run(ticks) => self.machine.set_now(now + ticks),
        }
    }
}

fn fresh(family: &str, sockets: u16) -> Chassis {
    let family = pericore_catalog::family(family).expect("in the catalogue");
    let shape = Shape::new(family, sockets, 4, 2).expect("a machine");
    Chassis::new(shape, Wiring::new(family, sockets), |clock| if clock == "dclk" { 7 } else { 3 })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn dump_and_load_are_identity(
        family in prop_oneof![Just("nehalem"), Just("e5-2600"), Just("emerald-rapids")],
        before in steps(),
        after in steps(),
    ) {
        let mut original = Bench::new(fresh(family, 1));
        before.iter().for_each(|step| original.step(*step));
        let text = original.machine.dump();
        let mut loaded = Bench::new(Chassis::load(&text).expect("what was dumped loads"));
        prop_assert_eq!(loaded.machine.dump(), text.clone());
        loaded.entries.clone_from(&original.entries);
        for step in after {
            original.step(step);
            loaded.step(step);
        }
        prop_assert_eq!(loaded.machine.dump(), original.machine.dump());
        prop_assert_eq!(loaded.machine.take_interrupts(), original.machine.take_interrupts());
    }
}

#[test]
fn a_fresh_machine_is_a_short_text() {
    let text = fresh("emerald-rapids", 2).dump();
    assert!(
        text.starts_with(
            "pericore-machine 1\nmachine emerald-rapids sockets=2 cores=4 threads=2 slices=64 rules=documented\n"
        ),
        "{text}"
    );
    // Clocks, time, and the registers that tell who a socket is.
    assert!(text.lines().count() < 40, "{text}");
}

/// imc channel 0 stands at 77 in ctr1, and answers at the addresses of channel 1 (D16:F1, 0xa8).
#[test]
fn what_is_not_as_documented_is_in_the_text() {
    let good = open_ended(&mut fresh("e5-2600", 1));
    let lines = [
        "width 0/cbo3 1 32",
        "halved 0/cbo4",
        "swapped 0/imc0 0/imc1",
        "misplaced 0/cbo5 0/cbo6",
        "misplaced 0/cbo1 1 0/cbo1 2",
    ];
    let text = format!("{good}{}\nblock 0/imc0\n  counter 1 value=0x4d\nend\n", lines.join("\n"));
    let mut machine = Chassis::load(&text).expect("it is good");
    let dumped = machine.dump();
    for line in lines {
        assert!(dumped.lines().any(|dumped| dumped == line), "{line}: {dumped}");
    }
    let bdf = Bdf { segment: 0, bus: machine.shape().uncore_bus(0), device: 16, function: 1 };
    assert_eq!(machine.read(Address::Pci { bdf, offset: 0xa8 }, Width::B4), Ok(77));
    assert_eq!(Chassis::load(&dumped).expect("it loads").dump(), dumped);
    for line in ["width 0/cbo3 9 32", "width 0/cbo3 1 65", "swapped 0/imc0 0/cbo1", "misplaced 0/cbo1 1 0/imc1 1"] {
        assert_eq!(refused(&format!("{good}{line}\n")).0, line);
    }
}

/// A machine's text up to the line that says its end, so that more can follow.
fn open_ended(machine: &mut Chassis) -> String {
    let text = machine.dump();
    text.strip_suffix("\nend\n").map(|lines| format!("{lines}\n")).expect("it has an end")
}

#[test]
fn bad_text_is_refused_with_its_line() {
    let good = open_ended(&mut fresh("e5-2600", 1));
    assert!(matches!(Chassis::load("pericore-machine 2\n"), Err(SnapshotError::Version)));
    assert!(matches!(Chassis::load(""), Err(SnapshotError::Version)));
    for (line, expected) in [
        ("block 0/cbx0", "a unit of the family"),
        ("  ctl9 = 0x1", "a register of the block that is no counter"),
        ("  counter 9 value=0", "a counter of the block"),
        ("  ctl0 = many", "a number in range"),
        ("  live nothing 0 1", "a signal of the block"),
        ("  ctl0 = 0x100000000", "a number in range"),
        ("block 0/cbo0", "each block once"),
        ("block 7/cbo0", "a block that the machine has: SOCKET/UNIT with a number"),
        ("interrupted-core 64", "a number in range"),
        ("what is this", "REGISTER = VALUE, counter, hold or live"),
    ] {
        let text = format!("{good}block 0/cbo0\n{line}\n");
        let Err(SnapshotError::Line { line, expected: told, .. }) = Chassis::load(&text) else {
            panic!("{text} loads")
        };
        assert_eq!((line, told), (text.lines().count(), expected));
    }
    for (line, expected) in [
        ("  hold stuck=0x100000000", "a number in range"),
        ("  counter 0 level=0x4000000000000000", "a number in range"),
        ("  counter 0 pending=0xffffffffffffffff", "a number in range"),
        ("  live ingress 0 0x80000000", "a number in range"),
    ] {
        assert_eq!(refused(&format!("{good}block 0/cbo0\n{line}\n")), (line.to_owned(), expected));
    }
    for first in ["now ", "clock uclk ", "core-clock "] {
        let twice = good.lines().find(|line| line.starts_with(first)).expect("it is there");
        let text = format!("{}end\n", good.replace(twice, &format!("{twice}\n{twice}")));
        let expected = "clock NAME TICKS, core-clock TICKS or now TICK, each once";
        assert_eq!(refused(&text), (twice.to_owned(), expected));
    }
    let mut machine = Chassis::load(&format!("{good}end\n")).expect("it is good");
    let place = machine.find_registers("cbo3/ctl1")[0];
    machine.poke(&place, 0x0040_0334).expect("it is there");
    let again = Chassis::load(&machine.dump()).map(|mut machine| machine.read(place.address, place.width));
    assert_eq!(again.expect("it loads"), Ok(0x0040_0334));
}

/// A file that a full disk or a broken copy has cut may end with a line that is right in itself.
#[test]
fn a_text_that_is_cut_anywhere_is_refused() {
    let mut machine = fresh("e5-2600", 1);
    for place in machine.find_registers("cbo3/ctl1") {
        machine.poke(&place, 0x0040_0334).expect("it is there");
    }
    let whole = machine.dump();
    assert!(whole.ends_with("block 0/cbo3\n  ctl1 = 0x400334\nend\n"), "{whole}");
    let ends = |end: &str| Chassis::load(&whole[..whole.find(end).expect("it is there") + end.len()]).err();
    let first_lines = ["pericore-machine 1\n", "slices=8 rules=documented\n", "\ncore-clock", "\n  ctl1 = 0x4003"];
    assert_eq!(first_lines.map(|end| ends(end) == Some(SnapshotError::Cut)), [true, true, false, true]);
    for (at, _) in whole.match_indices('\n').take(whole.lines().count() - 1).skip(1) {
        assert_eq!(Chassis::load(&whole[..=at]).err(), Some(SnapshotError::Cut), "{}", &whole[..=at]);
    }
    assert!(Chassis::load(whole.trim_end()).is_ok(), "nothing is missing but the end of the last line");
    assert!(SnapshotError::Cut.to_string().contains("add the line"));
    assert_eq!(refused(&format!("{whole}now 1\n")), ("now 1".to_owned(), "nothing behind the line that says the end"));
}

/// The line that keeps a text from being a snapshot, and what should stand there.
fn refused(text: &str) -> (String, &'static str) {
    match Chassis::load(text) {
        Err(SnapshotError::Line { text, expected, .. }) => (text, expected),
        other => panic!("{text}: {:?}", other.map(|machine| machine.now())),
    }
}

#[test]
fn clocks_that_share_no_grid_are_refused_and_all_others_do() {
    let good = fresh("emerald-rapids", 1).dump();
    let key = |line: &str| line.rsplit_once(' ').map(|(key, _)| key.to_owned());
    let with = |lines: &str| {
        let others = good.lines().filter(|old| !lines.lines().any(|new| key(new) == key(old)));
        let mut all: Vec<&str> = others.collect();
        all.splice(2..2, lines.lines());
        all.join("\n") + "\n"
    };
    for line in ["clock uclk 0", "clock dclk 256", "clock hclk 0xffffffffffffffff", "core-clock 0", "core-clock 1000"] {
        assert_eq!(refused(&with(line)), (line.to_owned(), "a clock's period of 1 to 255 ticks"));
    }
    let line = "now 0x8000000000000000";
    assert_eq!(refused(&with(line)), (line.to_owned(), "a number in range"));
    // Seven clocks without a common divisor.
    let periods = [255, 254, 253, 251, 247, 241, 239];
    let clocks = ["uclk", "dclk", "hclk", "ioclk", "upiclk", "pclk", "cxlclk"];
    let lines: Vec<String> =
        clocks.iter().zip(periods).map(|(clock, period)| format!("clock {clock} {period}")).collect();
    let mut machine = Chassis::load(&with(&lines.join("\n"))).expect("sound periods");
    let grid = machine.clock_grid();
    assert!(clocks.iter().zip(periods).all(|(clock, period)| {
        machine.clock_period(clock).is_none_or(|ticks| ticks == period && grid.is_multiple_of(period))
    }));
    machine.set_now(grid);
    assert_eq!(Chassis::load(&machine.dump()).expect("what was dumped loads").now(), grid);
}

#[test]
fn the_fuzzers_seed_is_a_snapshot() {
    let seed = include_str!("../../../fuzz/seeds/snapshot/e5-2600");
    assert_eq!(Chassis::load(seed).expect("it loads").dump(), seed);
}

/// What software sees of a machine: its registers, the functions that exist, and the discovery table of socket 0
/// (window 0xe000_0000, 0x8000 bytes; DVSEC of bus 0x7e, device 0, function 3 at 0x100).
fn seen(machine: &mut Chassis) -> Vec<Outcome<u64>> {
    let places: Vec<RegisterPlace> = machine.registers().collect();
    let mut seen: Vec<_> = places.iter().map(|place| machine.read(place.address, place.width)).collect();
    let table = (0..0x800).map(|qword| Address::Mmio { physical: 0xe000_0000 + 8 * qword });
    seen.extend(table.map(|address| machine.read(address, Width::B8)));
    let functions = (0..=0xff).flat_map(|bus| (0..32).flat_map(move |device| (0..8).map(move |f| (bus, device, f))));
    for (bus, device, function) in functions {
        let bdf = Bdf { segment: 0, bus, device, function };
        seen.extend([0, 0x100].map(|offset| machine.read(Address::Pci { bdf, offset }, Width::B4)));
    }
    seen
}

/// A machine that is broken in many ways at once is broken in the same ways once it is loaded, also where a machine
/// begins with its registers.
#[test]
fn what_is_broken_is_kept() {
    let mut kinds = [0; 4];
    for seed in 0..24 {
        let family = pericore_catalog::family(["e5-2600", "nehalem", "emerald-rapids"][seed % 3]).unwrap();
        let shape = Shape::new(family, 2, 4, 1).unwrap();
        let wiring = Wiring::new(family, 2);
        let variant = Variant::hostile(&wiring, seed as u64);
        let make = || Chassis::new(shape.clone(), Wiring::new(family, 2), |_| 8);
        let mut broken = make().with_variant(&variant).unwrap();
        let dump = broken.dump();
        for (kind, word) in kinds.iter_mut().zip(["hidden ", "all-ones ", "table ", "discovery absent"]) {
            *kind += usize::from(dump.lines().any(|line| line.starts_with(word)));
        }
        let mut loaded = Chassis::load(&dump).unwrap();
        assert_eq!(loaded.dump(), dump, "{seed}");
        assert!(seen(&mut loaded) == seen(&mut broken), "seed {seed}");
        let mut begun = make().with_registers_of(Chassis::load(&dump).unwrap());
        assert!(seen(&mut begun) == seen(&mut broken), "seed {seed}");
    }
    assert!(kinds.iter().all(|&kind| kind > 0), "each kind comes: {kinds:?}");
}

/// Lines by hand: CBo 3 of socket 1 has gone, memory may not be reached, and a line for people changes nothing.
#[test]
fn what_is_broken_can_be_written_by_hand() {
    let text = "# seen in a bug report\npericore-machine 1\n\
                machine e5-2600 sockets=2 cores=8 threads=1 slices=8 rules=documented\n\
                # why, nobody knows\nhidden 1/cbo3\nall-ones 0/ha0\nsegment 2\nfunctions 9\ndenied msr-write\n\
                write-delay 40\nend\n";
    let mut machine = Chassis::load(text).unwrap();
    let control = |cpu| Address::Msr { cpu, msr: 0xd70 };
    assert!(machine.read(control(0), Width::B8).is_ok() && machine.read(control(8), Width::B8).is_err());
    assert!(matches!(machine.write(control(0), Width::B8, 0), Err(AccessError::Permission { .. })));
    let kept = ["all-ones 0/ha0", "hidden 1/cbo3", "segment 2", "functions 9", "denied msr-write", "write-delay 40"];
    let dump = machine.dump();
    assert_eq!(dump.lines().filter(|line| kept.contains(line)).collect::<Vec<_>>(), kept);
    for wrong in
        ["segment 8", "denied everything", "table 0 1 = 0x0", "hidden 2/cbo0", "discovery absent", "functions 70000"]
    {
        let text = text.replace("hidden 1/cbo3", wrong);
        assert!(Chassis::load(&text).is_err(), "{wrong}");
    }
}

/// A table of another machine, all of whose addresses lie 0x1000 further on, and whose second record is of no unit:
/// what is believed has this machine's addresses, and so has the global control; all others stay as they were read.
#[test]
fn a_table_from_elsewhere_leads_to_the_blocks_of_this_machine() {
    let family = pericore_catalog::family("emerald-rapids").unwrap();
    let shape = Shape::new(family, 1, 4, 1).unwrap();
    let mut machine = Chassis::new(shape, Wiring::new(family, 1), |_| 8);
    let qwords = |machine: &mut Chassis| -> Vec<u64> {
        let addresses = (0..40).map(|qword| Address::Mmio { physical: 0xe000_0000 + 8 * qword });
        addresses.map(|address| machine.read(address, Width::B8).unwrap()).collect()
    };
    let own = qwords(&mut machine);
    let mut elsewhere = own.clone();
    elsewhere.iter_mut().skip(1).step_by(4).for_each(|address| *address += 0x1000);
    elsewhere[2 * 4 + 2] |= 0x8000;
    // Records 1 and 3 are believed; 1.10.1: unit type in bits 15:0 of the third qword, instance in 31:16.
    let believed = [1, 3].map(|record: usize| {
        let identity = own[4 * record + 2];
        let unit = family.units.iter().find(|unit| unit.discovery_type == Some(identity as u16)).unwrap();
        (record, *unit, (identity >> 16) as u16)
    });
    machine.imprint_table(0, |qword| elsewhere.get(qword).copied(), believed);
    let shown = qwords(&mut machine);
    assert_eq!((&shown[..8], &shown[12..16]), (&own[..8], &own[12..16]));
    assert_eq!(shown[8..12], elsewhere[8..12]);
    assert_eq!(shown[16..], elsewhere[16..40]);
}
