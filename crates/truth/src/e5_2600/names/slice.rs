//! Events of the LLC slices: section 2.3.7.

use pericore_facts::LineState;
use pericore_facts::e5_2600::{IngressQueue, Message, NO_THREAD, Refusal, RequestKind, RingKind, SliceState};

use super::list::TOR;
use crate::Question;
use crate::e5_2600::shape::Opcodes;
use crate::e5_2600::slice::{ClassKey, SliceCells};
use crate::e5_2600::stay::Stay;

/// The filters of a slice (section 2.3.3.3).
trait SliceFilters {
    fn takes_state(&self, state: LineState) -> bool;
    fn takes_thread(&self, tid: u8) -> bool;
    fn takes_node(&self, nid: usize) -> bool;
}

impl SliceFilters for Question<'_> {
    fn takes_state(&self, state: LineState) -> bool {
        self.filter("state").unwrap_or(u64::MAX) >> state as usize & 1 == 1
    }

    fn takes_thread(&self, tid: u8) -> bool {
        self.filter("tid").is_none_or(|wanted| wanted == u64::from(tid))
    }

    /// An absent node filter reads as 0 and matches nothing, as the register does after reset.
    fn takes_node(&self, nid: usize) -> bool {
        self.filter("nid").unwrap_or(0) >> nid & 1 == 1
    }
}

/// An event of a slice.
pub(super) fn value(cells: &SliceCells, opcodes: &Opcodes, question: Question<'_>) -> Option<u64> {
    let Question { event, subevent, .. } = question;
    let thread = |key: ClassKey| question.takes_thread(key.tid);
    match event {
        "LLC_LOOKUP" => lookups(cells, question),
        "LLC_VICTIMS" => victims(cells, question),
        "TOR_INSERTS" => tor(cells, opcodes, question).map(|stay| stay.entries),
        "TOR_OCCUPANCY" => tor(cells, opcodes, question).map(|stay| stay.cycles),
        "RxR_INSERTS" if subevent == "IRQ" => Some(queued(cells, |key| !is_snoop(key) && thread(key)).entries),
        "RxR_OCCUPANCY" if subevent == "IRQ" => Some(queued(cells, |key| !is_snoop(key) && thread(key)).cycles),
        // Snoops belong to no thread.
        "RxR_INSERTS" | "RxR_OCCUPANCY" if subevent == "IPQ" && !question.takes_thread(NO_THREAD) => Some(0),
        "RxR_INSERTS" if subevent == "IPQ" => Some(queued(cells, is_snoop).entries),
        "RxR_OCCUPANCY" if subevent == "IPQ" => Some(queued(cells, is_snoop).cycles),
        "MISC" if subevent == "RSPI_WAS_FSE" => Some(cells.dropped_silently),
        "RxR_INSERTS" if subevent == "IRQ_REJECTED" => Some(cells.rejected(|tid| question.takes_thread(tid)).entries),
        "RxR_OCCUPANCY" if subevent == "IRQ_REJECTED" => Some(cells.rejected(|tid| question.takes_thread(tid)).cycles),
        // Requests of devices keep their order.
        "RxR_INSERTS" if subevent == "VFIFO" => Some(queued(cells, |key| key.kind.is_io() && thread(key)).entries),
        "RxR_OCCUPANCY" if subevent == "VFIFO" => Some(queued(cells, |key| key.kind.is_io() && thread(key)).cycles),
        "RING_SRC_THRTL" => Some(cells.throttle.nonempty()),
        "RING_BOUNCES" => {
            let ring = match subevent {
                "BL_CORE" => RingKind::Block,
                "IV_CORE" => RingKind::Snoop,
                _ => return None,
            };
            Some(cells.bounces[ring as usize])
        }
        "RxR_IRQ_RETRY" => refusals(&cells.refusals[IngressQueue::Requests as usize], subevent),
        "RxR_ISMQ_RETRY" => refusals(&cells.refusals[IngressQueue::Responses as usize], subevent),
        "RxR_IPQ_RETRY" => refusals(&cells.refusals[IngressQueue::Snoops as usize], subevent),
        "RxR_EXT_STARVED" => {
            let state = match subevent {
                "ISMQ_BIDS" => SliceState::ResponseBids,
                "ISMQ" => SliceState::ResponseStarves,
                "IRQ" => SliceState::RequestStarves,
                _ => return None,
            };
            Some(cells.states[state as usize].nonempty())
        }
        // A data read that missed has its entry in the table of requests until its line comes.
        "ISMQ_DRD_MISS_OCC" => {
            let wanted = |key: ClassKey| key.kind == RequestKind::DataRead && key.miss;
            Some(cells.classes(wanted).map(|class| class.tor.cycles).sum())
        }
        "MISC" if subevent == "WC_ALIASING" => Some(cells.aliased),
        "MISC" if subevent == "RFO_HIT_S" => {
            let wanted = |key: ClassKey| key.kind == RequestKind::ReadForOwnership && key.state == LineState::Shared;
            Some(cells.classes(wanted).map(|class| class.lookups).sum())
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

fn lookups(cells: &SliceCells, question: Question<'_>) -> Option<u64> {
    let subevent = question.subevent;
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
    let wanted = |key: ClassKey| {
        wanted(key.kind)
            && question.takes_state(key.state)
            && (subevent != "NID" || question.takes_node(key.nid))
            && question.takes_thread(key.tid)
    };
    Some(cells.classes(wanted).map(|class| class.lookups).sum())
}

fn victims(cells: &SliceCells, question: Question<'_>) -> Option<u64> {
    // Victims belong to no thread.
    if !question.takes_thread(NO_THREAD) {
        return Some(0);
    }
    let of = |state: LineState| cells.victims().iter().map(|node| node[state as usize]).sum();
    match question.subevent {
        "M_STATE" => Some(of(LineState::Modified)),
        "E_STATE" => Some(of(LineState::Exclusive)),
        "S_STATE" => Some(of(LineState::Shared)),
        "MISS" => Some(of(LineState::Invalid)),
        "NID" => {
            let nodes = cells.victims().iter().enumerate().filter(|&(nid, _)| question.takes_node(nid));
            Some(nodes.map(|(_, states)| states.iter().sum::<u64>()).sum())
        }
        _ => None,
    }
}

fn tor(cells: &SliceCells, opcodes: &Opcodes, question: Question<'_>) -> Option<Stay> {
    let subevent = question.subevent;
    let (by_node, what) = subevent.strip_prefix("NID_").map_or((false, subevent), |what| (true, what));
    let (only_misses, what) = what.strip_prefix("MISS_").map_or((false, what), |what| (true, what));
    let wanted = |kind: RequestKind| match what {
        "OPCODE" => opcodes.of(kind).is_some_and(|opcode| question.filter("opc") == Some(opcode)),
        "EVICTION" => kind == RequestKind::Eviction,
        "WB" => kind.is_writeback() || kind.is_stream(),
        _ => true,
    };
    if !TOR.contains(&subevent) {
        return None;
    }
    let wanted = |key: ClassKey| {
        wanted(key.kind)
            && (!only_misses || key.miss)
            && (!by_node || question.takes_node(key.nid))
            && question.takes_thread(key.tid)
    };
    Some(cells.classes(wanted).map(|class| class.tor).sum())
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

/// Stays in the queues from the rings.
fn queued(cells: &SliceCells, wanted: impl Fn(ClassKey) -> bool) -> Stay {
    cells.classes(wanted).map(|class| class.ingress).sum()
}

fn is_snoop(key: ClassKey) -> bool {
    key.kind == RequestKind::Snoop
}
