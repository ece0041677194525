//! What one read takes when nothing else is under way: within 5 ns of what is published for the part or its nearest relative, so that a
//! stage that is lost, doubled or 10 ns longer is noticed.

use pericore_machine::workload::Scenario;
use pericore_machine::{Machine, MachineSpec, MemoryKind};

use super::raw::{between, finish, machine};

/// Nanoseconds of each of 1,500 dependent reads.
fn chase(name: &str, workload: &str) -> f64 {
    let workload = format!("chase:requests=1500,{workload}");
    finish(&mut machine(name, &workload)) / 1500.0
}

/// published-numbers: E5-2680 v2, 61.7 ns local and 115.1 ns remote. DDR3-1600 11-11-11 opens a row and reads in 26 cycles of 1.25 ns, the
/// relative's DDR3-1866 13-13-13 in 30 of 1.07 ns: the same 32 ns.
#[test]
fn e5_2600() {
    between("local", 57.0, chase("e5-2680", "footprint=4G"), 67.0);
    between("local of two", 58.0, chase("e5-2680:sockets=2", "footprint=4G"), 68.0);
    between("remote", 110.0, chase("e5-2680:sockets=2", "footprint=4G,remote=100"), 120.0);
}

/// Levinthal's guide to the Xeon 5500: about 60 ns local and 100 ns remote.
#[test]
fn nehalem() {
    between("local", 55.0, chase("x5570", "footprint=4G"), 65.0);
    between("remote", 95.0, chase("x5570:sockets=2", "footprint=4G,remote=100"), 107.0);
}

/// Published for three relatives with the same uncore: 111 (8460Y+), 114.4 (8568CXL) and 116 ns (8480+); remote 200 to 202 ns.
#[test]
fn emerald_rapids() {
    between("local", 110.0, chase("8592+", "footprint=16G"), 119.0);
    between("remote", 190.0, chase("8592+:sockets=2", "footprint=16G,remote=100"), 212.0);
}

/// Published of the part: 114.4 ns local, 200.5 to 202.5 ns remote, 216.5 ns to CXL memory (docs/silicon).
#[test]
fn the_8568() {
    between("local", 110.0, chase("8568", "footprint=16G"), 119.0);
    between("remote", 191.0, chase("8568:sockets=2", "footprint=16G,remote=100"), 212.0);
    between("CXL", 206.0, chase("8568", "footprint=16G,cxl=100"), 228.0);
}

/// Published of the part, to which nothing is fitted: 116 ns. Within 15 %.
#[test]
fn the_8480() {
    between("local", 99.0, chase("8480+", "footprint=16G"), 133.0);
}

/// One core of either socket, and the memory of either: the four cells of a matrix, with the numbers above.
#[test]
fn a_socket_and_a_memory_make_a_matrix() {
    for (name, local, remote) in [
        ("e5-2680", 58.0..68.0, 110.0..120.0),
        ("x5570", 55.0..65.0, 95.0..107.0),
        ("8592+", 110.0..119.0, 190.0..212.0),
    ] {
        for (socket, memory) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let workload = format!("footprint=4G,socket={socket},memory={memory}");
            let range = if socket == memory { &local } else { &remote };
            let taken = chase(&format!("{name}:sockets=2"), &workload);
            between(&format!("{name} from {socket} to {memory}"), range.start, taken, range.end);
        }
    }
}

/// A link of sixteen lanes of the fifth generation carries 63 GB/s, two channels of DDR5-4800 76.8 GB/s; 60.7 GB/s are
/// published of a device with as many writes as reads. The device is as fast as one of these, and no faster.
#[test]
fn a_cxl_device_has_a_bandwidth() {
    let mut machine = machine("8568", "random:requests=40000,threads=48,footprint=16G,cxl=100");
    between("GB/s", 45.0, 40_000.0 * 64.0 / finish(&mut machine), 63.0);
}

/// Six such links behind an 8592+: 378 GB/s in a direction, and a request that waits behind others waits longer.
#[test]
fn six_cxl_links_have_a_bandwidth_and_a_loaded_latency() {
    let mut machine = machine("8592+", "random:requests=80000,threads=64,footprint=16G,cxl=100");
    between("GB/s", 100.0, 80_000.0 * 64.0 / finish(&mut machine), 378.0);
    let alone = chase("8592+", "footprint=16G,cxl=100");
    between("alone", 206.0, alone, 228.0);
    // Of 64 dependent loads under way at once, some meet in a device's banks.
    let many = chase("8592+", "footprint=16G,cxl=100,threads=64") * 64.0;
    between("64 at once", alone, many, 2.0 * alone);
}

/// A relative of the next generation: 60 ns, flat from 4 to 256 MB of an LLC of 432 MB. Within 15 %.
#[test]
fn the_llc_of_an_emerald_rapids_takes_as_long_near_and_far() {
    for megabytes in [8, 16, 64] {
        let spec = MachineSpec::parse("8592+").expect("a machine");
        let workload = format!("chase:requests=4000,footprint={megabytes}M,seed=3");
        let scenario = Scenario::of(&workload, &spec.limits().expect("a model")).expect("a workload").warmed();
        let mut machine = Machine::for_scenario(&spec, &scenario).expect("a machine").without_truth();
        machine.warm_up(&scenario).expect("a warm-up");
        let (from, read) = (machine.dependent_loads(), machine.memory_lines(MemoryKind::Dram)[0]);
        while !machine.finished() {
            machine.run_for(machine.clocks().ticks_per_second() / 1_000_000);
        }
        let to = machine.dependent_loads();
        assert_eq!(machine.memory_lines(MemoryKind::Dram)[0], read, "{megabytes} MB are in the LLC");
        let ticks = (to.ticks - from.ticks) as f64 / (to.loads - from.loads) as f64;
        let mean = ticks * 1e9 / machine.clocks().ticks_per_second() as f64;
        // The L2 has 2 MB of them, in 15 cycles of 2.8 GHz.
        let in_l2 = 2.0 / f64::from(megabytes);
        let llc = (mean - in_l2 * 15.0 / 2.8) / (1.0 - in_l2);
        between(&format!("{megabytes} MB, ns"), 51.0, llc, 69.0);
    }
}
