//! Bandwidth-latency curves: what holds on any silicon, and what is published of the parts.

use pericore_machine::MachineSpec;
use pericore_machine::curve::{Curve, Loaded, Point};

use super::raw::between;

fn curve(machine: &str, memory: Loaded, read: u8) -> Vec<Point> {
    let spec = MachineSpec::parse(machine).expect("a machine");
    Curve::new(&spec, memory, read).expect("it has such memory").measure().expect("a curve")
}

/// A curve on channels of so many GB/s: loads rise, nothing is faster than the channels, and a load that waits behind
/// others is not faster than one alone.
fn is_sound(what: &str, points: &[Point], read: f64, peak: f64) {
    assert_eq!(points.len(), 13, "{what}");
    let (idle, most) = (points[0], points[12]);
    between(
        &format!("{what}, alone: GB/s are a line for each latency"),
        0.9,
        idle.bandwidth * idle.latency / 64e9,
        1.1,
    );
    for pair in points.windows(2) {
        let ([before, after], points) = ([pair[0], pair[1]], format!("{what}: {points:?}"));
        assert!(after.bandwidth > before.bandwidth, "{points}");
        assert!(after.latency > before.latency * 0.97, "{points}");
        assert!(after.settled, "{points}");
    }
    assert!(most.latency > 1.3 * idle.latency, "{what}: {points:?}");
    assert!(most.bandwidth < peak * 1e9, "{what}: {points:?}");
    // The machine alone only reads. Caches hold more lines than a window moves, so that what leaves them may differ
    // from what comes.
    for point in &points[2..] {
        between(&format!("{what}: reads, per cent"), read - 4.0, point.read, read + 4.0);
    }
}

/// 51.2 GB/s, 61.7 ns (published-numbers: E5-2680 v2, a relative) and 44.6 GB/s that the part's cores load.
#[test]
fn e5_2600_reads() {
    let points = curve("e5-2680", Loaded::Local, 100);
    is_sound("E5-2680, reads", &points, 100.0, 51.2);
    between("alone", 57.0, points[0].latency, 67.0);
    between("greatest", 40.1, points[12].bandwidth / 1e9, 49.1);
}

#[test]
fn e5_2600_writes_as_much_as_it_reads() {
    is_sound("E5-2680, half of it writes", &curve("e5-2680", Loaded::Local, 50), 50.0, 51.2);
}

/// 115.1 ns and 25.5 GB/s a socket (published-numbers: E5-2680 v2, a relative) over two links of 16 GB/s.
#[test]
fn e5_2600_reads_the_other_sockets_memory() {
    let points = curve("e5-2680:sockets=2", Loaded::Remote, 100);
    is_sound("E5-2680, remote", &points, 100.0, 32.0);
    between("alone", 103.0, points[0].latency, 127.0);
    between("greatest", 20.4, points[12].bandwidth / 1e9, 30.6);
}

/// Three channels of DDR3-1333: 32 GB/s.
#[test]
fn nehalem_writes_a_third() {
    let points = curve("x5570", Loaded::Local, 67);
    is_sound("X5570", &points, 67.0, 32.0);
    between("alone", 55.0, points[0].latency, 65.0);
}

#[test]
fn what_cannot_be_loaded_has_a_message() {
    let message = |machine: &str, memory, read| {
        let spec = MachineSpec::parse(machine).expect("a machine");
        Curve::new(&spec, memory, read).map(|_| ()).expect_err("no curve").to_string()
    };
    assert!(message("e5-2680", Loaded::Remote, 100).contains("name it with sockets=2"));
    assert!(message("x5570:sockets=2", Loaded::Cxl, 100).contains("no CXL memory"));
    assert!(message("x5570", Loaded::Local, 49).contains("give 50 to 100"));
}
