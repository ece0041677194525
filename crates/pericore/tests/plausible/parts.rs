//! Parts, and the limits that their data sheets set.

/// A machine, its limits in bytes per second, and what is asked of it.
#[derive(Debug)]
pub struct Part {
    pub machine: &'static str,
    pub sockets: u16,
    /// What the channels of a socket carry: channels x transfers x 8 bytes.
    pub dram: f64,
    /// Data that a socket's links carry in one direction.
    pub links: f64,
    /// What the devices of a socket can read, or write.
    pub devices_most: f64,
    /// It has memory behind CXL links, and devices whose writes go past the LLC, or write a part of a line.
    pub has_cxl: bool,
    /// No read of memory takes less, as the unit sees it that measures.
    pub least_latency: f64,
    /// Numbers of threads, and of devices.
    pub threads: &'static [u16],
    pub devices: &'static [u16],
    pub footprint: &'static str,
    /// Bandwidths, latencies, and what has to fit them.
    pub figures: &'static [&'static str],
    /// Shares, in per cent.
    pub shares: &'static [&'static str],
    /// Among `figures`: what memory reads and writes, and a read's latency.
    pub bandwidths: &'static [&'static str],
    pub latency: &'static str,
}

impl Part {
    /// Figures that have a limit of their own with a kind of traffic.
    pub fn at_most(&self, kind: &str) -> Vec<(&'static str, f64)> {
        let sockets = f64::from(self.sockets);
        let mut limits = vec![
            ("qpi/TX_DATA_BANDWIDTH", self.links * sockets),
            ("qpi/RX_DATA_BANDWIDTH", self.links * sockets),
            ("upi/UPI_DATA_TX_BANDWIDTH", self.links * sockets),
            ("upi/UPI_DATA_RX_BANDWIDTH", self.links * sockets),
            ("iio/IO_WRITE_BANDWIDTH", self.devices_most * sockets),
            ("iio/IO_READ_BANDWIDTH", self.devices_most * sockets),
        ];
        if kind.starts_with("dma") {
            // Each byte that memory moves was moved by a device, and a write may bring its line first.
            limits.extend(self.bandwidths.iter().map(|name| (*name, self.devices_most * sockets)));
        }
        limits
    }

    /// Pairs of figures that count the same bytes.
    pub fn twice_counted(&self, kind: &str) -> &'static [(&'static str, &'static str)] {
        match kind {
            "dma-write" => &[("iio/IO_WRITE_BANDWIDTH", "cha/IO_WRITE_BANDWIDTH")],
            "dma-read" => &[("iio/IO_READ_BANDWIDTH", "cha/IO_READ_BANDWIDTH")],
            _ => &[("ha/REQUEST_BANDWIDTH", "imc/MEM_BANDWIDTH")],
        }
    }
}

const E5_FIGURES: &[&str] = &[
    "imc/MEM_READ_BANDWIDTH",
    "imc/MEM_WRITE_BANDWIDTH",
    "imc/MEM_BANDWIDTH",
    "TOR_DRD_MISS_LATENCY_NS",
    "REQUEST_BANDWIDTH",
    "TX_DATA_BANDWIDTH",
    "RX_DATA_BANDWIDTH",
];
const E5_SHARES: &[&str] = &[
    "PCT_INGRESS_BLOCKED",
    "PCT_INGRESS_STARVED",
    "PCT_USED_DNEVEN",
    "PCT_USED_DNODD",
    "PCT_USED_UPEVEN",
    "PCT_USED_UPODD",
    "PCT_CYCLES_BL_FULL",
    "PCT_CYCLES_CONFLICT",
    "PCT_CYCLES_D2C_DISABLED",
    "ha/PCT_RD_REQUESTS",
    "ha/PCT_WR_REQUESTS",
    "PCT_DATA_BUS_USED",
    "PCT_REQUESTS_PAGE_EMPTY",
    "PCT_REQUESTS_PAGE_HIT",
    "PCT_REQUESTS_PAGE_MISS",
    "PCT_LINK_FULL_POWER_CYCLES",
    "QPI_LINK_UTIL",
    "QPI_TX_UTIL",
    "PCT_EGRESS_BL_FULL",
    "PCT_CYCLES_NO_VNA_CREDIT",
    "PCT_CYCLES_VNA_CREDIT_USED",
];
const NEHALEM_FIGURES: &[&str] = &["MEM_READ_BANDWIDTH", "MEM_WRITE_BANDWIDTH", "MEM_READ_LATENCY_NS"];
const NEHALEM_SHARES: &[&str] = &[
    "LLC_HIT_RATIO",
    "LLC_READ_HIT_RATIO",
    "GQ_READ_MISS_RATIO",
    "PCT_GQ_READ_TRACKER_BUSY",
    "PCT_GQ_READ_TRACKER_FULL",
    "PCT_GQ_WRITE_TRACKER_BUSY",
    "PCT_GQ_WRITE_TRACKER_FULL",
    "PCT_GQ_PEER_PROBE_TRACKER_BUSY",
    "REMOTE_READ_SHARE",
    "DRAM_PAGE_MISS_RATIO",
    "PCT_QPI_LINK0_TX_STALLED",
    "PCT_QPI_LINK1_TX_STALLED",
];
const EMR_FIGURES: &[&str] = &[
    "imc/MEM_READ_BANDWIDTH",
    "imc/MEM_WRITE_BANDWIDTH",
    "DRD_MISS_LATENCY_NS",
    "cha/IO_WRITE_BANDWIDTH",
    "cha/IO_READ_BANDWIDTH",
    "iio/IO_WRITE_BANDWIDTH",
    "iio/IO_READ_BANDWIDTH",
    "UPI_DATA_TX_BANDWIDTH",
    "UPI_DATA_RX_BANDWIDTH",
];
const EMR_SHARES: &[&str] = &[
    "PCT_MESH_HORZ_DATA_IN_USE",
    "PCT_MESH_VERT_DATA_IN_USE",
    "LLC_DRD_MISS_PCT",
    "LLC_RFO_MISS_PCT",
    "cha/PCT_RD_REQUESTS",
    "cha/PCT_WR_REQUESTS",
    "PCT_DATA_BUS_USED",
    "PCT_CYCLES_PPD",
    "imc/PCT_RD_REQUESTS",
    "imc/PCT_WR_REQUESTS",
    "PCT_CAS_WITHOUT_ACT",
    "PCT_IOTLB_MISSES",
    "PCT_LINK_FULL_POWER_CYCLES",
    "UPI_TX_UTIL",
];

/// Xeon E5-2680: four channels of DDR3-1600, two QPI links of 8 GT/s with 2 bytes of data a transfer in each
/// direction, 40 lanes of 8 GT/s in 128b/130b.
const E5: Part = Part {
    machine: "e5-2680",
    sockets: 1,
    dram: 4.0 * 1.6e9 * 8.0,
    links: 2.0 * 8.0e9 * 2.0,
    devices_most: 40.0 * 8.0e9 / 8.0 * 128.0 / 130.0,
    has_cxl: false,
    // A row that is open: column command and burst, 13.75 ns and four clocks, and the way to the controller and back.
    least_latency: 25.0,
    threads: &[1, 2, 4, 8],
    devices: &[1, 4, 16],
    footprint: "1000M",
    figures: E5_FIGURES,
    shares: E5_SHARES,
    bandwidths: &["imc/MEM_READ_BANDWIDTH", "imc/MEM_WRITE_BANDWIDTH"],
    latency: "cbo/TOR_DRD_MISS_LATENCY_NS",
};

/// Xeon X5570: three channels of DDR3-1333, QPI of 6.4 GT/s; its devices lie behind a link of 2 bytes a transfer.
const NEHALEM: Part = Part {
    machine: "x5570",
    sockets: 1,
    dram: 3.0 * 1.333_334e9 * 8.0,
    links: 2.0 * 6.4e9 * 2.0,
    devices_most: 6.4e9 * 2.0,
    has_cxl: false,
    // What the controller sees is only the wait at the channel: 13.5 ns and a burst.
    least_latency: 15.0,
    threads: &[1, 2, 4],
    devices: &[1, 4, 8],
    footprint: "1000M",
    figures: NEHALEM_FIGURES,
    shares: NEHALEM_SHARES,
    bandwidths: &["uncore/MEM_READ_BANDWIDTH", "uncore/MEM_WRITE_BANDWIDTH"],
    latency: "uncore/MEM_READ_LATENCY_NS",
};

/// Xeon Platinum 8592+: eight channels of DDR5-5600, four UPI links of 20 GT/s with 24 lanes, 80 lanes of PCIe 5.0 (32
/// GT/s in 128b/130b).
const P8592: Part = Part {
    machine: "8592+",
    sockets: 1,
    dram: 8.0 * 5.6e9 * 8.0,
    links: 4.0 * 20.0e9 * 24.0 / 8.0,
    devices_most: 80.0 * 32.0e9 / 8.0 * 128.0 / 130.0,
    has_cxl: true,
    least_latency: 40.0,
    threads: &[1, 8, 24, 64],
    devices: &[1, 8, 40],
    footprint: "4000M",
    figures: EMR_FIGURES,
    shares: EMR_SHARES,
    bandwidths: &["imc/MEM_READ_BANDWIDTH", "imc/MEM_WRITE_BANDWIDTH"],
    latency: "cha/DRD_MISS_LATENCY_NS",
};

/// Xeon Platinum 8480+: eight channels of DDR5-4800, four UPI links of 16 GT/s with 24 lanes, 80 lanes of PCIe 5.0.
const P8480: Part = Part {
    machine: "8480+",
    dram: 8.0 * 4.8e9 * 8.0,
    links: 4.0 * 16.0e9 * 24.0 / 8.0,
    threads: &[1, 8, 24, 56],
    ..P8592
};

/// Every part, and the larger ones with two sockets. The 8568 has DDR5-4800.
pub static PARTS: [Part; 9] = [
    E5,
    Part { machine: "e5-2680:sockets=2", sockets: 2, threads: &[2, 4, 8, 16], ..E5 },
    NEHALEM,
    Part { machine: "x5570:sockets=2", sockets: 2, threads: &[2, 4, 8], ..NEHALEM },
    P8592,
    Part { machine: "8592+:sockets=2", sockets: 2, threads: &[2, 16, 48, 128], ..P8592 },
    Part { machine: "8568", dram: 8.0 * 4.8e9 * 8.0, threads: &[1, 8, 24, 48], ..P8592 },
    P8480,
    Part { machine: "8480+:sockets=2", sockets: 2, threads: &[2, 16, 48, 112], ..P8480 },
];
