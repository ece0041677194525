//! The Xeon 5500 against Intel's Performance Analysis Guide for it (Levinthal, 2009, page 22), which gives round figures.

use crate::calibration::{Row, Use, chase};
use crate::part::Part;

const PART: &str = "Xeon 5500 (round figure)";

pub const ROWS: &[Row] = &[
    Row {
        part: PART,
        quantity: "LLC hit, line of nobody else",
        published: (40.0, 40.0),
        unit: "cycles",
        allowed: 25.0,
        usage: Use::Fitted("core_to_queue, queue_to_core, queue_latency, llc_answer"),
        // An eighth of the loads hits the L2. 2.93 GHz.
        measure: || Part::run("x5570", "chase:requests=300k,footprint=2M", (75, 100)).nanoseconds() * 2.933,
    },
    Row {
        part: PART,
        quantity: "local memory",
        published: (60.0, 60.0),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Fitted("queue_to_home, home_to_memory, memory_to_home"),
        measure: || chase("x5570", "chase:requests=2000,footprint=4G"),
    },
    Row {
        part: PART,
        quantity: "local memory, two sockets",
        published: (60.0, 60.0),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Checked,
        measure: || chase("x5570:sockets=2", "chase:requests=2000,footprint=4G"),
    },
    Row {
        part: PART,
        quantity: "remote memory",
        published: (100.0, 100.0),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Fitted("link_latency"),
        measure: || chase("x5570:sockets=2", "chase:requests=2000,footprint=4G,remote=100"),
    },
];
