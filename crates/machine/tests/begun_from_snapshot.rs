//! Workloads on machines that begin with a snapshot's registers. Raw values through raw addresses, from the E5-2600's guide: PCU control 0
//! is MSR 0xC30 and counter 0 is 0xC36 (Table 2-76), those of CBo 0 are 0xD10 and 0xD16, and its box control is 0xD04 (Table 2-9).

use pericore_machine::chassis::Chassis;
use pericore_machine::ledger::Question;
use pericore_machine::workload::Workload;
use pericore_machine::{BuildError, Machine, MachineSpec};
use pericore_registers::{Address, Outcome, RegisterSpace, Width};

fn wrmsr(machine: &mut impl RegisterSpace, cpu: u32, msr: u32, value: u64) {
    machine.write(Address::Msr { cpu, msr }, Width::B8, value).expect("the MSR exists");
}

fn rdmsr(machine: &mut impl RegisterSpace, cpu: u32, msr: u32) -> Outcome<u64> {
    machine.read(Address::Msr { cpu, msr }, Width::B8)
}

/// POWER_STATE_OCCUPANCY (0x80) of cores in C0 (occ_sel, bits 15:14, is 1); TOR_OCCUPANCY (0x36) of all misses (0x0a) on counter 0, the
/// only one that takes it; TOR_INSERTS (0x35) of all misses on counter 1.
const CONTROLS: [(u32, u64); 3] = [(0xc30, 0x40_4080), (0xd10, 0x40_0a36), (0xd11, 0x40_0a35)];
const COUNTERS: [(u32, u64); 3] = [(0xc36, 0x1000), (0xd16, 0x2000), (0xd17, 0x3000)];

fn programmed(machine: &mut impl RegisterSpace) {
    for (msr, value) in CONTROLS.into_iter().chain(COUNTERS) {
        wrmsr(machine, 0, msr, value);
    }
}

fn begun(spec: &MachineSpec) -> Machine {
    let workload = "random:requests=5000,threads=6,footprint=1G,read=60";
    Machine::new(spec, &Workload::parse(workload, &spec.limits().expect("a model")).expect("a workload"))
        .expect("a machine")
}

fn of_text(text: &str) -> MachineSpec {
    MachineSpec::of_snapshot(text).expect("a snapshot")
}

/// A machine of four active cores whose counters somebody has programmed.
fn snapshot() -> String {
    let mut hardware = MachineSpec::parse("e5-2600:cores=4").expect("a machine").chassis().expect("hardware");
    programmed(&mut hardware);
    hardware.dump()
}

#[test]
fn counters_of_the_snapshot_go_on_from_their_values() {
    let mut machine = begun(&of_text(&snapshot()));
    let mut written = begun(&MachineSpec::parse("e5-2600:cores=4").expect("a machine"));
    programmed(&mut written);
    for ticks in [1_000_003, 7, 20_000_000] {
        machine.run_for(ticks);
        written.run_for(ticks);
        let at = machine.snapshot();
        let pcu = at.count(0, 0, Question::new("pcu", "POWER_STATE_OCCUPANCY").subevent(Some("CORES_C0")));
        let occupancy = at.count(0, 0, Question::new("cbo", "TOR_OCCUPANCY").subevent(Some("MISS_ALL")));
        let inserts = at.count(0, 0, Question::new("cbo", "TOR_INSERTS").subevent(Some("MISS_ALL")));
        for ((counter, before), truth) in COUNTERS.into_iter().zip([pcu, occupancy, inserts]) {
            let truth = truth.expect("a truth");
            assert!(truth > 0, "{counter:#x}");
            assert_eq!(rdmsr(&mut machine, 0, counter), Ok(before + truth), "{counter:#x}");
            assert_eq!(rdmsr(&mut written, 0, counter), Ok(before + truth), "{counter:#x}, written at once");
        }
    }
    assert!(machine.finished());
    for (msr, value) in CONTROLS {
        assert_eq!(rdmsr(&mut machine, 7, msr), Ok(value));
    }
    assert!(rdmsr(&mut machine, 8, 0xd10).is_err(), "the snapshot has CPUs 0 to 7");
}

/// A snapshot of a machine in the midst of its work: what stood in its queues stays behind, what its registers showed does not.
#[test]
fn traffic_of_the_snapshot_is_not_carried_on() {
    let mut machine = begun(&of_text(&snapshot()));
    machine.run_for(1_000_003);
    let mut hardware = Chassis::load(&snapshot()).expect("a snapshot");
    let mut recorder = begun(&of_text(&snapshot()));
    recorder.run_into(1_000_003, &mut hardware);
    hardware.set_now(1_000_003);
    let text = hardware.dump();
    assert!(text.contains("live ") && text.contains("now 1000003"), "entries stand in its queues");
    let mut later = begun(&of_text(&text));
    assert_eq!(later.now(), 0);
    for (counter, _) in COUNTERS {
        assert_eq!(rdmsr(&mut later, 0, counter), rdmsr(&mut machine, 0, counter), "{counter:#x}");
    }
    // From here on both count what their own model does.
    let values = COUNTERS.map(|(counter, _)| rdmsr(&mut later, 0, counter).expect("a value"));
    later.run_for(300_001);
    let truth = later.snapshot().count(0, 0, Question::new("cbo", "TOR_OCCUPANCY").subevent(Some("MISS_ALL")));
    assert_eq!(rdmsr(&mut later, 0, 0xd16), Ok(values[1] + truth.expect("a truth")));
}

/// Clocks of the cores go on from where they stood; a frozen unit is still frozen, a stuck counter stuck.
#[test]
fn clocks_freezes_and_faults_are_carried_over() {
    let mut hardware = MachineSpec::parse("e5-2600:stuck=0/cbo0/ctr1").expect("a machine").chassis().expect("hardware");
    programmed(&mut hardware);
    wrmsr(&mut hardware, 3, 0x10, 1_000_000);
    // CBo 1 the same, frozen (frz_en and frz); its registers are 0x20 on.
    wrmsr(&mut hardware, 0, 0xd30, 0x40_0a36);
    wrmsr(&mut hardware, 0, 0xd24, 0x1_0100);
    let mut machine = begun(&of_text(&hardware.dump()));
    machine.run_for(8 * 1000);
    assert_eq!(rdmsr(&mut machine, 3, 0x10), Ok(1_001_000));
    assert_eq!(rdmsr(&mut machine, 2, 0x10), Ok(1000));
    machine.run_for(20_000_000);
    assert_eq!((rdmsr(&mut machine, 0, 0xd17), rdmsr(&mut machine, 0, 0xd36)), (Ok(0x3000), Ok(0)));
    assert_ne!(rdmsr(&mut machine, 0, 0xd16), Ok(0x2000));
}

#[test]
fn what_the_model_does_not_have_is_refused() {
    let refusal = |machine: &str| {
        let text = format!("pericore-machine 1\nmachine {machine} rules=documented\nend\n");
        of_text(&text).limits().expect_err("refused")
    };
    let cores = refusal("nehalem sockets=1 cores=8 threads=2 slices=1");
    assert!(matches!(cores, BuildError::TooManyCores { cores: 8, most: 4, .. }), "{cores}");
    assert!(cores.to_string().contains("pericore machine show"), "{cores}");
    let sockets = refusal("emerald-rapids sockets=8 cores=64 threads=2 slices=64");
    assert!(matches!(sockets, BuildError::Sockets { sockets: 8, most: 2, .. }), "{sockets}");
    // Threads and cores are as the text has them.
    let limits =
        of_text("pericore-machine 1\nmachine emerald-rapids sockets=2 cores=5 threads=1 slices=64\nend\n").limits();
    assert_eq!(limits.expect("a model").threads, 10);
}
