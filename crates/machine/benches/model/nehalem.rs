//! The Xeon 5500 against Intel's Performance Analysis Guide for it (Levinthal, 2009, page 22), which gives round figures.

use crate::calibration::{Row, chase, exactly};
use crate::part::Part;

const PART: &str = "Xeon 5500 (round figure)";
/// Its successor, with the same TLBs; pages of 1 GiB have entries for 2 MiB there (7-cpu.com, Westmere).
const RELATIVE: &str = "Xeon X5650 (relative)";

pub const ROWS: &[Row] = &[
    Row::checked(PART, "LLC hit, line of nobody else", exactly(40.0), "cycles", 25.0, llc_hit)
        .fitted("core_to_queue, queue_to_core, queue_latency, llc_answer"),
    Row::checked(PART, "local memory", exactly(60.0), "ns", 25.0, || chase("x5570", MEMORY))
        .fitted("queue_to_home, home_to_memory, memory_to_home"),
    Row::checked(PART, "local memory, two sockets", exactly(60.0), "ns", 25.0, || chase("x5570:sockets=2", MEMORY)),
    Row::checked(PART, "remote memory", exactly(100.0), "ns", 25.0, remote).fitted("link_latency"),
    Row::checked(RELATIVE, "walk for a page of 2 MiB, its entry in the L1", exactly(23.0), "cycles", 25.0, walk)
        .fitted("walk_cycles"),
    Row::checked(RELATIVE, "the same, walks that wait for nobody", exactly(28.0), "cycles", 25.0, walks),
];

const MEMORY: &str = "chase:requests=2000,footprint=4G";

/// Core cycles, of 2.93 GHz; an eighth of the loads hits the L2.
fn llc_hit() -> f64 {
    Part::run("x5570", "chase:requests=300k,footprint=2M", (75, 100)).nanoseconds() * 2.933
}

fn remote() -> f64 {
    chase("x5570:sockets=2", &format!("{MEMORY},remote=100"))
}

/// Of 256 pages the TLB has 32, and the others are walked for.
const WALKED: f64 = 1.0 - 32.0 / 256.0;

/// Core cycles by which a walk makes a load longer.
fn walk() -> f64 {
    let of = |pages| chase("x5570", &format!("chase:requests=20k,footprint=512M{pages}"));
    (of(",pages=2M") - of("")) * 2.933 / WALKED
}

/// Core cycles of a walk among loads that do not wait for each other: of lines in the L1, one in each page.
fn walks() -> f64 {
    let loads = "random:requests=100k,threads=1,read=100,footprint=512M,stride=2097216,pages=2M";
    Part::run("x5570", loads, (20, 100)).nanoseconds() * 2.933 / WALKED
}
