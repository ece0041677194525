//! What one read takes when nothing else is under way: within 5 ns of what is published for the part or its nearest relative, so that a
//! stage that is lost, doubled or 10 ns longer is noticed.

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

/// A link of sixteen lanes of the fifth generation carries 63 GB/s, two channels of DDR5-4800 76.8 GB/s; 60.7 GB/s are
/// published of a device with as many writes as reads. The device is as fast as one of these, and no faster.
#[test]
fn a_cxl_device_has_a_bandwidth() {
    let mut machine = machine("8568", "random:requests=40000,threads=48,footprint=16G,cxl=100");
    between("GB/s", 45.0, 40_000.0 * 64.0 / finish(&mut machine), 63.0);
}
