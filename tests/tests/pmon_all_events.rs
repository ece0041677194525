//! Every event of the event texts, on every counter that may take it, in every instance of its unit: control values composed by hand, and a
//! signal that is random, not zero, and different for each unit, instance and subevent, counted past a wrap.

use std::collections::BTreeMap;

use pericore_registers::{Address, Bdf, RegisterSpace, Width};
use pericore_tests::pmon::discovery;
use pericore_tests::pmon::raw::{self, CYCLE, Raw};
use pericore_tests::pmon::rows::{Row, places, rows};
use pericore_tests::pmon::tags;

/// Pseudo-random numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 27) % limit
    }
}

/// A register's address on socket 0 from its printed form.
fn address(raw: &mut Raw, bus: u8, text: &str) -> Address {
    let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_else(|_| panic!("{text}"));
    if let Some(rest) = text.strip_prefix("mem") {
        // 1.10.3: the memory controller's base comes from two registers.
        let (controller, offset) = rest.split_once('+').expect("memN+0x…");
        let base = u64::from(raw.pci(bus, 0, 1, 0xd0) & 0x1fff_ffff) << 23;
        let bar = raw.pci(bus, 0, 1, 0xd8 + 4 * hex(controller) as u16);
        return Address::Mmio { physical: base + (u64::from(bar & 0x7ff) << 12) + hex(offset) };
    }
    if let Some((function, offset)) = text.split_once('+') {
        let (device, function) = function.split_once('.').expect("device.function+0x…");
        let bdf = Bdf::new(bus, device.parse().expect("a device"), function.parse().expect("a function"));
        return Address::Pci { bdf, offset: hex(offset) as u16 };
    }
    Address::Msr { cpu: 0, msr: hex(text) as u32 }
}

/// An instance's controls and counters.
struct Block {
    controls: Vec<(Address, u32)>,
    counters: Vec<Address>,
}

impl Block {
    fn program(&self, raw: &mut Raw, counter: u8, control: u64) {
        let (address, bits) = self.controls[usize::from(counter)];
        write(raw, address, bits, control);
    }

    fn preset(&self, raw: &mut Raw, counter: u8, value: u64) {
        write(raw, self.counters[usize::from(counter)], 64, value);
    }

    fn count(&self, raw: &mut Raw, counter: u8) -> u64 {
        raw.machine.read(self.counters[usize::from(counter)], Width::B8).expect("the counter is there")
    }
}

fn write(raw: &mut Raw, address: Address, bits: u32, value: u64) {
    let width = if bits == 64 || matches!(address, Address::Msr { .. }) { Width::B8 } else { Width::B4 };
    raw.machine.write(address, width, value).expect("the register is there");
}

/// The instances of each unit, from the tables of registers; CXL's from the discovery record would be as good, but they have no table.
fn blocks(raw: &mut Raw, family: &str, bus: u8) -> BTreeMap<String, Vec<Block>> {
    let places = places(family);
    let mut blocks: BTreeMap<String, Vec<Block>> = BTreeMap::new();
    let mut units: Vec<(String, u16)> = places.keys().map(|(unit, instance, _)| (unit.clone(), *instance)).collect();
    units.dedup();
    for (unit, instance) in units {
        let register = |name: String| places.get(&(unit.clone(), instance, name));
        let row = |raw: &mut Raw, kind: &str| -> Vec<(Address, u32)> {
            let found = (0..8).map_while(|number| register(format!("{kind}{number}")));
            found.map(|(text, bits)| (address(raw, bus, text), *bits)).collect()
        };
        let (controls, counters) = (row(raw, "ctl"), row(raw, "ctr"));
        let counters = counters.into_iter().map(|(address, _)| address).collect();
        for &(name, value) in if family == "e5-2600" { tags::filters(&unit) } else { &[] } {
            let (text, bits) = register(name.to_owned()).expect("the filter is in the tables");
            let filter = address(raw, bus, text);
            write(raw, filter, *bits, value);
        }
        blocks.entry(unit.clone()).or_default().push(Block { controls, counters });
    }
    blocks
}

/// True if the text says that an event counts each cycle of a state, or adds a queue's entries up each cycle: by words of their
/// names, judged against the texts of guide, Intel's files and SDM one by one.
fn is_level(row: &Row) -> bool {
    let name = row.event.to_ascii_uppercase();
    // Numbers of packets, credits, sequences and occasions, whatever their names say.
    let happenings = [
        "ADS_USED",
        "VN0_CREDITS_USED",
        "VN1_CREDITS_USED",
        "LOCK_CYCLES",
        "READ_NO_CREDITS",
        "WRITE_NO_CREDITS",
        "VNA_CRD_MISC",
        "FLOWQ_NO_VNA_CRD",
    ];
    // Left without a definition on the E5-2600 (catalog/undefined.toml).
    let undefined = row.unit == "cbo" && matches!(row.event.as_str(), "RING_SINK_STARVED" | "TxR_STARVED");
    let queues = [
        "OCCUPANCY",
        "_OCC",
        "_NE",
        "NOT_EMPTY",
        "_FULL",
        "NUM_OUSTANDING",
        "WB_PENDING",
        "VNA_CRD",
        "CRD_MISC",
        "TGR_",
        // A clock moves two flits, idle ones too: so many of a kind in each.
        "FLITS_G0",
    ];
    let cycles = [
        "CYCLES",
        "FLUSH_CYC",
        "_USED",
        "_IN_USE",
        "_BUSY",
        "STARVED",
        "STALL",
        "THRTL",
        "NOT_SENT",
        "GQ_DATA",
        "TX_HEADER",
    ];
    let credits = ["NO_CREDITS", "CREDITS_EMPTY", "CRD_WAIT", "NO_REG_CRD", "NO_SPEC_CRD", "NO_PPT_CREDIT"];
    let states = [
        "DISTRESS",
        "EGRESS_ORDERING",
        // A sequence waits for a half of its data, what waits is followed, is at its limit (Table 2-384).
        "FLITS_GEN_BL",
        "MISC_EXTERNAL",
        "M2U_MISC",
        "FAST_ASSERTED",
        "CLK_ACTIVE",
        "MAJOR_MODES",
        "POWER_SELF_REFRESH",
        "POWER_CHANNEL",
        "HOT_",
        "THROT",
        "FREQ_CLIP",
    ];
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    !has(&happenings) && !undefined && (has(&queues) || has(&cycles) || has(&credits) || has(&states))
}

/// Events that count clocks.
fn is_clock(row: &Row) -> bool {
    row.event.to_ascii_uppercase().ends_with("CLOCKTICKS")
}

fn check_family(
    family: &str,
    bus: u8,
    width: impl Fn(&str) -> u32,
    skip: impl Fn(&Row) -> bool,
) -> (usize, Vec<String>) {
    let mut raw = Raw::with_period(family, 1, CYCLE);
    let mut blocks = blocks(&mut raw, family, bus);
    discovered(&mut raw, family, &mut blocks);
    if family == "nehalem" {
        raw.wrmsr(0x391, 0xff);
    }
    let mut random = Random(family.len() as u64);
    let mut defects = Vec::new();
    let mut checked = 0;
    for row in rows(family).into_iter().filter(|row| !skip(row)) {
        let Some(instances) = blocks.get(&row.unit) else {
            defects.push(format!("{}: no instance", row.name()));
            continue;
        };
        let (control, modulus) = (row.control(family), 1u64 << width(&row.unit));
        let (tag, signal) = if is_clock(&row) {
            (None, None)
        } else {
            (tags::matching(&raw, family, &row), Some(tags::signal(family, &row)))
        };
        let now = raw.machine.now() / CYCLE + 1;
        let mut expected = Vec::new();
        for (instance, block) in (0u16..).zip(instances) {
            let count = 2 + random.below(0x7fff_ffff);
            for &counter in &row.counters {
                // Past a wrap: between 1 and `count` before it.
                let before = 1 + random.below(count);
                block.preset(&mut raw, counter, modulus - before);
                block.program(&mut raw, counter, control);
                let counted = match (&signal, tag) {
                    _ if row.event.eq_ignore_ascii_case("nothing") => 0,
                    // Every second of the cycles before, at and after `now`, those with even numbers.
                    (None, _) if row.event == "HCLOCKTICKS" => 1 + now % 2,
                    (None, _) => 3,
                    (Some(_), Some(_)) => count,
                    (Some(_), None) => 0,
                };
                expected.push((instance, counter, (modulus - before).wrapping_add(counted) % modulus));
            }
            if let Some(signal) = &signal {
                let wire = raw.try_wire(&row.unit, instance, signal);
                match wire {
                    Some(wire) => {
                        raw.pulse(wire, tag.unwrap_or(0), now, count as u32);
                        if let Some(other) = tags::other(&raw, family, &row) {
                            raw.pulse(wire, other, now, 1 + random.below(1000) as u32);
                        }
                    }
                    None => {
                        defects.push(format!("{}: no signal {signal}", row.name()));
                        break;
                    }
                }
            }
        }
        raw.at(now + 2);
        for (instance, counter, expected) in expected {
            let block = &instances[usize::from(instance)];
            let found = block.count(&mut raw, counter);
            if found != expected {
                defects.push(format!(
                    "{}: instance {instance} counter {counter}: {found:#x}, not {expected:#x}",
                    row.name()
                ));
            }
            block.program(&mut raw, counter, 0);
            checked += 1;
        }
    }
    (checked, defects)
}

/// CXL and the U-Box's own counters have no address in any document: discovery tells.
fn discovered(raw: &mut Raw, family: &str, blocks: &mut BTreeMap<String, Vec<Block>>) {
    if family != "emerald-rapids" {
        return;
    }
    let (_, table) = discovery::walk(raw).remove(0);
    for (kind, unit) in [(12, "cxlcm"), (13, "cxldp"), (5, "ubox")] {
        let found = table.units.iter().filter(|record| record.kind == kind).map(|record| {
            let register = |offset: u64, n: u64| match record.access {
                0 => Address::Msr { cpu: 0, msr: (record.unit_ctl + offset + n) as u32 },
                _ => Address::Mmio { physical: record.unit_ctl + offset + 8 * n },
            };
            Block {
                controls: (0..record.num_regs).map(|n| (register(record.ctl_offset, n), 64)).collect(),
                counters: (0..record.num_regs).map(|n| register(record.ctr_offset, n)).collect(),
            }
        });
        blocks.insert(unit.to_owned(), found.collect());
    }
}

fn report(checked: usize, defects: &[String], least: usize) {
    // The first of each row.
    let mut shown: Vec<&str> = defects.iter().map(String::as_str).collect();
    shown.dedup_by_key(|defect| defect.split(": ").next());
    assert!(defects.is_empty(), "{} of {checked}:\n{}", defects.len(), shown.join("\n"));
    assert!(checked >= least, "only {checked} were checked");
}

/// One entry that stays for 37 cycles counts 37 in events of states and queues, and 1 in events of happenings.
fn check_measures(family: &str, bus: u8) -> Vec<String> {
    const CYCLES: u64 = 37;
    let mut raw = Raw::with_period(family, 1, CYCLE);
    let mut blocks = blocks(&mut raw, family, bus);
    discovered(&mut raw, family, &mut blocks);
    if family == "nehalem" {
        raw.wrmsr(0x391, 0xff);
    }
    let mut defects = Vec::new();
    for row in rows(family).into_iter().filter(|row| !is_clock(row) && row.event != "COUNTER0_OCCUPANCY") {
        let Some(tag) = tags::matching(&raw, family, &row) else { continue };
        if row.event.eq_ignore_ascii_case("nothing") {
            continue;
        }
        let (block, counter) = (&blocks[&row.unit][0], row.counters[0]);
        let wire = raw.try_wire(&row.unit, 0, &tags::signal(family, &row)).expect("the signal was there before");
        let now = raw.machine.now() / CYCLE + 1;
        block.preset(&mut raw, counter, 0);
        block.program(&mut raw, counter, row.control(family));
        raw.enter(wire, tag, now + 1);
        raw.leave(wire, tag, now + 1 + CYCLES);
        raw.at(now + 100);
        let found = block.count(&mut raw, counter);
        block.program(&mut raw, counter, 0);
        let expected = if is_level(&row) { CYCLES } else { 1 };
        if found != expected {
            defects.push(format!("{}: {found}, not {expected}", row.name()));
        }
    }
    defects
}

#[test]
fn measures() {
    let mut defects = Vec::new();
    for (family, bus) in [("e5-2600", 0xff), ("emerald-rapids", raw::B30), ("nehalem", 0xff)] {
        defects.extend(check_measures(family, bus));
    }
    let mut shown: Vec<&str> = defects.iter().map(String::as_str).collect();
    shown.dedup_by_key(|defect| defect.split('.').next());
    assert!(defects.is_empty(), "{}:\n{}", defects.len(), shown.join("\n"));
}

#[test]
fn e5_2600() {
    let width = |unit: &str| if matches!(unit, "cbo" | "ubox" | "r2pcie" | "r3qpi") { 44 } else { 48 };
    let (checked, defects) = check_family("e5-2600", 0xff, width, |row| row.event == "COUNTER0_OCCUPANCY");
    report(checked, &defects, 1000);
}

#[test]
fn emerald_rapids() {
    let (checked, defects) = check_family("emerald-rapids", raw::B30, |_| 48, |_| false);
    report(checked, &defects, 100_000);
}

#[test]
fn nehalem() {
    let (checked, defects) = check_family("nehalem", 0xff, |_| 48, |_| false);
    report(checked, &defects, 1000);
}
