//! Emerald Rapids against figures of its relatives.

use crate::calibration::{Row, chase, exactly};
use crate::loaded;
use crate::part::Part;

/// What the channels of the 8480+ give at most, GB/s: three quarters of the peak of eight channels of DDR5-4800. Loads are compared at their
/// share of the most, since parts come differently near to their peak: the 8460Y+ to 267 of the same 307 GB/s.
const RELATIVES_MOST: f64 = 233.0;
const STUDY: &str = "6548Y+, one channel (relative)";
const MEMORY: &str = "chase:requests=2000,footprint=16G";

pub const ROWS: &[Row] =
    &[
        Row::checked("8480+, 8460Y+ (relatives)", "idle latency", (111.0, 116.0), "ns", 25.0, || {
            chase("8592+", MEMORY)
        })
        .fitted("miss_to_mesh, mesh_to_use, llc_miss, mesh_to_memory, memory_to_mesh"),
        Row::checked("8480+ (relative)", "latency at 85 % of the most", exactly(166.0), "ns", 25.0, || {
            loaded::emerald_rapids(198.0 / RELATIVES_MOST)
        }),
        // Both at the greatest load that was published: 233 and 267 GB/s.
        Row::checked("8480+, 8460Y+ (relatives)", "latency at the most", exactly(223.0), "ns", 25.0, || {
            loaded::emerald_rapids(1.0)
        }),
        Row::checked(STUDY, "share of a channel's peak at saturation", exactly(79.0), "%", 25.0, || {
            let part = saturated();
            part.rate(part.sum("imc", "CAS_COUNT", "RD", &[])) / 3.584
        }),
        // 43.9 and 132.2 clocks of a quarter of 5200 MT/s, at a fifth of the saturated rate and at all of it.
        Row::checked(STUDY, "stay in the read queue, with 3.5 entries in a channel", exactly(33.8), "ns", 25.0, || {
            stay_in_queue(&Part::run("8592+", "random:requests=100000,threads=6,footprint=16G", (20, 95)))
        }),
        Row::checked(STUDY, "stay in the read queue, saturated", exactly(101.7), "ns", 25.0, || {
            stay_in_queue(&saturated())
        }),
        Row::checked(STUDY, "entries of a channel's read queues, saturated", exactly(52.7), "", 25.0, || {
            let part = saturated();
            queued(&part) / part.sum("imc", "CLOCKTICKS", "", &[])
        }),
        Row::checked("8568 (relative)", "one link, data", exactly(38.7), "GB/s", 25.0, link),
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
