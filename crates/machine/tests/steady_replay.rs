//! A window that is repeated lazily, by leaps and in closed form, against one that is told signal by signal: whatever software programs,
//! whenever it looks, it reads the same.

use std::sync::Arc;

use pericore_machine::chassis::{Chassis, RegisterPlace, Shape};
use pericore_machine::signal::{SignalSink, Tick, Wire, Wiring};
use pericore_machine::steady::{Recorder, Recording, Replay};
use pericore_registers::{Address, Operation, RegisterSpace, Width};

const CELLS: u32 = 16;

/// Pseudo-random numbers from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    fn chance(&mut self, per_cent: u64) -> bool {
        self.below(100) < per_cent
    }
}

fn chassis(family: &str) -> Chassis {
    let family = pericore_catalog::family(family).expect("a family");
    let shape = Shape::new(family, 1, 8, 1).expect("a shape");
    Chassis::new(shape, Wiring::new(family, 1), |clock| if clock == "dclk" { 27 } else { 8 })
}

#[derive(Debug, Clone, Copy)]
enum Change {
    Pulse(u32),
    Enter,
    Leave,
}

/// A window's signals on some instances. Levels are at its end what they were at its start, so that repeating it needs no more.
struct Script {
    /// Entries from before.
    present: Vec<(Wire, u64)>,
    events: Vec<(Tick, Wire, u64, Change)>,
    window: Tick,
}

impl Script {
    fn new(machine: &Chassis, blocks: &[u16], cell: Tick, random: &mut Random) -> Self {
        let window = cell * Tick::from(CELLS);
        let mut script = Self { present: Vec::new(), events: Vec::new(), window };
        for _ in 0..random.below(150) {
            let instance = blocks[random.below(blocks.len() as u64) as usize];
            let unit = machine.shape().family.units[machine.wiring().locate(instance).1];
            if unit.signals.is_empty() {
                continue;
            }
            let signal = random.below(unit.signals.len().min(6) as u64) as u16;
            let bits = unit.signals[usize::from(signal)].attributes.iter().fold(0, |all, row| all | row.bits.mask());
            let (wire, tag) = (machine.wiring().wire(instance, signal), random.next() & bits);
            let (first, second) = (random.below(window), random.below(window));
            // Free-running counters of the plain machine would count the entries from before as arrivals.
            let heard = unit.registers.iter().any(|register| register.signal == Some(signal));
            if heard || random.chance(50) {
                let count = 1 + random.below(3) as u32;
                script.events.push((first, wire, tag, Change::Pulse(count)));
                continue;
            }
            // One that comes late and leaves early is there over the turn.
            if first > second {
                script.present.push((wire, tag));
            }
            script.events.push((first, wire, tag, Change::Enter));
            script.events.push((second, wire, tag, Change::Leave));
        }
        script.events.sort_by_key(|event| event.0);
        script
    }

    fn tell(&self, sink: &mut impl SignalSink, window: u64, from: usize, until: Tick) -> usize {
        let start = window * self.window;
        let mut next = from;
        while let Some(&(offset, wire, tag, change)) = self.events.get(next).filter(|event| start + event.0 < until) {
            match change {
                Change::Pulse(count) => sink.pulse(wire, tag, start + offset, count),
                Change::Enter => sink.enter(wire, tag, start + offset),
                Change::Leave => sink.leave(wire, tag, start + offset),
            }
            next += 1;
        }
        next
    }

    fn recording(&self, family: &str, cell: Tick) -> Arc<Recording> {
        let mut before = chassis(family);
        self.present.iter().for_each(|&(wire, tag)| before.enter(wire, tag, 0));
        let mut recorder = Recorder::new(&before, 0, cell, CELLS);
        self.tell(&mut recorder, 0, 0, self.window);
        Arc::new(recorder.finish())
    }
}

/// The plain way: every signal of every window, in order.
struct Plain<'a> {
    machine: Chassis,
    script: &'a Script,
    next: (u64, usize),
}

impl Plain<'_> {
    fn advance(&mut self, to: Tick) {
        loop {
            let (window, from) = self.next;
            let next = self.script.tell(&mut self.machine, window, from, to);
            self.next = (window, next);
            if next < self.script.events.len() || (window + 1) * self.script.window > to {
                break;
            }
            self.next = (window + 1, 0);
        }
        self.machine.set_now(to);
    }
}

/// A value for a register: of a control, one that selects something; of a counter, one near its end as often as not.
fn value(place: &RegisterPlace, random: &mut Random) -> u64 {
    let field = |name: &str| place.register.field(name).map(|field| field.bits);
    let name = place.register.member_name(0);
    if name.starts_with("ctr") {
        return if random.chance(50) { (0x1_0000 << 32) - random.below(3000) } else { random.below(100) };
    }
    let Some(select) = field("ev_sel") else {
        return if random.chance(60) { 0 } else { random.next() & random.next() };
    };
    let events = &place.unit.events;
    let event = &events[random.below(events.len() as u64) as usize];
    let chosen = event.subevents.get(random.below(event.subevents.len() as u64) as usize);
    let mut value = chosen.map_or(event.config, |row| row.config);
    // Events of the signals in the script are few: codes are also tried as they come.
    if random.chance(10) {
        value = select.set(0, random.next());
    }
    for (name, per_cent) in
        [("en", 90), ("edge_det", 15), ("invert", 15), ("frz_ovf", 40), ("pmi_en", 20), ("occ_ctr_rst", 20)]
    {
        if let Some(bits) = field(name).filter(|_| random.chance(per_cent)) {
            value |= bits.mask();
        }
    }
    match field("thresh").filter(|_| random.chance(30)) {
        Some(thresh) => thresh.set(value, random.below(4)),
        None => value,
    }
}

/// Accesses to two machines with the same script: one told lazily, one plainly.
fn compare(family: &str, seed: u64) -> u64 {
    let mut random = Random(seed);
    let mut lazy = chassis(family);
    // The periods are 8 and 27 ticks: any multiple of both is a cell.
    let cell = lazy.clock_grid() * (1 + random.below(3));
    let count = u64::from(lazy.wiring().instances());
    let mut blocks: Vec<u16> = (0..3).map(|_| random.below(count) as u16).collect();
    blocks.dedup();
    let script = Script::new(&lazy, &blocks, cell, &mut random);
    let mut replay = Replay::new(script.recording(family, cell));
    let mut plain = Plain { machine: chassis(family), script: &script, next: (0, 0) };
    script.present.iter().for_each(|&(wire, tag)| plain.machine.enter(wire, tag, 0));
    let places: Vec<RegisterPlace> = lazy
        .registers()
        .filter(|place| {
            let unit = lazy.shape().family.unit_index(place.unit.name).expect("a unit");
            blocks.contains(&lazy.wiring().instance(0, unit, place.instance)) || place.unit.name == "ubox"
        })
        .collect();
    let (mut now, mut counted) = (0, 0);
    for _ in 0..60 {
        now += match random.below(4) {
            0 => random.below(100),
            1 => random.below(cell * 3),
            2 => random.below(script.window * 2),
            _ => random.below(script.window * 40),
        };
        let place = &places[random.below(places.len() as u64) as usize];
        let operation = if random.chance(50) {
            Operation::Write { address: place.address, width: place.width, value: value(place, &mut random) }
        } else {
            Operation::Read { address: place.address, width: place.width }
        };
        replay.advance(&mut lazy, &operation, now);
        lazy.set_now(now);
        plain.advance(now);
        let [found, expected] = [&mut lazy, &mut plain.machine].map(|machine| machine.carry_out(operation));
        assert_eq!(found, expected, "{family}, seed {seed}, tick {now}: {} {operation:x?}", place.name());
    }
    // At last, everything.
    now += random.below(script.window * 3);
    for place in &places {
        let operation = Operation::Read { address: place.address, width: place.width };
        replay.advance(&mut lazy, &operation, now);
        lazy.set_now(now);
        plain.advance(now);
        let [found, expected] = [&mut lazy, &mut plain.machine].map(|machine| machine.read(place.address, place.width));
        assert_eq!(found, expected, "{family}, seed {seed}, at the end, tick {now}: {}", place.name());
        counted += u64::from(place.register.member_name(0).starts_with("ctr") && found.is_ok_and(|value| value > 200));
    }
    let interrupts = |machine: &mut Chassis| machine.take_interrupts();
    assert_eq!(interrupts(&mut lazy), interrupts(&mut plain.machine), "{family}, seed {seed}");
    counted
}

#[test]
fn lazy_and_plain_read_the_same() {
    for (family, seeds) in [("e5-2600", 150), ("emerald-rapids", 200), ("nehalem", 100)] {
        let counted: u64 = (0..seeds).map(|seed| compare(family, seed)).sum();
        assert!(counted > seeds / 2, "{family}: hardly a counter has counted ({counted})");
    }
}

/// A reading disturbs nothing: a counter that is read often ends where one ends that is read once.
#[test]
fn how_often_somebody_looks_changes_nothing() {
    let machine = chassis("e5-2600");
    let cell = machine.clock_grid();
    let mut random = Random(7);
    let imc = machine.shape().family.unit_index("imc").expect("a unit");
    let script = Script::new(&machine, &[machine.wiring().instance(0, imc, 0)], cell, &mut random);
    let recording = script.recording("e5-2600", cell);
    let ctl = Address::Pci { bdf: pericore_registers::Bdf::new(0xff, 16, 0), offset: 0xd8 };
    let ctr = Address::Pci { bdf: pericore_registers::Bdf::new(0xff, 16, 0), offset: 0xa0 };
    let end = script.window * 1000 + 12_345;
    let read = |step: Tick| {
        let (mut machine, mut replay) = (chassis("e5-2600"), Replay::new(Arc::clone(&recording)));
        // All activates (code 0x01 of the guide's Table 2-65), enabled.
        let program = Operation::Write { address: ctl, width: Width::B4, value: 0x40_0001 };
        replay.advance(&mut machine, &program, 0);
        machine.write(ctl, Width::B4, 0x40_0001).unwrap();
        let (mut now, mut value) = (0, 0);
        while now < end {
            now = (now + step).min(end);
            replay.advance(&mut machine, &Operation::Read { address: ctr, width: Width::B8 }, now);
            machine.set_now(now);
            value = machine.read(ctr, Width::B8).unwrap();
        }
        value
    };
    let once = read(end);
    assert_eq!([read(1_111), read(54_321), read(end / 3)], [once; 3]);
}

/// A filter that software changes while its counter runs, with nothing stopped (E5-2600 guide, Tables 2-11 and 2-13):
/// in each window 3 reads find a line in S, and 5 one in M.
#[test]
fn a_changed_filter_counts_otherwise_from_its_write_on() {
    const STATE_S: u64 = 1 << 19;
    const STATE_M: u64 = 1 << 21;
    let machine = chassis("e5-2600");
    let cell = machine.clock_grid();
    let mut wiring = Wiring::new(machine.shape().family, 1);
    let wire = wiring.signal(0, "cbo", 0, "llc_lookup").expect("the signal is there");
    let attribute = |name: &str| wiring.attribute("cbo", "llc_lookup", name).expect("it has the attribute");
    let tag = |state: u64| attribute("state").set(attribute("read").set(0, 1), state);
    let events =
        [(10, 1, 3), (cell * 7, 3, 5)].map(|(tick, state, count)| (tick, wire, tag(state), Change::Pulse(count)));
    let script = Script { present: Vec::new(), events: events.into(), window: cell * Tick::from(CELLS) };
    let (mut machine, mut replay) = (machine, Replay::new(script.recording("e5-2600", cell)));
    let mut access = |window: u64, msr: u32, value: Option<u64>| {
        let (address, width) = (Address::Msr { cpu: 0, msr }, Width::B8);
        let operation = match value {
            Some(value) => Operation::Write { address, width, value },
            None => Operation::Read { address, width },
        };
        replay.advance(&mut machine, &operation, script.window * window);
        machine.set_now(script.window * window);
        machine.carry_out(operation).expect("the register is there")
    };
    access(0, 0xd14, Some(STATE_S));
    // LLC_LOOKUP (0x34) of reads (0x03), enabled.
    access(0, 0xd10, Some(0x40_0334));
    assert_eq!(access(10, 0xd16, None), 30);
    access(10, 0xd14, Some(STATE_M));
    assert_eq!(access(30, 0xd16, None), 30 + 20 * 5);
    access(30, 0xd14, Some(STATE_S | STATE_M));
    assert_eq!(access(31, 0xd16, None), 130 + 8);
}

/// A clock that stops its socket when it overflows (Emerald Rapids guide, 1.4.0.2): hours of the machine pass in one
/// step, and the others stop in that very cycle all the same. Agents 0 to 2 (Table 1-9) have their first controls at
/// 0x2002, 0x2012 and 0x2022, their counters 6 behind; the global control is 0x2FF0 (Table 1-8).
#[test]
fn a_clock_that_overflows_after_hours_stops_the_others_in_its_cycle() {
    const WINDOWS: u64 = 40_000_000_000;
    const PERIOD: Tick = 8;
    let mut machine = chassis("emerald-rapids");
    let cell = machine.clock_grid();
    let mut wiring = Wiring::new(machine.shape().family, 1);
    let wire = wiring.signal(0, "cha", 2, "REQUESTS").expect("the signal is there");
    let tag = wiring.attribute("cha", "REQUESTS", "sub").expect("it has the attribute").set(0, 0x04);
    // One request in each window.
    let window = cell * Tick::from(CELLS);
    let script = Script { present: Vec::new(), events: vec![(10, wire, tag, Change::Pulse(1))], window };
    let mut replay = Replay::new(script.recording("emerald-rapids", cell));
    let mut access = |cycle: u64, msr: u32, value: Option<u64>| {
        let (address, width) = (Address::Msr { cpu: 0, msr }, Width::B8);
        let operation = match value {
            Some(value) => Operation::Write { address, width, value },
            None => Operation::Read { address, width },
        };
        replay.advance(&mut machine, &operation, cycle * PERIOD);
        machine.set_now(cycle * PERIOD);
        machine.carry_out(operation).expect("the register is there")
    };
    // In the middle of a window.
    let cycles = (window * WINDOWS + window / 2) / PERIOD;
    access(0, 0x2008, Some((1 << 48) - cycles));
    // CLOCKTICKS, the first with frz_ovf (bit 20), and REQUESTS (0x50) of local writes (0x04).
    access(0, 0x2002, Some(0x0010_0001));
    access(0, 0x2012, Some(0x0000_0001));
    access(0, 0x2022, Some(0x0000_0450));
    assert_eq!(access(cycles - 10, 0x2018, None), cycles - 10);
    assert_eq!(access(cycles - 10, 0x2ff0, None), 0);
    assert_eq!(access(cycles * 2, 0x2ff0, None), 1, "the socket is frozen");
    assert!(access(cycles * 2, 0x2018, None).abs_diff(cycles) <= 1);
    assert_eq!(access(cycles * 2, 0x2028, None), WINDOWS + 1);
}
