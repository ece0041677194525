//! Emerald Rapids' metrics computed by hand from the ledger's figures, after the guide's tables of equations (2-77, 2-135, 2-216) and without the catalogue's expressions and their evaluator.

use super::run::Run;
use super::sums::{self, ByHand, Sums};

/// Instances of a socket of the preset: 64 agents, eight channels' worth of controllers, four links.
const INSTANCES: &[(&str, u16)] = &[("cha", 64), ("imc", 8), ("upi", 4)];
/// The same of an 8480+, with 56 agents.
const INSTANCES_OF_8480: &[(&str, u16)] = &[("cha", 56), ("imc", 8), ("upi", 4)];

const BY_HAND: &[ByHand] = &[
    ("cha", "AVG_RFO_MISS_LATENCY", |t| {
        let demand_and_prefetch = |event| cha(t, event, "IA_MISS_RFO") + cha(t, event, "IA_MISS_RFO_PREF");
        demand_and_prefetch("TOR_OCCUPANCY") / demand_and_prefetch("TOR_INSERTS")
    }),
    ("cha", "AVG_INGRESS_LATENCY", |t| cha(t, "RxC_OCCUPANCY", "IRQ") / cha(t, "RxC_INSERTS", "IRQ")),
    ("cha", "LLC_IA_CRD_HITS", |t| cha(t, "TOR_INSERTS", "IA_HIT_CRD")),
    ("cha", "LLC_CRD_MISS_TO_REM_MEM", |t| {
        cha(t, "TOR_INSERTS", "IA_MISS_CRD_REMOTE") + cha(t, "TOR_INSERTS", "IA_MISS_CRD_PREF_REMOTE")
    }),
    ("cha", "LLC_RFO_MISS_TO_REM_MEM", |t| cha(t, "TOR_INSERTS", "IA_MISS_RFO_REMOTE")),
    ("cha", "MEM_WB_BYTES", |t| 64.0 * cha(t, "LLC_VICTIMS", "M_STATE")),
    ("cha", "PCT_RD_REQUESTS", |t| {
        cha(t, "REQUESTS", "READS") / (cha(t, "REQUESTS", "READS") + cha(t, "REQUESTS", "WRITES"))
    }),
    // A direction takes one thing a cycle, of one polarity or the other.
    ("cha", "PCT_MESH_HORZ_DATA_IN_USE", |t| {
        let of = |way| cha(t, "HORZ_RING_BL_IN_USE", way);
        (of("LEFT_EVEN") + of("LEFT_ODD") + of("RIGHT_EVEN") + of("RIGHT_ODD")) / 2.0 / cha(t, "CLOCKTICKS", "")
    }),
    ("imc", "MEM_BW_TOTAL", |t| 64.0 * lines(t)),
    ("imc", "MEM_BANDWIDTH", |t| 64.0 * lines(t) / t.seconds()),
    // DDR5's sixteen transfers of half a channel, two in a clock: each of the halves has an eighth of the clocks.
    ("imc", "PCT_DATA_BUS_USED", |t| lines(t) / (2.0 * memory_cycles(t) / 8.0)),
    ("imc", "PCT_CYCLES_PPD", |t| imc(t, "POWER_CHANNEL_PPD", "") / memory_cycles(t)),
    ("imc", "PCT_WR_REQUESTS", |t| queued(t, "WPQ") / (queued(t, "RPQ") + queued(t, "WPQ"))),
    ("imc", "RPQ_RESIDENCY", |t| {
        (imc(t, "RPQ_OCCUPANCY_PCH0", "") + imc(t, "RPQ_OCCUPANCY_PCH1", "")) / queued(t, "RPQ")
    }),
    ("upi", "DRS_WbI_FROM_UPI", |t| 64.0 * t.sum("upi", "RxL_BASIC_HDR_MATCH", "WB_OPC", &[("opc", 0)])),
    ("upi", "DRS_WbS_FROM_UPI", |t| 64.0 * t.sum("upi", "RxL_BASIC_HDR_MATCH", "WB_OPC", &[("opc", 1)])),
    ("upi", "DRS_WbE_FROM_UPI", |t| 64.0 * t.sum("upi", "RxL_BASIC_HDR_MATCH", "WB_OPC", &[("opc", 2)])),
    // 20 GT/s on each lane of each link, 16 of an 8480+: they have one speed, however many there are.
    ("upi", "UPI_SPEED", |t| if t.is_sapphire_rapids() { 16e9 } else { 20e9 }),
    // A line is nine slots.
    ("upi", "UPI_DATA_RX_BANDWIDTH", |t| upi(t, "RxL_FLITS", "ALL_DATA") / 9.0 * 64.0 / t.seconds()),
    // A flit is three slots, and a clock takes one.
    ("upi", "UPI_TX_UTIL", |t| {
        (upi(t, "TxL_FLITS", "ALL_DATA") + upi(t, "TxL_FLITS", "NON_DATA")) / 3.0 / upi(t, "CLOCKTICKS", "")
    }),
    ("upi", "PCT_LINK_SHUTDOWN_CYCLES", |t| upi(t, "L1_POWER_CYCLES", "") / upi(t, "CLOCKTICKS", "")),
    ("upi", "TXQ_RESIDENCY", |t| upi(t, "TxL_OCCUPANCY", "") / upi(t, "TxL_INSERTS", "")),
];

fn cha(t: &Sums<'_>, event: &str, subevent: &str) -> f64 {
    t.sum("cha", event, subevent, &[])
}

fn imc(t: &Sums<'_>, event: &str, subevent: &str) -> f64 {
    t.sum("imc", event, subevent, &[])
}

fn upi(t: &Sums<'_>, event: &str, subevent: &str) -> f64 {
    t.sum("upi", event, subevent, &[])
}

/// DRAM cycles of all channels, DDR5-5600: 2.8 GHz; of an 8480+, DDR5-4800: 2.4 GHz.
fn memory_cycles(t: &Sums<'_>) -> f64 {
    t.cycles(if t.is_sapphire_rapids() { 2400 } else { 2800 }) * t.instances("imc")
}

fn lines_read(t: &Sums<'_>) -> f64 {
    ["RD_REG", "RD_PRE_REG", "RD_UNDERFILL", "RD_PRE_UNDERFILL"].map(|kind| imc(t, "CAS_COUNT", kind)).iter().sum()
}

fn lines_written(t: &Sums<'_>) -> f64 {
    imc(t, "CAS_COUNT", "WR_PRE") + imc(t, "CAS_COUNT", "WR_NONPRE")
}

fn lines(t: &Sums<'_>) -> f64 {
    lines_read(t) + lines_written(t)
}

/// Entries of the queues of both subchannels: `RPQ` or `WPQ`.
fn queued(t: &Sums<'_>, queue: &str) -> f64 {
    let event = format!("{queue}_INSERTS");
    imc(t, &event, "PCH0") + imc(t, &event, "PCH1")
}

fn sums_of(run: &Run) -> Sums<'_> {
    Sums::new(run, if sums::is_sapphire_rapids(run) { INSTANCES_OF_8480 } else { INSTANCES })
}

/// A metric's value by hand, if it has one.
pub fn value(run: &Run, unit: &str, metric: &str) -> Option<f64> {
    sums::value(BY_HAND, &sums_of(run), unit, metric)
}

/// What the guide's equation gives, where the catalogue has another. The guide prints bytes where the name promises bandwidth, queues without
/// their subchannel (which count nothing: the mask of subchannels is empty), and megabytes from bytes.
pub fn printed(run: &Run, unit: &str, metric: &str) -> Option<f64> {
    let t = &sums_of(run);
    Some(match (unit, metric) {
        ("imc", "MEM_READ_BANDWIDTH") => 64.0 * lines_read(t),
        ("imc", "MEM_WRITE_BANDWIDTH") => 64.0 * lines_written(t),
        ("imc", "MEM_BANDWIDTH") => 64.0 * lines(t),
        // Nothing by nothing.
        ("imc", "PCT_RD_REQUESTS" | "PCT_WR_REQUESTS") => f64::NAN,
        ("cha", "INGRESS_REJ_V_INS") => cha(t, "RxC_INSERTS", "IRQ_REJ") / cha(t, "RxC_INSERTS", "IRQ"),
        ("cha", "MMIO_READ_BW") => cha(t, "TOR_INSERTS", "IA_MISS_UCRDF") * 64.0 / 1e6,
        ("cha", "MMIO_WRITE_BW") => cha(t, "TOR_INSERTS", "IA_MISS_WIL") * 64.0 / 1e6,
        // There are no such events, or no such fields.
        ("upi", "CRC_RETRY_REQUESTS_PER_SECOND" | "NCB_DATA_FROM_UPI") => f64::NAN,
        ("imc", name) if name.ends_with("_THR") || name.ends_with("_THROTTLE") => f64::NAN,
        // Clocks against those of the time-stamp counter, in whole MHz, eight bytes each, in GB.
        ("upi", "UPI_SPEED") => {
            let clocks = upi(t, "CLOCKTICKS", "") / t.instances("upi");
            (clocks / t.seconds() / 1e6).round() * 8.0 / 1000.0
        }
        _ => return None,
    })
}

#[test]
fn every_value_by_hand_is_of_a_metric() {
    sums::check_names("emerald-rapids", BY_HAND);
}
