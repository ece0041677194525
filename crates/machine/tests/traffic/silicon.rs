//! Curves of Emerald Rapids and Sapphire Rapids against what was measured on silicon: latency at a given bandwidth up
//! to 85 % of the curve's greatest, and that. Within 10 %, of CXL and of what nothing is fitted to 15 %.

use pericore_machine::MachineSpec;
use pericore_machine::curve::{Curve, Loaded};

/// Silicon's points, in the columns memory, share of reads, GB/s, nanoseconds.
const FILES: [&str; 2] =
    [include_str!("../../../../docs/silicon/8568-fit.csv"), include_str!("../../../../docs/silicon/8568-held-out.csv")];

/// GB/s and nanoseconds, in rising load.
type Points = Vec<(f64, f64)>;

fn model(machine: &str, memory: Loaded, read: u8) -> Points {
    let spec = MachineSpec::parse(machine).expect("a machine");
    let points = Curve::new(&spec, memory, read).expect("it has such memory").measure().expect("a curve");
    points.iter().map(|point| (point.bandwidth / 1e9, point.latency)).collect()
}

fn greatest(points: &[(f64, f64)]) -> f64 {
    points.iter().map(|point| point.0).fold(0.0, f64::max)
}

/// The latency at a bandwidth, between the nearest points.
fn at(points: &[(f64, f64)], bandwidth: f64) -> f64 {
    let after = points.iter().position(|point| point.0 >= bandwidth).expect("the model moves as much");
    let Some(before) = after.checked_sub(1) else { return points[0].1 };
    let ((b0, l0), (b1, l1)) = (points[before], points[after]);
    l0 + (l1 - l0) * (bandwidth - b0) / (b1 - b0)
}

/// What lies further off than it may, one line each.
fn beyond(what: &str, silicon: &[(f64, f64)], model: &[(f64, f64)], allowed: f64) -> Vec<String> {
    let most = greatest(silicon);
    let below = silicon.iter().filter(|point| point.0 <= 0.85 * most);
    let latencies = below.map(|&(bandwidth, latency)| (format!("{bandwidth} GB/s"), at(model, bandwidth), latency));
    let all = latencies.chain([("greatest".to_owned(), greatest(model), most)]);
    let errors = all.map(|(place, found, expected)| {
        println!("{what}, {place}: {found:.1}, silicon {expected}: {:+.1} %", (found / expected - 1.0) * 100.0);
        (place, found, expected)
    });
    errors
        .filter(|(_, found, expected)| (found / expected - 1.0).abs() > allowed)
        .map(|(place, found, expected)| format!("{what}, {place}: {found:.1}, silicon {expected}"))
        .collect()
}

#[test]
#[ignore = "ten minutes: eight curves"]
fn curves_are_those_of_silicon() {
    let mut curves: Vec<(&str, u8, Points)> = Vec::new();
    for line in FILES.iter().flat_map(|file| file.lines()).filter(|line| !line.starts_with('#')) {
        let [memory, read, bandwidth, latency] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let Ok(read) = read.parse() else { continue };
        let point = (bandwidth.parse().expect("GB/s"), latency.parse().expect("nanoseconds"));
        match curves.iter_mut().find(|curve| (curve.0, curve.1) == (memory, read)) {
            Some(curve) => curve.2.push(point),
            None => curves.push((memory, read, vec![point])),
        }
    }
    assert_eq!(curves.len(), 7, "four local, two remote, one of CXL");
    let mut found = Vec::new();
    for (memory, read, silicon) in &curves {
        let (machine, loaded, allowed) = match *memory {
            "local" => ("8568", Loaded::Local, 0.10),
            "remote" => ("8568:sockets=2", Loaded::Remote, 0.10),
            _ => ("8568", Loaded::Cxl, 0.15),
        };
        found.extend(beyond(&format!("{memory}, {read} % reads"), silicon, &model(machine, loaded, *read), allowed));
    }
    // published-numbers: 8480+, to which nothing is fitted; the last point is the most that was measured.
    let prediction = model("8480+", Loaded::Local, 100);
    for (bandwidth, latency) in [(0.0, 116.0), (198.0, 166.0), (233.0, 223.0)] {
        let error = at(&prediction, bandwidth) / latency - 1.0;
        println!("8480+, {bandwidth} GB/s: {error:+.3}");
        if error.abs() > 0.15 {
            found.push(format!("8480+ at {bandwidth} GB/s: {:.1} ns, silicon {latency}", at(&prediction, bandwidth)));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
