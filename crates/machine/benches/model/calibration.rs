//! The models against published measurements: `cargo bench -p pericore-machine -- --calibration` prints the tables of
//! `docs/calibration.md`, and fails if a row is out of its bound.

use crate::part::Part;
use crate::{emerald_rapids, loaded, nehalem};

/// How a figure bears on the parameters.
pub enum Use {
    /// A parameter was chosen by it.
    Fitted(&'static str),
    /// No parameter was.
    Checked,
}

/// A published figure.
pub struct Row {
    pub part: &'static str,
    pub quantity: &'static str,
    /// Least and greatest published value, and the unit.
    pub published: (f64, f64),
    pub unit: &'static str,
    /// Error that is allowed, per cent: 10 for the part itself, 25 for a relative or a round figure.
    pub allowed: f64,
    pub usage: Use,
    pub measure: fn() -> f64,
}

const THE_PART: &str = "E5-2680";
const RELATIVE: &str = "E5-2680 v2 (relative)";
const TWO: &str = "e5-2600:sockets=2";

const ROWS: &[Row] = &[
    Row {
        part: THE_PART,
        quantity: "load bandwidth, 8 cores",
        published: (44.6, 44.6),
        unit: "GB/s",
        allowed: 10.0,
        usage: Use::Checked,
        measure: || copied("stream:requests=600k"),
    },
    Row {
        part: THE_PART,
        quantity: "copy bandwidth, 8 cores",
        published: (26.5, 26.5),
        unit: "GB/s",
        allowed: 10.0,
        usage: Use::Fitted("starvation"),
        measure: || copied("copy:requests=1M"),
    },
    Row {
        part: THE_PART,
        quantity: "triad bandwidth, 8 cores",
        published: (30.7, 30.7),
        unit: "GB/s",
        allowed: 10.0,
        usage: Use::Checked,
        measure: || copied("triad:requests=1500k"),
    },
    Row {
        part: THE_PART,
        quantity: "LLC load bandwidth, 1 core",
        published: (23.5, 23.5),
        unit: "GB/s",
        allowed: 10.0,
        usage: Use::Fitted("request_interval"),
        measure: || llc("stream:requests=60k,threads=1,footprint=1M"),
    },
    Row {
        part: THE_PART,
        quantity: "LLC load bandwidth, 8 cores",
        published: (187.0, 187.0),
        unit: "GB/s",
        allowed: 10.0,
        usage: Use::Checked,
        measure: || llc("stream:requests=480k,threads=8,footprint=8M"),
    },
    Row {
        part: "i7-3960X (relative)",
        quantity: "LLC hit",
        published: (30.0, 30.0),
        unit: "cycles",
        allowed: 25.0,
        usage: Use::Fitted("miss_to_ring, ring_to_use, ring_base, ingress_latency, llc_data"),
        measure: llc_hit,
    },
    Row {
        part: RELATIVE,
        quantity: "idle latency",
        published: (61.7, 61.7),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Fitted("llc_miss, home_to_memory, memory_to_home"),
        measure: || chase("e5-2600", "chase:requests=5000,footprint=4G"),
    },
    Row {
        part: RELATIVE,
        quantity: "idle latency, two sockets, local",
        published: (61.7, 61.7),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Checked,
        measure: || chase(TWO, "chase:requests=5000,footprint=4G"),
    },
    Row {
        part: RELATIVE,
        quantity: "idle latency, two sockets, remote",
        published: (115.1, 115.1),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Fitted("link_crossing, link_flight"),
        measure: || chase(TWO, "chase:requests=5000,footprint=4G,remote=100"),
    },
    Row {
        part: RELATIVE,
        quantity: "read bandwidth, all remote, 8 cores",
        published: (25.5, 25.5),
        unit: "GB/s",
        allowed: 25.0,
        usage: Use::Fitted("tracker_remote; the way out of a link's receive buffer"),
        measure: remote_bandwidth,
    },
    Row {
        part: RELATIVE,
        quantity: "line modified in the other socket",
        published: (70.0, 70.0),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Checked,
        measure: modified,
    },
    Row {
        part: RELATIVE,
        quantity: "latency at 70 % of the channels' peak",
        published: (99.0, 99.0),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Checked,
        measure: || loaded::e5_2600(83.0 / loaded::RELATIVES_PEAK),
    },
    Row {
        part: RELATIVE,
        quantity: "latency at 88 % of the channels' peak",
        published: (127.0, 127.0),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Checked,
        measure: || loaded::e5_2600(105.0 / loaded::RELATIVES_PEAK),
    },
    Row {
        part: RELATIVE,
        quantity: "latency at 93 % of the channels' peak",
        published: (189.0, 189.0),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Checked,
        measure: || loaded::e5_2600(110.7 / loaded::RELATIVES_PEAK),
    },
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
    let usage = match row.usage {
        Use::Fitted(parameters) => format!("fitted: {parameters}"),
        Use::Checked => "checked".to_owned(),
    };
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
