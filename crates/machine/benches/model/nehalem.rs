//! The Xeon 5500 against Intel's Performance Analysis Guide for it (Levinthal, 2009, page 22), which gives round figures.

use crate::calibration::{Row, chase, exactly};
use crate::part::Part;

const PART: &str = "Xeon 5500 (round figure)";

pub const ROWS: &[Row] = &[
    Row::checked(PART, "LLC hit, line of nobody else", exactly(40.0), "cycles", 25.0, llc_hit)
        .fitted("core_to_queue, queue_to_core, queue_latency, llc_answer"),
    Row::checked(PART, "local memory", exactly(60.0), "ns", 25.0, || chase("x5570", MEMORY))
        .fitted("queue_to_home, home_to_memory, memory_to_home"),
    Row::checked(PART, "local memory, two sockets", exactly(60.0), "ns", 25.0, || chase("x5570:sockets=2", MEMORY)),
    Row::checked(PART, "remote memory", exactly(100.0), "ns", 25.0, remote).fitted("link_latency"),
];

const MEMORY: &str = "chase:requests=2000,footprint=4G";

/// Core cycles, of 2.93 GHz; an eighth of the loads hits the L2.
fn llc_hit() -> f64 {
    Part::run("x5570", "chase:requests=300k,footprint=2M", (75, 100)).nanoseconds() * 2.933
}

fn remote() -> f64 {
    chase("x5570:sockets=2", &format!("{MEMORY},remote=100"))
}
