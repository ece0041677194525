//! What the event names mean, in terms of what happened: written by hand from the public event lists, without the
//! catalogue's masks and decode rows.

use pericore_facts::nehalem::{CHANNELS, Class, Port, Reply, Source, TO_HUB, TO_SOCKET, Tracker};
use pericore_facts::{Command, LineState};

use super::cells::SocketCells;
use super::shape::Opcodes;
use crate::Question;
use crate::census::Census;

/// The events that [`value`] knows, with their subevents.
pub const NAMES: &[(&str, &[&str])] = &[
    ("CLK_UNHALTED", &[]),
    ("GQ_CYCLES_FULL", TRACKERS),
    ("GQ_CYCLES_NOT_EMPTY", TRACKERS),
    (
        "GQ_ALLOC",
        &[
            "READ_TRACKER",
            "RT_LLC_MISS",
            "RT_TO_LLC_RESP",
            "RT_TO_RTID_ACQUIRED",
            "WT_TO_RTID_ACQUIRED",
            "WRITE_TRACKER",
            "PEER_PROBE_TRACKER",
        ],
    ),
    ("GQ_DATA_FROM", &["QPI", "QMC", "LLC", "CORES_02", "CORES_13"]),
    ("GQ_DATA_TO", &["QPI_QMC", "LLC", "CORES"]),
    ("SNP_RESP_TO_LOCAL_HOME", &["I_STATE", "S_STATE", "FWD_S_STATE", "FWD_I_STATE", "CONFLICT", "WB"]),
    ("SNP_RESP_TO_REMOTE_HOME", &["I_STATE", "S_STATE", "FWD_S_STATE", "FWD_I_STATE", "CONFLICT", "WB", "HITM"]),
    ("LLC_HITS", LOOKUPS),
    ("LLC_MISS", LOOKUPS),
    ("LLC_LINES_IN", &["M_STATE", "E_STATE", "S_STATE", "F_STATE", "ANY"]),
    ("LLC_LINES_OUT", &["M_STATE", "E_STATE", "S_STATE", "I_STATE", "F_STATE", "ANY"]),
    ("QHL_REQUESTS", &["IOH_READS", "IOH_WRITES", "REMOTE_READS", "REMOTE_WRITES", "LOCAL_READS", "LOCAL_WRITES"]),
    ("QHL_CYCLES_FULL", SOURCES),
    ("QHL_CYCLES_NOT_EMPTY", SOURCES),
    ("QHL_OCCUPANCY", SOURCES),
    ("QHL_ADDRESS_CONFLICTS", &["2WAY", "3WAY"]),
    ("QHL_CONFLICT_CYCLES", SOURCES),
    ("QHL_TO_QMC_BYPASS", &[]),
    ("QMC_NORMAL_FULL", BY_DIRECTION),
    ("QMC_ISOC_FULL", BY_DIRECTION),
    ("QMC_BUSY", BY_DIRECTION),
    ("QMC_OCCUPANCY", &["CH0", "CH1", "CH2"]),
    ("IMC_ISOC_OCCUPANCY", BY_CHANNEL),
    ("QMC_NORMAL_READS", BY_CHANNEL),
    ("QMC_HIGH_PRIORITY_READS", BY_CHANNEL),
    ("QMC_CRITICAL_PRIORITY_READS", BY_CHANNEL),
    ("QMC_PRIORITY_UPDATES", BY_CHANNEL),
    ("QMC_CANCEL", BY_CHANNEL),
    (
        "QMC_WRITES",
        &["FULL_CH0", "FULL_CH1", "FULL_CH2", "PARTIAL_CH0", "PARTIAL_CH1", "PARTIAL_CH2", "FULL_ANY", "PARTIAL_ANY"],
    ),
    ("QHL_FRC_ACK_CNFLTS", &["LOCAL"]),
    ("ADDR_OPCODE_MATCH", SOURCES),
    ("QPI_TX_STALLED_SINGLE_FLIT", &["HOME_LINK_0", "SNOOP_LINK_0", "NDR_LINK_0", "NDR_LINK_1", "LINK_0", "LINK_1"]),
    (
        "QPI_TX_STALLED_MULTI_FLIT",
        &["DRS_LINK_0", "DRS_LINK_1", "NCB_LINK_0", "NCB_LINK_1", "NCS_LINK_1", "LINK_0", "LINK_1"],
    ),
    ("QPI_TX_HEADER", &["BUSY_LINK_0", "BUSY_LINK_1"]),
    ("QPI_RX_NO_PPT_CREDIT", &["STALLS_LINK_0", "STALLS_LINK_1"]),
    ("DRAM_OPEN", &["CH0", "CH1", "CH2"]),
    ("DRAM_PAGE_CLOSE", &["CH0", "CH1", "CH2"]),
    ("DRAM_PAGE_MISS", &["CH0", "CH1", "CH2"]),
    ("DRAM_READ_CAS", COLUMNS),
    ("DRAM_WRITE_CAS", COLUMNS),
    ("DRAM_REFRESH", &["CH0", "CH1", "CH2"]),
    ("DRAM_PRE_ALL", &["CH0", "CH1", "CH2"]),
];

const COLUMNS: &[&str] = &["CH0", "CH1", "CH2", "AUTOPRE_CH0", "AUTOPRE_CH1", "AUTOPRE_CH2"];
const TRACKERS: &[&str] = &["READ_TRACKER", "WRITE_TRACKER", "PEER_PROBE_TRACKER"];
const LOOKUPS: &[&str] = &["READ", "WRITE", "PROBE", "ANY"];
const SOURCES: &[&str] = &["IOH", "REMOTE", "LOCAL"];
const BY_CHANNEL: &[&str] = &["CH0", "CH1", "CH2", "ANY"];
const BY_DIRECTION: &[&str] = &["READ_CH0", "READ_CH1", "READ_CH2", "WRITE_CH0", "WRITE_CH1", "WRITE_CH2"];

/// An event's count in a socket from the beginning of time up to a snapshot, so many uncore cycles later.
pub fn value(cells: &SocketCells, cycles: u64, opcodes: &Opcodes, question: Question<'_>) -> Option<u64> {
    let Question { event, subevent, .. } = question;
    Some(match event {
        "CLK_UNHALTED" => cycles,
        "GQ_CYCLES_FULL" => cells.trackers[tracker(subevent)? as usize].full(),
        "GQ_CYCLES_NOT_EMPTY" => cells.trackers[tracker(subevent)? as usize].nonempty(),
        "GQ_ALLOC" => match subevent {
            "RT_LLC_MISS" => cells.missed,
            "RT_TO_LLC_RESP" => cells.replied,
            "RT_TO_RTID_ACQUIRED" => cells.read_numbered,
            "WT_TO_RTID_ACQUIRED" => cells.write_numbered,
            _ => cells.entered[tracker(subevent)? as usize],
        },
        "GQ_DATA_FROM" | "GQ_DATA_TO" => cells.ports[port(event, subevent)? as usize],
        "SNP_RESP_TO_LOCAL_HOME" => replies(&cells.replies[1], subevent)?,
        "SNP_RESP_TO_REMOTE_HOME" => replies(&cells.replies[0], subevent)?,
        "LLC_HITS" => lookups(&cells.hits, subevent)?,
        "LLC_MISS" => lookups(&cells.misses, subevent)?,
        "LLC_LINES_IN" => by_state(&cells.lines_in, subevent)?,
        "LLC_LINES_OUT" => by_state(&cells.lines_out, subevent)?,
        "QHL_REQUESTS" => {
            let (source, direction) = subevent.split_once('_')?;
            let direction = ["READS", "WRITES"].iter().position(|name| *name == direction)?;
            cells.requests[self::source(source)? as usize][direction]
        }
        "QHL_CYCLES_FULL" => cells.home[source(subevent)? as usize].full(),
        "QHL_CYCLES_NOT_EMPTY" => cells.home[source(subevent)? as usize].nonempty(),
        "QHL_OCCUPANCY" => cells.home_reads[source(subevent)? as usize],
        "QHL_CONFLICT_CYCLES" => cells.contests[source(subevent)? as usize].full(),
        "QHL_ADDRESS_CONFLICTS" => cells.conflicts[["2WAY", "3WAY"].iter().position(|name| *name == subevent)?],
        "QHL_TO_QMC_BYPASS" => cells.bypassed,
        "QHL_FRC_ACK_CNFLTS" if subevent == "LOCAL" => cells.acknowledged,
        "ADDR_OPCODE_MATCH" => matched(cells, opcodes, source(subevent)?, question)?,
        _ if event.starts_with("QPI") => link(cells, event, subevent)?,
        _ if event.starts_with("DRAM") => commands(cells, event, subevent)?,
        _ => memory(cells, event, subevent)?,
    })
}

fn tracker(name: &str) -> Option<Tracker> {
    [Tracker::Read, Tracker::Write, Tracker::Peer].into_iter().zip(TRACKERS).find(|(_, n)| **n == name).map(|(t, _)| t)
}

fn source(name: &str) -> Option<Source> {
    Source::ALL.into_iter().zip(SOURCES).find(|(_, n)| **n == name).map(|(source, _)| source)
}

fn port(event: &str, name: &str) -> Option<Port> {
    Some(match (event, name) {
        ("GQ_DATA_FROM", "QPI") => Port::FromLinks,
        ("GQ_DATA_FROM", "QMC") => Port::FromMemory,
        ("GQ_DATA_FROM", "LLC") => Port::FromLlc,
        ("GQ_DATA_FROM", "CORES_02") => Port::FromEvenCores,
        ("GQ_DATA_FROM", "CORES_13") => Port::FromOddCores,
        ("GQ_DATA_TO", "QPI_QMC") => Port::ToOutside,
        ("GQ_DATA_TO", "LLC") => Port::ToLlc,
        ("GQ_DATA_TO", "CORES") => Port::ToCores,
        _ => return None,
    })
}

fn replies(counts: &[u64; Reply::COUNT], name: &str) -> Option<u64> {
    use Reply::{Conflict, Forward, ForwardShared, ForwardSharedWriteBack, Gone, Shared, WriteBack};
    let wanted: &[Reply] = match name {
        "I_STATE" => &[Gone],
        "S_STATE" => &[Shared],
        "FWD_S_STATE" => &[ForwardShared],
        "FWD_I_STATE" => &[Forward],
        "CONFLICT" => &[Conflict],
        "WB" => &[ForwardSharedWriteBack, WriteBack],
        "HITM" => &[ForwardShared, ForwardSharedWriteBack, WriteBack],
        _ => return None,
    };
    Some(wanted.iter().map(|&reply| counts[reply as usize]).sum())
}

fn lookups(counts: &[u64; 3], name: &str) -> Option<u64> {
    match name {
        "READ" => Some(counts[0]),
        "WRITE" => Some(counts[1]),
        "PROBE" => Some(counts[2]),
        "ANY" => Some(counts[0] + counts[1]),
        _ => None,
    }
}

fn by_state(counts: &[u64; LineState::COUNT], name: &str) -> Option<u64> {
    let state = match name {
        "M_STATE" => LineState::Modified,
        "E_STATE" => LineState::Exclusive,
        "S_STATE" => LineState::Shared,
        "F_STATE" => LineState::Forward,
        "I_STATE" => LineState::Invalid,
        "ANY" => return Some(counts.iter().sum()),
        _ => return None,
    };
    Some(counts[state as usize])
}

/// The match register looks at answers that pass a line on or write it back; which of them, the opcode tells. The
/// ledger does not keep addresses.
fn matched(cells: &SocketCells, opcodes: &Opcodes, source: Source, question: Question<'_>) -> Option<u64> {
    // SDM 18.8.2.3: the second bit of the selection asks for the opcode alone.
    const BY_OPCODE: u64 = 2;
    if question.filter("msel")? != BY_OPCODE {
        return None;
    }
    let opcode = question.filter("opcode")?;
    let wanted: &[Reply] = if opcode == opcodes.forward_shared {
        &[Reply::ForwardShared, Reply::ForwardSharedWriteBack]
    } else if opcode == opcodes.forward {
        &[Reply::Forward]
    } else if opcode == opcodes.write_back {
        &[Reply::WriteBack]
    } else {
        &[]
    };
    Some(wanted.iter().map(|&reply| cells.matched[source as usize][reply as usize]).sum())
}

fn link(cells: &SocketCells, event: &str, subevent: &str) -> Option<u64> {
    let (what, link) = subevent.split_once("LINK_")?;
    let link = match link {
        "0" => TO_SOCKET,
        "1" => TO_HUB,
        _ => return None,
    };
    let stalls = |class: Class| cells.no_credit[link][class as usize];
    Some(match (event, what) {
        ("QPI_TX_STALLED_SINGLE_FLIT", "HOME_") => stalls(Class::Home),
        ("QPI_TX_STALLED_SINGLE_FLIT", "SNOOP_") => stalls(Class::Snoop),
        ("QPI_TX_STALLED_SINGLE_FLIT", "NDR_") => stalls(Class::Response),
        ("QPI_TX_STALLED_SINGLE_FLIT", "") => cells.stalls[link][0].nonempty(),
        ("QPI_TX_STALLED_MULTI_FLIT", "DRS_") => stalls(Class::Data),
        ("QPI_TX_STALLED_MULTI_FLIT", "NCB_") => stalls(Class::Bypass),
        ("QPI_TX_STALLED_MULTI_FLIT", "NCS_") => stalls(Class::Standard),
        ("QPI_TX_STALLED_MULTI_FLIT", "") => cells.stalls[link][1].nonempty(),
        ("QPI_TX_HEADER", "BUSY_") => cells.links[link],
        ("QPI_RX_NO_PPT_CREDIT", "STALLS_") => cells.no_peer[link].nonempty(),
        _ => return None,
    })
}

fn channel(name: &str) -> Option<usize> {
    ["CH0", "CH1", "CH2"].iter().position(|channel| *channel == name)
}

fn memory(cells: &SocketCells, event: &str, subevent: &str) -> Option<u64> {
    let (direction, name) = subevent.split_once('_').unwrap_or(("", subevent));
    let channels = match name {
        "ANY" => 0..CHANNELS,
        _ => {
            let channel = channel(name)?;
            channel..channel + 1
        }
    };
    let of = |queues: &[Census; CHANNELS], what: fn(&Census) -> u64| queues[channels.clone()].iter().map(what).sum();
    let sum = |counts: &[u64; CHANNELS]| counts[channels.clone()].iter().sum();
    Some(match (event, direction) {
        ("QMC_NORMAL_FULL", "READ") => of(&cells.reads, Census::full),
        ("QMC_NORMAL_FULL", "WRITE") => of(&cells.writes, Census::full),
        ("QMC_ISOC_FULL", "READ") => of(&cells.isochronous, Census::full),
        ("QMC_ISOC_FULL", "WRITE") => of(&cells.isochronous_writes, Census::full),
        ("QMC_CANCEL", "") => sum(&cells.cancelled),
        ("QMC_BUSY", "READ") => of(&cells.outstanding, Census::nonempty),
        ("QMC_BUSY", "WRITE") => of(&cells.writes, Census::nonempty),
        ("QMC_OCCUPANCY", "") => of(&cells.reads, Census::cycles),
        ("IMC_ISOC_OCCUPANCY", "") => of(&cells.isochronous, Census::cycles),
        ("QMC_NORMAL_READS", "") => of(&cells.reads, |queue| queue.entries),
        ("QMC_HIGH_PRIORITY_READS", "") => sum(&cells.high),
        ("QMC_CRITICAL_PRIORITY_READS", "") => sum(&cells.critical),
        ("QMC_PRIORITY_UPDATES", "") => sum(&cells.hurried),
        ("QMC_WRITES", "FULL") => sum(&cells.written[0]),
        ("QMC_WRITES", "PARTIAL") => sum(&cells.written[1]),
        _ => return None,
    })
}

/// Commands on a channel's bus. Writes take no read of the rest of their line here, and it makes no difference why a
/// refresh was sent.
fn commands(cells: &SocketCells, event: &str, subevent: &str) -> Option<u64> {
    // A command that closes its row reads or writes, too, and counts as both.
    let counts = match subevent.strip_prefix("AUTOPRE_") {
        Some(closing) => &cells.closing[channel(closing)?],
        None => &cells.commands[channel(subevent)?],
    };
    let sum = |commands: &[Command]| Some(commands.iter().map(|&command| counts[command as usize]).sum());
    match event {
        "DRAM_OPEN" => sum(&[Command::Activate]),
        "DRAM_PAGE_MISS" => sum(&[Command::PrechargeMiss]),
        "DRAM_PAGE_CLOSE" => sum(&[Command::PrechargeIdle]),
        "DRAM_PRE_ALL" => sum(&[Command::PrechargeAll]),
        "DRAM_READ_CAS" => sum(&[Command::Read, Command::Underfill]),
        "DRAM_WRITE_CAS" => sum(&[Command::WriteMajor, Command::WriteOpportunistic]),
        "DRAM_REFRESH" => sum(&[Command::RefreshIdle, Command::RefreshForced]),
        _ => None,
    }
}
