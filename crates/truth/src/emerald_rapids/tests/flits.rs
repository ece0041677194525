//! How flits come about, by hand (section 2.9, Tables 2-378 to 2-398 and 2-417; section 2.6, Tables 2-218 to 2-230).

use pericore_facts::emerald_rapids::{BlockHalves, Limbo, RunAhead, SlotRequest};

use super::{
    Arbitration, Bypass, Fact, FlowRing, LINK, LinkFact, LinkMessage, LinkPacket, LinkWidth, Paid, Snapshot, counts,
    of, packet,
};

fn at_link(facts: &[(u64, LinkFact)], now: u64) -> Snapshot {
    let facts: Vec<_> = facts.iter().map(|&(at, fact)| (at, Fact::Link(LINK, fact))).collect();
    of(&facts, now)
}

#[track_caller]
fn all(at: &Snapshot, unit: &str, expected: &[(&str, u64)]) {
    expected.iter().for_each(|&(name, count)| counts(at, 0, &format!("{unit}/{name}"), count));
}

/// Table 2-387: a flit that is ready and blocked for nine cycles takes more in for six, and in two of them something
/// comes. Table 2-390: in seven of the nine no further message is slotted, and eight are cycles of the link.
#[test]
fn a_blocked_flit_gathers_messages_until_it_is_full() {
    let waits = LinkFact::Resumes { cycles: 9, lines: 4, valid: [8, 3], accumulating: 6, joined: 2 };
    let at = at_link(&[(20, waits)], 30);
    all(
        &at,
        "m3upi",
        &[
            ("RxC_FLIT_GEN_HDR1.ACCUM", 6),
            ("RxC_FLIT_GEN_HDR1.ACCUM_READ", 6),
            ("RxC_FLIT_GEN_HDR1.ACCUM_WASTED", 4),
            ("RxC_HDR_FLIT_NOT_SENT.ALL", 9),
            ("RxC_HDR_FLIT_NOT_SENT.NO_TXQ_CRD", 9),
            ("RxC_HDR_FLIT_NOT_SENT.NO_TXQ_NO_MSG", 7),
            ("RxC_HDR_FLIT_NOT_SENT.TSV_HI", 8),
            ("RxC_HDR_FLIT_NOT_SENT.VALID_FOR_FLIT", 8),
            ("RxC_DATA_FLITS_NOT_SENT.NO_TXQ", 4),
            ("RxC_DATA_FLITS_NOT_SENT.VALID_FOR_FLIT", 3),
        ],
    );
}

#[test]
fn a_flit_begun_ahead_wins_with_its_second_message_alone() {
    let ahead = |steps: &[RunAhead]| {
        let facts: Vec<_> = steps.iter().map(|&step| (3, LinkFact::RunsAhead(step))).collect();
        at_link(&facts, 10)
    };
    let names = ["AHEAD_BLOCKED", "AHEAD_MSG1_DURING", "AHEAD_MSG2_AFTER", "AHEAD_MSG2_SENT", "AHEAD_MSG1_AFTER"];
    let won = ahead(&[RunAhead::Begins, RunAhead::First, RunAhead::Second, RunAhead::Pays]);
    let lost = ahead(&[RunAhead::Begins, RunAhead::TooLate, RunAhead::Begins]);
    for (name, [in_won, in_lost]) in names.into_iter().zip([[1, 2], [1, 0], [1, 0], [1, 0], [0, 1]]) {
        counts(&won, 0, &format!("m3upi/RxC_FLIT_GEN_HDR1.{name}"), in_won);
        counts(&lost, 0, &format!("m3upi/RxC_FLIT_GEN_HDR1.{name}"), in_lost);
    }
}

/// Table 2-378: into an idle link, beside an arbitration, into slots 1 and 2 of a flit with a message of BL.
#[test]
fn addresses_go_past_the_queues_in_four_ways() {
    let in_slot = |slot| LinkPacket { slot, ..packet(LinkMessage::ReadData, 0) };
    let facts = [
        (1, LinkFact::PassesGate(in_slot(0), Bypass::Idle)),
        (2, LinkFact::PassesGate(in_slot(0), Bypass::Arbitrating)),
        (3, LinkFact::PassesGate(in_slot(1), Bypass::Slotted)),
        (3, LinkFact::PassesGate(in_slot(2), Bypass::Slotted)),
        (4, LinkFact::PassesGate(in_slot(2), Bypass::Slotted)),
    ];
    let counts = [("AD_S0_IDLE", 1), ("AD_S0_BL_ARB", 1), ("AD_S1_BL_SLOT", 1), ("AD_S2_BL_SLOT", 2)]
        .map(|(name, count)| (format!("RxC_BYPASSED.{name}"), count));
    let at = at_link(&facts, 10);
    counts.iter().for_each(|(name, count)| super::counts(&at, 0, &format!("m3upi/{name}"), *count));
    super::counts(&at, 0, "m3upi/XPT_PFTCH.BYPASS", 5);
}

/// Tables 2-380, 2-384 and 2-386: a line without its second half; a bypass message that needs it, and has neither; a
/// standard message that is sent without, which is in limbo for seven cycles, the last one in the FIFO.
#[test]
fn headers_of_the_block_ring_need_one_half_or_both() {
    let slots = |line, both, here, delayed| LinkFact::SlotsBlock(BlockHalves { line, both, here, delayed });
    let facts = [
        (3, slots(true, false, [true, false], true)),
        (4, slots(true, true, [false, false], true)),
        (5, slots(false, false, [true, false], false)),
        (5, LinkFact::Limbo(Limbo::Begins)),
        (11, LinkFact::Limbo(Limbo::Completes)),
        (12, LinkFact::Limbo(Limbo::Ends)),
    ];
    all(
        &at_link(&facts, 20),
        "m3upi",
        &[
            ("RxC_FLITS_SLOT_BL.P0_WAIT", 1),
            ("RxC_FLITS_SLOT_BL.P1_WAIT", 1),
            ("RxC_FLITS_SLOT_BL.P1_NOT_REQ", 2),
            ("RxC_FLITS_SLOT_BL.P1_NOT_REQ_BUT_BUBBLE", 1),
            ("RxC_FLITS_SLOT_BL.P1_NOT_REQ_NOT_AVAIL", 2),
            ("RxC_FLITS_GEN_BL.P1_WAIT", 2),
            ("RxC_FLITS_GEN_BL.P1P_TO_LIMBO", 1),
            ("RxC_FLITS_GEN_BL.P1P_BUSY", 7),
            ("RxC_CRD_OCC.P1P_TOTAL", 7),
            ("RxC_CRD_OCC.P1P_FIFO", 1),
        ],
    );
}

/// Tables 2-379, 2-380 and 2-398: a standard message is given four credits, of which three come back in a cycle; of the
/// eight completions none is left from 8 to 10, fewer than two from 7 to 11.
#[test]
fn credits_are_taken_corrected_and_outstanding() {
    let standard = packet(LinkMessage::PeerRead, 0);
    let own = LinkPacket { paid: Paid::Own, ..packet(LinkMessage::Writeback, 0) };
    let mut facts = vec![
        (1, LinkFact::Pays(packet(LinkMessage::ReadData, 0))),
        (1, LinkFact::Pays(standard)),
        (1, LinkFact::Pays(own)),
        (2, LinkFact::Corrects(3)),
    ];
    facts.extend((1..9).map(|cycle| (cycle, LinkFact::Completion(true))));
    facts.extend((10..18).map(|cycle| (cycle, LinkFact::Completion(false))));
    let blocked = Arbitration { incomplete: [false, true], times: 3, ..Arbitration::default() };
    facts.push((18, LinkFact::Arbitrates(blocked)));
    all(
        &at_link(&facts, 20),
        "m3upi",
        &[
            ("RxC_CRD_OCC.CONSUMED", 5),
            ("RxC_VNA_CRD.CORRECTED", 3),
            // Two headers, from the second cycle on; three more credits for one cycle.
            ("RxC_CRD_OCC.VNA_IN_USE", 2 * 19 + 3),
            // Each of the eight for nine cycles.
            ("RxC_CRD_OCC.D2K_CRD", 72),
            ("RxC_CRD_MISC.LT1_FOR_D2K", 2),
            ("RxC_CRD_MISC.LT2_FOR_D2K", 4),
            ("RxC_CRD_MISC.VN0_NO_D2K_FOR_ARB", 0),
            ("RxC_CRD_MISC.VN1_NO_D2K_FOR_ARB", 3),
        ],
    );
}

/// Table 2-385: of three requests for slot 2 one is withdrawn, one served of itself, one by force.
#[test]
fn a_request_for_slot_2_ends_in_one_of_three_ways() {
    let of = |what| (2, LinkFact::SlotRequest(what));
    let requests = [
        of(SlotRequest::Comes),
        of(SlotRequest::Withdrawn),
        of(SlotRequest::Comes),
        of(SlotRequest::Natural),
        of(SlotRequest::Comes),
        of(SlotRequest::Forced),
    ];
    all(
        &at_link(&requests, 5),
        "m3upi",
        &[
            ("RxC_FLITS_MISC.S2REQ_RECEIVED", 3),
            ("RxC_FLITS_MISC.S2REQ_WITHDRAWN", 1),
            ("RxC_FLITS_MISC.S2REQ_IN_HOLDOFF", 1),
            ("RxC_FLITS_MISC.S2REQ_IN_SERVICE", 1),
        ],
    );
}

/// Tables 2-224 and 2-230: a header in slot 0 leaves slots 1 and 2 empty, and idle flits follow, which are one
/// message of the link layer each, in slot 0.
#[test]
fn an_idle_link_ends_its_flit_and_sends_idle_flits() {
    let facts = [
        (1, LinkFact::Crosses(packet(LinkMessage::ReadData, 0), false)),
        (9, LinkFact::Idles { empty: 2, flits: 6, received: false }),
        (9, LinkFact::Idles { empty: 1, flits: 4, received: true }),
    ];
    all(
        &at_link(&facts, 10),
        "upi",
        &[
            ("TxL_FLITS.ALL_NULL", 2),
            ("TxL_FLITS.IDLE", 6),
            ("TxL_FLITS.ALL_LLCTRL", 6),
            ("TxL_ANY_FLITS.NULL", 2),
            ("TxL_ANY_FLITS.LLCTRL", 6),
            ("TxL_ANY_FLITS.SLOT0", 7),
            ("TxL_ANY_FLITS.SLOT1", 1),
            ("TxL_ANY_FLITS.SLOT2", 1),
            ("RxL_FLITS.ALL_NULL", 1),
            ("RxL_FLITS.IDLE", 4),
            // An only empty slot is the last.
            ("RxL_ANY_FLITS.SLOT1", 0),
            ("RxL_ANY_FLITS.SLOT2", 1),
        ],
    );
}

/// Tables 2-400 to 2-404, 2-409 and 2-417: word of a writeback is in the flow queue of addresses from 3 to 5, the
/// writeback waits until it is fetched at 15, and goes at 16.
#[test]
fn a_writeback_waits_until_its_home_fetches_it() {
    let line = packet(LinkMessage::Writeback, 0);
    let facts = [
        (0, LinkFact::Width(None, LinkWidth::Full)),
        (3, LinkFact::EntersFlow(line)),
        (3, LinkFact::WordEnters(line)),
        (4, LinkFact::WordStays(line)),
        (5, LinkFact::WordLeaves(line)),
        (15, LinkFact::Fetched(line)),
        (16, LinkFact::LeavesFlow(line)),
    ];
    all(
        &at_link(&facts, 20),
        "m3upi",
        &[
            ("TxC_AD_FLQ_INSERTS.VN0_WB", 1),
            ("TxC_AD_FLQ_OCCUPANCY.VN0_WB", 2),
            ("TxC_AD_FLQ_CYCLES_NE.VN0_WB", 2),
            ("TxC_AD_FLQ_CYCLES_NE.VN1_WB", 0),
            ("TxC_AD_ARB_FAIL.VN0_WB", 1),
            ("TxC_BL_FLQ_OCCUPANCY.VN0_WB", 13),
            ("TxC_BL_WB_FLQ_OCCUPANCY.VN0_LOCAL", 13),
            ("TxC_BL_WB_FLQ_OCCUPANCY.VN0_WRPULL", 12),
            ("WB_PENDING.WAITING4PULL_VN0", 12),
            ("WB_PENDING.WAITING4PULL_VN1", 0),
        ],
    );
}

/// Tables 2-218 and 2-220: eight addresses fill their queue; what waits then finds nothing, and later too little.
#[test]
fn places_of_a_flow_queue_are_counted_down() {
    let address = packet(LinkMessage::ReadData, 1);
    let mut facts: Vec<_> = (1..9).map(|cycle| (cycle, LinkFact::EntersFlow(address))).collect();
    facts.push((9, LinkFact::FindsNoRoom(FlowRing::Address, false)));
    facts.push((10, LinkFact::FindsNoRoom(FlowRing::Address, true)));
    facts.push((11, LinkFact::FindsNoRoom(FlowRing::Block, true)));
    all(
        &at_link(&facts, 20),
        "upi",
        &[
            ("FLOWQ_NO_VNA_CRD.AD_VNA_EQ2", 1),
            ("FLOWQ_NO_VNA_CRD.AD_VNA_EQ1", 1),
            ("FLOWQ_NO_VNA_CRD.AD_VNA_EQ0", 1),
            ("FLOWQ_NO_VNA_CRD.BL_VNA_EQ0", 0),
            ("M3_RXQ_BLOCKED.FLOWQ_AD_VNA_LE2", 1),
            ("M3_RXQ_BLOCKED.FLOWQ_AD_VNA_BTW_2_THRESH", 1),
            ("M3_RXQ_BLOCKED.FLOWQ_BL_VNA_EQ0", 0),
            ("M3_RXQ_BLOCKED.FLOWQ_BL_VNA_BTW_0_THRESH", 1),
        ],
    );
}
