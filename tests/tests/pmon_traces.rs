//! What real tools did to a Xeon's monitors, done to the emulated hardware under known traffic. `tests/golden/pmon` holds the accesses with what
//! they read; `PERICORE_BLESS=1` writes it anew, to be reviewed line by line.

use std::fmt::Write;
use std::{env, fs};

use pericore_machine::chassis::{Chassis, Rules, Variant};
use pericore_machine::signal::{SignalSink, Wiring};
use pericore_registers::{AccessError, Address, Bdf, RegisterSpace, Width};
use pericore_tests::pmon::raw::{CYCLE, Raw};

/// Cycles that an access takes.
const STEP: u64 = 100;

/// Pulses for each access: unit, instances, signal, attributes, how many.
type Traffic = (&'static str, u16, &'static str, &'static [(&'static str, u64)], u32);

const E5_2600: [Traffic; 8] = [
    ("imc", 4, "CAS_COUNT", &[("sub", 0x01)], 3), // reads
    ("imc", 4, "CAS_COUNT", &[("sub", 0x04)], 2), // writes
    ("imc", 4, "PRE_COUNT", &[("sub", 0x01)], 1), // page misses
    ("cbo", 8, "llc_lookup", &[("read", 1), ("state", 2)], 5),
    ("cbo", 8, "tor", &[("opc", 0x182), ("irq", 1)], 4),
    ("ha", 1, "REQUESTS", &[("sub", 0x01)], 6),
    ("ubox", 1, "EVENT_MSG", &[("sub", 0x08)], 7),
    ("qpi", 2, "TxL_CRC_NO_CREDITS", &[("sub", 0x01)], 9),
];

const EMERALD_RAPIDS: [Traffic; 3] = [
    ("imc", 8, "cas", &[("kind", 0), ("pch", 0)], 3), // reads
    ("imc", 8, "cas", &[("kind", 4), ("pch", 1)], 2), // writes
    ("cha", 64, "tor", &[("sub", 0x01)], 4),          // requests of cores
];

/// One line of a golden file.
enum Line {
    Read(Address, Width),
    Write(Address, Width, u64),
}

fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("{text}")),
        None => text.parse().unwrap_or_else(|_| panic!("{text}")),
    }
}

fn width(text: &str) -> Width {
    match text {
        "1" => Width::B1,
        "2" => Width::B2,
        "4" => Width::B4,
        _ => Width::B8,
    }
}

/// `rdmsr CPU MSR`, `wrpci BUS:DEV.FN+OFF/WIDTH VALUE`, `rdmem ADDRESS/WIDTH` and so on; a read's value follows `=`.
fn line(text: &str) -> Line {
    let words: Vec<&str> = text.split_whitespace().collect();
    let value = |index: usize| number(words[index]);
    let place = |word: &str| {
        let (place, bytes) = word.split_once('/').expect("a width");
        (place.to_owned(), width(bytes))
    };
    let pci = |word: &str| {
        let (place, width) = place(word);
        let (function, offset) = place.split_once('+').expect("an offset");
        let (bus, function) = function.split_once(':').expect("a bus");
        let (device, function) = function.split_once('.').expect("a function");
        let hex = |text: &str| u8::from_str_radix(text, 16).expect("a number");
        let bdf = Bdf::new(hex(bus), hex(device), hex(function));
        (Address::Pci { bdf, offset: number(offset) as u16 }, width)
    };
    let memory = |word: &str| {
        let (place, width) = place(word);
        (Address::Mmio { physical: number(&place) }, width)
    };
    let msr = || Address::Msr { cpu: value(1) as u32, msr: value(2) as u32 };
    match words[0] {
        "rdmsr" => Line::Read(msr(), Width::B8),
        "wrmsr" => Line::Write(msr(), Width::B8, value(3)),
        "rdpci" | "rdmem" => {
            let (address, width) = if words[0] == "rdpci" { pci(words[1]) } else { memory(words[1]) };
            Line::Read(address, width)
        }
        _ => {
            let (address, width) = if words[0] == "wrpci" { pci(words[1]) } else { memory(words[1]) };
            Line::Write(address, width, value(2))
        }
    }
}

fn refusal(error: AccessError) -> String {
    match error {
        AccessError::GeneralProtection { .. } => "#GP".to_owned(),
        other => panic!("{other}"),
    }
}

/// On the documented machine and on the lenient one, where only what faulted passes.
fn replay(family: &str, traffic: &[Traffic], file: &str) {
    replay_on(Rules::Documented, family, traffic, file);
    replay_on(Rules::Lenient, family, traffic, file);
}

fn replay_on(rules: Rules, family: &str, traffic: &[Traffic], file: &str) {
    let path = format!("{}/golden/pmon/{file}", env!("CARGO_MANIFEST_DIR"));
    let golden = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut raw = Raw::with_period(family, 1, CYCLE);
    raw.machine = Chassis::new(raw.machine.shape().clone(), Wiring::new(raw.machine.shape().family, 1), |_| CYCLE)
        .with_variant(&Variant { rules, ..Variant::default() })
        .expect("no block is named");
    let mut found = String::new();
    for text in golden.lines() {
        if text.starts_with('#') || text.is_empty() {
            let _ = writeln!(found, "{text}");
            continue;
        }
        let now = raw.machine.now();
        let access = text.split(" = ").next().unwrap_or(text);
        match line(access) {
            Line::Read(address, width) => {
                let value = raw.machine.read(address, width).map_or_else(refusal, |value| format!("{value:#x}"));
                let _ = writeln!(found, "{access} = {value}");
            }
            Line::Write(address, width, value) => match raw.machine.write(address, width, value) {
                Ok(()) => _ = writeln!(found, "{access}"),
                Err(error) => _ = writeln!(found, "{access} = {}", refusal(error)),
            },
        }
        for &(unit, instances, signal, attributes, count) in traffic {
            let tag = raw.tag(unit, signal, attributes);
            for instance in 0..instances {
                let wire = raw.wire(unit, instance, signal);
                raw.machine.pulse(wire, tag, now + STEP * CYCLE / 2, count);
            }
        }
        raw.machine.set_now(now + STEP * CYCLE);
    }
    if rules == Rules::Documented && env::var_os("PERICORE_BLESS").is_some() {
        return fs::write(&path, &found).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    for (number, (expected, found)) in golden.lines().zip(found.lines()).enumerate() {
        let expected = match (rules, expected.strip_suffix(" = #GP")) {
            (Rules::Lenient, Some(read)) if read.starts_with("rd") => format!("{read} = 0x0"),
            (Rules::Lenient, Some(written)) => written.to_owned(),
            _ => expected.to_owned(),
        };
        assert_eq!(found, expected, "{file}, line {}, {rules:?}", number + 1);
    }
}

#[test]
fn linux_on_e5_2600() {
    replay("e5-2600", &E5_2600, "linux-perf-e5-2600-imc.txt");
    replay("e5-2600", &E5_2600, "linux-perf-e5-2600.txt");
}

#[test]
fn likwid_on_e5_2600() {
    replay("e5-2600", &E5_2600, "likwid-e5-2600-mbox.txt");
    replay("e5-2600", &E5_2600, "likwid-e5-2600.txt");
}

#[test]
fn pcm_on_e5_2600() {
    replay("e5-2600", &E5_2600, "pcm-memory-e5-2600.txt");
}

#[test]
fn linux_on_emerald_rapids() {
    replay("emerald-rapids", &EMERALD_RAPIDS, "linux-perf-emerald-rapids.txt");
}

#[test]
fn pcm_on_emerald_rapids() {
    replay("emerald-rapids", &EMERALD_RAPIDS, "pcm-memory-emerald-rapids.txt");
}
