//! Machines on which firmware lets only some cores take part: what is left of CPUs and MSRs, who runs, and that slices and memory go on
//! as they were.

use pericore_machine::ledger::Question;
use pericore_machine::workload::{
    ProgramAccess, ProgramKind, ProgramSettings, ProgramSource, Scenario, Workload, WorkloadError,
};
use pericore_machine::{Machine, MachineSpec};
use pericore_registers::{AccessError, Address, RegisterSpace, Width};

fn spec(machine: &str) -> MachineSpec {
    MachineSpec::parse(machine).expect("a machine")
}

fn started(machine: &str, workload: &str) -> Machine {
    let spec = spec(machine);
    let scenario = Scenario::of(workload, &spec.limits().expect("a model")).expect("a workload");
    Machine::for_scenario(&spec, &scenario).expect("a machine")
}

fn to_its_end(mut machine: Machine) -> Machine {
    let microsecond = machine.clocks().ticks_per_second() / 1_000_000;
    while !machine.finished() {
        machine.run_for(microsecond / 10);
        assert!(machine.now() < 10_000 * microsecond, "the workload does not end");
    }
    machine
}

fn ran(machine: &str, workload: &str) -> Machine {
    to_its_end(started(machine, workload))
}

fn truth(machine: &Machine, socket: u16, (unit, instance): (&str, u16), event: &str, subevent: Option<&str>) -> u64 {
    machine.snapshot().count(socket, instance, Question::new(unit, event).subevent(subevent)).expect("a truth")
}

/// Four cores of two threads: CPUs 0 to 7. 0x10 is the time-stamp counter of a CPU, 0x35 counts threads (15:0) and cores (31:16) that are
/// left, 0xD04 is CBo 0's control.
#[test]
fn cpus_of_cores_that_are_left_out_do_not_exist() {
    let mut machine = spec("e5-2600:cores=4").chassis().expect("a machine");
    let msr = |cpu, msr| Address::Msr { cpu, msr };
    for register in [0x10, 0x35, 0xd04] {
        assert!(machine.read(msr(7, register), Width::B8).is_ok());
        assert!(
            matches!(machine.read(msr(8, register), Width::B8), Err(AccessError::Unreachable { .. })),
            "{register:#x}"
        );
        assert!(machine.write(msr(8, register), Width::B8, 0).is_err());
    }
    assert_eq!(machine.read(msr(3, 0x35), Width::B8), Ok(4 << 16 | 8));
    assert!(machine.write(msr(3, 0x35), Width::B8, 0).is_err(), "it is read only");
    let mut whole = spec("8592+:sockets=2").chassis().expect("a machine");
    assert_eq!(whole.read(msr(255, 0x35), Width::B8), Ok(64 << 16 | 128));
    // The CBos are all there, 0x20 apart.
    for cbo in 0..8 {
        assert_eq!(machine.read(msr(0, 0xd04 + 0x20 * cbo), Width::B8), Ok(0));
    }
}

#[test]
fn more_threads_than_there_are_left_are_refused() {
    let limits = spec("e5-2600:cores=4").limits().expect("a model");
    assert!(Workload::parse("stream:threads=8", &limits).is_ok());
    let error = Workload::parse("stream:threads=9", &limits).expect_err("too many");
    assert!(matches!(error, WorkloadError::OutOfRange { key: "threads", most: 8, .. }), "{error}");
    assert!(error.to_string().contains("cores="), "{error}");
    // A workload that does not say takes what there is.
    assert_eq!(
        Workload::parse("stream", &spec("nehalem:cores=1").limits().expect("a model")).expect("a workload").threads,
        2
    );
}

/// Core cycles of socket 0 in a C-state, and cycles of its power unit.
fn in_state(machine: &Machine, state: &str) -> (u64, u64) {
    let (pcu, event) = (("pcu", 0), "POWER_STATE_OCCUPANCY");
    let cycles = truth(machine, 0, pcu, "CLOCKTICKS", None);
    match machine.chassis().shape().family.name {
        "e5-2600" => (truth(machine, 0, pcu, event, Some(&format!("CORES_{state}"))), cycles),
        _ => (truth(machine, 0, pcu, &format!("{event}_CORES_{state}"), None), cycles),
    }
}

/// Three cores of each socket are awake, and no others: their cycles in C0 are three for each of the power unit's.
#[test]
fn only_cores_that_take_part_are_awake() {
    for (name, cores) in [("e5-2600:sockets=2,cores=3", 3), ("8592+:sockets=2,cores=3", 3), ("8592+:sockets=2", 64)] {
        let threads = 4 * cores;
        let mut machine = started(name, &format!("random:requests=1M,threads={threads},footprint=1G"));
        machine.run_for(machine.clocks().ticks_per_second() / 100_000);
        let (awake, cycles) = in_state(&machine, "C0");
        assert_eq!((awake, in_state(&machine, "C6").0), (cores * cycles, 0), "{name}");
    }
}

/// One core's lines go to every slice, for its number says nothing of where they lie.
#[test]
fn all_slices_stay() {
    for (name, unit, slices, event, subevent) in
        [("e5-2600:cores=1", "cbo", 8, "TOR_INSERTS", "MISS_ALL"), ("8592+:cores=1", "cha", 64, "TOR_INSERTS", "IA")]
    {
        let machine = ran(name, "random:requests=20000,threads=2,footprint=1G");
        let counts: Vec<u64> =
            (0..slices).map(|slice| truth(&machine, 0, (unit, slice), event, Some(subevent))).collect();
        let even = 20_000 / u64::from(slices);
        assert!(counts.iter().all(|count| (even / 2..2 * even).contains(count)), "{name}: {counts:?}");
    }
}

/// Slices that are not in use get no lines and go on seeing the ring; the others share all lines evenly, and all there is to a socket stays
/// in balance: each read of memory is a miss of one of them.
#[test]
fn slices_that_are_not_in_use_get_no_lines() {
    for (name, unit, slices, all, subevent) in [
        ("e5-2600:cores=6,slices=6", "cbo", 6_u16, 8, "MISS_ALL"),
        ("e5-2600:cores=2,slices=5", "cbo", 5, 8, "MISS_ALL"),
        ("8592+:cores=60,slices=48", "cha", 48, 64, "IA"),
    ] {
        let machine = ran(name, "random:requests=24000,threads=4,footprint=4G");
        let counts: Vec<u64> =
            (0..all).map(|slice| truth(&machine, 0, (unit, slice), "TOR_INSERTS", Some(subevent))).collect();
        let even = 24_000 / u64::from(slices);
        let (used, unused) = counts.split_at(slices.into());
        assert!(used.iter().all(|count| (even * 3 / 4..even * 5 / 4).contains(count)), "{name}: {counts:?}");
        assert!(unused.iter().all(|&count| count == 0), "{name}: {counts:?}");
    }
    // Data from the home agent, at the stop after the last slice, comes past that on its way down to core 5.
    let machine = ran("e5-2600:cores=6,slices=6", "random:requests=24000,threads=6,footprint=4G");
    let passed = ["UP_EVEN", "UP_ODD"].map(|way| truth(&machine, 0, ("cbo", 7), "RING_BL_USED", Some(way)));
    assert!(passed.iter().sum::<u64>() >= 4000, "{passed:?}");
}

/// 2.3.1: the monitors of such slices stay on the E5-2600. On Emerald Rapids they are gone (0x2000 + 16 N is CHA N's control), and CAPID6 and
/// CAPID7 have a bit for each that is there (1.7.1); CPUID tells the size of what is left: 6 of 8 times 20 MB.
#[test]
fn hardware_has_the_slices_that_are_said() {
    let mut smaller = spec("e5-2600:slices=6").chassis().expect("a machine");
    for cbo in 0..8 {
        assert_eq!(smaller.read(Address::Msr { cpu: 0, msr: 0xd04 + 0x20 * cbo }, Width::B8), Ok(0));
    }
    let [_, ways, sets, _] = smaller.cpuid(0, 4, 3);
    assert_eq!(((ways >> 22) + 1) * (sets + 1) * 64, 15 << 20);
    let mut smaller = spec("8592+:slices=48").chassis().expect("a machine");
    let control = |cha: u32| Address::Msr { cpu: 0, msr: 0x2000 + 16 * cha };
    assert!(smaller.read(control(47), Width::B8).is_ok());
    assert!(smaller.read(control(48), Width::B8).is_err());
    let refused = spec("8592+:slices=48,snc=2").limits().and_then(|limits| {
        let workload = Workload::parse("stream", &limits).expect("a workload");
        Machine::new(&spec("8592+:slices=48,snc=2"), &workload).map(|_| ())
    });
    assert!(refused.is_err_and(|error| error.to_string().contains("slices is 48: it must lie between 64 and 64")));
}

/// Time that chased lines take: with few threads there is nobody to wait for, whoever else could be there.
#[test]
fn latency_is_that_of_the_whole_machine() {
    for (family, cores) in [("e5-2600", 2), ("x5570", 2), ("8592+", 4)] {
        let time = |machine: &str| ran(machine, "chase:requests=4000,threads=2,footprint=1G").now() as f64;
        let (whole, part) = (time(family), time(&format!("{family}:cores={cores}")));
        assert!((part / whole - 1.0).abs() < 0.03, "{family}: {part} ticks instead of {whole}");
    }
}

/// Loads of many threads, each of its own lines.
#[derive(Debug)]
struct Loads {
    next: u64,
}

const THREADS: u64 = 20;
const LOADS: u64 = 4000;

impl ProgramSource for Loads {
    fn next_access(&mut self) -> Option<ProgramAccess> {
        let number = self.next;
        self.next += 1;
        let (thread, turn) = (number % THREADS, number / THREADS);
        (number < LOADS).then_some(ProgramAccess {
            address: (thread << 20 | turn) * 64,
            size: 8,
            instructions: turn * 10,
            thread: thread as u32,
            process: 0,
            forked_from: None,
            kind: ProgramKind::Load,
            after: 0,
        })
    }
}

#[test]
fn a_programs_threads_share_the_cores_that_are_left() {
    for (name, cores) in [("e5-2600:sockets=2,cores=3", 3), ("x5570:cores=1", 1), ("8592+:cores=3", 3)] {
        let settings = ProgramSettings::parse("prefetch=off").expect("settings");
        let machine = Machine::for_program(&spec(name), Box::new(Loads { next: 0 }), settings).expect("a machine");
        let machine = to_its_end(machine);
        assert_eq!(machine.program().expect("a program").of(ProgramKind::Load), LOADS, "{name}");
        assert_eq!(machine.progress().done, LOADS);
        if name.starts_with("8592+") {
            let ((awake, cycles), (asleep, _)) = (in_state(&machine, "C0"), in_state(&machine, "C6"));
            assert!(awake > 0 && awake + asleep == cores * cycles, "{awake} + {asleep} of {cores} * {cycles}");
        }
    }
}
