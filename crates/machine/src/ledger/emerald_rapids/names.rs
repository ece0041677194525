//! What the guide's event names mean, in terms of what happened: written by hand from the event texts of chapter 2 and, where the
//! guide has no row, from Intel's event file; without the catalogue's masks and decode rows.

use super::deeds::{DEEDS, LEVELS};
use super::{Snapshot, mesh_names, requests};

/// An event's count from the beginning of time up to the snapshot.
pub fn value(
    at: &Snapshot,
    unit: &str,
    instance: u16,
    event: &str,
    subevent: &str,
    filters: &[(&str, u64)],
) -> Option<u64> {
    let per_socket = at.shape.instances(unit);
    if per_socket == 0 || instance >= per_socket * at.shape.sockets {
        return None;
    }
    // The account does not tell threads apart.
    if filters.iter().any(|&(name, _)| name == "tid") {
        return None;
    }
    let (socket, index) = (instance / per_socket, instance % per_socket);
    let cycle = at.clocks.of_unit(unit).cycles(at.now);
    match (unit, event) {
        (_, "CLOCKTICKS" | "CMS_CLOCKTICKS" | "Clockticks" | "DCLK_FIXED" | "UCLK_FIXED") => return Some(cycle),
        (_, "FRCTR_IOCLK" | "FRCTR_DCLK") => return Some(cycle),
        ("cha", "TOR_INSERTS" | "TOR_OCCUPANCY") => {
            let opcode = filters.iter().find(|&&(name, _)| name == "opc").map(|&(_, value)| value);
            let cells = &at.cells.agents[usize::from(instance)];
            let (entries, cycles) = requests::tor(cells, cycle, subevent, opcode, &[])?;
            return Some(if event == "TOR_INSERTS" { entries } else { cycles });
        }
        ("upi", "TxL_FLITS" | "RxL_FLITS" | "TxL_BASIC_HDR_MATCH" | "RxL_BASIC_HDR_MATCH") => {
            return links(at, instance, event, subevent, filters);
        }
        ("cha", "LLC_LOOKUP") => return requests::lookups(&at.cells.agents[usize::from(instance)], subevent),
        ("cha", "LLC_VICTIMS") => return requests::victims(&at.cells.agents[usize::from(instance)], subevent),
        ("cha", _) if event.starts_with("RxC_") => {
            if let Some(value) = at.cells.agents[usize::from(instance)].rejects.value(event, subevent) {
                return Some(value);
            }
        }
        ("imc", "CAS_COUNT" | "CAS_ISSUED_REQ_LEN" | "ACT_PRIO") => return commands(at, instance, event, subevent),
        _ => {}
    }
    if let Some(value) = mesh_names::value(at, unit, socket, index, event, subevent) {
        return Some(value);
    }
    let sum = |names: &[&str]| {
        let mut sum = 0;
        for name in names {
            sum += single(at, unit, socket, index, event, name)?;
        }
        Some(sum)
    };
    match composite(unit, event, subevent) {
        Some(parts) => sum(parts),
        None => single(at, unit, socket, index, event, subevent),
    }
}

/// Subevents that are sums of others, of the same event.
fn composite(unit: &str, event: &str, subevent: &str) -> Option<&'static [&'static str]> {
    Some(match (unit, event, subevent) {
        ("cha", "REQUESTS", "READS") => &["READS_LOCAL", "READS_REMOTE"],
        ("cha", "REQUESTS", "WRITES") => &["WRITES_LOCAL", "WRITES_REMOTE"],
        ("cha", "REQUESTS", "INVITOE") => &["INVITOE_LOCAL", "INVITOE_REMOTE"],
        ("cha", "CORE_SNP", "ANY_ONE") => &["CORE_ONE", "EVICT_ONE", "EXT_ONE", "REMOTE_ONE"],
        ("cha", "CORE_SNP", "ANY_GTONE") => &["CORE_GTONE", "EVICT_GTONE", "EXT_GTONE", "REMOTE_GTONE"],
        ("cha", "SNOOPS_SENT", "ALL") => &["DIRECT_LOCAL"],
        ("cha", "SNOOPS_SENT", "LOCAL") => &["DIRECT_LOCAL"],
        ("cha", "XPT_PREF", "DROP0" | "DROP0_NOCRD") => &["DROP0"],
        ("cha", "XPT_PREF", "DROP1" | "DROP1_NOCRD") => &["DROP1"],
        ("m2m", "IMC_READS", "CH0_ALL" | "CH0_TO_DDR_AS_MEM" | "CH0.TO_NM1LM") => &["CH0_NORMAL"],
        ("m2m", "IMC_READS", "CH1_ALL" | "CH1_TO_DDR_AS_MEM" | "CH1.TO_NM1LM") => &["CH1_NORMAL"],
        ("m2m", "IMC_READS", "NORMAL" | "ALL" | "TO_DDR_AS_MEM" | "TO_NM1LM") => &["CH0_NORMAL", "CH1_NORMAL"],
        ("m2m", "IMC_WRITES", "FULL") => &["CH0_FULL", "CH1_FULL"],
        ("m2m", "IMC_WRITES", "PARTIAL") => &["CH0_PARTIAL", "CH1_PARTIAL"],
        ("m2m", "IMC_WRITES", "ALL" | "TO_DDR_AS_MEM" | "NI") => {
            &["CH0_FULL", "CH1_FULL", "CH0_PARTIAL", "CH1_PARTIAL"]
        }
        ("m2m", "IMC_WRITES", "CH0_ALL" | "CH0_TO_DDR_AS_MEM" | "CH0_NI" | "CH0.NI") => &["CH0_FULL", "CH0_PARTIAL"],
        ("m2m", "IMC_WRITES", "CH1_ALL" | "CH1_TO_DDR_AS_MEM" | "CH1_NI" | "CH1.NI") => &["CH1_FULL", "CH1_PARTIAL"],
        ("m2m", "DIRECTORY_LOOKUP", "ANY") => &["STATE_I", "STATE_S", "STATE_A"],
        ("m2m", "DIRECTORY_UPDATE", "I2S") => &["I_TO_S_HIT_NON_PMM"],
        ("m2m", "DIRECTORY_UPDATE", "I2A") => &["I_TO_A_HIT_NON_PMM"],
        ("m2m", "DIRECTORY_UPDATE", "S2A") => &["S_TO_A_HIT_NON_PMM"],
        ("m2m", "DIRECTORY_UPDATE", "A2S") => &["A_TO_S_HIT_NON_PMM"],
        ("m2m", "DIRECTORY_UPDATE", "S2I") => &["S_TO_I_HIT_NON_PMM"],
        ("m2m", "DIRECTORY_UPDATE", "A2I") => &["A_TO_I_HIT_NON_PMM"],
        ("m2m", "DIRECTORY_UPDATE", "ANY" | "HIT_NON_PMM") => &[
            "I_TO_S_HIT_NON_PMM",
            "I_TO_A_HIT_NON_PMM",
            "S_TO_A_HIT_NON_PMM",
            "A_TO_S_HIT_NON_PMM",
            "S_TO_I_HIT_NON_PMM",
            "A_TO_I_HIT_NON_PMM",
        ],
        ("m2m", "PREFCAM_INSERTS", "XPT_ALLCH") => &["CH0_XPT", "CH1_XPT"],
        ("m2m", "PREFCAM_INSERTS", "UPI_ALLCH") => &["CH0_UPI", "CH1_UPI"],
        ("m2m", "PREFCAM_OCCUPANCY", "ALLCH") => &["CH0", "CH1"],
        ("m2m", "PREFCAM_DEALLOCS", "ALL_CH0") => &["RSP_CH0"],
        ("m2m", "PREFCAM_DEALLOCS", "ALL_CH1") => &["RSP_CH1"],
        ("imc", "ACT_COUNT" | "PRE_COUNT", "RD") => &["RD_PCH0", "RD_PCH1"],
        ("imc", "ACT_COUNT" | "PRE_COUNT", "WR") => &["WR_PCH0", "WR_PCH1"],
        ("imc", "ACT_COUNT" | "PRE_COUNT", "UFILL") => &["UFILL_PCH0", "UFILL_PCH1"],
        ("imc", "PRE_COUNT", "PGT") => &["PGT_PCH0", "PGT_PCH1"],
        ("imc", "ACT_COUNT", "ALL") => &["RD_PCH0", "RD_PCH1", "WR_PCH0", "WR_PCH1", "UFILL_PCH0", "UFILL_PCH1"],
        ("imc", "PRE_COUNT", "ALL") => {
            &["RD_PCH0", "RD_PCH1", "WR_PCH0", "WR_PCH1", "UFILL_PCH0", "UFILL_PCH1", "PGT_PCH0", "PGT_PCH1"]
        }
        ("imc", "DRAM_PRE_ALL", "ALL") => &["PCH0", "PCH1"],
        ("imc", "DRAM_REFRESH", "HIGH" | "HIGH_ALL") => &["HIGH_PCH0", "HIGH_PCH1"],
        ("imc", "DRAM_REFRESH", "PANIC" | "PANIC_ALL") => &["PANIC_PCH0", "PANIC_PCH1"],
        ("imc", "RDB_INSERTS", "ALL") => &["PCH0", "PCH1"],
        ("iio", _, "MEM_READ.ALL_PARTS") => &READ_PARTS,
        ("iio", _, "MEM_WRITE.ALL_PARTS") => &WRITE_PARTS,
        ("iio", "COMP_BUF_INSERTS" | "COMP_BUF_OCCUPANCY", "CMPD.ALL_PARTS") => &COMPLETION_PARTS,
        ("iio", "IOMMU0", "ALL_LOOKUPS") => &["FIRST_LOOKUPS"],
        ("iio", "REQ_FROM_PCIE_CL_CMPL", "NP") => &["NP"],
        ("m3upi", "XPT_PFTCH", "FLITTED") => &["ARRIVED"],
        ("m3upi", "RxC_HDR_FLIT_NOT_SENT" | "RxC_DATA_FLITS_NOT_SENT", "NO_TXQ_CRD" | "NO_TXQ") => &["ALL"],
        ("cxlcm", "TxC_FLITS" | "RxC_FLITS", "PROT") => &["VALID"],
        ("m3upi", "RxC_HDR_FLITS_SENT", "SLOTS_1") => &["1_MSG"],
        ("m3upi", "RxC_FLITS_SLOT_BL", "NEED_DATA") => &["ALL"],
        _ => return None,
    })
}

const READ_PARTS: [&str; 8] = [
    "MEM_READ.PART0",
    "MEM_READ.PART1",
    "MEM_READ.PART2",
    "MEM_READ.PART3",
    "MEM_READ.PART4",
    "MEM_READ.PART5",
    "MEM_READ.PART6",
    "MEM_READ.PART7",
];
const WRITE_PARTS: [&str; 8] = [
    "MEM_WRITE.PART0",
    "MEM_WRITE.PART1",
    "MEM_WRITE.PART2",
    "MEM_WRITE.PART3",
    "MEM_WRITE.PART4",
    "MEM_WRITE.PART5",
    "MEM_WRITE.PART6",
    "MEM_WRITE.PART7",
];
const COMPLETION_PARTS: [&str; 8] =
    ["CMPD.PART0", "CMPD.PART1", "CMPD.PART2", "CMPD.PART3", "CMPD.PART4", "CMPD.PART5", "CMPD.PART6", "CMPD.PART7"];

/// What a level's neighbours among the events take from it: entries, their sum over cycles, or the cycles with any.
enum Take {
    Entries,
    Occupied,
    Nonempty,
    Full,
}

/// Events that take something from a level of another event's name.
fn of_level(unit: &str, event: &str, subevent: &str) -> Option<(&'static str, Take)> {
    use Take::{Entries, Full, Nonempty, Occupied};
    let by_queue = |names: [&'static str; 2]| match subevent {
        "PCH0" | "CH0" => Some(names[0]),
        "PCH1" | "CH1" => Some(names[1]),
        _ => None,
    };
    let rpq = ["imc/RPQ_INSERTS.PCH0", "imc/RPQ_INSERTS.PCH1"];
    let wpq = ["imc/WPQ_INSERTS.PCH0", "imc/WPQ_INSERTS.PCH1"];
    let posted = ["m2m/WR_TRACKER_POSTED_INSERTS.CH0", "m2m/WR_TRACKER_POSTED_INSERTS.CH1"];
    let nonposted = ["m2m/WR_TRACKER_NONPOSTED_INSERTS.CH0", "m2m/WR_TRACKER_NONPOSTED_INSERTS.CH1"];
    Some(match (unit, event) {
        ("imc", "RPQ_INSERTS") => (by_queue(rpq)?, Entries),
        ("imc", "RPQ_CYCLES_NE") => (by_queue(rpq)?, Nonempty),
        ("imc", "RPQ_OCCUPANCY_PCH0") => (rpq[0], Occupied),
        ("imc", "RPQ_OCCUPANCY_PCH1") => (rpq[1], Occupied),
        ("imc", "RPQ_CYCLES_FULL_PCH0") => (rpq[0], Full),
        ("imc", "RPQ_CYCLES_FULL_PCH1") => (rpq[1], Full),
        ("imc", "WPQ_INSERTS") => (by_queue(wpq)?, Entries),
        ("imc", "WPQ_CYCLES_NE") => (by_queue(wpq)?, Nonempty),
        ("imc", "WPQ_OCCUPANCY_PCH0") => (wpq[0], Occupied),
        ("imc", "WPQ_OCCUPANCY_PCH1") => (wpq[1], Occupied),
        ("imc", "WPQ_CYCLES_FULL_PCH0") => (wpq[0], Full),
        ("imc", "WPQ_CYCLES_FULL_PCH1") => (wpq[1], Full),
        ("m2m", "WR_TRACKER_POSTED_INSERTS") => (by_queue(posted)?, Entries),
        ("m2m", "WR_TRACKER_POSTED_OCCUPANCY") => (by_queue(posted)?, Occupied),
        ("m2m", "WR_TRACKER_NE") => (by_queue(posted)?, Nonempty),
        ("m2m", "WR_TRACKER_NONPOSTED_INSERTS") => (by_queue(nonposted)?, Entries),
        ("m2m", "WR_TRACKER_NONPOSTED_OCCUPANCY") => (by_queue(nonposted)?, Occupied),
        ("imc", "RDB_INSERTS") => (by_queue(["imc/RDB_INSERTS.PCH0", "imc/RDB_INSERTS.PCH1"])?, Entries),
        ("imc", "RDB_NE") => (by_queue(["imc/RDB_INSERTS.PCH0", "imc/RDB_INSERTS.PCH1"])?, Nonempty),
        ("imc", "RDB_OCCUPANCY" | "RDB_NOT_EMPTY") => return None,
        ("irp", "FAF_INSERTS") => ("irp/FAF_INSERTS", Entries),
        ("irp", "FAF_OCCUPANCY") => ("irp/FAF_INSERTS", Occupied),
        ("irp", "TxC_BL_DRS_INSERTS") => ("irp/TxC_BL_DRS_INSERTS", Entries),
        ("irp", "TxC_BL_DRS_OCCUPANCY") => ("irp/TxC_BL_DRS_INSERTS", Occupied),
        ("irp", "TxC_BL_NCB_INSERTS") => ("irp/TxC_BL_NCB_INSERTS", Entries),
        ("irp", "TxC_BL_NCB_OCCUPANCY") => ("irp/TxC_BL_NCB_INSERTS", Occupied),
        ("irp", "TxC_BL_NCS_INSERTS") => ("irp/TxC_BL_NCS_INSERTS", Entries),
        ("irp", "TxC_BL_NCS_OCCUPANCY") => ("irp/TxC_BL_NCS_INSERTS", Occupied),
        ("m2pcie", "RxC_INSERTS" | "RxC_CYCLES_NE") => {
            let name = match subevent {
                "CHA_IDI" => "m2pcie/RxC_INSERTS.CHA_IDI",
                "CHA_NCB" => "m2pcie/RxC_INSERTS.CHA_NCB",
                "CHA_NCS" => "m2pcie/RxC_INSERTS.CHA_NCS",
                _ => return None,
            };
            (name, if event == "RxC_INSERTS" { Entries } else { Nonempty })
        }
        ("m3upi", "RxC_INSERTS_VN0" | "RxC_OCCUPANCY_VN0" | "RxC_CYCLES_NE_VN0") => {
            let name = match subevent {
                "AD_REQ" => "m3upi/RxC_INSERTS_VN0.AD_REQ",
                "AD_SNP" => "m3upi/RxC_INSERTS_VN0.AD_SNP",
                "AD_RSP" => "m3upi/RxC_INSERTS_VN0.AD_RSP",
                "BL_RSP" => "m3upi/RxC_INSERTS_VN0.BL_RSP",
                "BL_WB" => "m3upi/RxC_INSERTS_VN0.BL_WB",
                _ => return None,
            };
            let take = match event {
                "RxC_INSERTS_VN0" => Entries,
                "RxC_OCCUPANCY_VN0" => Occupied,
                _ => Nonempty,
            };
            (name, take)
        }
        ("m3upi", "TxC_AD_FLQ_INSERTS" | "TxC_AD_FLQ_OCCUPANCY" | "TxC_AD_FLQ_CYCLES_NE") => {
            let name = match subevent {
                "VN0_REQ" => "m3upi/TxC_AD_FLQ_INSERTS.VN0_REQ",
                "VN0_SNP" => "m3upi/TxC_AD_FLQ_INSERTS.VN0_SNP",
                "VN0_RSP" => "m3upi/TxC_AD_FLQ_INSERTS.VN0_RSP",
                _ => return None,
            };
            let take = match event {
                "TxC_AD_FLQ_INSERTS" => Entries,
                "TxC_AD_FLQ_OCCUPANCY" => Occupied,
                _ => Nonempty,
            };
            (name, take)
        }
        ("m3upi", "RxC_VNA_CRD") if subevent == "ANY_IN_USE" => ("m3upi/RxC_CRD_OCC.VNA_IN_USE", Nonempty),
        ("upi", "TxL_INSERTS") => ("upi/TxL_INSERTS", Entries),
        ("upi", "TxL_OCCUPANCY") => ("upi/TxL_INSERTS", Occupied),
        ("upi", "RxL_INSERTS" | "RxL_OCCUPANCY") => {
            let name = match subevent {
                "SLOT0" => "upi/RxL_INSERTS.SLOT0",
                "SLOT1" => "upi/RxL_INSERTS.SLOT1",
                "SLOT2" => "upi/RxL_INSERTS.SLOT2",
                _ => return None,
            };
            (name, if event == "RxL_INSERTS" { Entries } else { Occupied })
        }
        ("cha", "RxC_INSERTS" | "RxC_OCCUPANCY") => {
            let take = if event == "RxC_INSERTS" { Entries } else { Occupied };
            let name = match subevent {
                "IRQ" => "cha/RxC_INSERTS.IRQ",
                "IPQ" => "cha/RxC_INSERTS.IPQ",
                "RRQ" => "cha/RxC_INSERTS.RRQ",
                "WBQ" => "cha/RxC_INSERTS.WBQ",
                _ => return None,
            };
            (name, take)
        }
        _ => return None,
    })
}

/// The index of the entry whose first name is `unit/event.subevent`.
fn position(table: &[&str], unit: &str, event: &str, subevent: &str) -> Option<usize> {
    let fits = |entry: &&str| {
        let rest = entry.strip_prefix(unit).and_then(|rest| rest.strip_prefix('/'));
        let rest = rest.and_then(|rest| rest.strip_prefix(event));
        let rest = match (rest, subevent) {
            (Some(rest), "") => Some(rest),
            (Some(rest), subevent) => rest.strip_prefix('.').and_then(|rest| rest.strip_prefix(subevent)),
            (None, _) => None,
        };
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['+', '|', '!', '?']))
    };
    table.iter().position(fits)
}

fn single(at: &Snapshot, unit: &str, socket: u16, index: u16, event: &str, subevent: &str) -> Option<u64> {
    if let Some((name, take)) = of_level(unit, event, subevent) {
        let (_, rest) = name.split_once('/')?;
        let (of, sub) = rest.split_once('.').unwrap_or((rest, ""));
        let gauge = at.level(position(LEVELS, unit, of, sub)?, socket, index);
        return Some(match take {
            Take::Entries => gauge.entries,
            Take::Occupied => gauge.occupied,
            Take::Nonempty => gauge.nonempty,
            Take::Full => gauge.full,
        });
    }
    if let Some(deed) = position(DEEDS, unit, event, subevent) {
        return Some(at.deed(deed, socket, index));
    }
    position(LEVELS, unit, event, subevent).map(|level| at.level(level, socket, index).occupied)
}

/// Column commands and activates of a channel (Tables 2-164 to 2-166 and their neighbours).
fn commands(at: &Snapshot, instance: u16, event: &str, subevent: &str) -> Option<u64> {
    let cells = at.cells.channels.get(usize::from(instance))?;
    let totals = if event == "ACT_PRIO" { &cells.activates } else { &cells.columns };
    let of = |pseudo: &[usize], kinds: &[usize]| {
        pseudo.iter().map(|&pch| kinds.iter().map(|&kind| totals[pch][kind]).sum::<u64>()).sum::<u64>()
    };
    let (both, every) = ([0, 1], [0, 1, 2, 3, 4, 5]);
    Some(match (event, subevent) {
        (_, "PCH0") => of(&[0], &every),
        (_, "PCH1") => of(&[1], &every),
        // Kinds: regular read, the same with precharge, underfill, the same with precharge, write, the same with precharge.
        ("CAS_COUNT", "RD_REG") => of(&both, &[0]),
        ("CAS_COUNT", "RD_PRE_REG") => of(&both, &[1]),
        ("CAS_COUNT", "RD_UNDERFILL") => of(&both, &[2]),
        ("CAS_COUNT", "RD_PRE_UNDERFILL") => of(&both, &[3]),
        ("CAS_COUNT", "RD") => of(&both, &[0, 1, 2, 3]),
        ("CAS_COUNT", "WR_NONPRE") => of(&both, &[4]),
        ("CAS_COUNT", "WR_PRE") => of(&both, &[5]),
        ("CAS_COUNT", "WR") => of(&both, &[4, 5]),
        ("CAS_COUNT", "ALL") => of(&both, &every),
        // A subchannel moves a whole line in one burst of 16: every command is of 64 bytes.
        ("CAS_ISSUED_REQ_LEN", "RD_64B") => of(&both, &[0, 1]),
        ("CAS_ISSUED_REQ_LEN", "RD_UFILL_64B") => of(&both, &[2, 3]),
        ("CAS_ISSUED_REQ_LEN", "WR_64B") => of(&both, &[4, 5]),
        ("CAS_ISSUED_REQ_LEN", "RD_32B" | "RD_UFILL_32B" | "WR_32B") => 0,
        // Kinds: read normal, critical, starved, write normal, critical, starved.
        ("ACT_PRIO", "RD_NORMAL") => of(&both, &[0]),
        ("ACT_PRIO", "RD_CRITICAL") => of(&both, &[1]),
        ("ACT_PRIO", "RD_STARVED") => of(&both, &[2]),
        ("ACT_PRIO", "WR_NORMAL") => of(&both, &[3]),
        ("ACT_PRIO", "WR_CRITICAL") => of(&both, &[4]),
        ("ACT_PRIO", "WR_STARVED") => of(&both, &[5]),
        _ => return None,
    })
}

/// Slots and headers of a link (Tables 2-317 to 2-320): a line is nine data slots, three in each slot of a flit; a header takes one
/// slot, always the first.
fn links(at: &Snapshot, instance: u16, event: &str, subevent: &str, filters: &[(&str, u64)]) -> Option<u64> {
    let headers = at.cells.links.get(usize::from(instance))?;
    let headers = if event.starts_with("TxL") { &headers.sent } else { &headers.received };
    let of_class = |class: usize| headers[class].iter().sum::<u64>();
    let opcode = || filters.iter().find(|(name, _)| *name == "opc").map(|&(_, value)| value as usize % 16);
    let (requests, snoops, plain, data, writebacks) =
        (of_class(REQUESTS), of_class(SNOOPS), of_class(RESPONSES), of_class(DATA), of_class(WRITEBACKS));
    let messages = requests + snoops + plain + data + writebacks;
    Some(match subevent {
        // A slot alone, or a kind without a slot, counts nothing.
        "SLOT0" | "SLOT1" | "SLOT2" | "DATA" | "LLCRD" | "NULL" | "LLCTRL" | "PROTHDR" => 0,
        "ALL_DATA" => 9 * (data + writebacks),
        "ALL_PROTHDR" | "NON_DATA" => messages,
        "ALL_LLCRD" | "ALL_NULL" | "IDLE" | "ALL_LLCTRL" => 0,
        "REQ" => requests,
        "SNP" => snoops,
        "RSP_NODATA" => plain,
        "RSP_DATA" => data,
        "WB" => writebacks,
        "NCB" | "NCS" => 0,
        "REQ_OPC" => headers[REQUESTS][opcode()?],
        "SNP_OPC" => headers[SNOOPS][opcode()?],
        "RSP_NODATA_OPC" => headers[RESPONSES][opcode()?],
        "RSP_DATA_OPC" => headers[DATA][opcode()?],
        "WB_OPC" => headers[WRITEBACKS][opcode()?],
        "NCB_OPC" | "NCS_OPC" => 0,
        "RSPI" => headers[RESPONSES][0x2],
        "RSPCNFLT" => headers[RESPONSES][0xA],
        _ => return None,
    })
}

/// Message classes, by their number in a header (Table 3-6).
const REQUESTS: usize = 0;
const SNOOPS: usize = 1;
const RESPONSES: usize = 2;
const DATA: usize = 4;
const WRITEBACKS: usize = 5;
