//! Latency under load: a load takes as long as its entry in the table of requests, and the way to the table and back, which does not
//! depend on the load.

use std::sync::OnceLock;

use crate::part::Part;

/// Peak of the E5-2680 v2 pair that the figures are of: eight channels of DDR3-1866, GB/s. The model's channels are DDR3-1600, so that a
/// load is compared at its share of the peak.
pub const RELATIVES_PEAK: f64 = 8.0 * 8.0 * 1.866_667;

/// One point: share of the channels' peak that is read, and nanoseconds of a load.
type Point = (f64, f64);

/// Nanoseconds at a share of the peak, between the nearest points of a curve; beyond its end, the end.
pub fn at(curve: &[Point], share: f64) -> f64 {
    let above = curve.iter().position(|point| point.0 >= share).unwrap_or(curve.len() - 1).max(1);
    let ((x0, y0), (x1, y1)) = (curve[above - 1], curve[above]);
    y0 + (y1 - y0) * ((share - x0) / (x1 - x0)).clamp(0.0, 1.0)
}

/// One socket of two, whose cores read in order, more and more of them.
pub fn e5_2600(share: f64) -> f64 {
    static CURVE: OnceLock<Vec<Point>> = OnceLock::new();
    let curve = CURVE.get_or_init(|| {
        const DRD: [(&str, u64); 1] = [("opc", 0x182)];
        let stay = |part: &Part| {
            let of = |event| part.sum("cbo", event, "MISS_OPCODE", &DRD);
            of("TOR_OCCUPANCY") / of("TOR_INSERTS") / 2.7
        };
        let idle = Part::run("e5-2600:sockets=2", "chase:requests=5000,footprint=4G", (0, 100));
        let way = idle.nanoseconds() - stay(&idle);
        let point = |threads: u64| {
            let workload = format!("stream:requests={},threads={threads}", threads * 40_000);
            let part = Part::run("e5-2600:sockets=2", &workload, (20, 95));
            let read = part.rate(part.sum("imc", "CAS_COUNT", "RD", &[]));
            (read / 51.2, way + stay(&part))
        };
        (1..=8).chain([16]).map(point).collect()
    });
    if std::env::var_os("CURVES").is_some() {
        println!("{curve:?}");
    }
    at(curve, share)
}

/// Cores that read at random, more and more of them.
pub fn emerald_rapids(share: f64) -> f64 {
    static CURVE: OnceLock<Vec<Point>> = OnceLock::new();
    let curve = CURVE.get_or_init(|| {
        let stay = |part: &Part| {
            let of = |event| part.sum("cha", event, "IA_MISS_DRD", &[]);
            of("TOR_OCCUPANCY") / of("TOR_INSERTS") / 2.5
        };
        let idle = Part::run("8592+", "chase:requests=2000,footprint=16G", (0, 100));
        let way = idle.nanoseconds() - stay(&idle);
        let point = |threads: u64| {
            let workload = format!("random:requests={},threads={threads},footprint=64G", threads * 2000);
            let part = Part::run("8592+", &workload, (20, 95));
            let read = part.rate(part.sum("imc", "CAS_COUNT", "RD", &[]));
            (read / 358.4, way + stay(&part))
        };
        [4, 8, 12, 16, 20, 24, 32, 48, 64, 128].into_iter().map(point).collect()
    });
    if std::env::var_os("CURVES").is_some() {
        println!("{curve:?}");
    }
    at(curve, share)
}
