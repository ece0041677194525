//! The model against published measurements: `cargo bench -p pericore-machine -- --calibration` prints the table of
//! `docs/calibration.md`.

use pericore_machine::ledger::{Opcodes, Snapshot, Window};
use pericore_machine::signal::Wiring;
use pericore_machine::uncore::{Model, Parameters};
use pericore_machine::workload::Workload;

use crate::path::Nothing;

/// How a figure bears on the parameters.
enum Use {
    /// A parameter was chosen by it.
    Fitted(&'static str),
    /// No parameter was.
    Checked,
}

/// A published figure.
struct Row {
    part: &'static str,
    quantity: &'static str,
    /// Least and greatest published value, and the unit.
    published: (f64, f64),
    unit: &'static str,
    /// Error that is allowed, per cent: 10 for the part itself, 25 for a relative.
    allowed: f64,
    usage: Use,
    measure: fn() -> f64,
}

const THE_PART: &str = "E5-2680";

const ROWS: &[Row] = &[
    Row {
        part: THE_PART,
        quantity: "load bandwidth, 8 cores",
        published: (44.6, 44.6),
        unit: "GB/s",
        allowed: 10.0,
        usage: Use::Checked,
        measure: load,
    },
    Row {
        part: THE_PART,
        quantity: "copy bandwidth, 8 cores",
        published: (26.5, 26.5),
        unit: "GB/s",
        allowed: 10.0,
        usage: Use::Fitted("starvation"),
        measure: copy,
    },
    Row {
        part: THE_PART,
        quantity: "LLC load bandwidth, 1 core",
        published: (23.5, 23.5),
        unit: "GB/s",
        allowed: 10.0,
        usage: Use::Fitted("request_interval"),
        measure: llc_one,
    },
    Row {
        part: THE_PART,
        quantity: "LLC load bandwidth, 8 cores",
        published: (187.0, 187.0),
        unit: "GB/s",
        allowed: 10.0,
        usage: Use::Checked,
        measure: llc_eight,
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
        part: "E5-2680 v2 (relative)",
        quantity: "idle latency",
        published: (61.7, 61.7),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Fitted("llc_miss, home_to_memory, memory_to_home"),
        measure: idle,
    },
];

/// Prints the table; false if a row is out of its bounds.
pub fn print() -> bool {
    println!("| part | quantity | published | model | error | allowed | |");
    println!("|---|---|---|---|---|---|---|");
    let mut good = true;
    for row in ROWS {
        let model = (row.measure)();
        let (least, most) = row.published;
        let error = (model / model.clamp(least, most) - 1.0) * 100.0;
        good &= error.abs() <= row.allowed;
        let usage = match row.usage {
            Use::Fitted(parameters) => format!("fitted: {parameters}"),
            Use::Checked => "checked".to_owned(),
        };
        let (part, quantity, unit, allowed) = (row.part, row.quantity, row.unit, row.allowed);
        println!(
            "| {part} | {quantity} | {least} {unit} | {model:.1} {unit} | {error:+.1} % | {allowed} % | {usage} |"
        );
    }
    good
}

/// A part of a run: from one share of the accesses, in per cent, to another.
struct Part {
    model: Model,
    from: Snapshot,
    to: Snapshot,
    accesses: u64,
}

impl Part {
    fn run(workload: &str, shares: (u64, u64)) -> Self {
        let family = pericore_catalog::family("e5-2600").expect("the family is in the catalogue");
        let parameters = Parameters::e5_2680();
        let opcodes = Opcodes::by_name(|name| family.named_value("idi-opcodes", name)).expect("the opcodes are too");
        let workload = Workload::parse(workload, &parameters.limits()).expect("the workload is sound");
        let mut wiring = Wiring::new(family, 1);
        let mut model = Model::new(parameters, opcodes, &workload, &mut wiring).expect("the preset is sound");
        let reach = |model: &mut Model, share: u64| {
            while model.progress().done * 100 < model.progress().total * share {
                model.run_until(model.now() + 21_600, &mut Nothing);
            }
        };
        reach(&mut model, shares.0);
        let (from, done) = (model.snapshot(), model.progress().done);
        reach(&mut model, shares.1);
        let (to, accesses) = (model.snapshot(), model.progress().done - done);
        Self { model, from, to, accesses }
    }

    fn window(&self) -> Window<'_> {
        Window::between(&self.from, &self.to)
    }

    /// GB/s of so many lines.
    fn rate(&self, lines: u64) -> f64 {
        lines as f64 * 64.0 / self.window().seconds() / 1e9
    }
}

fn load() -> f64 {
    let part = Part::run("stream:requests=600k", (60, 95));
    part.rate(part.accesses)
}

/// As a program sees it: without the lines that are read only to be written.
fn copy() -> f64 {
    let part = Part::run("copy:requests=1M", (60, 95));
    part.rate(part.accesses)
}

fn llc_one() -> f64 {
    llc("stream:requests=60k,threads=1,footprint=1M")
}

fn llc_eight() -> f64 {
    llc("stream:requests=480k,threads=8,footprint=8M")
}

fn llc(workload: &str) -> f64 {
    let part = Part::run(workload, (50, 95));
    part.rate(part.window().data_reads().lookups)
}

fn llc_hit() -> f64 {
    let part = Part::run("chase:requests=300k,footprint=1M", (75, 100));
    let hits = part.window().data_reads().lookups as f64;
    let cycles = part.window().seconds() * part.model.parameters().uclk_mhz as f64 * 1e6;
    // The rest hits the L2, in 12 cycles.
    (cycles - (part.accesses as f64 - hits) * 12.0) / hits
}

fn idle() -> f64 {
    let part = Part::run("chase:requests=5000,footprint=4G", (0, 100));
    part.window().seconds() * 1e9 / part.accesses as f64
}
