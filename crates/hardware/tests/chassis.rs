//! What software finds on the buses besides counters, by hand: functions that are not there, core counters, CPUID, the
//! discovery table's head, an intruder's timing, names and order of what is dumped. Addresses and values are raw.

use pericore_hardware::chassis::{Chassis, Faults, Intrusion, Shape, Variant};
use pericore_hardware::signal::{SignalSink, Wiring};
use pericore_registers::{AccessError, Address, Bdf, RegisterSpace, Width};

/// Ticks of a cycle of every clock.
const CYCLE: u64 = 8;

fn machine(family: &str, sockets: u16) -> Chassis {
    let family = pericore_catalog::family(family).expect("the family is in the catalogue");
    let shape = Shape::new(family, sockets, 8, 2).expect("a machine of that size");
    Chassis::new(shape, Wiring::new(family, sockets), |_| CYCLE)
}

fn rdmsr(machine: &mut Chassis, cpu: u32, msr: u32) -> u64 {
    machine.read(Address::Msr { cpu, msr }, Width::B8).expect("the MSR exists")
}

fn wrmsr(machine: &mut Chassis, cpu: u32, msr: u32, value: u64) {
    machine.write(Address::Msr { cpu, msr }, Width::B8, value).expect("the MSR exists");
}

/// Channel 0 of an E5-2600 is device 16, function 4, its counter 0 at 0xA0 (2.5.2.1, Table 2-63). Numbers that no
/// function can have must not wrap round to it.
#[test]
fn functions_that_cannot_be_do_not_answer_for_others() {
    let mut machine = machine("e5-2600", 1);
    let at = |bdf| Address::Pci { bdf, offset: 0xa0 };
    let channel = Bdf::new(0xff, 16, 4);
    machine.write(at(channel), Width::B8, 0x1234).expect("a counter");
    let others = [Bdf::new(0xff, 15, 12), Bdf::new(0xff, 48, 4), Bdf::new(0xfe, 48, 4), Bdf { segment: 1, ..channel }];
    for bdf in others {
        assert_eq!(machine.read(at(bdf), Width::B8), Ok(u64::MAX), "{bdf}");
        machine.write(at(bdf), Width::B4, 0).expect("a write is dropped");
    }
    assert_eq!(machine.read(at(channel), Width::B8), Ok(0x1234));
}

/// Vendor and device of a channel (guide 2.5.2: 0x3CB4 for channel 0) by dwords, words and bytes.
#[test]
fn a_header_reads_in_parts() {
    let mut machine = machine("e5-2600", 1);
    let mut read = |offset, width| {
        machine.read(Address::Pci { bdf: Bdf::new(0xff, 16, 4), offset }, width).expect("a possible cycle")
    };
    let device = read(2, Width::B2);
    assert_eq!(read(0, Width::B4), device << 16 | 0x8086);
    assert_eq!([0, 1, 2, 3].map(|byte| read(byte, Width::B1)), [0x86, 0x80, device & 0xff, device >> 8]);
    assert_eq!((read(0x0e, Width::B1), read(0x0c, Width::B4)), (0x80, 0x0080_0000), "several functions");
    assert_eq!(read(0x0b, Width::B1), 0x11, "class: signal processing");
}

/// Emerald Rapids has its capabilities (D30:F3) on the bus behind that of its PMON functions: 0x7F and 0xFF of 0x7E and
/// 0xFE.
#[test]
fn a_register_of_another_bus_is_listed_there() {
    let machine = machine("emerald-rapids", 2);
    let buses = machine.registers().filter_map(|place| match place.address {
        Address::Pci { bdf: Bdf { bus, device: 30, function: 3, .. }, .. } => Some(bus),
        _ => None,
    });
    assert_eq!(buses.collect::<std::collections::BTreeSet<u8>>().into_iter().collect::<Vec<_>>(), [0x7f, 0xff]);
}

/// A function has 4096 bytes of configuration space: its last dword can be read, and nothing beyond.
#[test]
fn configuration_space_ends_at_4096_bytes() {
    let mut machine = machine("e5-2600", 1);
    let at = |offset| Address::Pci { bdf: Bdf::new(0xff, 16, 4), offset };
    assert_eq!(machine.read(at(0xffc), Width::B4), Ok(0));
    let beyond = machine.read(at(0xffc), Width::B8);
    assert!(matches!(beyond, Err(AccessError::BadCycle { .. })), "{beyond:?}");
}

/// SDM volume 3, 18.2: a counter runs while bit 22 of its event select and its bit of the global control are set; each
/// keeps its value when it stops. Cycles (0x3C) and instructions (0xC0) run with the nominal clock, other events are
/// not modelled.
#[test]
fn core_counters_follow_their_selects() {
    let mut machine = machine("e5-2600", 1);
    for (n, select) in [(0, 0x41_003c), (1, 0x41_00c0), (2, 0x01_003c), (3, 0x41_013c)] {
        wrmsr(&mut machine, 2, 0x186 + n, select);
    }
    machine.set_now(100 * CYCLE);
    assert_eq!([0, 1, 2, 3].map(|n| rdmsr(&mut machine, 2, 0xc1 + n)), [0; 4], "not enabled globally");
    wrmsr(&mut machine, 2, 0x38f, 0xf);
    machine.set_now(300 * CYCLE);
    assert_eq!([0, 1, 2, 3].map(|n| rdmsr(&mut machine, 2, 0xc1 + n)), [200, 200, 0, 0]);
    wrmsr(&mut machine, 2, 0x186, 0);
    wrmsr(&mut machine, 2, 0x189, 0x41_003c);
    machine.set_now(350 * CYCLE);
    assert_eq!([0, 1, 2, 3].map(|n| rdmsr(&mut machine, 2, 0xc1 + n)), [200, 250, 0, 50]);
    assert_eq!(rdmsr(&mut machine, 2, 0x189), 0x41_003c);
    // 48 bits; a written value goes on from there.
    wrmsr(&mut machine, 2, 0xc2, (1 << 48) - 10);
    // Fixed counter 1 of this CPU (0x38D bits 7:4, 0x38F bit 33), started by the one and stopped by it.
    wrmsr(&mut machine, 2, 0x38f, 1 << 33 | 0x2);
    wrmsr(&mut machine, 2, 0x38d, 0x30);
    machine.set_now(390 * CYCLE);
    assert_eq!((rdmsr(&mut machine, 2, 0xc2), rdmsr(&mut machine, 2, 0x30a)), (30, 40));
    wrmsr(&mut machine, 2, 0x38d, 0);
    machine.set_now(500 * CYCLE);
    assert_eq!(
        (rdmsr(&mut machine, 2, 0x309), rdmsr(&mut machine, 2, 0x30a), rdmsr(&mut machine, 2, 0x30b)),
        (0, 40, 0)
    );
    assert_eq!(rdmsr(&mut machine, 3, 0xc2), 0, "other CPUs have their own");
    // The time-stamp counter runs whatever is enabled, and can be set.
    assert_eq!(rdmsr(&mut machine, 3, 0x10), 500);
    wrmsr(&mut machine, 3, 0x10, 7);
    machine.set_now(520 * CYCLE);
    assert_eq!((rdmsr(&mut machine, 3, 0x10), rdmsr(&mut machine, 2, 0x10)), (27, 520));
}

/// SDM volume 4: eight cores of two threads, as CORE_THREAD_COUNT has them; an MSR that no part has raises #GP, with
/// whatever value.
#[test]
fn core_msrs_say_what_there_is() {
    for family in ["nehalem", "e5-2600", "emerald-rapids"] {
        let mut machine = machine(family, 2);
        assert_eq!(rdmsr(&mut machine, 9, 0x35), 8 << 16 | 16, "{family}");
        for msr in [0x36, 0x1ae, 0xdead] {
            let address = Address::Msr { cpu: 1, msr };
            let fault = AccessError::GeneralProtection { address };
            assert_eq!(machine.read(address, Width::B8), Err(fault.clone()), "{family} {msr:#x}");
            assert_eq!(machine.write(address, Width::B8, 1), Err(fault), "{family} {msr:#x}");
        }
    }
}

/// SDM volume 4's names, on CPUs that are there: 2 sockets of 8 cores with 2 threads, first the first threads of all
/// cores.
#[test]
fn core_msrs_and_cpus_have_their_names_and_numbers() {
    let machine = machine("e5-2600", 2);
    assert_eq!(machine.core_msr_name(0x10), Some("IA32_TIME_STAMP_COUNTER"));
    assert_eq!((machine.core_msr_name(0x611), machine.core_msr_name(0xdead)), (Some("MSR_PKG_ENERGY_STATUS"), None));
    let shape = machine.shape();
    let places = [(0, 0, 0), (0, 7, 0), (1, 0, 0), (1, 7, 0), (0, 0, 1), (1, 7, 1)];
    assert_eq!(
        places.map(|(socket, core, thread)| shape.cpu_at(socket, core, thread)),
        [0, 7, 8, 15, 16, 31].map(Some)
    );
    assert_eq!([0, 7, 8, 15, 16, 31].map(|cpu| shape.place_of_cpu(cpu)), places.map(Some));
    assert_eq!(
        [(2, 0, 0), (0, 8, 0), (0, 0, 2)].map(|(socket, core, thread)| shape.cpu_at(socket, core, thread)),
        [None; 3]
    );
    assert_eq!(shape.place_of_cpu(32), None);
}

/// A snapshot has the core's clock: a TSC goes on at its rate, whatever the uncore's is.
#[test]
fn a_loaded_machine_keeps_its_cores_clock() {
    let mut first = machine("e5-2600", 1);
    first.set_now(800);
    let text = first.dump();
    for (clock, cycles) in [("core-clock 8", 100), ("core-clock 16", 50)] {
        let mut loaded = Chassis::load(&text.replace("core-clock 8", clock)).expect("a snapshot");
        let before = rdmsr(&mut loaded, 0, 0x10);
        loaded.set_now(1600);
        assert_eq!(rdmsr(&mut loaded, 0, 0x10) - before, cycles, "{clock}");
    }
}

/// Emerald Rapids 1.7.1: a bit for each LLC slice in use, 32 in CAPID6 (D30:F3, 0x9C) and the others in CAPID7 (0xA0),
/// as Linux reads them.
#[test]
fn the_slices_in_use_have_their_bits() {
    let family = pericore_catalog::family("emerald-rapids").expect("the family is in the catalogue");
    for (slices, low, high) in
        [(1, 0x1, 0), (24, 0xff_ffff, 0), (40, 0xffff_ffff, 0xff), (64, 0xffff_ffff, 0xffff_ffff)]
    {
        let shape = Shape::new(family, 1, 8, 2).and_then(|shape| shape.with_slices(slices)).expect("a machine");
        let mut machine = Chassis::new(shape, Wiring::new(family, 1), |_| CYCLE);
        let at = |offset| Address::Pci { bdf: Bdf::new(0xff, 30, 3), offset };
        assert_eq!([0x9c, 0xa0].map(|offset| machine.read(at(offset), Width::B4)), [Ok(low), Ok(high)], "{slices}");
    }
}

/// Between registers of memory there is nothing: it reads as 0, whatever the registers before it hold, and takes no
/// writes.
#[test]
fn nothing_lies_between_registers_of_memory() {
    let mut machine = machine("emerald-rapids", 1);
    let registers: Vec<(u64, u64)> = machine
        .registers()
        .filter_map(|place| match place.address {
            Address::Mmio { physical } => Some((physical, u64::from(place.width.bytes()))),
            _ => None,
        })
        .collect();
    let at = |physical| Address::Mmio { physical };
    for &(first, bytes) in &registers {
        let width = if bytes == 8 { Width::B8 } else { Width::B4 };
        machine.write(at(first), width, u64::MAX).expect("a register");
    }
    let is_free = |byte: u64| registers.iter().all(|&(first, bytes)| byte < first || byte >= first + bytes);
    let behind: Vec<u64> =
        registers.iter().map(|&(first, bytes)| first + bytes).filter(|&byte| is_free(byte)).collect();
    assert!(behind.len() > 20, "{} gaps", behind.len());
    for byte in behind {
        machine.write(at(byte), Width::B1, 0xff).expect("a window");
        assert_eq!(machine.read(at(byte), Width::B1), Ok(0), "{byte:#x}");
    }
}

/// SDM volume 2, CPUID: family 6 and models 1AH, 2DH and CFH; 12-way L1 of 48 KB, 16-way L2 of 2 MB and a 20-way LLC of
/// 320 MB on the 8592+; levels of topology; no leaf beyond.
#[test]
fn cpuid_is_that_of_the_part() {
    for (name, signature) in [("nehalem", 0x106a5), ("e5-2600", 0x206d7), ("emerald-rapids", 0xc06f2)] {
        let family = pericore_catalog::family(name).expect("the family is in the catalogue");
        let machine = Chassis::new(Shape::new(family, 2, 8, 2).expect("a shape"), Wiring::new(family, 2), |_| CYCLE);
        assert_eq!(machine.cpuid(0, 1, 0)[0], signature, "{name}");
        let [_, ebx, ecx, edx] = machine.cpuid(0, 0, 0);
        assert_eq!([ebx, edx, ecx].map(u32::to_le_bytes), [*b"Genu", *b"ineI", *b"ntel"], "{name}");
        // CPU 17 is the second thread of core 1 of socket 0: threads 1, cores 4 bits, then the package.
        assert_eq!(machine.cpuid(17, 0xb, 0), [1, 2, 0x100, 3], "{name}");
        assert_eq!(machine.cpuid(17, 0xb, 1), [5, 16, 0x201, 3], "{name}");
        assert_eq!(machine.cpuid(17, 0xb, 2), [0, 0, 2, 3], "{name}: no third level");
        assert_eq!(machine.cpuid(8, 0xb, 2)[3], 1 << 5, "{name}: the second socket");
        assert_eq!(machine.cpuid(0, 4, 4), [0; 4], "{name}: no fifth cache");
        assert_eq!((machine.cpuid(0, 7, 0), machine.cpuid(0, 0x8000_0009, 0)), ([0; 4], [0; 4]), "{name}");
        // Inclusive, with complex indexing; the others are neither.
        assert_eq!([0, 1, 2, 3].map(|cache| machine.cpuid(0, 4, cache)[3]), [0, 0, 0, 6], "{name}");
        let levels = [0, 1, 2, 3].map(|cache| machine.cpuid(0, 4, cache)[0] & 0xff);
        assert_eq!(levels, [0x21, 0x22, 0x43, 0x63], "{name}: data, instructions, unified");
    }
    let machine = machine("emerald-rapids", 1);
    let bytes = |cache| {
        let [_, ebx, ecx, _] = machine.cpuid(0, 4, cache);
        u64::from((ebx >> 22) + 1) * u64::from((ebx & 0xfff) + 1) * u64::from(ecx + 1)
    };
    assert_eq!([0, 1, 2, 3].map(bytes), [48 << 10, 32 << 10, 2 << 20, 320 << 20]);
    // SDM, CPUID: LAHF; SYSCALL (bit 11), no execute (20), pages of 1 GB (26), RDTSCP (27), 64 bits (29).
    let features = [11, 20, 26, 27, 29].iter().fold(0, |bits, bit| bits | 1 << bit);
    assert_eq!(machine.cpuid(0, 0x8000_0001, 0), [0, 0, 1, features]);
    let brand: Vec<u8> =
        (0x8000_0002..0x8000_0005).flat_map(|leaf| machine.cpuid(0, leaf, 0)).flat_map(u32::to_le_bytes).collect();
    assert_eq!(brand.strip_suffix(&[0; 17]).map(<[u8]>::to_vec), Some(b"INTEL(R) XEON(R) PLATINUM 8592+".to_vec()));
}

/// Emerald Rapids 1.9 and 1.10.1: the first record is that of the global control, MSR 0x2FF0, whose status registers
/// begin two MSRs on (Table 1-8) and have 128 bits; records are four qwords long, and zeros follow the last.
#[test]
fn a_discovery_table_begins_with_the_global_record() {
    let mut machine = machine("emerald-rapids", 2);
    for socket in 0..2 {
        let base = 0xe000_0000 + 0x80_0000 * socket;
        let mut qword = |n: u64| machine.read(Address::Mmio { physical: base + 8 * n }, Width::B8).expect("the table");
        let [first, control, status, reserved] = [0, 1, 2, 3].map(&mut qword);
        let blocks = first >> 16 & 0x3ff;
        assert_eq!((first & 0xffff, first >> 26, control, status, reserved), (0x400, 0, 0x2ff0, 2 | 128 << 8, 0));
        assert!((1..=blocks).all(|block| qword(4 * block + 2) & 0xffff != 0xffff));
        let behind = 4 * (blocks + 1);
        assert_eq!([0, 1, 2, 3].map(|n| qword(behind + n)), [0; 4]);
        assert_ne!(qword(behind - 4), 0, "the last block is described");
        assert_eq!(machine.read(Address::Mmio { physical: base + 9 }, Width::B1), Ok(0x2f), "by bytes, too");
    }
}

/// 1.10.3: MMIO_BASE at 0xD0 counts 8 MB, MEMn_BAR from 0xD8 on pages; the machine's windows begin at 0xF000_0000,
/// 0x8_0000 apart, and those of socket 1 lie 8 MB further on.
#[test]
fn bars_lead_to_the_memory_controllers() {
    let mut machine = machine("emerald-rapids", 2);
    for (bus, base) in [(0x7e, 0x1e0), (0xfe, 0x1e1)] {
        let at = |offset| Address::Pci { bdf: Bdf::new(bus, 0, 1), offset };
        let bars =
            [0xd0, 0xd8, 0xdc, 0xe0, 0xe4].map(|offset| machine.read(at(offset), Width::B4).expect("a register"));
        assert_eq!(bars, [base, 0, 0x80, 0x100, 0x180]);
    }
}

/// Somebody clears a control at tick 400, cycle 50: what happens in that tick is no longer counted. As long as such a
/// write is to come, the model must tell everything.
#[test]
fn an_intruders_write_takes_effect_in_its_tick() {
    let family = pericore_catalog::family("e5-2600").expect("the family is in the catalogue");
    let mut wiring = Wiring::new(family, 1);
    let victims = wiring.signal(0, "cbo", 0, "llc_victim").expect("the signal");
    let modified = wiring.attribute("cbo", "llc_victim", "state").expect("the attribute").set(0, 3);
    let address = Address::Msr { cpu: 0, msr: 0xd10 };
    let intrusion = Intrusion { first: 400, every: 0, address, width: Width::B8, value: 0 };
    let faults = Faults { intrusions: vec![intrusion], ..Faults::default() };
    let shape = Shape::new(family, 1, 8, 2).expect("a shape");
    let machine = Chassis::new(shape, Wiring::new(family, 1), |_| CYCLE);
    assert!(!machine.observes(victims) && !machine.observes_any(victims.instance), "nobody listens");
    let mut machine = machine.with_variant(&Variant { faults, ..Variant::default() }).expect("a variant");
    assert!(machine.observes(victims) && machine.observes_any(victims.instance), "the intruder may");
    // LLC_VICTIMS.M_STATE: 0x37, 0x01.
    wrmsr(&mut machine, 0, 0xd10, 0x40_0137);
    machine.pulse(victims, modified, 399, 1);
    machine.pulse(victims, modified, 400, 1);
    machine.set_now(800);
    assert_eq!((rdmsr(&mut machine, 0, 0xd16), rdmsr(&mut machine, 0, 0xd10)), (1, 0));
    assert!(!machine.observes(victims), "nobody listens any more");
}

/// Names as `pericore machine peek` takes them; single units have no number.
#[test]
fn registers_have_names_and_are_found_by_them() {
    let machine = machine("e5-2600", 2);
    let names = |asked: &str| machine.find_registers(asked).iter().map(|place| place.name()).collect::<Vec<_>>();
    assert_eq!(names("1/CBO3/Ctl1"), ["1/cbo3/ctl1"]);
    assert_eq!(names("cbo3/ctl1"), ["0/cbo3/ctl1", "1/cbo3/ctl1"]);
    assert_eq!(names("0/cbo/ctr2").len(), 8);
    assert_eq!(names("1/ha/ctl0"), ["1/ha/ctl0"]);
    for nobody in ["2/cbo3/ctl1", "cbo8/ctl1", "ctl1", "0/cbo3/ctl9", "0/cbo3/ctl1/0"] {
        assert!(names(nobody).is_empty(), "{nobody}");
    }
    assert_eq!((machine.find_blocks("imc").len(), machine.find_blocks("1/imc2").len()), (8, 1));
    let counters: Vec<u8> = machine.find_counters("0/cbo0/ctr").into_iter().map(|(_, counter)| counter).collect();
    assert_eq!(counters, [0, 1, 2, 3]);
    assert!(machine.find_counters("0/cbo0/ctl").is_empty(), "controls are no counters");
    let place = machine.find_registers("1/cbo3/ctl1")[0];
    // Socket 1 begins with CPU 8; CBo 3's controls with 0xD70 (Table 2-8).
    assert_eq!(place.address, Address::Msr { cpu: 8, msr: 0xd71 });
}

/// The same state is the same text, whatever was written first.
#[test]
fn a_dump_has_its_core_msrs_in_order() {
    let writes = [(5, 0x1a4, 1), (0, 0x1a4, 2), (5, 0x186, 3), (15, 0x38d, 4), (2, 0x1a0, 5)];
    let dumped = |writes: &mut dyn Iterator<Item = &(u32, u32, u64)>| {
        let mut machine = machine("e5-2600", 1);
        writes.for_each(|&(cpu, msr, value)| wrmsr(&mut machine, cpu, msr, value));
        machine.dump()
    };
    let text = dumped(&mut writes.iter());
    assert_eq!(text, dumped(&mut writes.iter().rev()));
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("core-msr ")).collect();
    assert_eq!(lines, ["0 0x1a4 = 0x2", "2 0x1a0 = 0x5", "5 0x186 = 0x3", "5 0x1a4 = 0x1", "15 0x38d = 0x4"]);
}
