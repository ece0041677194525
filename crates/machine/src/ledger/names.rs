//! What the guide's event names mean, in terms of what happened: an independent reading of sections 2.3.7, 2.4.7 and 2.5.8,
//! written without the catalogue's decode rows.

use super::cells::thread_at;
use super::cells::{NODES, SliceCells, Stay, THREADS};
use super::links;
use super::record::{
    Command, IO_THREAD, IngressQueue, LineState, MemoryState, Message, NO_THREAD, Opcodes, Pending, Refusal,
    RequestKind, SliceState,
};
use super::ring::RingKind;
use super::window::Snapshot;

/// The events, by unit, that [`value`] knows; an event with subevents is listed once for each.
pub const NAMES: &[(&str, &str, &[&str])] = &[
    ("cbo", "CLOCKTICKS", &[]),
    ("cbo", "LLC_LOOKUP", &["DATA_READ", "WRITE", "REMOTE_SNOOP", "ANY", "NID"]),
    ("cbo", "LLC_VICTIMS", &["M_STATE", "E_STATE", "S_STATE", "MISS", "NID"]),
    ("cbo", "MISC", &["RSPI_WAS_FSE"]),
    ("cbo", "RxR_INSERTS", &["IRQ", "IRQ_REJECTED", "VFIFO", "IPQ"]),
    ("cbo", "RxR_OCCUPANCY", &["IRQ", "IRQ_REJECTED", "VFIFO", "IPQ"]),
    ("cbo", "TOR_INSERTS", TOR),
    ("cbo", "TOR_OCCUPANCY", TOR),
    ("cbo", "TxR_INSERTS", &["AD_CACHE", "AK_CACHE", "BL_CACHE", "IV_CACHE", "AD_CORE", "AK_CORE", "BL_CORE"]),
    ("ha", "CLOCKTICKS", &[]),
    ("ha", "REQUESTS", &["READS", "WRITES"]),
    ("ha", "TRACKER_INSERTS", &["ALL"]),
    ("ha", "TRACKER_OCCUPANCY", &["ALL"]),
    ("ha", "IMC_WRITES", &["FULL", "PARTIAL", "ALL"]),
    ("ha", "DIRECT2CORE_COUNT", &[]),
    ("ha", "TAD_REQUESTS_G0", &["REGION0"]),
    ("ha", "TxR_AK_NDR", &[]),
    ("ha", "BYPASS_IMC", &["TAKEN", "NOT_TAKEN"]),
    ("ha", "IGR_NO_CREDIT_CYCLES", &["AD_QPI0", "AD_QPI1", "BL_QPI0", "BL_QPI1"]),
    ("ha", "CONFLICT_CYCLES", &["NO_CONFLICT", "CONFLICT"]),
    ("ha", "RPQ_CYCLES_NO_REG_CREDITS", CHANNELS),
    ("ha", "WPQ_CYCLES_NO_REG_CREDITS", CHANNELS),
    ("ha", "TxR_AD", &["NDR", "SNP"]),
    ("ha", "TxR_BL", &["DRS_CACHE", "DRS_CORE", "DRS_QPI"]),
    ("imc", "CLOCKTICKS", &[]),
    ("imc", "ACT_COUNT", &[]),
    ("imc", "PRE_COUNT", &["PAGE_MISS", "PAGE_CLOSE"]),
    ("imc", "CAS_COUNT", &["RD_REG", "RD_UNDERFILL", "RD", "WR_WMM", "WR_RMM", "WR", "ALL"]),
    ("imc", "DRAM_REFRESH", &["PANIC", "HIGH"]),
    ("imc", "DRAM_PRE_ALL", &[]),
    ("imc", "MAJOR_MODES", &["READ", "WRITE", "PARTIAL"]),
    ("imc", "PREEMPTION", &["RD_PREEMPT_RD", "RD_PREEMPT_WR"]),
    ("imc", "ECC_CORRECTABLE_ERRORS", &[]),
    ("imc", "POWER_THROTTLE_CYCLES", &["RANK0", "RANK1"]),
    ("imc", "POWER_SELF_REFRESH", &[]),
    ("imc", "POWER_CKE_CYCLES", &["RANK0", "RANK1"]),
    ("imc", "POWER_CHANNEL_DLLOFF", &[]),
    ("imc", "POWER_CHANNEL_PPD", &[]),
    ("imc", "POWER_CRITICAL_THROTTLE_CYCLES", &[]),
    ("imc", "RPQ_INSERTS", &[]),
    ("imc", "RPQ_OCCUPANCY", &[]),
    ("imc", "RPQ_CYCLES_NE", &[]),
    ("imc", "RPQ_CYCLES_FULL", &[]),
    ("imc", "WPQ_INSERTS", &[]),
    ("imc", "WPQ_OCCUPANCY", &[]),
    ("imc", "WPQ_CYCLES_NE", &[]),
    ("imc", "WPQ_CYCLES_FULL", &[]),
    ("imc", "WPQ_READ_HIT", &[]),
    ("imc", "WPQ_WRITE_HIT", &[]),
    ("qpi", "CLOCKTICKS", &[]),
    ("qpi", "TxL_FLITS_G0", FLITS_G0),
    ("qpi", "RxL_FLITS_G0", FLITS_G0),
    ("qpi", "TxL_FLITS_G1", FLITS_G1),
    ("qpi", "RxL_FLITS_G1", FLITS_G1),
    ("qpi", "TxL_FLITS_G2", FLITS_G2),
    ("qpi", "RxL_FLITS_G2", FLITS_G2),
    ("qpi", "TxL_INSERTS", &[]),
    ("qpi", "TxL_OCCUPANCY", &[]),
    ("qpi", "TxL_CYCLES_NE", &[]),
    ("qpi", "TxL_BYPASSED", &[]),
    ("qpi", "RxL_INSERTS", &[]),
    ("qpi", "RxL_OCCUPANCY", &[]),
    ("qpi", "RxL_CYCLES_NE", &[]),
    ("qpi", "RxL_BYPASSED", &[]),
    ("qpi", "RxL_INSERTS_DRS", &[]),
    ("qpi", "RxL_INSERTS_HOM", &[]),
    ("qpi", "RxL_INSERTS_SNP", &[]),
    ("qpi", "RxL_INSERTS_NDR", &[]),
    ("qpi", "RxL_OCCUPANCY_DRS", &[]),
    ("qpi", "RxL_OCCUPANCY_HOM", &[]),
    ("qpi", "RxL_OCCUPANCY_SNP", &[]),
    ("qpi", "RxL_OCCUPANCY_NDR", &[]),
    ("qpi", "TxL0_POWER_CYCLES", &[]),
    ("qpi", "RxL0_POWER_CYCLES", &[]),
    ("qpi", "DIRECT2CORE", &["SUCCESS", "FAILURE_RBT"]),
    ("qpi", "RxL_CREDITS_CONSUMED_VNA", &[]),
    ("qpi", "RxL_CREDITS_CONSUMED_VN0", CLASSES),
    ("qpi", "VNA_CREDIT_RETURNS", &[]),
    ("qpi", "VNA_CREDIT_RETURN_OCCUPANCY", &[]),
    ("qpi", "CTO_COUNT", &[]),
    ("r3qpi", "CLOCKTICKS", &[]),
    ("r3qpi", "RxR_INSERTS", CLASSES),
    ("r3qpi", "RxR_OCCUPANCY", CLASSES),
    ("r3qpi", "RxR_CYCLES_NE", CLASSES),
    ("r3qpi", "RxR_BYPASSED", &["AD"]),
    ("r3qpi", "VNA_CREDITS_ACQUIRED", &[]),
    ("r3qpi", "VNA_CREDITS_REJECT", CLASSES),
    ("r3qpi", "VN0_CREDITS_USED", CLASSES),
    ("r3qpi", "VN0_CREDITS_REJECT", CLASSES),
    ("r3qpi", "VNA_CREDIT_CYCLES_OUT", &[]),
    ("r3qpi", "VNA_CREDIT_CYCLES_USED", &[]),
    ("ubox", "CLOCKTICKS", &[]),
    ("ubox", "EVENT_MSG", &["VLW_RCVD", "MSI_RCVD", "IPI_RCVD", "DOORBELL_RCVD", "INT_PRIO"]),
    ("ubox", "LOCK_CYCLES", &[]),
    ("ubox", "FILTER_MATCH", &["DISABLE", "U2C_DISABLE"]),
    ("ubox", "U2C_EVENTS", &["MONITOR_T0", "MONITOR_T1", "LIVELOCK", "LTERROR", "CMC", "UMC", "TRAP", "OTHER"]),
    ("ubox", "PHOLD_CYCLES", &["ASSERT_TO_ACK", "ACK_TO_DEASSERT"]),
    ("ubox", "RACU_REQUESTS", &["COUNT"]),
    ("ubox", "MSG_CHNL_SIZE_COUNT", &["4B", "8B"]),
    ("pcu", "CLOCKTICKS", &[]),
    ("pcu", "POWER_STATE_OCCUPANCY", &["CORES_C0", "CORES_C3", "CORES_C6"]),
    ("pcu", "VOLT_TRANS_CYCLES_INCREASE", &[]),
    ("pcu", "VOLT_TRANS_CYCLES_DECREASE", &[]),
    ("pcu", "VOLT_TRANS_CYCLES_CHANGE", &[]),
    ("pcu", "FREQ_TRANS_CYCLES", &[]),
    ("pcu", "FREQ_MAX_LIMIT_THERMAL_CYCLES", &[]),
    ("pcu", "FREQ_MAX_POWER_CYCLES", &[]),
    ("pcu", "FREQ_MAX_OS_CYCLES", &[]),
    ("pcu", "FREQ_MAX_CURRENT_CYCLES", &[]),
    ("pcu", "FREQ_MIN_IO_P_CYCLES", &[]),
    ("pcu", "FREQ_MIN_PERF_P_CYCLES", &[]),
    ("pcu", "PROCHOT_INTERNAL_CYCLES", &[]),
    ("pcu", "PROCHOT_EXTERNAL_CYCLES", &[]),
    ("pcu", "VR_HOT_CYCLES", &[]),
    ("pcu", "MEMORY_PHASE_SHEDDING_CYCLES", &[]),
    ("pcu", "TOTAL_TRANSITION_CYCLES", &[]),
    ("pcu", "FREQ_BAND0_CYCLES", &[]),
    ("pcu", "FREQ_BAND1_CYCLES", &[]),
    ("pcu", "FREQ_BAND2_CYCLES", &[]),
    ("pcu", "FREQ_BAND3_CYCLES", &[]),
    ("pcu", "DEMOTIONS_CORE0", &[]),
    ("pcu", "DEMOTIONS_CORE1", &[]),
    ("pcu", "DEMOTIONS_CORE2", &[]),
    ("pcu", "DEMOTIONS_CORE3", &[]),
    ("pcu", "DEMOTIONS_CORE4", &[]),
    ("pcu", "DEMOTIONS_CORE5", &[]),
    ("pcu", "DEMOTIONS_CORE6", &[]),
    ("pcu", "DEMOTIONS_CORE7", &[]),
    ("pcu", "CORE0_TRANSITION_CYCLES", &[]),
    ("pcu", "CORE1_TRANSITION_CYCLES", &[]),
    ("pcu", "CORE2_TRANSITION_CYCLES", &[]),
    ("pcu", "CORE3_TRANSITION_CYCLES", &[]),
    ("pcu", "CORE4_TRANSITION_CYCLES", &[]),
    ("pcu", "CORE5_TRANSITION_CYCLES", &[]),
    ("pcu", "CORE6_TRANSITION_CYCLES", &[]),
    ("pcu", "CORE7_TRANSITION_CYCLES", &[]),
    ("cbo", "RING_AD_USED", &["UP_EVEN", "UP_ODD", "DOWN_EVEN", "DOWN_ODD"]),
    ("cbo", "RING_AK_USED", &["UP_EVEN", "UP_ODD", "DOWN_EVEN", "DOWN_ODD"]),
    ("cbo", "RING_BL_USED", &["UP_EVEN", "UP_ODD", "DOWN_EVEN", "DOWN_ODD"]),
    ("cbo", "RING_IV_USED", &["ANY"]),
    ("r2pcie", "CLOCKTICKS", &[]),
    ("r2pcie", "RING_AD_USED", &["CW_EVEN", "CW_ODD", "CCW_EVEN", "CCW_ODD"]),
    ("r2pcie", "RING_AK_USED", &["CW_EVEN", "CW_ODD", "CCW_EVEN", "CCW_ODD"]),
    ("r2pcie", "RING_BL_USED", &["CW_EVEN", "CW_ODD", "CCW_EVEN", "CCW_ODD"]),
    ("r2pcie", "RING_IV_USED", &["ANY"]),
    ("cbo", "RxR_IRQ_RETRY", &["ANY", "FULL", "ADDR_CONFLICT", "RTID"]),
    ("cbo", "RxR_ISMQ_RETRY", &["ANY", "FULL", "RTID"]),
    ("cbo", "RxR_EXT_STARVED", &["ISMQ_BIDS", "ISMQ", "IRQ"]),
    ("cbo", "ISMQ_DRD_MISS_OCC", &[]),
    ("cbo", "MISC", &["WC_ALIASING"]),
    ("cbo", "TxR_ADS_USED", &[]),
    ("cbo", "TxR_STARVED", &["AK", "BL"]),
    ("r2pcie", "TxR_CYCLES_NE", &["AD", "AK", "BL"]),
    ("r2pcie", "TxR_CYCLES_FULL", &["AD", "BL"]),
    ("r2pcie", "TxR_NACKS", &["AD", "BL"]),
    ("r2pcie", "TxR_INSERTS", &[]),
    ("r2pcie", "RxR_CYCLES_NE", &["DRS", "NCB", "NCS"]),
    ("r2pcie", "RxR_AK_BOUNCES", &[]),
    ("r2pcie", "IIO_CREDITS_USED", &["DRS", "NCB", "NCS"]),
    ("r2pcie", "IIO_CREDITS_ACQUIRED", &["DRS", "NCB", "NCS"]),
    ("r2pcie", "IIO_CREDITS_REJECT", &["DRS", "NCB", "NCS"]),
    ("r3qpi", "RING_AD_USED", &["CW_EVEN", "CW_ODD", "CCW_EVEN", "CCW_ODD"]),
    ("r3qpi", "RING_AK_USED", &["CW_EVEN", "CW_ODD", "CCW_EVEN", "CCW_ODD"]),
    ("r3qpi", "RING_BL_USED", &["CW_EVEN", "CW_ODD", "CCW_EVEN", "CCW_ODD"]),
    ("r3qpi", "RING_IV_USED", &["ANY"]),
];

const FLITS_G0: &[&str] = &["IDLE", "DATA", "NON_DATA"];
const FLITS_G1: &[&str] = &["SNP", "HOM_REQ", "HOM_NONREQ", "HOM", "DRS_DATA", "DRS_NONDATA", "DRS"];
const FLITS_G2: &[&str] = &["NDR_AD", "NDR_AK"];
const CLASSES: &[&str] = &["HOM", "SNP", "NDR", "DRS"];
const CHANNELS: &[&str] = &["CHN0", "CHN1", "CHN2", "CHN3"];

const TOR: &[&str] = &[
    "OPCODE",
    "EVICTION",
    "WB",
    "ALL",
    "MISS_OPCODE",
    "MISS_ALL",
    "NID_OPCODE",
    "NID_EVICTION",
    "NID_ALL",
    "NID_WB",
    "NID_MISS_OPCODE",
    "NID_MISS_ALL",
];

/// Filter values by name.
#[derive(Clone, Copy)]
struct Filters<'a>(&'a [(&'a str, u64)]);

impl Filters<'_> {
    fn get(self, name: &str) -> Option<u64> {
        self.0.iter().find(|(key, _)| *key == name).map(|&(_, value)| value)
    }

    fn state(self, state: usize) -> bool {
        self.get("state").unwrap_or(u64::MAX) >> state & 1 == 1
    }

    fn thread(self, tid: usize) -> bool {
        self.get("tid").is_none_or(|wanted| wanted == tid as u64)
    }

    /// An absent node filter reads as 0 and matches nothing, as the register does after reset.
    fn node(self, nid: usize) -> bool {
        self.get("nid").unwrap_or(0) >> nid & 1 == 1
    }
}

/// Instances of a unit in the machine.
pub fn instances(at: &Snapshot, unit: &str) -> Option<usize> {
    match unit {
        "cbo" => Some(at.cells.slices.len()),
        "ha" => Some(at.cells.homes.len()),
        "imc" => Some(at.cells.channels.len()),
        // The link's units are there in a machine without links, too.
        "qpi" | "r3qpi" => Some(2 * at.sockets),
        "pcu" => Some(at.cells.power.len()),
        "ubox" => Some(at.cells.agents.len()),
        "r2pcie" => Some(at.cells.rings.len()),
        _ => None,
    }
}

/// An event's count from the beginning of time up to the snapshot.
pub fn value(
    at: &Snapshot,
    unit: &str,
    instance: u16,
    event: &str,
    subevent: Option<&str>,
    filters: &[(&str, u64)],
) -> Option<u64> {
    let index = usize::from(instance);
    let subevent = subevent.unwrap_or_default();
    match unit {
        "cbo" => match event {
            "CLOCKTICKS" => Some(at.clocks.uclk.cycles(at.now)),
            _ if event.starts_with("RING_") && event.ends_with("_USED") => {
                let of_socket = at.cells.slices.len() / at.cells.rings.len().max(1);
                let (socket, within) = (index / of_socket, index % of_socket);
                at.cells.rings.get(socket)?.value(within, within >= of_socket / 2, event, subevent)
            }
            _ => slice(at.cells.slices.get(index)?, &at.opcodes, event, subevent, Filters(filters)),
        },
        // Both links of a socket are at the stop of input-output.
        "r3qpi" if event.starts_with("RING_") => {
            at.cells.rings.get(index / 2)?.value(io_stop(at), false, event, subevent)
        }
        "r2pcie" => match event {
            "CLOCKTICKS" => Some(at.clocks.uclk.cycles(at.now)),
            // Their stop comes after the home agent's.
            _ if event.starts_with("RING_") => at.cells.rings.get(index)?.value(io_stop(at), false, event, subevent),
            _ => at.cells.devices.get(index)?.value(event, subevent),
        },
        "ha" => home(at, index, event, subevent),
        "imc" => channel(at, index, event, subevent),
        "qpi" => links::qpi(at, index, event, subevent, filters),
        "r3qpi" => links::ring_stop(at, index, event, subevent),
        "pcu" => match event {
            "CLOCKTICKS" => Some(at.clocks.pclk().cycles(at.now)),
            _ => {
                let bands = ["band0", "band1", "band2", "band3"];
                let band = |number: usize| Filters(filters).get(bands[number]).unwrap_or(0);
                at.cells.power.get(index)?.value(event, subevent, band)
            }
        },
        "ubox" => match event {
            "CLOCKTICKS" | "UCLK_FIXED" => Some(at.clocks.uclk.cycles(at.now)),
            _ => at.cells.agents.get(index)?.value(event, subevent),
        },
        _ => None,
    }
}

/// The stop of input-output and of the links between sockets: after the slices' and the home agent's.
fn io_stop(at: &Snapshot) -> usize {
    at.cells.slices.len() / at.cells.rings.len().max(1) + 1
}

fn slice(cells: &SliceCells, opcodes: &Opcodes, event: &str, subevent: &str, filters: Filters<'_>) -> Option<u64> {
    match event {
        "LLC_LOOKUP" => lookups(cells, subevent, filters),
        "LLC_VICTIMS" => victims(cells, subevent, filters),
        "TOR_INSERTS" => tor(cells, opcodes, subevent, filters).map(|stay| stay.entries),
        "TOR_OCCUPANCY" => tor(cells, opcodes, subevent, filters).map(|stay| stay.cycles),
        "RxR_INSERTS" if subevent == "IRQ" => Some(ingress(cells, filters).entries),
        "RxR_OCCUPANCY" if subevent == "IRQ" => Some(ingress(cells, filters).cycles),
        // Snoops belong to no thread.
        "RxR_INSERTS" | "RxR_OCCUPANCY" if subevent == "IPQ" && !filters.thread(NO_THREAD.into()) => Some(0),
        "RxR_INSERTS" if subevent == "IPQ" => Some(cells.snoops.entries),
        "RxR_OCCUPANCY" if subevent == "IPQ" => Some(cells.snoops.cycles),
        "MISC" if subevent == "RSPI_WAS_FSE" => Some(cells.dropped_silently),
        "RxR_INSERTS" if subevent == "IRQ_REJECTED" => Some(of_threads(&cells.rejected, filters).entries),
        "RxR_OCCUPANCY" if subevent == "IRQ_REJECTED" => Some(of_threads(&cells.rejected, filters).cycles),
        "RxR_INSERTS" if subevent == "VFIFO" && filters.thread(usize::from(IO_THREAD)) => Some(cells.ordered.entries),
        "RxR_OCCUPANCY" if subevent == "VFIFO" && filters.thread(usize::from(IO_THREAD)) => Some(cells.ordered.cycles),
        "RxR_INSERTS" | "RxR_OCCUPANCY" if subevent == "VFIFO" => Some(0),
        "RxR_IRQ_RETRY" => refusals(&cells.refusals[IngressQueue::Requests as usize], subevent),
        "RxR_ISMQ_RETRY" => refusals(&cells.refusals[IngressQueue::Responses as usize], subevent),
        "RxR_EXT_STARVED" => {
            let state = match subevent {
                "ISMQ_BIDS" => SliceState::ResponseBids,
                "ISMQ" => SliceState::ResponseStarves,
                "IRQ" => SliceState::RequestStarves,
                _ => return None,
            };
            Some(cells.states[state as usize].cycles)
        }
        // A data read that missed has its entry in the table of requests until its line comes.
        "ISMQ_DRD_MISS_OCC" => {
            Some(cells.tor[RequestKind::DataRead as usize][1].iter().flatten().map(|stay| stay.cycles).sum())
        }
        "MISC" if subevent == "WC_ALIASING" => Some(cells.aliased),
        "MISC" if subevent == "RFO_HIT_S" => {
            let hits = &cells.lookups[RequestKind::ReadForOwnership as usize][LineState::Shared as usize];
            Some(hits.iter().flatten().sum())
        }
        "TxR_ADS_USED" => Some(cells.bypasses),
        "TxR_STARVED" if subevent == "AK" => Some(cells.starved[RingKind::Acknowledge as usize]),
        "TxR_STARVED" if subevent == "BL" => Some(cells.starved[RingKind::Block as usize]),
        "TxR_INSERTS" => {
            let message = match subevent {
                "AD_CACHE" => Message::AddressFromCache,
                "AK_CACHE" => Message::AcknowledgeFromCache,
                "BL_CACHE" => Message::DataFromCache,
                "IV_CACHE" => Message::SnoopFromCache,
                "AD_CORE" => Message::AddressFromCore,
                "AK_CORE" => Message::AcknowledgeFromCore,
                "BL_CORE" => Message::DataFromCore,
                _ => return None,
            };
            Some(cells.messages[message as usize])
        }
        _ => None,
    }
}

fn lookups(cells: &SliceCells, subevent: &str, filters: Filters<'_>) -> Option<u64> {
    let wanted = |kind: RequestKind| match subevent {
        "DATA_READ" => kind == RequestKind::DataRead,
        "WRITE" => kind.is_write(),
        "REMOTE_SNOOP" => kind == RequestKind::Snoop,
        "ANY" | "NID" => true,
        _ => false,
    };
    if !["DATA_READ", "WRITE", "REMOTE_SNOOP", "ANY", "NID"].contains(&subevent) {
        return None;
    }
    let mut sum = 0;
    for kind in RequestKind::ALL.into_iter().filter(|&kind| wanted(kind)) {
        for state in (0..LineState::COUNT).filter(|&state| filters.state(state)) {
            for nid in (0..NODES).filter(|&nid| subevent != "NID" || filters.node(nid)) {
                for tid in (0..THREADS).filter(|&tid| filters.thread(thread_at(tid))) {
                    sum += cells.lookups[kind as usize][state][nid][tid];
                }
            }
        }
    }
    Some(sum)
}

fn victims(cells: &SliceCells, subevent: &str, filters: Filters<'_>) -> Option<u64> {
    // Victims belong to no thread.
    if !filters.thread(NO_THREAD.into()) {
        return Some(0);
    }
    let of = |state: LineState| cells.victims.iter().map(|node| node[state as usize]).sum();
    match subevent {
        "M_STATE" => Some(of(LineState::Modified)),
        "E_STATE" => Some(of(LineState::Exclusive)),
        "S_STATE" => Some(of(LineState::Shared)),
        "MISS" => Some(of(LineState::Invalid)),
        "NID" => {
            let nodes = cells.victims.iter().enumerate().filter(|&(nid, _)| filters.node(nid));
            Some(nodes.map(|(_, states)| states.iter().sum::<u64>()).sum())
        }
        _ => None,
    }
}

fn tor(cells: &SliceCells, opcodes: &Opcodes, subevent: &str, filters: Filters<'_>) -> Option<Stay> {
    let (by_node, what) = subevent.strip_prefix("NID_").map_or((false, subevent), |what| (true, what));
    let (only_misses, what) = what.strip_prefix("MISS_").map_or((false, what), |what| (true, what));
    let wanted = |kind: RequestKind| match what {
        "OPCODE" => opcodes.of(kind).is_some_and(|opcode| filters.get("opc") == Some(opcode)),
        "EVICTION" => kind == RequestKind::Eviction,
        "WB" => kind.is_writeback() || kind.is_stream(),
        _ => true,
    };
    if !TOR.contains(&subevent) {
        return None;
    }
    let mut sum = Stay::default();
    for kind in RequestKind::ALL.into_iter().filter(|&kind| wanted(kind)) {
        for miss in (0..2).filter(|&miss| !only_misses || miss == 1) {
            for nid in (0..NODES).filter(|&nid| !by_node || filters.node(nid)) {
                for tid in (0..THREADS).filter(|&tid| filters.thread(thread_at(tid))) {
                    let stay = cells.tor[kind as usize][miss][nid][tid];
                    sum.entries += stay.entries;
                    sum.cycles += stay.cycles;
                }
            }
        }
    }
    Some(sum)
}

fn refusals(cells: &[u64; Refusal::COUNT], subevent: &str) -> Option<u64> {
    match subevent {
        "ANY" => Some(cells.iter().sum()),
        "FULL" => Some(cells[Refusal::Full as usize]),
        "ADDR_CONFLICT" => Some(cells[Refusal::Conflict as usize]),
        "RTID" => Some(cells[Refusal::Tracker as usize]),
        _ => None,
    }
}

fn ingress(cells: &SliceCells, filters: Filters<'_>) -> Stay {
    of_threads(&cells.ingress, filters)
}

fn of_threads(stays: &[Stay], filters: Filters<'_>) -> Stay {
    let mut sum = Stay::default();
    for (_, stay) in stays.iter().enumerate().filter(|&(tid, _)| filters.thread(thread_at(tid))) {
        sum.entries += stay.entries;
        sum.cycles += stay.cycles;
    }
    sum
}

fn home(at: &Snapshot, index: usize, event: &str, subevent: &str) -> Option<u64> {
    let cells = at.cells.homes.get(index)?;
    match (event, subevent) {
        ("CLOCKTICKS", "") => Some(at.clocks.uclk.cycles(at.now)),
        ("REQUESTS", "READS") => Some(cells.reads.iter().sum()),
        ("REQUESTS", "WRITES") => Some(cells.writes.iter().sum()),
        // All memory lies in one region: the model has no address decoder with several.
        ("TAD_REQUESTS_G0", "REGION0") => Some(cells.regions),
        ("TRACKER_INSERTS", "ALL") => Some(cells.tracker.entries),
        ("TxR_AD", "SNP") => Some(cells.snoops),
        ("BYPASS_IMC", "TAKEN") => Some(cells.bypasses[1]),
        ("BYPASS_IMC", "NOT_TAKEN") => Some(cells.bypasses[0]),
        ("IGR_NO_CREDIT_CYCLES", "AD_QPI0") => Some(cells.no_link(0)),
        ("IGR_NO_CREDIT_CYCLES", "AD_QPI1") => Some(cells.no_link(1)),
        ("IGR_NO_CREDIT_CYCLES", "BL_QPI0") => Some(cells.no_link(2)),
        ("IGR_NO_CREDIT_CYCLES", "BL_QPI1") => Some(cells.no_link(3)),
        ("CONFLICT_CYCLES", "CONFLICT") => Some(cells.conflicts()),
        ("CONFLICT_CYCLES", "NO_CONFLICT") => Some(at.clocks.uclk.cycles(at.now) - cells.conflicts()),
        ("RPQ_CYCLES_NO_REG_CREDITS", channel) => Some(cells.no_credits(Pending::Reads, channel_number(channel)?)),
        ("WPQ_CYCLES_NO_REG_CREDITS", channel) => Some(cells.no_credits(Pending::Writes, channel_number(channel)?)),
        // Not an event of the guide, but what its accumulator of 2.4.4.1 is made of, unscaled.
        ("TRACKER_OCCUPANCY", "ALL") => Some(cells.tracker.cycles),
        ("IMC_WRITES", "FULL") => Some(cells.written),
        ("IMC_WRITES", "PARTIAL") => Some(cells.written_parts),
        ("IMC_WRITES", "ALL") => Some(cells.written + cells.written_parts),
        ("DIRECT2CORE_COUNT", "") | ("TxR_BL", "DRS_CORE") => Some(cells.to_core),
        ("TxR_BL", "DRS_CACHE") => Some(cells.to_cache),
        ("TxR_BL", "DRS_QPI") => Some(cells.to_remote),
        ("TxR_AK_NDR", "") => Some(cells.completions),
        ("TxR_AD", "NDR") => Some(cells.completions_remote),
        _ => None,
    }
}

/// The number in a subevent's name `CHNn`.
fn channel_number(subevent: &str) -> Option<usize> {
    subevent.strip_prefix("CHN")?.parse().ok().filter(|&number| number < 4)
}

fn channel(at: &Snapshot, index: usize, event: &str, subevent: &str) -> Option<u64> {
    let cells = at.cells.channels.get(index)?;
    let (plain, underfills) = (cells.command(Command::Read), cells.command(Command::Underfill));
    let reads = plain + underfills;
    let state = |state: MemoryState| cells.states[state.index()].cycles;
    let (major, opportunistic) = (cells.command(Command::WriteMajor), cells.command(Command::WriteOpportunistic));
    let (rpq, wpq) = (cells.queue(Pending::Reads), cells.queue(Pending::Writes));
    Some(match (event, subevent) {
        // The fixed counter counts the same cycles.
        ("CLOCKTICKS" | "DCLK_FIXED", "") => at.clocks.dclk.cycles(at.now),
        ("ACT_COUNT", "") => cells.command(Command::Activate),
        ("PRE_COUNT", "PAGE_MISS") => cells.command(Command::PrechargeMiss),
        ("PRE_COUNT", "PAGE_CLOSE") => cells.command(Command::PrechargeIdle),
        ("CAS_COUNT", "RD_REG") => plain,
        ("CAS_COUNT", "RD_UNDERFILL") => underfills,
        ("CAS_COUNT", "RD") => reads,
        ("CAS_COUNT", "WR_WMM") => major,
        ("CAS_COUNT", "WR_RMM") => opportunistic,
        ("CAS_COUNT", "WR") => major + opportunistic,
        ("CAS_COUNT", "ALL") => reads + major + opportunistic,
        ("DRAM_REFRESH", "HIGH") => cells.command(Command::RefreshIdle),
        ("DRAM_REFRESH", "PANIC") => cells.command(Command::RefreshForced),
        ("DRAM_PRE_ALL", "") => cells.command(Command::PrechargeAll),
        ("MAJOR_MODES", "READ") => cells.modes[0],
        ("MAJOR_MODES", "WRITE") => cells.modes[1],
        ("MAJOR_MODES", "PARTIAL") => cells.modes[2],
        ("PREEMPTION", "RD_PREEMPT_RD") => cells.preemptions[0],
        ("PREEMPTION", "RD_PREEMPT_WR") => cells.preemptions[1],
        ("ECC_CORRECTABLE_ERRORS", "") => cells.corrected,
        ("POWER_THROTTLE_CYCLES", "RANK0") => state(MemoryState::Throttled(0)),
        ("POWER_THROTTLE_CYCLES", "RANK1") => state(MemoryState::Throttled(1)),
        ("POWER_SELF_REFRESH", "") => state(MemoryState::SelfRefresh),
        ("POWER_CKE_CYCLES", "RANK0") => state(MemoryState::ClockOn(0)),
        ("POWER_CKE_CYCLES", "RANK1") => state(MemoryState::ClockOn(1)),
        ("POWER_CHANNEL_DLLOFF", "") => state(MemoryState::DllOff),
        ("POWER_CHANNEL_PPD", "") => state(MemoryState::PoweredDown),
        ("POWER_CRITICAL_THROTTLE_CYCLES", "") => state(MemoryState::Critical),
        ("RPQ_INSERTS", "") => rpq.stay.entries,
        ("RPQ_OCCUPANCY", "") => rpq.stay.cycles,
        ("RPQ_CYCLES_NE", "") => rpq.nonempty,
        ("RPQ_CYCLES_FULL", "") => rpq.full,
        ("WPQ_INSERTS", "") => wpq.stay.entries,
        ("WPQ_OCCUPANCY", "") => wpq.stay.cycles,
        ("WPQ_CYCLES_NE", "") => wpq.nonempty,
        ("WPQ_CYCLES_FULL", "") => wpq.full,
        ("WPQ_READ_HIT", "") => cells.forwards,
        ("WPQ_WRITE_HIT", "") => cells.merges,
        _ => return None,
    })
}
