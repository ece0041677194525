//! Nehalem: SDM volume 3B, 18.8.2; codes also in libpfm4 and LIKWID.

use super::{Golden, golden};

pub const ROWS: &[Golden] = &[
    golden(
        "0x3c0",
        0x0040_0109,
        "uncore0.ctl0",
        "thresh=0x0 invert=0x0 en=0x1 pmi_en=0x0 edge_det=0x0 occ_ctr_rst=0x0 umask=0x1 ev_sel=0x9",
        "LLC_MISS.READ",
        "18.8.2.2, Figure 18-28",
    ),
    golden(
        "0x3c7",
        0x0156_0101,
        "uncore0.ctl7",
        "thresh=0x1 invert=0x0 en=0x1 pmi_en=0x1 edge_det=0x1 occ_ctr_rst=0x1 umask=0x1 ev_sel=0x1",
        "GQ_CYCLES_NOT_EMPTY.READ_TRACKER",
        "18.8.2.2, Figure 18-28",
    ),
    golden("0x3c3", 0x0040_0460, "uncore0.ctl3", "umask=0x4 ev_sel=0x60", "DRAM_OPEN.CH2", "18.8.2.2"),
    golden(
        "0x391",
        0x1_0000_00FF,
        "uncore0.global_ctl",
        "pmi_frz=0x0 en_fc0=0x1 en_pc7=0x1 en_pc0=0x1 en_pmi_core0=0x0",
        "-",
        "18.8.2.1, Figure 18-25",
    ),
    golden("0x395", 0x5, "uncore0.fixed_ctl", "pmi_en=0x1 en=0x1", "-", "18.8.2.2, Figure 18-29"),
    golden("0x396", 0x2000_0000_0000_0040, "uncore0.addr_opcode", "msel=0x1 addr=0x8", "-", "18.8.2.3, Figure 18-30"),
];
