//! What the guide's event names mean, in terms of what happened: written by hand from the event texts of chapter 2 and, where the
//! guide has no row, from Intel's event file; without the catalogue's masks and decode rows.

use super::deeds::{DEEDS, LEVELS};
use super::{Gauge, Snapshot, device_names, link_names, mesh_names, requests};
use crate::ledger::Question;

/// An event's count from the beginning of time up to the snapshot.
pub fn value(at: &Snapshot, instance: u16, question: Question<'_>) -> Option<u64> {
    let Question { unit, event, subevent, .. } = question;
    let per_socket = at.shape.instances(unit);
    if per_socket == 0 || instance >= per_socket * at.shape.sockets {
        return None;
    }
    // The account does not tell threads apart.
    if question.filter("tid").is_some() {
        return None;
    }
    let (socket, index) = (instance / per_socket, instance % per_socket);
    let cycle = at.clocks.of_unit(unit).cycles(at.now);
    match (unit, event) {
        (_, "CLOCKTICKS" | "CMS_CLOCKTICKS" | "Clockticks" | "DCLK_FIXED" | "UCLK_FIXED") => return Some(cycle),
        (_, "FRCTR_IOCLK" | "FRCTR_DCLK") => return Some(cycle),
        ("cha", "TOR_INSERTS" | "TOR_OCCUPANCY") => {
            let cells = &at.cells.agents[usize::from(instance)];
            let (entries, cycles) = requests::tor(cells, cycle, subevent, question.filter("opc"), &[])?;
            return Some(if event == "TOR_INSERTS" { entries } else { cycles });
        }
        ("upi", "TxL_FLITS" | "RxL_FLITS" | "TxL_BASIC_HDR_MATCH" | "RxL_BASIC_HDR_MATCH") => {
            return link_names::slots(at, instance, question);
        }
        ("irp", "SNOOP_RESP") => return device_names::snoop_answers(at, instance, subevent),
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
    let parts = composite(unit, event, subevent)
        .or_else(|| link_names::composite(unit, event, subevent))
        .or_else(|| device_names::composite(unit, event, subevent));
    match parts {
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
        ("m2m", "PREFCAM_RESP_MISS", "ALLCH") => &["CH0", "CH1"],
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
        ("imc", "POWER_CRIT_THROTTLE_CYCLES", "SLOT1") => &["SLOT0"],
        ("imc", "DRAM_PRE_ALL", "ALL") => &["PCH0", "PCH1"],
        ("imc", "DRAM_REFRESH", "HIGH" | "HIGH_ALL") => &["HIGH_PCH0", "HIGH_PCH1"],
        ("imc", "DRAM_REFRESH", "PANIC" | "PANIC_ALL") => &["PANIC_PCH0", "PANIC_PCH1"],
        ("imc", "RDB_INSERTS", "ALL") => &["PCH0", "PCH1"],
        ("iio", _, "MEM_READ.ALL_PARTS") => &READ_PARTS,
        ("iio", _, "MEM_WRITE.ALL_PARTS") => &WRITE_PARTS,
        ("iio", "COMP_BUF_INSERTS" | "COMP_BUF_OCCUPANCY", "CMPD.ALL_PARTS") => &COMPLETION_PARTS,
        ("iio", "IOMMU0", "ALL_LOOKUPS") => &["FIRST_LOOKUPS"],
        ("iio", "REQ_FROM_PCIE_CL_CMPL", "NP") => &["NP"],
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
#[derive(Debug, Clone, Copy)]
pub enum Take {
    /// Entries that came.
    Entries,
    /// Entries, added up over cycles.
    Occupied,
    /// Cycles with any.
    Nonempty,
    /// Cycles without room for more.
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
        let entry = entry.strip_prefix('?').unwrap_or(entry);
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
    let of = |name: &'static str, take| {
        let name = name.split_once('/').map_or(name, |(_, rest)| rest);
        let (of, sub) = name.split_once('.').unwrap_or((name, ""));
        (of, sub, take)
    };
    let level = of_level(unit, event, subevent)
        .map(|(name, take)| of(name, take))
        .or_else(|| link_names::of_level(unit, event, subevent))
        .or_else(|| device_names::of_level(unit, event, subevent));
    if let Some((of, sub, take)) = level {
        return Some(taken(at.level(position(LEVELS, unit, of, sub)?, socket, index), take));
    }
    let of_memory = subevent.starts_with("MEM_");
    if let Some(transactions) = event.strip_prefix("DATA_REQ_").filter(|_| of_memory) {
        // Double words follow from requests: a line has sixteen, a core writes a doorbell of two.
        let words = if transactions == "BY_CPU" && subevent.starts_with("MEM_WRITE") { 2 } else { 16 };
        return Some(words * single(at, unit, socket, index, &format!("TXN_REQ_{transactions}"), subevent)?);
    }
    if let Some(deed) = position(DEEDS, unit, event, subevent) {
        return Some(at.deed(deed, socket, index));
    }
    let level = position(LEVELS, unit, event, subevent)?;
    let take = if LEVELS[level].starts_with('?') { Take::Nonempty } else { Take::Occupied };
    Some(taken(at.level(level, socket, index), take))
}

const fn taken(gauge: &Gauge, take: Take) -> u64 {
    match take {
        Take::Entries => gauge.entries,
        Take::Occupied => gauge.occupied,
        Take::Nonempty => gauge.nonempty,
        Take::Full => gauge.full,
    }
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
