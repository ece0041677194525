//! What a system does besides its workload happens only where a scenario asks for it.

use pericore_hardware::pmon::{Compiled, compile_event};
use pericore_hardware::signal::{SignalSink, Tick, Wire, Wiring};

use super::{model, run};

/// Control values by Intel's event file: event select in bits 7:0, umask in 15:8, its extension from bit 32. TOR
/// inserts (0x35, cores' requests 0x01) by opcode; requests to CXL memory (0x02); checksum errors of a UPI link (0x0B).
const BESIDE: [(&str, &str, u64); 9] = [
    ("cha", "CLFLUSH", 0x00c8_c7ff_0000_0135),
    ("cha", "SpecItoM", 0x00cc_57ff_0000_0135),
    ("cha", "WCiLF", 0x00c8_67ff_0000_0135),
    ("cha", "WCiL", 0x00c8_6fff_0000_0135),
    ("cha", "UCRdF", 0x00c8_77de_0000_0135),
    ("cha", "LLC prefetch", 0x00cc_d7ff_0000_0135),
    ("cha", "code read", 0x00c8_0fff_0000_0135),
    ("cxlcm", "CXL memory", 0x0802),
    ("upi", "checksum error", CHECKSUM),
];
const CHECKSUM: u64 = 0x0b;
/// CAS_COUNT (0x05) with the umask of all reads, 0xCF.
const READS: (&str, &str, u64) = ("imc", "reads", 0xcf05);

/// Counts pulses that each control value selects: unit, what it selects, and how often that came.
struct Selected {
    wiring: Wiring,
    counts: Vec<(usize, Compiled, u64)>,
}

impl SignalSink for Selected {
    fn pulse(&mut self, wire: Wire, tag: u64, _: Tick, count: u32) {
        let (_, unit, _) = self.wiring.locate(wire.instance);
        for (of, event, counted) in &mut self.counts {
            if *of == unit && event.signal() == wire.signal && event.matches(tag) {
                *counted += u64::from(count);
            }
        }
    }

    fn enter(&mut self, wire: Wire, tag: u64, tick: Tick) {
        self.pulse(wire, tag, tick, 1);
    }

    fn leave(&mut self, _: Wire, _: u64, _: Tick) {}
}

fn counts(workload: &str) -> Vec<u64> {
    let (mut model, wiring) = model(workload);
    let family = wiring.family();
    let compiled = BESIDE.iter().chain([&READS]).map(|(unit, what, config)| {
        let index = family.unit_index(unit).unwrap();
        (index, compile_event(family.units[index], *config).expect(what), 0)
    });
    let mut selected = Selected { counts: compiled.collect(), wiring };
    run(&mut model, &mut selected);
    selected.counts.into_iter().map(|(.., count)| count).collect()
}

/// A pointer chase through 256 KiB reads each of its 4096 lines from memory once, and nothing else does anything: page
/// walks would read others. Threads that read and write lines of both sockets, in order or not, flush none, and their
/// links damage nothing.
#[test]
fn a_workload_is_alone() {
    let chase = counts("chase:requests=100000,footprint=256k");
    assert_eq!((&chase[..BESIDE.len()], chase[BESIDE.len()]), (&[0; BESIDE.len()][..], 4096));
    for name in ["random", "stream"] {
        let all = counts(&format!("two {name}:requests=20000,read=60,threads=64,footprint=64M,remote=50"));
        assert_eq!(all[..BESIDE.len()], [0; BESIDE.len()], "{name}");
    }
}

/// The same with `system`, and one message in 200 damaged.
#[test]
fn a_system_is_there_in_a_scenario_with_its_key() {
    let phase = "phase a\n  workload random:requests=20000,read=60,threads=16,footprint=64M,remote=50\n";
    let all = counts(&format!("two {phase}  system\n  link-error every 200packets\n"));
    for ((_, what, _), count) in BESIDE.iter().zip(&all) {
        assert!(*count > 0, "{what}: {all:?}");
    }
    let links = counts(&format!("two {phase}  link-error every 200packets\n"));
    for ((_, what, config), count) in BESIDE.iter().zip(&links) {
        assert_eq!(*count > 10, *config == CHECKSUM, "{what}: {links:?}");
        assert!(*config == CHECKSUM || *count == 0, "{what}: {links:?}");
    }
}
