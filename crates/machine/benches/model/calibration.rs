//! The models against published measurements: `cargo bench -p pericore-machine -- --calibration` prints the tables of
//! `docs/calibration.md`, and fails if a row is out of its bound.

use crate::part::Part;
use crate::{emerald_rapids, loaded, nehalem};

/// A published figure.
pub struct Row {
    part: &'static str,
    quantity: &'static str,
    /// Least and greatest published value.
    published: (f64, f64),
    unit: &'static str,
    /// Error that is allowed, per cent: 10 for the part itself, 25 for a relative or a round figure.
    allowed: f64,
    /// The parameters that were chosen by it, if any were.
    fitted: Option<&'static str>,
    measure: fn() -> f64,
}

impl Row {
    /// A figure that chose no parameter.
    pub const fn checked(
        part: &'static str,
        quantity: &'static str,
        published: (f64, f64),
        unit: &'static str,
        allowed: f64,
        measure: fn() -> f64,
    ) -> Self {
        Self { part, quantity, published, unit, allowed, fitted: None, measure }
    }

    /// The same, and these parameters were chosen by it.
    pub const fn fitted(self, parameters: &'static str) -> Self {
        Self { fitted: Some(parameters), ..self }
    }
}

/// One published value.
pub const fn exactly(value: f64) -> (f64, f64) {
    (value, value)
}

const THE_PART: &str = "E5-2680";
const RELATIVE: &str = "E5-2680 v2 (relative)";
const TWO: &str = "e5-2600:sockets=2";
/// Peak of the E5-2680 v2 pair that the loaded latencies are of: eight channels of DDR3-1866, GB/s. The model's channels are DDR3-1600, so
/// that a load is compared at its share of the peak.
const RELATIVES_PEAK: f64 = 8.0 * 8.0 * 1.866_667;

const ROWS: &[Row] = &[
    Row::checked(THE_PART, "load bandwidth, 8 cores", exactly(44.6), "GB/s", 10.0, || copied("stream:requests=600k"))
        .fitted("trtrs"),
    Row::checked(THE_PART, "copy bandwidth, 8 cores", exactly(26.5), "GB/s", 10.0, || copied("copy:requests=1M"))
        .fitted("starvation"),
    Row::checked(THE_PART, "triad bandwidth, 8 cores", exactly(30.7), "GB/s", 10.0, || {
        copied("triad:requests=1500k,footprint=250M")
    })
    .fitted("streamer, write_low"),
    Row::checked(THE_PART, "LLC load bandwidth, 1 core", exactly(23.5), "GB/s", 10.0, || {
        llc("stream:requests=60k,threads=1,footprint=1M")
    })
    .fitted("request_interval"),
    Row::checked(THE_PART, "LLC load bandwidth, 8 cores", exactly(187.0), "GB/s", 10.0, || {
        llc("stream:requests=480k,threads=8,footprint=8M")
    }),
    Row::checked("i7-3960X (relative)", "LLC hit", exactly(30.0), "cycles", 25.0, llc_hit)
        .fitted("miss_to_ring, ring_to_use, ring_base, ingress_latency, llc_data"),
    Row::checked(RELATIVE, "idle latency", exactly(61.7), "ns", 25.0, || {
        chase("e5-2600", "chase:requests=5000,footprint=4G")
    })
    .fitted("llc_miss, home_to_memory, memory_to_home"),
    Row::checked(RELATIVE, "idle latency, two sockets, local", exactly(61.7), "ns", 25.0, || {
        chase(TWO, "chase:requests=5000,footprint=4G")
    }),
    Row::checked(RELATIVE, "idle latency, two sockets, remote", exactly(115.1), "ns", 25.0, || {
        chase(TWO, "chase:requests=5000,footprint=4G,remote=100")
    })
    .fitted("link_crossing, link_flight"),
    Row::checked(RELATIVE, "read bandwidth, all remote, 8 cores", exactly(25.5), "GB/s", 25.0, remote_bandwidth)
        .fitted("tracker_remote; the way out of a link's receive buffer"),
    Row::checked(RELATIVE, "line modified in the other socket", exactly(70.0), "ns", 25.0, modified),
    Row::checked(RELATIVE, "latency at 70 % of the channels' peak", exactly(99.0), "ns", 25.0, || {
        loaded::e5_2600(83.0 / RELATIVES_PEAK)
    }),
    Row::checked(RELATIVE, "latency at 88 % of the channels' peak", exactly(127.0), "ns", 25.0, || {
        loaded::e5_2600(105.0 / RELATIVES_PEAK)
    }),
    Row::checked(RELATIVE, "latency of saturated channels", exactly(189.0), "ns", 25.0, loaded::e5_2600_saturated),
];

/// Prints the tables; false if a row is out of its bounds.
pub fn print() -> bool {
    let tables = [("E5-2600", ROWS), ("Nehalem", nehalem::ROWS), ("Emerald Rapids", emerald_rapids::ROWS)];
    // Every row, even after one that is out.
    tables.into_iter().fold(true, |good, (family, rows)| {
        println!("\n{family}\n\n| part | quantity | published | model | error | allowed | |");
        println!("|---|---|---|---|---|---|---|");
        rows.iter().map(show).fold(good, |good, row| good & row)
    })
}

/// Prints a row; false if it is out of its bound.
fn show(row: &Row) -> bool {
    let model = (row.measure)();
    let (least, most) = row.published;
    let error = (model / model.clamp(least, most) - 1.0) * 100.0;
    let usage = row.fitted.map_or_else(|| "checked".to_owned(), |parameters| format!("fitted: {parameters}"));
    let published = if least < most { format!("{least} to {most}") } else { format!("{least}") };
    let (part, quantity, unit, allowed) = (row.part, row.quantity, row.unit, row.allowed);
    println!(
        "| {part} | {quantity} | {published} {unit} | {model:.1} {unit} | {error:+.1} % | {allowed} % | {usage} |"
    );
    error.abs() <= allowed
}

/// Nanoseconds for each of the dependent loads.
pub fn chase(machine: &str, workload: &str) -> f64 {
    Part::run(machine, workload, (0, 100)).nanoseconds()
}

/// GB/s as a program sees it: without the lines that are read only to be written. Caches are full of the workload's lines by then.
fn copied(workload: &str) -> f64 {
    let part = Part::run("e5-2600", workload, (60, 95));
    part.rate(part.accesses)
}

fn llc(workload: &str) -> f64 {
    let part = Part::run("e5-2600", workload, (50, 95));
    part.rate(part.sum("cbo", "LLC_LOOKUP", "DATA_READ", &[]))
}

fn llc_hit() -> f64 {
    let part = Part::run("e5-2600", "chase:requests=300k,footprint=1M", (75, 100));
    let hits = part.sum("cbo", "LLC_LOOKUP", "DATA_READ", &[]);
    // The rest hits the L2, in 12 cycles of 2.7 GHz.
    (part.seconds() * 2.7e9 - (part.accesses - hits) * 12.0) / hits
}

fn remote_bandwidth() -> f64 {
    let part = Part::run(TWO, "stream:requests=600k,threads=8,remote=100", (20, 95));
    part.rate(part.of_socket(1, "imc", "CAS_COUNT", "RD", &[]).iter().sum::<u64>() as f64)
}

/// Socket 0 reads what socket 1 has just written to its own memory.
fn modified() -> f64 {
    let written = 600_000;
    let scenario = format!(
        "phase written\n  workload random:requests={written},threads=16,footprint=4M,read=0\n\
         phase read\n  workload chase:requests=4000,threads=1,footprint=4M,remote=100\n"
    );
    let part = Part::run(TWO, &scenario, (0, 100));
    let reads = Part::run(TWO, scenario.split("phase read").next().unwrap_or_default(), (0, 100));
    (part.seconds() - reads.seconds()) * 1e9 / 4000.0
}
