//! What the guide's names mean for the socket links: of M3UPI and of UPI (sections 2.6 and 2.9).

use super::names::Take;
use super::{LinkClass, LinkMessage, Snapshot};
use crate::ledger::Question;

/// Subevents that count the same as another of their event, or the sum of some.
pub fn composite(unit: &str, event: &str, subevent: &str) -> Option<&'static [&'static str]> {
    Some(match (unit, event, subevent) {
        ("m3upi", "XPT_PFTCH", "FLITTED") => &["ARRIVED"],
        ("m3upi", "RxC_HDR_FLIT_NOT_SENT", "NO_TXQ_CRD") | ("m3upi", "RxC_DATA_FLITS_NOT_SENT", "NO_TXQ") => &["ALL"],
        // A message of its own credit travels alone, and takes one slot as well.
        ("m3upi", "RxC_HDR_FLITS_SENT", "SLOTS_1") => &["1_MSG", "1_MSG_VNX"],
        ("m3upi", "RxC_HDR_FLITS_SENT", "SLOTS_2") => &["2_MSGS"],
        ("m3upi", "RxC_HDR_FLITS_SENT", "SLOTS_3") => &["3_MSGS"],
        ("m3upi", "RxC_FLITS_SLOT_BL", "NEED_DATA") => &["ALL"],
        ("m3upi", "RxC_FLIT_GEN_HDR2", "PAR_FLIT") => &["PAR"],
        _ => return None,
    })
}

/// Events that take something from a level of another event's name: that event, its subevent, and what is taken.
pub fn of_level<'a>(unit: &str, event: &str, subevent: &'a str) -> Option<(&'static str, &'a str, Take)> {
    use Take::{Entries, Nonempty, Occupied};
    let (of, take) = match (unit, event) {
        ("m3upi", "RxC_INSERTS_VN0") => ("RxC_INSERTS_VN0", Entries),
        ("m3upi", "RxC_OCCUPANCY_VN0") => ("RxC_INSERTS_VN0", Occupied),
        ("m3upi", "RxC_CYCLES_NE_VN0") => ("RxC_INSERTS_VN0", Nonempty),
        ("m3upi", "RxC_INSERTS_VN1") => ("RxC_INSERTS_VN1", Entries),
        ("m3upi", "RxC_OCCUPANCY_VN1") => ("RxC_INSERTS_VN1", Occupied),
        ("m3upi", "RxC_CYCLES_NE_VN1") => ("RxC_INSERTS_VN1", Nonempty),
        ("m3upi", "TxC_AD_FLQ_INSERTS") => ("TxC_AD_FLQ_INSERTS", Entries),
        ("m3upi", "TxC_AD_FLQ_OCCUPANCY") => ("TxC_AD_FLQ_INSERTS", Occupied),
        ("m3upi", "TxC_AD_FLQ_CYCLES_NE") => ("TxC_AD_FLQ_INSERTS", Nonempty),
        ("m3upi", "TxC_AK_FLQ_INSERTS") => ("TxC_AK_FLQ_INSERTS", Entries),
        ("m3upi", "TxC_AK_FLQ_OCCUPANCY") => ("TxC_AK_FLQ_INSERTS", Occupied),
        ("m3upi", "TxC_BL_FLQ_CYCLES_NE") => ("TxC_BL_FLQ_OCCUPANCY", Nonempty),
        ("m3upi", "RxC_VNA_CRD") if subevent == "ANY_IN_USE" => return Some(("RxC_CRD_OCC", "VNA_IN_USE", Nonempty)),
        ("m3upi", "RxC_CRD_OCC") if matches!(subevent, "FLITS_IN_PATH" | "TxQ_CRD") => {
            return Some(("RxC_CRD_OCC", "FLITS_IN_FIFO", Occupied));
        }
        ("m3upi", "RxC_CRD_MISC") if matches!(subevent, "ANY_BGF_FIFO" | "ANY_BGF_PATH") => {
            return Some(("RxC_CRD_OCC", "FLITS_IN_FIFO", Nonempty));
        }
        ("m3upi", "TxC_BL_WB_FLQ_OCCUPANCY") => {
            let of = match subevent {
                "VN0_LOCAL" => "VN0_WB",
                "VN1_LOCAL" => "VN1_WB",
                _ => return None,
            };
            return Some(("TxC_BL_FLQ_OCCUPANCY", of, Occupied));
        }
        ("m3upi", "WB_OCC_COMPARE") => {
            let of = match subevent {
                "RT_LT_LOCALDEST_VN0" => "LOCALDEST_VN0",
                "RT_LT_LOCALDEST_VN1" => "LOCALDEST_VN1",
                _ => return None,
            };
            return Some(("WB_PENDING", of, Nonempty));
        }
        ("upi", "TxL_INSERTS") => ("TxL_INSERTS", Entries),
        ("upi", "TxL_OCCUPANCY") => ("TxL_INSERTS", Occupied),
        ("upi", "RxL_INSERTS") => ("RxL_INSERTS", Entries),
        ("upi", "RxL_OCCUPANCY") => ("RxL_INSERTS", Occupied),
        _ => return None,
    };
    Some((of, subevent, take))
}

/// Slots and headers of a link (Tables 2-317 to 2-320): a line is nine data slots, three in each slot of a flit; a header takes one
/// slot, credits take slot 2.
pub fn slots(at: &Snapshot, instance: u16, question: Question<'_>) -> Option<u64> {
    let cells = at.cells.links.get(usize::from(instance))?;
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
        "ALL_NULL" | "IDLE" | "ALL_LLCTRL" => 0,
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
