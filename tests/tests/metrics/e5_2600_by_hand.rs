//! Metrics computed by hand from the ledger's figures, after the guide's tables of equations (2-15, 2-41, 2-65, 2-82, 2-95) and without the
//! catalogue's expressions and their evaluator. What is kept apart here is what the two could get wrong together: sums over instances,
//! clocks, units of measure, the order of operations.

use super::run::Run;
use super::sums::{self, ByHand, Sums};

/// IDI opcodes (guide, Table 2-20).
const DRD: u64 = 0x182;
const RFO: u64 = 0x180;
const PCI_ITOM: u64 = 0x19c;
const PCI_WILF: u64 = 0x194;
/// Message classes of packets (guide, 2.7.5), and a mask over all bits of one.
const RESPONSES: u64 = 0xe;
const CLASS: u64 = 0xf;

const GOLDEN: &[ByHand] = &[
    ("cbo", "AVG_INGRESS_DEPTH", |t| t.cbo("RxR_OCCUPANCY", "IRQ") / t.instances("cbo") / t.tsc()),
    ("cbo", "INGRESS_DEPTH", |t| t.cbo("RxR_OCCUPANCY", "IRQ") / t.slice_cycles()),
    ("cbo", "AVG_INGRESS_LATENCY", |t| t.cbo("RxR_OCCUPANCY", "IRQ") / t.cbo("RxR_INSERTS", "IRQ")),
    ("cbo", "AVG_TOR_DRD_LATENCY", |t| t.tor("TOR_OCCUPANCY", "OPCODE", DRD) / t.tor("TOR_INSERTS", "OPCODE", DRD)),
    ("cbo", "AVG_TOR_DRD_HIT_LATENCY", |t| {
        let hits = |event| t.tor(event, "OPCODE", DRD) - t.tor(event, "MISS_OPCODE", DRD);
        hits("TOR_OCCUPANCY") / hits("TOR_INSERTS")
    }),
    ("cbo", "TOR_DRD_MISS_LATENCY_NS", |t| {
        let cycles = t.tor("TOR_OCCUPANCY", "MISS_OPCODE", DRD) / t.tor("TOR_INSERTS", "MISS_OPCODE", DRD);
        // Slices run at 2.7 GHz.
        cycles / 2.7
    }),
    ("cbo", "INGRESS_REJ_V_INS", |t| t.cbo("RxR_INSERTS", "IRQ_REJECTED") / t.cbo("RxR_INSERTS", "IRQ")),
    ("cbo", "LLC_DRD_MISS_PCT", |t| {
        let reads = |states| t.sum("cbo", "LLC_LOOKUP", "DATA_READ", &[("state", states)]);
        // Bit 0 is I, bits 1 to 4 are S, E, M, F.
        reads(0b1) / (reads(0b1) + reads(0b1_1110))
    }),
    ("cbo", "LLC_RFO_MISS_PCT", |t| t.tor("TOR_INSERTS", "MISS_OPCODE", RFO) / t.tor("TOR_INSERTS", "OPCODE", RFO)),
    ("cbo", "LLC_DRD_RFO_MISS_TO_NODE1", |t| {
        let to =
            |opcode, nid| t.sum("cbo", "TOR_INSERTS", "NID_MISS_OPCODE", &[("opc", opcode), ("nid", 1_u64 << nid)]);
        let of_node = |nid| to(DRD, nid) + to(RFO, nid);
        of_node(1) / (of_node(0) + of_node(1) + of_node(2) + of_node(3))
    }),
    ("cbo", "MEM_WB_BYTES", |t| 64.0 * t.cbo("LLC_VICTIMS", "M_STATE")),
    ("cbo", "PCIE_DATA_BYTES", |t| {
        64.0 * t.tor("TOR_INSERTS", "OPCODE", PCI_WILF) + 64.0 * t.tor("TOR_INSERTS", "OPCODE", PCI_ITOM)
    }),
    ("cbo", "PCT_USED_UPEVEN", |t| t.cbo("RING_BL_USED", "UP_EVEN") / t.slice_cycles()),
    ("cbo", "UNCORE_FREQUENCY", |_| 2.7e9),
    ("ha", "PCT_CYCLES_CONFLICT", |t| t.ha("CONFLICT_CYCLES", "CONFLICT") / t.sockets() / t.tsc()),
    ("ha", "PCT_RD_REQUESTS", |t| {
        let reads = t.ha("REQUESTS", "READS");
        reads / (reads + t.ha("REQUESTS", "WRITES"))
    }),
    ("ha", "REQUEST_BANDWIDTH", |t| 64.0 * (t.ha("REQUESTS", "READS") + t.ha("REQUESTS", "WRITES")) / t.seconds()),
    ("imc", "MEM_BW_TOTAL", |t| 64.0 * (t.lines_read() + t.lines_written())),
    ("imc", "MEM_BANDWIDTH", |t| 64.0 * (t.lines_read() + t.lines_written()) / t.seconds()),
    // A line is eight transfers, two in each cycle.
    ("imc", "PCT_DATA_BUS_USED", |t| 4.0 * (t.lines_read() + t.lines_written()) / t.memory_cycles()),
    ("imc", "PCT_CYCLES_DRAM_RANK0_IN_CKE", |t| t.imc("POWER_CKE_CYCLES", "RANK0") / t.memory_cycles()),
    ("imc", "PCT_CYCLES_SELF_REFRESH", |t| t.imc("POWER_SELF_REFRESH", "") / t.memory_cycles()),
    ("imc", "PCT_REQUESTS_PAGE_EMPTY", |t| {
        (t.imc("ACT_COUNT", "") - t.imc("PRE_COUNT", "PAGE_MISS")) / (t.lines_read() + t.lines_written())
    }),
    ("imc", "PCT_REQUESTS_PAGE_HIT", |t| 1.0 - t.imc("ACT_COUNT", "") / (t.lines_read() + t.lines_written())),
    ("imc", "PCT_RD_REQUESTS", |t| {
        let reads = t.imc("RPQ_INSERTS", "");
        reads / (reads + t.imc("WPQ_INSERTS", ""))
    }),
    ("imc", "DRAM_FREQUENCY", |_| 800e6),
    // The power unit's clock is 800 MHz (guide 2.6).
    ("pcu", "CYC_FREQ_THERMAL_LTD", |t| t.pcu("FREQ_MAX_LIMIT_THERMAL_CYCLES", "", &[]) / t.power_cycles()),
    ("pcu", "AVG_CORES_C6", |t| t.pcu("POWER_STATE_OCCUPANCY", "CORES_C6", &[]) / t.power_cycles()),
    ("pcu", "PCT_FREQ_BAND2", |t| t.pcu("FREQ_BAND2_CYCLES", "", &[("band2", 20)]) / t.power_cycles()),
    ("qpi", "DATA_FROM_QPI", |t| 8.0 * (t.qpi("RxL_FLITS_G1", "DRS_DATA") + t.qpi("RxL_FLITS_G2", "NCB_DATA"))),
    ("qpi", "DRS_DataC_FROM_QPI_TO_NODE1", |t| {
        // DataC is opcode 0 to 3.
        let of =
            |opcode| t.packets(&[("match_opc", opcode), ("mask_opc", CLASS), ("match_dnid", 1), ("mask_dnid", 0x1f)]);
        64.0 * (of(0) + of(1) + of(2) + of(3))
    }),
    ("qpi", "DRS_WbI_FROM_QPI", |t| 64.0 * t.packets(&[("match_opc", 4), ("mask_opc", CLASS)])),
    // Two flits in each clock of 1 GHz.
    ("qpi", "QPI_LINK_UTIL", |t| {
        (t.qpi("RxL_FLITS_G0", "DATA") + t.qpi("RxL_FLITS_G0", "NON_DATA"))
            / (2.0 * 1e9 * t.seconds() * 2.0 * t.sockets())
    }),
    ("qpi", "RX_DATA_BANDWIDTH", |t| 8.0 * t.qpi("RxL_FLITS_G0", "DATA") / t.seconds()),
    ("r3qpi", "AVG_INGRESS_LATENCY_HOM", |t| {
        t.sum("r3qpi", "RxR_OCCUPANCY", "HOM", &[]) / t.sum("r3qpi", "RxR_INSERTS", "HOM", &[])
    }),
];

impl Sums<'_> {
    /// Cycles of the time-stamp counter.
    fn tsc(&self) -> f64 {
        self.cycles(2700)
    }

    /// Uncore cycles of all slices.
    fn slice_cycles(&self) -> f64 {
        self.tsc() * self.instances("cbo")
    }

    /// DRAM cycles of all channels.
    fn memory_cycles(&self) -> f64 {
        self.cycles(800) * self.instances("imc")
    }

    /// Cycles of all power units (guide 2.6: 800 MHz).
    fn power_cycles(&self) -> f64 {
        self.cycles(800) * self.instances("pcu")
    }

    fn cbo(&self, event: &str, subevent: &str) -> f64 {
        self.sum("cbo", event, subevent, &[])
    }

    fn tor(&self, event: &str, subevent: &str, opcode: u64) -> f64 {
        self.sum("cbo", event, subevent, &[("opc", opcode)])
    }

    fn ha(&self, event: &str, subevent: &str) -> f64 {
        self.sum("ha", event, subevent, &[])
    }

    fn imc(&self, event: &str, subevent: &str) -> f64 {
        self.sum("imc", event, subevent, &[])
    }

    fn lines_read(&self) -> f64 {
        self.imc("CAS_COUNT", "RD_REG") + self.imc("CAS_COUNT", "RD_UNDERFILL")
    }

    fn lines_written(&self) -> f64 {
        self.imc("CAS_COUNT", "WR_WMM") + self.imc("CAS_COUNT", "WR_RMM")
    }

    fn pcu(&self, event: &str, subevent: &str, filters: &[(&str, u64)]) -> f64 {
        self.sum("pcu", event, subevent, filters)
    }

    fn qpi(&self, event: &str, subevent: &str) -> f64 {
        self.sum("qpi", event, subevent, &[])
    }

    /// Responses with data that a link received, whose header agrees.
    fn packets(&self, header: &[(&str, u64)]) -> f64 {
        let all = [&[("match_mc", RESPONSES), ("mask_mc", CLASS)], header].concat();
        self.sum("qpi", "CTO_COUNT", "", &all)
    }
}

/// Instances of a socket (guide 1.1).
const INSTANCES: &[(&str, u16)] = &[("cbo", 8), ("imc", 4), ("qpi", 2), ("r3qpi", 2)];

/// A metric's value by hand, if it has one.
pub fn value(run: &Run, unit: &str, metric: &str) -> Option<f64> {
    sums::value(GOLDEN, &Sums::new(run, INSTANCES), unit, metric)
}

/// What the guide's equation gives, where the catalogue has another.
pub fn printed(run: &Run, unit: &str, metric: &str) -> Option<f64> {
    let truth = Sums::new(run, INSTANCES);
    match (unit, metric) {
        // Table 2-82 repeats the line above it.
        ("pcu", "CYC_FREQ_THERMAL_LTD") => Some(truth.pcu("FREQ_MAX_CURRENT_CYCLES", "", &[]) / truth.power_cycles()),
        _ => None,
    }
}

#[test]
fn every_value_by_hand_is_of_a_metric() {
    sums::check_names("e5-2600", GOLDEN);
}
