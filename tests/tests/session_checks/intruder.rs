//! An intruder with a seed, who writes a gate, an enable, a control or a counter at a random time, and leaves it so
//! or takes it back.
//!
//! Places: unit controls, controls, counters, the socket's freeze and the enables of caching agents, memory channels
//! (in configuration space and in memory), mesh-to-memory units, slices, the power unit and Nehalem's uncore. Values:
//! what freezes, nothing, another event, any bits at all, or of a counter less than it holds.
//!
//! Runs have 25 to 64 samples of 50 to 4,000 cycles. The intruder comes in any of them, at any cycle of it, and stays
//! for 1 cycle up to the whole sample, or for good. `docs/others.md` has the three kinds of changes: what is left is
//! found, and so is what came and went where like clocks are counted beside and at least 1 % of one is gone.

use pericore_metrics::Grade;
use pericore_observe::session::{Options, Sample};
use pericore_registers::{Address, Bdf, RegisterSpace, Width};
use pericore_tests::session::feed::Random;
use pericore_tests::session::shared::Shared;

use super::planned;

/// What can be written where: a register, its width and a value that spoils counts; none for a counter, which is set
/// back.
struct Target {
    address: Address,
    width: Width,
    value: Option<u64>,
}

/// What is counted, in how many instances, and what spoils it.
struct Prey {
    family: &'static str,
    events: &'static str,
    targets: Vec<Target>,
    /// Instances of the socket whose clocks are counted.
    clocks: usize,
}

const fn memory(offset: u64, width: Width, value: Option<u64>) -> Target {
    Target { address: Address::Mmio { physical: 0xf002_2800 + offset }, width, value }
}

const fn msr(msr: u32, value: Option<u64>) -> Target {
    Target { address: Address::Msr { cpu: 0, msr }, width: Width::B8, value }
}

fn pci(function: u8, offset: u16, width: Width, value: Option<u64>) -> Target {
    Target { address: Address::Pci { bdf: Bdf::new(0xff, 16, function), offset }, width, value }
}

const fn m2m(offset: u16, width: Width, value: Option<u64>) -> Target {
    Target { address: Address::Pci { bdf: Bdf::new(0xfe, 12, 0), offset }, width, value }
}

/// A channel: unit control, control (0 and CAS_COUNT), counter.
fn channel(function: u8) -> [Target; 4] {
    [
        pci(function, 0xf4, Width::B4, Some(0x0001_0100)),
        pci(function, 0xd8, Width::B4, Some(0)),
        pci(function, 0xd8, Width::B4, Some(0x0040_0304)),
        pci(function, 0xa0, Width::B8, None),
    ]
}

/// A caching agent: unit control, control (0 and TOR_OCCUPANCY), counter, and the socket's freeze.
fn agent(number: u32) -> [Target; 5] {
    let at = 0x2000 + 0x10 * number;
    [msr(at, Some(1)), msr(at + 2, Some(0)), msr(at + 2, Some(0x36)), msr(at + 8, None), msr(0x2ff0, Some(1))]
}

/// A slice of the E5-2600: unit control, control (0, LLC_VICTIMS, any bits), counter.
fn slice(number: u32, any: u64) -> [Target; 5] {
    let at = 0xd00 + 0x20 * number;
    [
        msr(at + 0x04, Some(0x1_0100)),
        msr(at + 0x10, Some(0)),
        msr(at + 0x10, Some(0x0040_0137)),
        msr(at + 0x10, Some(any)),
        msr(at + 0x16, None),
    ]
}

/// Any value of a 32-bit control but the bits that reset a counter or make it raise interrupts.
fn any_control(random: &mut Random) -> u64 {
    random.below(1 << 32) & !0x0012_0000
}

fn prey(random: &mut Random) -> Prey {
    let functions = [0, 1, 4, 5];
    let any = any_control(random);
    match random.below(10) {
        0 => Prey {
            family: "e5-2600",
            events: "imc/CLOCKTICKS/",
            targets: functions.into_iter().flat_map(channel).collect(),
            clocks: 4,
        },
        1 => Prey { family: "e5-2600", events: "imc1/CLOCKTICKS/", targets: channel(1).into(), clocks: 1 },
        2 => Prey {
            family: "nehalem",
            events: "uncore/CLK_UNHALTED/",
            targets: vec![msr(0x391, Some(0)), msr(0x391, Some(0xff)), msr(0x395, Some(0)), msr(0x394, None)],
            clocks: 1,
        },
        3 => Prey {
            family: "emerald-rapids",
            events: "cha/CLOCKTICKS/",
            targets: (0..64).flat_map(agent).collect(),
            clocks: 64,
        },
        4 => Prey { family: "emerald-rapids", events: "cha7/CLOCKTICKS/", targets: agent(7).into(), clocks: 1 },
        5 => Prey {
            family: "e5-2600",
            events: "cbo/CLOCKTICKS/",
            targets: (0..8).flat_map(|number| slice(number, any)).collect(),
            clocks: 8,
        },
        // The fixed counter of a channel, with its control.
        6 => Prey {
            family: "e5-2600",
            events: "imc0/DCLK_FIXED/",
            targets: vec![
                pci(0, 0xf4, Width::B4, Some(0x0001_0100)),
                pci(0, 0xf0, Width::B4, Some(0)),
                pci(0, 0xd0, Width::B8, None),
            ],
            clocks: 1,
        },
        7 => Prey {
            family: "e5-2600",
            events: "pcu/CLOCKTICKS/",
            targets: vec![
                msr(0xc24, Some(0x1_0100)),
                msr(0xc30, Some(0)),
                msr(0xc30, Some(any | 0x0040_0000)),
                msr(0xc36, None),
            ],
            clocks: 1,
        },
        8 => Prey {
            family: "emerald-rapids",
            events: "imc0/CLOCKTICKS/",
            targets: vec![
                memory(0, Width::B4, Some(1)),
                memory(0x40, Width::B4, Some(0)),
                memory(0x40, Width::B4, Some(any)),
                memory(0x08, Width::B8, None),
                msr(0x2ff0, Some(1)),
            ],
            clocks: 1,
        },
        // A mesh-to-memory unit: its controls have 8 bytes in configuration space.
        _ => Prey {
            family: "emerald-rapids",
            events: "m2m0/CLOCKTICKS/",
            targets: vec![
                m2m(0x438, Width::B4, Some(1)),
                m2m(0x468, Width::B4, Some(0)),
                m2m(0x468, Width::B4, Some(any)),
                m2m(0x440, Width::B8, None),
                msr(0x2ff0, Some(1)),
            ],
            clocks: 1,
        },
    }
}

/// One run; tells whether something off was called measured although nothing promises to find it.
fn run(seed: u64) -> bool {
    let mut random = Random(seed);
    let Prey { family, events, targets, clocks } = prey(&mut random);
    let machine = Shared::new(family, 1);
    let mut session = machine.start(planned(&machine, events), Options::default());
    let lasts = 50 + random.below(3951);
    let samples = 25 + random.below(40);
    let intruded = random.below(samples);
    let comes = random.below(lasts);
    let is_left = random.below(2) == 0;
    let stays = if is_left { lasts } else { 1 + random.below(lasts) }.min(lasts - comes);
    let target = &targets[random.below(targets.len() as u64) as usize];
    let mut space = machine.clone();
    let mut taken: Vec<Sample> = Vec::new();
    for number in 0..samples {
        if number == intruded {
            machine.run(comes);
            let before = space.read(target.address, target.width).expect("readable");
            // A counter goes back by more than it counts until the sample's end.
            let value = target.value.unwrap_or_else(|| before.saturating_sub(lasts + random.below(1 << 20)));
            space.write(target.address, target.width, value).expect("writable");
            machine.run(stays);
            if !is_left && target.value.is_some() {
                space.write(target.address, target.width, before).expect("writable");
            }
            machine.run(lasts - comes - stays);
        } else {
            machine.run(lasts);
        }
        if number + 1 == samples {
            session.check_controls();
        }
        let sample = session.sample(|space| space.moment());
        if let Some(withdrawn) = &sample.withdrawn {
            let first = taken.len() - withdrawn.samples as usize;
            taken[first..].iter_mut().for_each(|before| assert!(before.withdraw(withdrawn)));
        }
        taken.push(sample);
    }
    session.stop().expect("all of ours is put back");
    let is_wrong = |sample: &Sample| {
        let mut measured = sample.counts.iter().filter(|count| count.validity.grade() == Grade::Measured);
        measured.any(|count| count.count != Some(lasts))
    };
    let missed = taken.iter().any(is_wrong);
    // A counter at 0 that is set to 0 in the first sample only loses what it had.
    let is_counter = target.value.is_none();
    let gone = if is_counter { comes } else { stays };
    let shows_in_a_clock = clocks > 2 && lasts >= 2020 && gone * 100 >= lasts;
    let is_whole = matches!(target.address, Address::Msr { msr: 0x2ff0, .. });
    let is_promised = if is_counter { intruded > 0 } else { is_left } || (shows_in_a_clock && !is_whole);
    let what = format!("seed {seed}: {events}, {} = {:x?}, left: {is_left}", target.address, target.value);
    assert!(!missed || !is_promised, "{what}, sample {intruded} of {samples}, {comes} + {stays} of {lasts} cycles");
    missed
}

/// What is promised holds; and the intruder is not idle: some of what nobody promises is missed.
#[test]
fn nothing_is_called_measured_that_an_intruder_has_spoilt() {
    let missed = (0..400).filter(|&seed| run(seed)).count();
    assert!((10..200).contains(&missed), "{missed} of 400 runs");
}

/// Other intruders with another PROPTEST_RNG_SEED, as for generated cases: 1 is the first 5,600 after those above.
#[test]
#[ignore = "minutes: thousands of seeds"]
fn thousands_of_intruders() {
    let of_cases = std::env::var("PROPTEST_RNG_SEED").expect("set by .cargo/config.toml");
    let of_cases: u64 = of_cases.parse().expect("PROPTEST_RNG_SEED is a number");
    let first = 400 + of_cases.saturating_sub(1) * 5600;
    let missed = (first..first + 5600).filter(|&seed| run(seed)).count();
    println!("seeds from {first}: {missed} of 5600 runs have a number that is off, and that nothing promises to find");
}
