//! Emerald Rapids against figures of its relatives.

use crate::calibration::{Row, Use, chase};
use crate::loaded;
use crate::part::Part;

/// A Sapphire Rapids part with eight channels of DDR5-4800, GB/s: loads are compared at their share of the peak.
const RELATIVES_PEAK: f64 = 8.0 * 8.0 * 4.8;

pub const ROWS: &[Row] = &[
    Row {
        part: "8480+, 8460Y+ (relatives)",
        quantity: "idle latency",
        published: (111.0, 116.0),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Fitted("miss_to_mesh, mesh_to_use, llc_miss, mesh_to_memory, memory_to_mesh"),
        measure: || chase("8592+", "chase:requests=2000,footprint=16G"),
    },
    Row {
        part: "8480+ (relative)",
        quantity: "latency at 64 % of the channels' peak",
        published: (166.0, 166.0),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Checked,
        measure: || loaded::emerald_rapids(198.0 / RELATIVES_PEAK),
    },
    Row {
        part: "8480+ (relative)",
        quantity: "latency at 76 % of the channels' peak",
        published: (223.0, 223.0),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Checked,
        measure: || loaded::emerald_rapids(233.0 / RELATIVES_PEAK),
    },
    Row {
        part: "8460Y+ (relative)",
        quantity: "latency at 87 % of the channels' peak",
        published: (223.0, 223.0),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Checked,
        measure: || loaded::emerald_rapids(267.0 / RELATIVES_PEAK),
    },
    Row {
        part: "6548Y+, one channel (relative)",
        quantity: "share of a channel's peak at saturation",
        published: (79.0, 79.0),
        unit: "%",
        allowed: 25.0,
        usage: Use::Checked,
        measure: || {
            let part = saturated();
            part.rate(part.sum("imc", "CAS_COUNT", "RD", &[])) / 3.584
        },
    },
    Row {
        part: "6548Y+, one channel (relative)",
        quantity: "stay in the read queue, with 3.5 entries in a channel",
        // 43.9 clocks of a quarter of 5200 MT/s, at a fifth of the saturated rate.
        published: (33.8, 33.8),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Checked,
        measure: || stay_in_queue(&Part::run("8592+", "random:requests=100000,threads=6,footprint=16G", (20, 95))),
    },
    Row {
        part: "6548Y+, one channel (relative)",
        quantity: "stay in the read queue, saturated",
        // 132.2 clocks of a quarter of 5200 MT/s.
        published: (101.7, 101.7),
        unit: "ns",
        allowed: 25.0,
        usage: Use::Checked,
        measure: || stay_in_queue(&saturated()),
    },
    Row {
        part: "6548Y+, one channel (relative)",
        quantity: "entries of a channel's read queues, saturated",
        published: (52.7, 52.7),
        unit: "",
        allowed: 25.0,
        usage: Use::Checked,
        measure: || {
            let part = saturated();
            queued(&part) / part.sum("imc", "CLOCKTICKS", "", &[])
        },
    },
    Row {
        part: "Sapphire Rapids UPI (relative)",
        quantity: "one link, data",
        published: (35.8, 35.8),
        unit: "GB/s",
        allowed: 25.0,
        usage: Use::Fitted("the slot's length"),
        measure: link,
    },
];

/// Every core reads in order: the channels can give no more.
fn saturated() -> Part {
    Part::run("8592+", "stream:requests=150000,threads=64,footprint=16G", (20, 95))
}

/// Entries of the read queues, times the cycles of half the transfer rate that they stayed.
fn queued(part: &Part) -> f64 {
    ["RPQ_OCCUPANCY_PCH0", "RPQ_OCCUPANCY_PCH1"].map(|event| part.sum("imc", event, "", &[])).iter().sum()
}

fn stay_in_queue(part: &Part) -> f64 {
    let entries: f64 = ["PCH0", "PCH1"].map(|half| part.sum("imc", "RPQ_INSERTS", half, &[])).iter().sum();
    queued(part) / entries / 2.8
}

/// The busiest link, of what each received: a line is nine slots of data.
fn link() -> f64 {
    let part = Part::run("8592+:sockets=2", "stream:requests=100000,threads=128,footprint=8G,remote=100", (20, 95));
    let links = (0..2).flat_map(|socket| part.of_socket(socket, "upi", "RxL_FLITS", "ALL_DATA", &[]));
    part.rate(links.max().unwrap_or(0) as f64 / 9.0)
}
