//! What the hardware must be told so that a row of the event texts counts it: the signal, and a tag whose attributes are chosen by the
//! meaning of the row's masks (tables cited), one bit of each.

use super::raw::Raw;
use super::rows::Row;

/// Signals that several events share, or whose entries carry more than the umask.
const SIGNALS: &[(&str, &str, &[&str])] = &[
    ("nehalem/uncore", "match", &["ADDR_OPCODE_MATCH"]),
    ("nehalem/uncore", "qmc", &["QMC_OCCUPANCY", "QMC_NORMAL_READS"]),
    ("e5-2600/cbo", "ingress", &["RxR_OCCUPANCY", "RxR_INSERTS"]),
    ("e5-2600/cbo", "llc_lookup", &["LLC_LOOKUP"]),
    ("e5-2600/cbo", "tor", &["TOR_INSERTS", "TOR_OCCUPANCY"]),
    ("e5-2600/cbo", "llc_victim", &["LLC_VICTIMS"]),
    ("e5-2600/ha", "tracker", &["TRACKER_INSERTS"]),
    ("e5-2600/ha", "packets", &["ADDR_OPC_MATCH"]),
    ("e5-2600/ha", "egress_ad", &["TxR_AD_INSERTS", "TxR_AD_OCCUPANCY", "TxR_AD_CYCLES_NE"]),
    ("e5-2600/ha", "egress_ak", &["TxR_AK_INSERTS", "TxR_AK_OCCUPANCY", "TxR_AK_CYCLES_NE"]),
    ("e5-2600/ha", "egress_bl", &["TxR_BL_INSERTS", "TxR_BL_OCCUPANCY", "TxR_BL_CYCLES_NE"]),
    ("e5-2600/imc", "rpq", &["RPQ_INSERTS", "RPQ_CYCLES_NE", "RPQ_OCCUPANCY"]),
    ("emerald-rapids/imc", "rpq", &["RPQ_INSERTS", "RPQ_CYCLES_NE"]),
    ("e5-2600/imc", "wpq", &["WPQ_INSERTS", "WPQ_CYCLES_NE", "WPQ_OCCUPANCY"]),
    ("emerald-rapids/imc", "wpq", &["WPQ_INSERTS", "WPQ_CYCLES_NE"]),
    ("e5-2600/pcu", "frequency", &["FREQ_BAND0_CYCLES", "FREQ_BAND1_CYCLES", "FREQ_BAND2_CYCLES", "FREQ_BAND3_CYCLES"]),
    ("e5-2600/pcu", "cores", &["POWER_STATE_OCCUPANCY"]),
    ("e5-2600/qpi", "txq", &["TxL_INSERTS", "TxL_CYCLES_NE", "TxL_OCCUPANCY"]),
    ("e5-2600/qpi", "rxq", &["RxL_INSERTS", "RxL_CYCLES_NE", "RxL_OCCUPANCY"]),
    ("e5-2600/qpi", "packets", &["CTO_COUNT"]),
    ("e5-2600/r2pcie", "ingress", &["RxR_CYCLES_NE"]),
    ("e5-2600/r2pcie", "egress", &["TxR_CYCLES_NE"]),
    ("e5-2600/r3qpi", "ingress", &["RxR_CYCLES_NE", "RxR_INSERTS", "RxR_OCCUPANCY"]),
    ("emerald-rapids/cha", "ingress", &["RxC_OCCUPANCY", "RxC_INSERTS"]),
    ("emerald-rapids/cha", "llc_lookup", &["LLC_LOOKUP"]),
    ("emerald-rapids/cha", "tor", &["TOR_INSERTS", "TOR_OCCUPANCY"]),
    ("emerald-rapids/imc", "pmm_rpq", &["PMM_RPQ_OCCUPANCY", "PMM_RPQ_CYCLES_NE", "PMM_RPQ_INSERTS"]),
    ("emerald-rapids/imc", "pmm_wpq", &["PMM_WPQ_OCCUPANCY", "PMM_WPQ_CYCLES_NE", "PMM_WPQ_INSERTS"]),
    ("emerald-rapids/imc", "rdb_depth", &["RDB_FULL"]),
    ("emerald-rapids/imc", "rdb", &["RDB_INSERTS", "RDB_NE", "RDB_NOT_EMPTY", "RDB_OCCUPANCY"]),
    ("emerald-rapids/imc", "scoreboard", &["SB_CYCLES_NE", "SB_OCCUPANCY", "SB_INSERTS"]),
    ("emerald-rapids/imc", "starved", &["SB_STRV_ALLOC", "SB_STRV_OCC"]),
    ("emerald-rapids/imc", "prefetches", &["SB_PREF_INSERTS", "SB_PREF_OCCUPANCY"]),
    ("emerald-rapids/imc", "cas", &["CAS_COUNT"]),
    ("emerald-rapids/imc", "cas_length", &["CAS_ISSUED_REQ_LEN"]),
    ("emerald-rapids/imc", "activates", &["ACT_PRIO"]),
    ("emerald-rapids/irp", "bl_drs", &["TxC_BL_DRS_INSERTS", "TxC_BL_DRS_OCCUPANCY"]),
    ("emerald-rapids/irp", "bl_ncb", &["TxC_BL_NCB_INSERTS", "TxC_BL_NCB_OCCUPANCY"]),
    ("emerald-rapids/irp", "bl_ncs", &["TxC_BL_NCS_INSERTS", "TxC_BL_NCS_OCCUPANCY"]),
    ("emerald-rapids/irp", "snoop_responses", &["SNOOP_RESP"]),
    ("emerald-rapids/irp", "p2p", &["P2P_INSERTS", "P2P_OCCUPANCY"]),
    ("emerald-rapids/irp", "faf", &["FAF_INSERTS", "FAF_OCCUPANCY"]),
    ("emerald-rapids/m2m", "direct2upi_overrides", &["DIRECT2UPI_TXN_OVERRIDE", "DIRECT2UPITXN_OVERRIDE"]),
    ("emerald-rapids/m2m", "wr_tracker_posted", &["WR_TRACKER_POSTED_OCCUPANCY", "WR_TRACKER_POSTED_INSERTS"]),
    ("emerald-rapids/m2m", "wr_tracker_nonposted", &["WR_TRACKER_NONPOSTED_OCCUPANCY", "WR_TRACKER_NONPOSTED_INSERTS"]),
    ("emerald-rapids/m2pcie", "rxc", &["RxC_CYCLES_NE", "RxC_INSERTS"]),
    ("emerald-rapids/m3upi", "rxc_vn0", &["RxC_INSERTS_VN0", "RxC_CYCLES_NE_VN0", "RxC_OCCUPANCY_VN0"]),
    ("emerald-rapids/m3upi", "rxc_vn1", &["RxC_INSERTS_VN1", "RxC_CYCLES_NE_VN1", "RxC_OCCUPANCY_VN1"]),
    ("emerald-rapids/m3upi", "txc_ad_flq", &["TxC_AD_FLQ_OCCUPANCY", "TxC_AD_FLQ_CYCLES_NE", "TxC_AD_FLQ_INSERTS"]),
    ("emerald-rapids/m3upi", "txc_ak_flq", &["TxC_AK_FLQ_OCCUPANCY", "TxC_AK_FLQ_INSERTS"]),
    ("emerald-rapids/upi", "rxq", &["RxL_INSERTS", "RxL_OCCUPANCY"]),
    ("emerald-rapids/upi", "tx_flits", &["TxL_FLITS"]),
    ("emerald-rapids/upi", "rx_flits", &["RxL_FLITS"]),
    ("emerald-rapids/upi", "tx_headers", &["TxL_BASIC_HDR_MATCH"]),
    ("emerald-rapids/upi", "rx_headers", &["RxL_BASIC_HDR_MATCH"]),
    ("emerald-rapids/upi", "txq", &["TxL_INSERTS", "TxL_OCCUPANCY"]),
];

/// The name of the signal behind a row's event.
pub fn signal(family: &str, row: &Row) -> String {
    let unit = format!("{family}/{}", row.unit);
    let shared = SIGNALS.iter().find(|(of, _, events)| *of == unit && events.contains(&row.event.as_str()));
    shared.map_or_else(|| row.event.clone(), |(_, signal, _)| (*signal).to_owned())
}

/// Values for the filter registers of the first unit of a kind: register, value.
pub fn filters(unit: &str) -> &'static [(&'static str, u64)] {
    match unit {
        // Opcode 0x182, all states, node 2.
        "cbo" => &[("filter", 0x182 << 23 | 0x1f << 18 | 1 << 12)],
        "ha" => &[("addrmatch0", 0x1234_5000), ("addrmatch1", 0x2345), ("opcodematch", 0x2c)],
        _ => &[],
    }
}

/// The lowest bit that is set, or `otherwise`.
fn lowest(mask: u64, otherwise: u64) -> u64 {
    if mask == 0 { otherwise } else { mask & mask.wrapping_neg() }
}

/// Number of the lowest bit that is set, or `otherwise`.
fn number(mask: u64, otherwise: u64) -> u64 {
    if mask == 0 { otherwise } else { mask.trailing_zeros().into() }
}

/// A tag that the row does not count: as the matching one, of a umask bit that the row leaves out. `None` where the umask is no set of
/// bits, or has none left.
pub fn other(raw: &Raw, family: &str, row: &Row) -> Option<u64> {
    let signal = signal(family, row);
    let bits_of_the_umask = matching(raw, family, row).is_some()
        && raw.has_attribute(&row.unit, &signal, "sub")
        && !matches!(signal.as_str(), "tor" | "llc_lookup" | "LLC_VICTIMS" | "match" | "IMC_WRITES");
    let left = lowest(!row.umask & 0xff, 0);
    if !bits_of_the_umask || row.umask == 0 || left == 0 {
        return None;
    }
    let bits = raw.tag(&row.unit, &signal, &[("sub", 0xff)]);
    Some(matching(raw, family, row)? & !bits | raw.tag(&row.unit, &signal, &[("sub", left)]))
}

/// A tag that the row counts; `None` if the row counts nothing by itself.
pub fn matching(raw: &Raw, family: &str, row: &Row) -> Option<u64> {
    let signal = signal(family, row);
    let tag = |attributes: &[(&str, u64)]| Some(raw.tag(&row.unit, &signal, attributes));
    let (umask, ext) = (row.umask, row.umask_ext);
    match (family, row.unit.as_str(), signal.as_str()) {
        ("emerald-rapids", "cha", "tor") => {
            // Table 2-73; without a queue in the umask a row only narrows.
            if umask == 0 {
                return None;
            }
            let bit = |bit: u32| ext >> bit & 1;
            let opcode = if ext >> 9 & 3 != 0 { ext >> 11 & 0x7ff } else { 0x102 };
            tag(&[
                ("sub", lowest(umask, 1)),
                ("hit", u64::from(bit(0) == 1 && bit(1) == 0)),
                ("target", lowest(ext >> 2 & 0x1f, 1)),
                ("remote", u64::from(bit(8) == 1 && bit(7) == 0)),
                ("opc", opcode),
                ("premorph_opc", opcode),
                ("near", u64::from(bit(22) == 1 && bit(23) == 0)),
                ("nc", bit(24)),
                ("isoc", bit(25)),
                ("l3hit_rsd", bit(26)),
                ("no_addr", bit(27)),
                ("cxl", ext >> 28 & 3),
                ("crababort", bit(30)),
            ])
        }
        ("emerald-rapids", "cha", "llc_lookup") => {
            // Table 2-74: no state counts nothing.
            if umask == 0 {
                return None;
            }
            tag(&[
                ("sub", lowest(umask, 1)),
                ("kind", lowest(ext & 0x1f, 1)),
                ("origin", lowest(ext >> 5 & 0x3e, 2)),
                ("home", lowest(ext >> 11 & 3, 1)),
                ("port", lowest(ext >> 13 & 0xfff, 0)),
            ])
        }
        ("emerald-rapids", "cha", "LLC_VICTIMS") => {
            let (state, filler) = (lowest(umask & 0xf, 1), lowest(umask & 0x30, 0x20));
            tag(&[("sub", state | filler), ("umask_ext", lowest(ext & 0xa0, 0x20))])
        }
        ("emerald-rapids", "cha", "CORE_SNP") => {
            // Intel's names have a number of cores (bits 1:0) and a cause (7:4).
            tag(&[("sub", lowest(umask & 0x3, 0) | lowest(umask & 0xf0, 0))])
        }
        ("emerald-rapids", "m3upi", "WB_OCC_COMPARE") => {
            // Table 2-416: a comparison in bits 6:0, narrowed by bit 7: neither side is zero.
            tag(&[("sub", lowest(umask & 0x7f, 0) | umask & 0x80)])
        }
        ("emerald-rapids", "m2m", "IMC_WRITES") => {
            // Table 2-269: the kind in the umask or in bits 2:0 of the extension, the channel in its bits 4:3.
            tag(&[("sub", lowest(umask, 0)), ("umask_ext", lowest(ext & 7, 0) | lowest(ext & 0x18, 0x8))])
        }
        ("emerald-rapids", "upi", "tx_flits" | "rx_flits") => {
            // Table 2-230: slots 2:0, contents 7:3; one alone counts nothing.
            let (slots, contents) = (umask & 7, umask >> 3);
            if slots == 0 || contents == 0 {
                return None;
            }
            tag(&[("slot", number(slots, 0)), ("kind", number(contents, 0))])
        }
        ("emerald-rapids", "upi", "tx_headers" | "rx_headers") => tag(&[("mc", umask & 7), ("opc", umask >> 4)]),
        ("emerald-rapids", "imc", "cas" | "cas_length" | "activates") => {
            // Tables 2-136 to 2-138: kinds 5:0, pseudo-channels 7:6.
            tag(&[("kind", number(umask & 0x3f, 0)), ("pch", number(umask >> 6, 0))])
        }
        ("emerald-rapids", "imc", "scoreboard") => {
            // The bits of SB_INSERTS (0xD6) and SB_OCCUPANCY (0xD5) differ: block reads and writes are bits 4, 5 and 5, 6.
            let kind = match (row.code, number(umask, 0)) {
                (0xd5, bit @ 5..=7) => bit - 1,
                (0xd6, 7) => 6,
                (_, bit) => bit,
            };
            tag(&[("kind", kind)])
        }
        // The umask is a number of entries.
        ("emerald-rapids", "imc", "rdb_depth") => tag(&[("depth", umask)]),
        ("emerald-rapids", "imc", "prefetches") => tag(&[("pmm", u64::from(umask & 7 == 4))]),
        ("emerald-rapids", "imc", "pmm_rpq" | "pmm_wpq") => {
            let bit = number(umask, 0);
            let [first, second] = if signal == "pmm_rpq" { ["no_gnt", "gnt_wait"] } else { ["cas", "pwr"] };
            tag(&[("sch", bit & 1), (first, u64::from(bit / 2 == 1)), (second, u64::from(bit / 2 == 2))])
        }
        ("emerald-rapids", "irp", "snoop_responses") => {
            tag(&[("result", number(umask & 0xf, 0)), ("snoop", number(umask >> 4 & 7, 0))])
        }
        ("e5-2600", "cbo", "llc_lookup") => {
            // 2.3.7: bit 0 must be set; state E, node 2.
            let bit = |bit: u32| umask >> bit & 1;
            if bit(0) == 0 {
                return None;
            }
            tag(&[("read", bit(1)), ("write", bit(2)), ("snoop", bit(3)), ("state", 2), ("nid", 2)])
        }
        ("e5-2600", "cbo", "tor") => {
            let bit = |bit: u32| umask >> bit & 1;
            tag(&[
                ("opc", 0x182),
                ("irq", 1),
                ("miss", bit(1)),
                ("eviction", bit(2)),
                ("writeback", bit(4)),
                ("nid", 2),
            ])
        }
        ("e5-2600", "cbo", "llc_victim") => tag(&[("state", 3 - number(umask & 0xf, 0)), ("nid", 2)]),
        ("e5-2600", "ha", "packets") => tag(&[("opc", 0x2c), ("lo_addr", 0x1234_5000 >> 6), ("hi_addr", 0x2345)]),
        ("e5-2600", "pcu", "cores") => tag(&[("state", umask >> 6)]),
        ("e5-2600", "pcu", "frequency") | ("e5-2600", "qpi", "packets") => tag(&[]),
        _ => {
            // One bit of each mask.
            let masks =
                [("sub", umask), ("umask_ext", ext & !0x0080_0000), ("ch_mask", row.ch_mask), ("fc_mask", row.fc_mask)];
            let set = masks.into_iter().filter(|&(_, mask)| mask != 0);
            let attributes: Vec<(&str, u64)> = set.map(|(name, mask)| (name, lowest(mask, 0))).collect();
            let known: Vec<_> =
                attributes.into_iter().filter(|(name, _)| raw.has_attribute(&row.unit, &signal, name)).collect();
            tag(&known)
        }
    }
}
