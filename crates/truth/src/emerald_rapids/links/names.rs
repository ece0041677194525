//! What the guide's names mean for the socket links: of M3UPI and of UPI (sections 2.6 and 2.9).

use super::{LinkCells, WayCells};
use crate::Question;
use crate::emerald_rapids::snapshot::Snapshot;
use pericore_facts::emerald_rapids::{ADDRESS_CLASSES, LinkClass, LinkMessage, NARROWING, WIDENING, own_of};

/// Classes by their names on the mesh side, in the order of their numbers.
const CLASSES: [&str; 7] = ["AD_REQ", "AD_SNP", "AD_RSP", "BL_RSP", "BL_WB", "BL_NCB", "BL_NCS"];
/// Of those that have credits of their own.
const OWN: [&str; 6] = ["REQ", "SNP", "RSP", "WB", "NCB", "NCS"];
/// Kinds of credits towards takers: agents, stacks and the system agent.
const AGENTS: [&str; 3] = ["REQ", "SNP", "WB"];
const OTHERS: [&str; 7] = ["IIO1_NCB", "IIO2_NCB", "IIO3_NCB", "IIO4_NCB", "IIO5_NCB", "UBOX_NCB0", "NCS"];
/// Rings by the names of their flow queues.
const RINGS: [&str; 3] = ["AD_VNA_LE2", "BL_VNA_EQ0", "AK_VNA_LE3"];

fn number(names: &[&str], name: &str) -> Option<usize> {
    names.iter().position(|known| *known == name)
}

/// A name's virtual network, which stands at its beginning, and the rest.
fn network_first(name: &str) -> Option<(usize, &str)> {
    let rest = name.strip_prefix("VN")?;
    let network = number(&["0", "1"], rest.get(..1)?)?;
    Some((network, rest[1..].trim_start_matches('_')))
}

/// A name, and its virtual network, which stands at its end.
fn network_last(name: &str) -> Option<(&str, usize)> {
    let (rest, network) = name.rsplit_once("VN")?;
    Some((rest.trim_end_matches('_'), number(&["0", "1"], network)?))
}

/// A slot by its name.
fn slot(name: &str, prefix: &str) -> Option<usize> {
    number(&["0", "1", "2"], name.strip_prefix(prefix)?)
}

/// The count of an event of the mesh side.
pub fn mesh_side(cells: &LinkCells, event: &str, subevent: &str) -> Option<u64> {
    let LinkCells { arbitrations: of, .. } = cells;
    if let Some((name, network)) = network_last(event).filter(|(name, _)| name.starts_with("RxC_")) {
        let class = number(&CLASSES, subevent)?;
        let gauge = &cells.ingress[network][class];
        return Some(match name {
            "RxC_INSERTS" => gauge.entries,
            "RxC_OCCUPANCY" => gauge.occupied,
            "RxC_CYCLES_NE" => gauge.nonempty,
            "RxC_ARB_LOST" => of.lost[network][class],
            "RxC_ARB_NOCRD" => of.poor[network][class],
            "RxC_ARB_NOREQ" => of.silent[network][class],
            "RxC_PACKING_MISS" => cells.sending.missed[network][class],
            _ => return None,
        });
    }
    if let Some((network, name)) = network_first(event) {
        let gauge = &cells.own[network][number(&OWN, subevent)?];
        return match name {
            "CREDITS_USED" => Some(gauge.entries),
            "NO_CREDITS" => Some(gauge.full),
            _ => None,
        };
    }
    if let Some(count) = cells.sending.value(event, subevent) {
        return Some(count);
    }
    Some(match (event, subevent) {
        ("XPT_PFTCH", "ARRIVED") => cells.prefetches,
        ("XPT_PFTCH", "BYPASS") => cells.prefetches_past,
        ("XPT_PFTCH", "FLITTED") => cells.prefetches_slotted,
        ("UPI_PREFETCH_SPAWN", "") => cells.spawned,
        ("RxC_ARB_MISC", name) => arbitration(cells, name)?,
        ("RxC_VNA_CRD_MISC", "REQ_VN01_ALLOC_LT10") => of.scarce[0],
        ("RxC_VNA_CRD_MISC", "REQ_ADBL_ALLOC_L5") => of.scarce[1],
        ("RxC_VNA_CRD_MISC", name) => match network_first(name)? {
            (network, "ONLY") => of.alone[network],
            (network, "JUST_AD") => of.one_ring[network][0],
            (network, "JUST_BL") => of.one_ring[network][1],
            _ => return None,
        },
        ("RxC_CRD_MISC", "VN0_NO_D2K_FOR_ARB") => of.incomplete[0],
        ("RxC_CRD_MISC", "VN1_NO_D2K_FOR_ARB") => of.incomplete[1],
        ("RxC_VNA_CRD", "ANY_IN_USE") => cells.shared.nonempty,
        ("RxC_VNA_CRD", name) => cells.below[number(&["LT1", "LT4", "LT5", "LT10"], name)?].occupied,
        ("RxC_CRD_OCC", "VNA_IN_USE") => cells.shared.occupied,
        // The path to the link layer is one queue here.
        ("RxC_CRD_OCC", "FLITS_IN_FIFO" | "FLITS_IN_PATH" | "TxQ_CRD") => cells.in_path.occupied,
        ("RxC_CRD_MISC", "ANY_BGF_FIFO" | "ANY_BGF_PATH") => cells.in_path.nonempty,
        ("RxC_HELD", "PARALLEL_ATTEMPT") => of.attempts[0],
        ("RxC_HELD", "PARALLEL_SUCCESS") => of.attempts[1],
        ("RxC_HELD", name) => of.held[network_first(name)?.0],
        ("RxC_FLITS_SLOT_BL", "ALL") => cells.slotted_blocks,
        ("RxC_FLITS_SLOT_BL", "NEED_DATA") => cells.flits_with_line,
        ("RxC_FLITS_GEN_BL", "P0_WAIT") => cells.flits_beside_line[1],
        ("RxC_FLIT_GEN_HDR2", "PAR" | "PAR_FLIT") => cells.flits_beside_line.iter().sum(),
        ("RxC_FLIT_GEN_HDR2", "PAR_MSG") => cells.messages_beside_line,
        ("MULTI_SLOT_RCVD", name) => {
            let lane = number(&["AD", "BL", "AK"], name.get(..2)?)?;
            let slot = slot(name.get(2..)?, "_SLOT")?;
            // Lines have their headers in the first slot, completions go in the outer ones.
            (lane == 0 || slot == 0 || (lane, slot) == (2, 2)).then_some(cells.seen[lane][slot])?
        }
        ("TxC_AD_FLQ_BYPASS", name) => cells.passed_flow[slot(name, "AD_SLOT")?],
        ("TxC_AK_FLQ_INSERTS", "") => cells.acknowledgements.entries,
        ("TxC_AK_FLQ_OCCUPANCY", "") => cells.acknowledgements.occupied,
        ("TxC_BL_WB_FLQ_OCCUPANCY", name) => match network_first(name)? {
            (network, "LOCAL") => cells.flows[network][LinkClass::Writeback as usize].occupied,
            (network, "WRPULL") => cells.unfetched[network].occupied,
            _ => return None,
        },
        // No writeback passes through to another link: all that wait are of this socket.
        ("WB_PENDING" | "WB_OCC_COMPARE", name) => {
            let (name, network) = network_last(name)?;
            let gauge = &cells.flows[network][LinkClass::Writeback as usize];
            match (event, name) {
                ("WB_PENDING", "LOCALDEST") => gauge.occupied,
                ("WB_PENDING", "WAITING4PULL") => cells.unfetched[network].occupied,
                ("WB_OCC_COMPARE", "RT_LT_LOCALDEST") => gauge.nonempty,
                // None of the one is as many as none of the other.
                ("WB_OCC_COMPARE", "RT_EQ_LOCALDEST") => cells.age() - gauge.nonempty,
                _ => return None,
            }
        }
        ("CHA_AD_CREDITS_EMPTY", name) => cells.takers[number(&AGENTS, name)?].full,
        ("M2_BL_CREDITS_EMPTY", name) => {
            // Intel's file has no number behind the U-Box's.
            let name = if name == "UBOX_NCB" { "UBOX_NCB0" } else { name };
            cells.takers[AGENTS.len() + number(&OTHERS, name)?].full
        }
        ("D2C_SENT", "") => cells.direct,
        (_, name) => flow(cells, event, name)?,
    })
}

/// Winners side by side, and networks that make no progress.
fn arbitration(cells: &LinkCells, name: &str) -> Option<u64> {
    let of = &cells.arbitrations;
    Some(match name {
        "VN01_PARALLEL_WIN" => of.wins[2],
        "ALL_PARALLEL_WIN" => of.wins[3],
        _ => match network_last(name)? {
            ("ADBL_PARALLEL_WIN", network) => of.wins[network],
            ("NO_PROG_AD", network) => cells.stuck[0][network],
            ("NO_PROG_BL", network) => cells.stuck[1][network],
            _ => return None,
        },
    })
}

/// Events of the flow queues by network and class.
fn flow(cells: &LinkCells, event: &str, name: &str) -> Option<u64> {
    let (network, class) = network_first(name)?;
    let (ring, figure) = event.strip_prefix("TxC_")?.split_once('_')?;
    // On the address ring a writeback is word of it.
    if (ring, class) == ("AD", "WB") {
        let gauge = &cells.words[network];
        return Some(match figure {
            "FLQ_INSERTS" => gauge.entries,
            "FLQ_OCCUPANCY" => gauge.occupied,
            "FLQ_CYCLES_NE" => gauge.nonempty,
            "ARB_FAIL" => cells.words_stayed[network],
            _ => return None,
        });
    }
    let class = match ring {
        "AD" => number(&OWN[..ADDRESS_CLASSES], class)?,
        "BL" => ADDRESS_CLASSES + number(&["RSP", "WB", "NCB", "NCS"], class)?,
        _ => return None,
    };
    let gauge = &cells.flows[network][class];
    Some(match figure {
        "FLQ_INSERTS" => gauge.entries,
        "FLQ_OCCUPANCY" => gauge.occupied,
        // The guide has no rows for messages that are not coherent.
        "FLQ_CYCLES_NE" if own_of(class).is_none_or(|own| own < 4) => gauge.nonempty,
        "ARB_FAIL" => cells.stayed[network][class],
        _ => return None,
    })
}

/// The count of an event of the link layer.
pub fn link_layer(at: &Snapshot, cells: &LinkCells, question: Question<'_>) -> Option<u64> {
    let Question { event, subevent, .. } = question;
    let lines = |way: &WayCells| {
        LinkMessage::ALL
            .iter()
            .filter(|message| message.has_line())
            .map(|&message| way.messages[message as usize])
            .sum::<u64>()
    };
    let pool = |name: &str| number(&["VN0", "VN1", "VNA"], name);
    let ring = |name: &str| number(&RINGS, name);
    Some(match (event, subevent) {
        ("TxL_FLITS" | "RxL_FLITS" | "TxL_BASIC_HDR_MATCH" | "RxL_BASIC_HDR_MATCH", _) => slots(at, cells, question)?,
        ("TxL_ANY_FLITS" | "RxL_ANY_FLITS", kind) => {
            let way = if event.starts_with("TxL") { &cells.sent } else { &cells.received };
            match kind {
                "PROTHDR" => way.messages.iter().sum(),
                // In slots, as headers are.
                "DATA" => 9 * lines(way),
                "LLCRD" => way.credits,
                "NULL" => way.empty.iter().sum(),
                "LLCTRL" => way.idle,
                // Whatever is in a slot.
                "SLOT0" => way.slots[0] + 3 * lines(way) + way.idle,
                "SLOT1" => way.slots[1] + 3 * lines(way) + way.empty[1],
                "SLOT2" => way.slots[2] + 3 * lines(way) + way.empty[2] + way.credits,
                _ => return None,
            }
        }
        ("TxL_BYPASSED", "") => cells.sent_past,
        ("TxL_INSERTS", "") => cells.sent_queue.entries,
        ("TxL_OCCUPANCY", "") => cells.sent_queue.occupied,
        ("RxL_CRC_ERRORS" | "RxL_CRC_LLR_REQ_TRANSMIT", "") => cells.damaged,
        ("REQ_SLOT2_FROM_M3", name) => cells.requested[pool(name)?],
        ("VNA_CREDIT_RETURN_BLOCKED_VN01", "") => cells.blocked,
        ("VNA_CREDIT_RETURN_OCCUPANCY", "") => cells.returning.occupied,
        ("RxL_BYPASSED", name) => cells.received_past[slot(name, "SLOT")?],
        ("RxL_INSERTS", name) => cells.queues[slot(name, "SLOT")?].entries,
        ("RxL_OCCUPANCY", name) => cells.queues[slot(name, "SLOT")?].occupied,
        ("RxL_SLOT_BYPASS", name) => {
            let (own, other) = name.split_once('_')?;
            let (own, other) = (slot(own, "S")?, slot(other, "RXQ")?);
            (own != other).then_some(cells.past_others[own][other])?
        }
        ("M3_BYP_BLOCKED", name) => cells.not_past[ring(name.strip_prefix("FLOWQ_")?)?],
        ("M3_RXQ_BLOCKED", "FLOWQ_AD_VNA_BTW_2_THRESH") => cells.no_room[0][1],
        ("M3_RXQ_BLOCKED", "FLOWQ_BL_VNA_BTW_0_THRESH") => cells.no_room[1][1],
        ("M3_RXQ_BLOCKED", name) => cells.no_room[ring(name.strip_prefix("FLOWQ_")?)?][0],
        ("FLOWQ_NO_VNA_CRD", name) => {
            let (ring, left) = name.split_once("_VNA_EQ")?;
            cells.last_places[number(&["AD", "BL", "AK"], ring)?][left.parse::<usize>().ok()?]
        }
        ("DIRECT_ATTEMPTS", "D2C") => cells.direct,
        ("TxL0_POWER_CYCLES", "") => cells.widths[0][0].occupied,
        ("RxL0_POWER_CYCLES", "") => cells.widths[0][1].occupied,
        ("TxL0P_POWER_CYCLES", "") => cells.widths[1][0].occupied,
        ("RxL0P_POWER_CYCLES", "") => cells.widths[1][1].occupied,
        ("L1_POWER_CYCLES", "") => cells.off.occupied,
        ("PHY_INIT_CYCLES", "") => cells.trains.occupied,
        ("TxL0P_POWER_CYCLES_LL_ENTER", "") => u64::from(NARROWING) * cells.changes[0],
        ("TxL0P_POWER_CYCLES_M3_EXIT", "") => u64::from(WIDENING) * cells.changes[1],
        ("TxL0P_CLK_ACTIVE", "RXQ") => cells.wakeful[0],
        ("TxL0P_CLK_ACTIVE", "RXQ_BYPASS") => cells.wakeful[1],
        ("TxL0P_CLK_ACTIVE", "RXQ_CRED") => cells.wakeful[2],
        ("TxL0P_CLK_ACTIVE", "TXQ") => cells.wakeful[3],
        ("POWER_L1_NACK", "") => cells.shut_downs[0],
        ("POWER_L1_REQ", "") => cells.shut_downs[1],
        (_, "") => cells.consumed[pool(event.strip_prefix("RxL_CREDITS_CONSUMED_")?)?],
        _ => return None,
    })
}

/// Slots and headers of a link (Tables 2-317 to 2-320): a line is nine data slots, three in each slot of a flit; a
/// header takes one slot, credits take slot 2.
fn slots(at: &Snapshot, cells: &LinkCells, question: Question<'_>) -> Option<u64> {
    let way = if question.event.starts_with("TxL") { &cells.sent } else { &cells.received };
    let sum = |counts: &dyn Fn(LinkMessage) -> bool| -> u64 {
        LinkMessage::ALL.iter().filter(|&&message| counts(message)).map(|&message| way.messages[message as usize]).sum()
    };
    let of_class = |class: LinkClass| sum(&|message| message.class() == class);
    let opcode = || question.filter("opc").map(|opcode| opcode % 16);
    let of_opcode = |class: LinkClass, opcode: u64| {
        let code = |message: LinkMessage| u64::from(at.shape.link_codes[message as usize]);
        sum(&|message| message.class() == class && code(message) % 16 == opcode)
    };
    let lines = sum(&LinkMessage::has_line);
    let messages = sum(&|_| true);
    debug_assert_eq!(messages, way.slots.iter().sum::<u64>());
    Some(match question.subevent {
        // A slot alone, or a kind without a slot, counts nothing.
        "SLOT0" | "SLOT1" | "SLOT2" | "DATA" | "LLCRD" | "NULL" | "LLCTRL" | "PROTHDR" => 0,
        "ALL_DATA" => 9 * lines,
        "ALL_PROTHDR" => messages,
        "ALL_LLCRD" => way.credits,
        "NON_DATA" => messages + way.credits,
        "ALL_NULL" => way.empty.iter().sum(),
        "IDLE" | "ALL_LLCTRL" => way.idle,
        "REQ" => of_class(LinkClass::Request),
        "SNP" => of_class(LinkClass::Snoop),
        "RSP_NODATA" => of_class(LinkClass::Response),
        "RSP_DATA" => of_class(LinkClass::Data),
        "WB" => of_class(LinkClass::Writeback),
        "NCB" => of_class(LinkClass::Bypass),
        "NCS" => of_class(LinkClass::Standard),
        "REQ_OPC" => of_opcode(LinkClass::Request, opcode()?),
        "SNP_OPC" => of_opcode(LinkClass::Snoop, opcode()?),
        "RSP_NODATA_OPC" => of_opcode(LinkClass::Response, opcode()?),
        "RSP_DATA_OPC" => of_opcode(LinkClass::Data, opcode()?),
        "WB_OPC" => of_opcode(LinkClass::Writeback, opcode()?),
        "NCB_OPC" => of_opcode(LinkClass::Bypass, opcode()?),
        "NCS_OPC" => of_opcode(LinkClass::Standard, opcode()?),
        "RSPI" => way.messages[LinkMessage::Nothing as usize],
        // Conflicts are settled at the home agent.
        "RSPCNFLT" => 0,
        _ => return None,
    })
}
