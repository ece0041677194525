//! Events of links between sockets: section 2.7.7, and the event texts of R3QPI.

use pericore_facts::e5_2600::{Class, IoClass, LinkStall, LinkState, PacketKind};

use crate::Question;
use crate::e5_2600::links::{FlitCells, LinkCells, NODES};
use crate::e5_2600::shape::PacketCodes;
use crate::e5_2600::snapshot::Snapshot;

/// The class of messages for input-output of a subevent.
fn io_class(name: &str) -> Option<IoClass> {
    match name {
        "DRS" => Some(IoClass::Data),
        "NCB" => Some(IoClass::Write),
        "NCS" => Some(IoClass::Read),
        _ => None,
    }
}

/// The class that an event's or subevent's name ends with.
fn class(name: &str) -> Option<Class> {
    match name {
        "HOM" => Some(Class::Home),
        "SNP" => Some(Class::Snoop),
        "NDR" => Some(Class::NoData),
        "DRS" => Some(Class::Data),
        "NCB" => Some(Class::Bypass),
        "NCS" => Some(Class::Standard),
        _ => None,
    }
}

/// An event of a link layer.
pub fn qpi(at: &Snapshot, index: usize, question: Question<'_>) -> Option<u64> {
    let Question { event, subevent, .. } = question;
    let cycles = at.clocks.qclk.cycles(at.now);
    if (event, subevent) == ("CLOCKTICKS", "") {
        return Some(cycles);
    }
    let cells = at.cells.links.get(index)?;
    let power = |state: LinkState| cells.power[state as usize].nonempty();
    let stalled = |stall: LinkStall| cells.stalls[stall.index()].nonempty();
    if let Some((event, of)) = event.rsplit_once('_')
        && let Some(class) = class(of)
    {
        return match event {
            "RxL_INSERTS" => Some(cells.receive_flits[class as usize].entries),
            "RxL_OCCUPANCY" => Some(cells.receive_flits[class as usize].cycles),
            _ => None,
        };
    }
    Some(match (event, subevent) {
        ("TxL_FLITS_G0" | "TxL_FLITS_G1" | "TxL_FLITS_G2", _) => {
            flits(&cells.sent, 2 * power(LinkState::SendFull) + power(LinkState::SendHalf), event, subevent)?
        }
        ("RxL_FLITS_G0" | "RxL_FLITS_G1" | "RxL_FLITS_G2", _) => {
            flits(&cells.received, 2 * power(LinkState::ReceiveFull) + power(LinkState::ReceiveHalf), event, subevent)?
        }
        ("TxL_INSERTS", "") => cells.transmit_flits.entries,
        ("TxL_OCCUPANCY", "") => cells.transmit_flits.cycles,
        ("TxL_CYCLES_NE", "") => cells.transmit.nonempty(),
        ("TxL_BYPASSED", "") => cells.transmit_bypassed,
        ("RxL_INSERTS", "") => cells.receive_flits.iter().map(|stay| stay.entries).sum(),
        ("RxL_OCCUPANCY", "") => cells.receive_flits.iter().map(|stay| stay.cycles).sum(),
        ("RxL_CYCLES_NE", "") => cells.receive.nonempty(),
        ("RxL_BYPASSED", "") => cells.receive_bypassed,
        ("TxL0_POWER_CYCLES", "") => power(LinkState::SendFull),
        ("TxL0P_POWER_CYCLES", "") => power(LinkState::SendHalf),
        ("RxL0_POWER_CYCLES", "") => power(LinkState::ReceiveFull),
        ("RxL0P_POWER_CYCLES", "") => power(LinkState::ReceiveHalf),
        ("L1_POWER_CYCLES", "") => power(LinkState::Off),
        ("TxL_CRC_NO_CREDITS", "FULL") => stalled(LinkStall::RetryFull),
        ("TxL_CRC_NO_CREDITS", "ALMOST_FULL") => stalled(LinkStall::RetryAlmostFull),
        ("RxL_STALLS", _) => stalled(LinkStall::Crossing(class(subevent.strip_prefix("BGF_")?)?)),
        ("RxL_CRC_ERRORS", "NORMAL_OP") => cells.errors,
        ("DIRECT2CORE", "SUCCESS") => cells.direct[1],
        ("DIRECT2CORE", "FAILURE_RBT") => cells.direct[0],
        // The way to a core always has credits.
        ("DIRECT2CORE", "FAILURE_CREDITS" | "FAILURE_CREDITS_RBT") => 0,
        ("RxL_CREDITS_CONSUMED_VNA", "") => cells.consumed(None),
        ("RxL_CREDITS_CONSUMED_VN0", _) => cells.consumed(Some(class(subevent)?)),
        ("VNA_CREDIT_RETURNS", "") => cells.returned,
        ("VNA_CREDIT_RETURN_OCCUPANCY", "") => cells.returning.cycles,
        ("CTO_COUNT", "") => matching(cells, &at.opcodes.packets, question),
        _ => return None,
    })
}

/// FlitCells of a direction that had room for so many.
fn flits(cells: &FlitCells, room: u64, event: &str, subevent: &str) -> Option<u64> {
    let of = |class: Class, parts: &[usize]| cells.of(|kind| kind.class() == class, parts);
    let home = |request: bool| cells.of(|kind| kind.class() == Class::Home && kind.is_request() == request, &[0]);
    Some(match (&event[event.len() - 2..], subevent) {
        ("G0", "IDLE") => room - cells.complete[0] - cells.complete[1],
        ("G0", "DATA") => cells.complete[1],
        ("G0", "NON_DATA") => cells.complete[0],
        ("G1", "SNP") => of(Class::Snoop, &[0]),
        ("G1", "HOM_REQ") => home(true),
        ("G1", "HOM_NONREQ") => home(false),
        ("G1", "HOM") => of(Class::Home, &[0]),
        ("G1", "DRS_DATA") => of(Class::Data, &[1]),
        ("G1", "DRS_NONDATA") => of(Class::Data, &[0]),
        ("G1", "DRS") => of(Class::Data, &[0, 1]),
        ("G2", "NDR_AD") => cells.no_data(true),
        ("G2", "NDR_AK") => cells.no_data(false),
        ("G2", "NCB_DATA") => of(Class::Bypass, &[1]),
        ("G2", "NCB_NONDATA") => of(Class::Bypass, &[0]),
        ("G2", "NCB") => of(Class::Bypass, &[0, 1]),
        ("G2", "NCS") => of(Class::Standard, &[0]),
        _ => return None,
    })
}

/// Packets whose header agrees with the match registers wherever the mask registers have a 1.
fn matching(cells: &LinkCells, codes: &PacketCodes, question: Question<'_>) -> u64 {
    let get = |name: &str| question.filter(name).unwrap_or(0);
    let field = |name: &str| (get(&format!("match_{name}")), get(&format!("mask_{name}")));
    let fields = ["mc", "opc", "vnw", "dnid", "rnid4", "rnid30", "rds"].map(field);
    let mut sum = 0;
    for kind in PacketKind::ALL {
        let (code, state) = (codes.messages[kind as usize], codes.states[kind as usize]);
        for to in 0..NODES {
            for requester in 0..NODES {
                for reserved in 0..2 {
                    // Virtual network 0 is VN0, 2 is VNA; node numbers beyond 15 do not occur.
                    let network = if reserved == 1 { 0 } else { 2 };
                    let header = [code >> 4, code & 0xF, network, to as u64, 0, requester as u64, state];
                    let agrees = header.iter().zip(fields).all(|(value, (wanted, mask))| (value ^ wanted) & mask == 0);
                    sum += if agrees { cells.packets[kind as usize][to][requester][reserved] } else { 0 };
                }
            }
        }
    }
    sum
}

/// An event of a link's ring stop.
pub fn ring_stop(at: &Snapshot, index: usize, event: &str, subevent: &str) -> Option<u64> {
    if (event, subevent) == ("CLOCKTICKS", "") {
        return Some(at.clocks.uclk.cycles(at.now));
    }
    let cells = at.cells.links.get(index)?;
    let of = || class(subevent).map(|class| class as usize);
    let io = || io_class(subevent).map(|class| class as usize);
    Some(match (event, subevent) {
        ("RxR_INSERTS", _) => cells.ring[of()?].entries,
        ("RxR_OCCUPANCY", _) => cells.ring[of()?].cycles(),
        ("RxR_CYCLES_NE", _) => cells.ring[of()?].nonempty(),
        ("RxR_BYPASSED", "AD") => cells.ring_bypassed,
        ("VNA_CREDITS_ACQUIRED", "") => cells.shared_taken,
        ("VNA_CREDITS_REJECT", _) => cells.shared_refused[of()?],
        ("VN0_CREDITS_USED", _) => cells.reserved_taken[of()?],
        ("VN0_CREDITS_REJECT", _) => cells.reserved_refused[of()?],
        ("IIO_CREDITS_ACQUIRED", _) => cells.io[io()?].entries,
        ("IIO_CREDITS_USED", _) => cells.io[io()?].nonempty(),
        ("IIO_CREDITS_REJECT", _) => cells.io_rejected[io()?],
        ("VNA_CREDIT_CYCLES_OUT", "") => cells.shared.full(),
        ("VNA_CREDIT_CYCLES_USED", "") => cells.shared.nonempty(),
        _ => return None,
    })
}
