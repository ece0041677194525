//! Events of the LLC slices: section 2.3.7.

use super::Filters;
use super::list::TOR;
use crate::ledger::cells::{NODES, SliceCells, Stay, THREADS, thread_at};
use crate::ledger::record::{
    IO_THREAD, IngressQueue, LineState, Message, NO_THREAD, Opcodes, Refusal, RequestKind, SliceState,
};
use crate::ledger::ring::RingKind;

/// An event of a slice.
pub(super) fn value(
    cells: &SliceCells,
    opcodes: &Opcodes,
    event: &str,
    subevent: &str,
    filters: Filters<'_>,
) -> Option<u64> {
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
        "TxR_STARVED" if subevent == "AK" => Some(cells.starved[RingKind::Acknowledge as usize]),
        "TxR_STARVED" if subevent == "BL" => Some(cells.starved[RingKind::Block as usize]),
        _ => None,
    }
}

/// The message that a subevent of `TxR_INSERTS` counts.
pub(super) fn message(subevent: &str) -> Option<Message> {
    Some(match subevent {
        "AD_CACHE" => Message::AddressFromCache,
        "AK_CACHE" => Message::AcknowledgeFromCache,
        "BL_CACHE" => Message::DataFromCache,
        "IV_CACHE" => Message::SnoopFromCache,
        "AD_CORE" => Message::AddressFromCore,
        "AK_CORE" => Message::AcknowledgeFromCore,
        "BL_CORE" => Message::DataFromCore,
        _ => return None,
    })
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
