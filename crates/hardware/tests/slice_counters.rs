//! The counters of a slice of the E5-2600 under random traffic and random register writes, against a reference that goes cycle by cycle.
//! Control values and addresses are by hand from the guide: Table 2-10 (control), 2-12 (filter), 2-8 (unit control), 2.3.7 (events).

use pericore_hardware::chassis::{Chassis, Shape};
use pericore_hardware::signal::{SignalSink, Wire, Wiring};
use pericore_registers::{Address, RegisterSpace, Width};
use proptest::prelude::*;

/// Ticks of a cycle.
const CYCLE: u64 = 8;
const WIDTH: u32 = 44;
const COUNTERS: usize = 4;

/// What a counter may take, and which counters may take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Clock,
    /// Look-ups that found their line in a state that the filter names.
    LookUps,
    /// Misses that come into the table of requests.
    MissesIn,
    /// What is in the table of requests.
    Requests,
    /// Those of them that missed.
    Misses,
    /// What counter 0 sees.
    Counter0,
}

impl Input {
    const fn event(self) -> u64 {
        match self {
            Self::Clock => 0x00,
            Self::LookUps => 0x0334,
            Self::MissesIn => 0x0a35,
            Self::Requests => 0x0836,
            Self::Misses => 0x0a36,
            Self::Counter0 => 0x1f,
        }
    }

    const fn fits(self, counter: usize) -> bool {
        match self {
            Self::Clock => true,
            Self::LookUps | Self::MissesIn => counter <= 1,
            Self::Requests | Self::Misses => counter == 0,
            Self::Counter0 => counter > 0,
        }
    }
}

fn input() -> impl Strategy<Value = Input> {
    use Input::{Clock, Counter0, LookUps, Misses, MissesIn, Requests};
    prop_oneof![Just(Clock), Just(LookUps), Just(MissesIn), Just(Requests), Just(Misses), Just(Counter0)]
}

/// What a control register says.
#[derive(Debug, Clone, Copy)]
struct Control {
    input: Input,
    thresh: u64,
    invert: bool,
    edge: bool,
    enabled: bool,
}

impl Control {
    const OFF: Self = Self { input: Input::Clock, thresh: 0, invert: false, edge: false, enabled: false };

    fn value(self) -> u64 {
        let flags = u64::from(self.edge) << 18 | u64::from(self.enabled) << 22 | u64::from(self.invert) << 23;
        self.input.event() | flags | self.thresh << 24
    }

    /// Increments add up as they are.
    const fn is_plain(self) -> bool {
        self.thresh == 0 && !self.edge
    }

    fn asserted(self, increment: u64) -> bool {
        !self.is_plain() && (increment >= self.thresh.max(1)) != self.invert
    }
}

fn control() -> impl Strategy<Value = Control> {
    let shape = prop_oneof![
        2 => Just((0, false, false)),
        1 => (0u64..4, any::<bool>(), any::<bool>()),
    ];
    (input(), shape, prop::bool::weighted(0.9)).prop_map(|(input, (thresh, invert, edge), enabled)| Control {
        input,
        thresh,
        invert,
        edge,
        enabled,
    })
}

#[derive(Debug, Clone, Copy)]
enum Step {
    LookUp {
        state: u64,
        count: u32,
    },
    Comes {
        miss: bool,
    },
    Goes(usize),
    /// Nothing for so many ticks.
    Quiet(u64),
    Program(usize, Control),
    Freeze(bool),
    Preset(usize, u64),
    States(u64),
    Read(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0u64..5, 1u32..4).prop_map(|(state, count)| Step::LookUp { state, count }),
        8 => any::<bool>().prop_map(|miss| Step::Comes { miss }),
        7 => (0usize..32).prop_map(Step::Goes),
        12 => (0u64..40).prop_map(Step::Quiet),
        3 => (0..COUNTERS, control()).prop_map(|(counter, control)| Step::Program(counter, control)),
        1 => any::<bool>().prop_map(Step::Freeze),
        1 => (0..COUNTERS, prop_oneof![Just(0u64), (1u64 << WIDTH) - 40..1 << WIDTH])
            .prop_map(|(counter, value)| Step::Preset(counter, value)),
        1 => (0u64..32).prop_map(Step::States),
        3 => (0..COUNTERS).prop_map(Step::Read),
    ];
    prop::collection::vec(step, 1..150)
}

/// A counter as the guide's 1.4 has it: increment, threshold, invert, edge.
#[derive(Debug, Clone, Copy)]
struct Reference {
    control: Control,
    value: u64,
    before: bool,
}

/// One cycle at a time.
struct Slice {
    counters: [Reference; COUNTERS],
    frozen: bool,
    states: u64,
    /// Whether they missed.
    requests: Vec<bool>,
    look_ups: [u64; 5],
    misses_in: u64,
}

impl Slice {
    fn increment(&self, input: Input) -> u64 {
        match input {
            Input::Clock => 1,
            Input::LookUps => (0..5).filter(|state| self.states >> state & 1 == 1).map(|s| self.look_ups[s]).sum(),
            Input::MissesIn => self.misses_in,
            Input::Requests => self.requests.len() as u64,
            Input::Misses => self.requests.iter().filter(|miss| **miss).count() as u64,
            Input::Counter0 => self.increment(self.counters[0].control.input),
        }
    }

    fn clock(&mut self) {
        for number in 0..COUNTERS {
            let Reference { control, before, .. } = self.counters[number];
            let increment = self.increment(control.input);
            let asserted = control.asserted(increment);
            let counted = match control.is_plain() {
                true => increment,
                false => u64::from(asserted && !(control.edge && before)),
            };
            let counter = &mut self.counters[number];
            counter.before = asserted;
            if control.enabled && !self.frozen {
                counter.value = (counter.value + counted) % (1 << WIDTH);
            }
        }
        self.look_ups = [0; 5];
        self.misses_in = 0;
    }

    /// The edge detector of a counter that is programmed starts from its input as it is.
    fn program(&mut self, number: usize, control: Control) {
        self.counters[number].control = control;
        self.counters[number].before = control.asserted(self.increment(control.input));
    }
}

/// The slice's wires and tags.
struct Said {
    look_up: Wire,
    requests: Wire,
    states: [u64; 5],
    entries: [u64; 2],
}

fn machine() -> (Chassis, Said) {
    let family = pericore_catalog::family("e5-2600").expect("the family is in the catalogue");
    let mut wiring = Wiring::new(family, 1);
    let attribute = |signal: &str, name: &str| wiring.attribute("cbo", signal, name).expect("the attribute");
    let (read, state) = (attribute("llc_lookup", "read"), attribute("llc_lookup", "state"));
    let (miss, opcode) = (attribute("tor", "miss"), attribute("tor", "opc"));
    let states = [0, 1, 2, 3, 4].map(|value| state.set(read.set(0, 1), value));
    let entries = [0, 1].map(|value| opcode.set(miss.set(0, value), 0x182));
    let look_up = wiring.signal(0, "cbo", 0, "llc_lookup").expect("the signal");
    let requests = wiring.signal(0, "cbo", 0, "tor").expect("the signal");
    let shape = Shape::new(family, 1, 8, 2).expect("a machine of that size");
    (Chassis::new(shape, wiring, |_| CYCLE), Said { look_up, requests, states, entries })
}

fn write(machine: &mut Chassis, msr: u32, value: u64) {
    machine.write(Address::Msr { cpu: 0, msr }, Width::B8, value).expect("the register exists");
}

fn read(machine: &mut Chassis, counter: usize) -> u64 {
    machine.read(Address::Msr { cpu: 0, msr: 0xd16 + counter as u32 }, Width::B8).expect("the register exists")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn counters_equal_cycle_by_cycle(steps in steps()) {
        let (mut machine, said) = machine();
        let fresh = Reference { control: Control::OFF, value: 0, before: false };
        let mut slice = Slice {
            counters: [fresh; COUNTERS],
            frozen: false,
            states: 0x1f,
            requests: Vec::new(),
            look_ups: [0; 5],
            misses_in: 0,
        };
        write(&mut machine, 0xd14, 0x1f << 18);
        (0..COUNTERS).for_each(|number| slice.program(number, Control::OFF));
        (0..COUNTERS).for_each(|number| write(&mut machine, 0xd10 + number as u32, Control::OFF.value()));
        let mut tick = 0;
        for step in steps.into_iter().chain((0..COUNTERS).map(Step::Read)) {
            // Software acts between two cycles; what happened in the one is over.
            if !matches!(step, Step::LookUp { .. } | Step::Comes { .. } | Step::Goes(_) | Step::Quiet(_)) {
                slice.clock();
                tick += CYCLE - tick % CYCLE;
                machine.set_now(tick);
            }
            match step {
                Step::LookUp { state, count } => {
                    machine.pulse(said.look_up, said.states[state as usize], tick, count);
                    slice.look_ups[state as usize] += u64::from(count);
                }
                Step::Comes { miss } => {
                    machine.enter(said.requests, said.entries[usize::from(miss)], tick);
                    slice.requests.push(miss);
                    slice.misses_in += u64::from(miss);
                }
                Step::Goes(which) if !slice.requests.is_empty() => {
                    let which = which % slice.requests.len();
                    machine.leave(said.requests, said.entries[usize::from(slice.requests.swap_remove(which))], tick);
                }
                Step::Goes(_) => {}
                Step::Quiet(ticks) => {
                    (tick / CYCLE..(tick + ticks) / CYCLE).for_each(|_| slice.clock());
                    tick += ticks;
                }
                Step::Program(counter, control) if control.input.fits(counter) => {
                    write(&mut machine, 0xd10 + counter as u32, control.value());
                    slice.program(counter, control);
                }
                Step::Program(..) => {}
                Step::Freeze(frozen) => {
                    write(&mut machine, 0xd04, 1 << 16 | u64::from(frozen) << 8);
                    slice.frozen = frozen;
                }
                Step::Preset(counter, value) => {
                    write(&mut machine, 0xd16 + counter as u32, value);
                    slice.counters[counter].value = value;
                }
                Step::States(states) => {
                    write(&mut machine, 0xd14, states << 18);
                    slice.states = states;
                    (0..COUNTERS).for_each(|number| slice.program(number, slice.counters[number].control));
                }
                Step::Read(counter) => prop_assert_eq!(read(&mut machine, counter), slice.counters[counter].value),
            }
        }
    }
}
