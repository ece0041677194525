//! What the emulated hardware costs: nanoseconds, and instructions counted by callgrind where valgrind is installed.
//! `cargo bench -p pericore-machine --bench pmon`.

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs};

use pericore_hardware::chassis::{Chassis, Shape};
use pericore_hardware::signal::{SignalSink, Wire, Wiring};
use pericore_registers::{Address, Bdf, RegisterSpace, Width};

/// Does something so many times, on a machine of its own.
type Case = fn(u64);

const CASES: [(&str, Case); 9] = [
    ("read a counter, MSR", |count| read(Address::Msr { cpu: 0, msr: 0x2008 }, count)),
    ("read a control, MSR", |count| read(Address::Msr { cpu: 0, msr: 0x2002 }, count)),
    ("read a counter, PCI, 8 bytes", |count| read(Address::Pci { bdf: Bdf::new(0x7e, 1, 1), offset: 0x320 }, count)),
    ("read a counter, memory", |count| read(Address::Mmio { physical: 0xf002_2808 }, count)),
    ("write a control (a hundredth)", write),
    ("pulse that nothing selects", |count| pulse(0, count)),
    ("pulse that a counter takes", |count| pulse(0x01_35, count)),
    ("pulse that all filters let pass", |count| pulse(0x00c8_17fe_0001_0135, count)),
    ("entry and exit that nothing selects", |count| come_and_go(0, count)),
];

fn main() {
    let arguments: Vec<String> = env::args().collect();
    if let [_, mode, case, count] = arguments.as_slice()
        && mode == "--case"
    {
        let (index, count): (usize, u64) = (case.parse().expect("a case"), count.parse().expect("a count"));
        return CASES[index].1(count);
    }
    // First, before what the others leave behind in memory.
    construction();
    println!("{:38} {:>8} {:>14}", "", "ns", "instructions");
    for (index, (name, case)) in CASES.iter().enumerate() {
        let instructions = instructions(index).map_or_else(|| "-".to_owned(), |count| format!("{count:.1}"));
        println!("{name:38} {:>8.1} {instructions:>14}", nanoseconds(*case));
    }
}

/// Of the fastest of some runs.
fn nanoseconds(case: Case) -> f64 {
    const COUNT: u64 = 2_000_000;
    let run = |count| {
        let start = Instant::now();
        case(count);
        start.elapsed()
    };
    let empty = (0..5).map(|_| run(0)).min().unwrap_or_default();
    let full = (0..5).map(|_| run(COUNT)).min().unwrap_or_default();
    full.saturating_sub(empty).as_nanos() as f64 / COUNT as f64
}

/// By callgrind: the difference of two runs, so that what happens once does not count.
fn instructions(case: usize) -> Option<f64> {
    const COUNT: u64 = 10_000;
    let collected = |count: u64| -> Option<u64> {
        let program = env::current_exe().ok()?;
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
        let output = valgrind.args(["--case", &case.to_string(), &count.to_string()]).output().ok()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = text.lines().find_map(|line| line.split_once("Collected : "))?.1.to_owned();
        line.trim().parse().ok()
    };
    Some((collected(COUNT)? - collected(0)?) as f64 / COUNT as f64)
}

fn machine() -> (Chassis, Wiring) {
    let family = pericore_catalog::family("emerald-rapids").expect("in the catalogue");
    let shape = Shape::new(family, 2, 64, 2).expect("two sockets");
    (Chassis::new(shape, Wiring::new(family, 2), |_| 8), Wiring::new(family, 2))
}

/// A machine on which something counts.
fn busy() -> Chassis {
    let (mut machine, _) = machine();
    machine.write(Address::Msr { cpu: 0, msr: 0x2002 }, Width::B8, 0x01).expect("a control");
    machine.write(Address::Pci { bdf: Bdf::new(0x7e, 1, 1), offset: 0x350 }, Width::B4, 0x01).expect("a control");
    machine.write(Address::Mmio { physical: 0xf002_2840 }, Width::B4, 0x0101).expect("a control");
    machine
}

fn read(address: Address, count: u64) {
    let mut machine = busy();
    for now in 0..count {
        machine.set_now(8 * now);
        black_box(machine.read(black_box(address), Width::B8)).expect("it is there");
    }
}

fn write(count: u64) {
    let mut machine = busy();
    for now in 0..count / 100 {
        machine.set_now(8 * now);
        machine.write(Address::Msr { cpu: 0, msr: 0x2003 }, Width::B8, black_box(0x0135)).expect("it is there");
    }
}

/// The signal of the table of requests, with counter 1 of the agent as given.
fn requests(control: u64) -> (Chassis, Wire, u64) {
    let (mut machine, mut wiring) = machine();
    machine.write(Address::Msr { cpu: 0, msr: 0x200e }, Width::B8, 0).expect("the filter");
    machine.write(Address::Msr { cpu: 0, msr: 0x2003 }, Width::B8, control).expect("a control");
    let wire = wiring.signal(0, "cha", 0, "tor").expect("the signal is there");
    let attribute =
        |name: &str, value: u64| wiring.attribute("cha", "tor", name).expect("the attribute is there").set(0, value);
    let tag = attribute("sub", 1) | attribute("opc", 0x102) | attribute("premorph_opc", 0x102) | attribute("target", 1);
    (machine, wire, tag)
}

fn pulse(control: u64, count: u64) {
    let (mut machine, wire, tag) = requests(control);
    for now in 0..count {
        machine.pulse(black_box(wire), black_box(tag), 8 * now, 1);
    }
}

fn come_and_go(control: u64, count: u64) {
    let (mut machine, wire, tag) = requests(control);
    for now in 0..count {
        machine.enter(black_box(wire), black_box(tag), 8 * now);
        machine.leave(black_box(wire), black_box(tag), 8 * now + 4);
    }
}

/// Two sockets, then with every counter programmed.
fn construction() {
    let before = resident_bytes();
    let (mut whole, _) = machine();
    let controls: Vec<_> = whole.registers().filter(|place| place.register.name == "ctl").collect();
    for (number, place) in controls.iter().enumerate() {
        let events = place.unit.events;
        let config = events.get(number % events.len().max(1)).map_or(0, |event| event.config);
        whole.poke(place, config).expect("it is there");
    }
    let used = resident_bytes().saturating_sub(before);
    let best = (0..10).map(|_| {
        let start = Instant::now();
        black_box(machine());
        start.elapsed()
    });
    let best: Duration = best.min().unwrap_or_default();
    println!(
        "two sockets of Emerald Rapids: {:.2} ms, {:.1} MB with {} counters programmed",
        best.as_secs_f64() * 1e3,
        used as f64 / 1e6,
        controls.len()
    );
}

/// What the process holds in memory.
fn resident_bytes() -> u64 {
    let pages =
        fs::read_to_string("/proc/self/statm").ok().and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
    pages.unwrap_or_default() * 4096
}
