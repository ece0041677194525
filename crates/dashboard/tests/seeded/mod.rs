//! A machine that a seed makes up: a sample each second.

use pericore_catalog::{Limit, SummaryFigure};
use pericore_dashboard::{Look, State, TimeOfDay};
use pericore_metrics::{UnitOfMeasure, Validity, Value};
use pericore_report::{Nature, Place, Report, Row};

const SUMMARY: &[SummaryFigure] = &[
    SummaryFigure { label: "Memory", metric: "imc/MEM_BANDWIDTH", of: Some("imc/MEM_PEAK_BANDWIDTH") },
    SummaryFigure { label: "latency", metric: "cha/READ_LATENCY_NS", of: None },
];

/// Unit, instances of a socket, metric, unit of measure, the usual number of an instance, the limit.
type Measured = (&'static str, u16, &'static str, UnitOfMeasure, f64, Option<u8>);

/// What is measured.
pub const METRICS: [Measured; 5] = [
    ("imc", 8, "MEM_BANDWIDTH", UnitOfMeasure::BytesPerSecond, 30e9, None),
    ("imc", 8, "MEM_PEAK_BANDWIDTH", UnitOfMeasure::BytesPerSecond, 44.8e9, None),
    ("imc", 8, "PCT_DATA_BUS_USED", UnitOfMeasure::Percent, 0.67, Some(60)),
    ("cha", 64, "READ_LATENCY_NS", UnitOfMeasure::Nanoseconds, 120.0, None),
    ("upi", 4, "UPI_TX_UTIL", UnitOfMeasure::Percent, 0.4, Some(55)),
];

/// A number between 0 and 1 that depends on nothing but these.
fn chance(seed: u64, parts: [u64; 3]) -> f64 {
    let mut state =
        parts.iter().fold(seed, |state, part| (state ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
    state ^= state >> 32;
    (state.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 40) as f64 / (1_u64 << 24) as f64
}

/// An instance's number: it goes up and down over a minute, and each instance is a little other.
pub fn number(metric: usize, socket: u16, instance: u16, second: u64) -> f64 {
    let (_, _, name, _, usual, _) = METRICS[metric];
    if name.contains("PEAK") {
        return usual;
    }
    let of_instance = chance(7, [metric as u64, socket.into(), instance.into()]);
    let of_time = (second as f64 / 60.0 * std::f64::consts::TAU).sin();
    let noise = chance(9, [metric as u64, u64::from(socket) << 8 | u64::from(instance), second]);
    usual * (1.0 - 0.3 * of_instance + 0.15 * of_time + 0.1 * noise) * if socket == 1 { 0.5 } else { 1.0 }
}

fn row(metric: usize, place: Option<Place>, number: f64, validity: Validity) -> Row {
    let (unit, _, name, measure, _, limit) = METRICS[metric];
    Row {
        name: format!("{unit}/{name}"),
        place,
        value: Value::new(number, validity),
        seconds: 1.0,
        unit_of_measure: Some(measure),
        standard_error: None,
        spread: None,
        interval: None,
        requested: None,
        truth: None,
        limit: limit.map(|above| Limit { above, means: "It gives nearly all that it can.", see: &[] }),
        nature: Nature::default(),
        answering: None,
        through: None,
    }
}

fn report(rows: Vec<Row>) -> Report {
    Report {
        interval_end: None,
        is_summary: false,
        floorplan: &[],
        seconds: 1.0,
        stood: false,
        paused: 0.0,
        is_withdrawn: false,
        runs: None,
        rows,
        summary: SUMMARY,
    }
}

/// Bandwidths add up; shares and latencies have a mean.
fn together(metric: usize, numbers: &[f64]) -> f64 {
    let sum: f64 = numbers.iter().sum();
    if METRICS[metric].3 == UnitOfMeasure::BytesPerSecond { sum } else { sum / numbers.len() as f64 }
}

pub fn take(state: &mut State, second: u64) {
    let (mut system, mut sockets, mut instances) = (Vec::new(), Vec::new(), Vec::new());
    for (metric, (unit, count, ..)) in METRICS.iter().enumerate() {
        // The links take turns with something else.
        let validity = || if *unit == "upi" { Validity::scaled(0.5) } else { Validity::MEASURED };
        let of = |socket: u16| (0..*count).map(|each| number(metric, socket, each, second)).collect::<Vec<f64>>();
        let place = |socket, instance: Option<u16>| {
            Some(Place { socket, instance: instance.map(|number| format!("{unit}{number}")), instances: 1 })
        };
        system.push(row(metric, None, together(metric, &[of(0), of(1)].concat()), validity()));
        for socket in 0..2 {
            sockets.push(row(metric, place(socket, None), together(metric, &of(socket)), validity()));
            let each = (0..*count).zip(of(socket));
            instances.extend(each.map(|(each, number)| row(metric, place(socket, Some(each)), number, validity())));
        }
    }
    let counters = (0..2).flat_map(|socket| {
        (0..8).flat_map(move |channel| {
            ["imc/CAS_COUNT.RD/", "imc/CAS_COUNT.WR/"].map(|name| {
                let place = Some(Place { socket, instance: Some(format!("imc{channel}")), instances: 1 });
                let rate = number(0, socket, channel, second) / 128.0;
                Row {
                    name: name.to_owned(),
                    unit_of_measure: None,
                    limit: None,
                    ..row(0, place, rate, Validity::MEASURED)
                }
            })
        })
    });
    let counters = report(counters.collect());
    let at = TimeOfDay { hour: 9, minute: (5 + second / 60) as i32, second: (second % 60) as i32 };
    state.take([&report(system), &report(sockets), &report(instances), &counters], at);
}

/// A minute and a half of it.
pub fn measured() -> State {
    let mut state = State::new(1.0, Look { unicode: true, colors: false }, None);
    state.name("EMULATED emerald-rapids (8592+), 2 sockets: copy; 128 threads, 256 MiB, 60.0 us warm-up".to_owned(), 2);
    (0..90).for_each(|second| take(&mut state, second));
    state
}
