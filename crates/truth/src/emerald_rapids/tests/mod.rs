//! Events by hand: a few facts at cycles, and what the guide's texts make of them. All clocks tick together here.

mod devices;
mod flits;
mod mesh;
mod readings;

use pericore_engine::{Period, Tick};
use pericore_facts::FactReader;
use pericore_facts::emerald_rapids::{
    AgentFact, Arbitration, ArbitrationOutcome as Outcome, Bypass, CState, Class, Clocks, DeviceRequest, DeviceStation,
    Dies, ExpanderFact, Fact, FilterVictim, FlowRing, Found, Kind, LinkFact, LinkMessage, LinkPacket, LinkWidth,
    MemoryAction, MemoryRequest, PackageCondition, Paid, PeerLine, PeerStation, PrefetchFate, PrefetchSender,
    PrefetchSent, ReturnedCredits, Shape, SnoopCause, SnoopReply, StackFact, SystemFact, SystemMessage, Taker, Target,
};

use super::{Ledger, Snapshot};
use crate::Question;

/// Ticks of a cycle.
const CYCLE: Tick = 2;

fn of(facts: &[(Tick, Fact)], now: Tick) -> Snapshot {
    let period = Period::new(CYCLE);
    let clocks = Clocks {
        ticks_per_second: 1_000_000_000,
        uclk: period,
        dclk: period,
        ioclk: period,
        upiclk: period,
        pclk: period,
        cxlclk: period,
    };
    let units = ["cha", "imc", "m2m", "upi", "m3upi", "iio", "irp", "m2pcie", "cxlcm", "cxldp", "pcu", "ubox"];
    let shape = Shape {
        sockets: 2,
        units: units.map(|unit| (unit, 6)).to_vec(),
        tiles: Vec::new(),
        dies: Dies { rows: 1, columns: 1, down: 1, across: 1 },
        link_codes: [0; LinkMessage::COUNT],
        pending: [0; 2],
    };
    let mut ledger = Ledger::new(clocks, shape);
    facts.iter().for_each(|&(at, fact)| ledger.read(CYCLE * at, fact));
    ledger.snapshot(CYCLE * now, std::iter::empty())
}

/// An event of the first instance of a socket.
#[track_caller]
fn counts(at: &Snapshot, socket: u16, name: &str, expected: u64) {
    let (unit, rest) = name.split_once('/').unwrap();
    let (event, subevent) = rest.split_once('.').map_or((rest, None), |(event, sub)| (event, Some(sub)));
    assert_eq!(at.count(socket, 0, Question::new(unit, event).subevent(subevent)), Some(expected), "{name}");
}

fn packet(message: LinkMessage, network: u8) -> LinkPacket {
    LinkPacket { message, network, slot: 0, paid: Paid::Shared, taker: None }
}

const LINK: (u16, u16) = (0, 0);

#[test]
fn a_writeback_waits_pays_and_crosses() {
    let line = packet(LinkMessage::Writeback, 1);
    let facts = [
        (10, LinkFact::WaitsAtGate(line)),
        (14, LinkFact::LeavesGate(line)),
        (14, LinkFact::Pays(line)),
        (14, LinkFact::Ships { lines: true, beside_line: false, queued: true }),
        (20, LinkFact::Leaves { messages: 1, alone: false, queued: true, lines: true, beside_line: false }),
        (20, LinkFact::Crosses(line, false)),
        (30, LinkFact::GetsCredits(ReturnedCredits { shared: 4, own: [[0; 6]; 2] })),
    ];
    let at = of(&facts.map(|(at, fact)| (at, Fact::Link(LINK, fact))), 40);
    counts(&at, 0, "m3upi/RxC_INSERTS_VN1.BL_WB", 1);
    counts(&at, 0, "m3upi/RxC_OCCUPANCY_VN1.BL_WB", 4);
    counts(&at, 0, "m3upi/RxC_CYCLES_NE_VN1.BL_WB", 4);
    counts(&at, 0, "m3upi/RxC_INSERTS_VN0.BL_WB", 0);
    // Four flit buffers of the peer from 14 to 30.
    counts(&at, 0, "m3upi/RxC_CRD_OCC.VNA_IN_USE", 64);
    counts(&at, 0, "m3upi/RxC_VNA_CRD.ANY_IN_USE", 16);
    counts(&at, 0, "m3upi/RxC_FLITS_SLOT_BL.NEED_DATA", 1);
    // A flit of headers, and three of its line, for six cycles.
    counts(&at, 0, "m3upi/RxC_CRD_OCC.FLITS_IN_PATH", 24);
    // A flit of headers, and three of the line.
    counts(&at, 0, "upi/TxL_INSERTS", 4);
    counts(&at, 0, "upi/TxL_OCCUPANCY", 24);
    counts(&at, 0, "upi/TxL_ANY_FLITS.DATA", 9);
    counts(&at, 0, "upi/TxL_FLITS.ALL_DATA", 9);
    counts(&at, 0, "upi/RxL_ANY_FLITS.LLCRD", 1);
    counts(&at, 1, "upi/RxL_ANY_FLITS.DATA", 0);
}

#[test]
fn a_class_has_two_credits_of_its_own() {
    let own = LinkPacket { paid: Paid::Own, ..packet(LinkMessage::ReadData, 0) };
    let mut back = ReturnedCredits::default();
    back.own[0][0] = 1;
    let facts = [(5, LinkFact::Pays(own)), (7, LinkFact::Pays(own)), (19, LinkFact::GetsCredits(back))];
    let at = of(&facts.map(|(at, fact)| (at, Fact::Link(LINK, fact))), 40);
    counts(&at, 0, "m3upi/VN0_CREDITS_USED.REQ", 2);
    counts(&at, 0, "m3upi/VN0_NO_CREDITS.REQ", 12);
    counts(&at, 0, "m3upi/VN1_NO_CREDITS.REQ", 0);
}

/// Tables 2-128 and 2-273: an agent's prefetches are XPT, a link's UPI. Two are dropped at the agent, 28 at
/// memory, for each reason another number, and two run: reads with them merge.
#[test]
fn prefetches_are_their_senders() {
    let (agent, link) = (PrefetchSender::Agent, PrefetchSender::Link);
    let read = |ahead| MemoryRequest { unit: 0, half: 0, action: MemoryAction::Read, ahead, isochronous: false };
    let sent = [PrefetchSent::Goes, PrefetchSent::Goes, PrefetchSent::NoCredit, PrefetchSent::Conflict];
    let sent = sent.map(|sent| (1, Fact::SendsPrefetch((0, 0), 0, sent)));
    let fates = [
        (agent, PrefetchFate::Runs, 1),
        (agent, PrefetchFate::BeyondThreshold, 1),
        (agent, PrefetchFate::TooLate, 7),
        (agent, PrefetchFate::CamFull, 5),
        (link, PrefetchFate::Runs, 1),
        (link, PrefetchFate::BeyondThreshold, 6),
        (link, PrefetchFate::NoRoom, 2),
        (link, PrefetchFate::WritesWait, 3),
        (link, PrefetchFate::BackToBack, 4),
    ];
    let came =
        fates.map(|(sender, fate, times)| vec![(3, Fact::PrefetchComes((0, 0), 0, sender, fate)); times]).concat();
    let reads = [None, Some(agent), Some(link)];
    let reads = reads.map(|ahead| {
        [(5, false), (9, true)].map(|(at, done)| {
            let to = if done { Fact::LeavesMemory } else { Fact::ComesToMemory };
            (at, to((0, 0), read(ahead)))
        })
    });
    let mut facts = [&sent[..], &came, reads.as_flattened()].concat();
    facts.sort_by_key(|(at, _)| *at);
    let at = of(&facts, 10);
    for (name, expected) in [
        ("cha/XPT_PREF.SENT0", 2),
        ("cha/XPT_PREF.DROP0", 2),
        ("cha/XPT_PREF.DROP0_NOCRD", 1),
        ("cha/XPT_PREF.DROP0_CONFLICT", 1),
        ("cha/XPT_PREF.SENT1", 0),
        ("m2m/PREFCAM_INSERTS.CH0_XPT", 1),
        ("m2m/PREFCAM_INSERTS.CH0_UPI", 1),
        ("m2m/PREFCAM_DEMAND_DROPS.CH0_XPT", 13),
        ("m2m/PREFCAM_DEMAND_DROPS.CH0_UPI", 15),
        ("m2m/PREFCAM_DROP_REASONS_CH0.RPQ_PROXY", 2),
        ("m2m/PREFCAM_DROP_REASONS_CH0.WPQ_PROXY", 3),
        ("m2m/PREFCAM_DROP_REASONS_CH0.XPT_THRESH", 1),
        ("m2m/PREFCAM_DROP_REASONS_CH0.UPI_THRESH", 6),
        ("m2m/PREFCAM_DROP_REASONS_CH0.STOP_B2B", 4),
        ("m2m/PREFCAM_DROP_REASONS_CH0.PF_CAM_FULL", 5),
        ("m2m/PREFCAM_DROP_REASONS_CH1.PF_CAM_FULL", 0),
        ("m2m/PREFCAM_RxC_DEALLOCS.SQUASHED", 28),
        ("m2m/PREFCAM_RxC_DEALLOCS.1LM_POSTED", 2),
        ("m2m/PREFCAM_DEMAND_MERGE.XPT_ALLCH", 1),
        ("m2m/PREFCAM_DEMAND_MERGE.UPI_ALLCH", 1),
        ("m2m/TRACKER_INSERTS.CH0", 3),
        // Three reads for four cycles; both prefetches that run from 3 to 9.
        ("m2m/TRACKER_OCCUPANCY.CH0", 12),
        ("m2m/PREFCAM_OCCUPANCY.CH0", 12),
        ("m2m/PREFCAM_DEALLOCS.RSP_CH0", 2),
        ("m2m/PREFCAM_RESP_MISS.CH0", 1),
    ] {
        counts(&at, 0, name, expected);
    }
}

#[test]
fn an_arbitration_has_winners_losers_and_poor() {
    let mut outcomes = [[Outcome::Idle; 7]; 2];
    // VN0: a request wins, a snoop loses, a writeback wins; VN1: a request wins, a line cannot pay.
    outcomes[0][0] = Outcome::Wins(Paid::Shared);
    outcomes[0][1] = Outcome::Loses;
    outcomes[0][4] = Outcome::Wins(Paid::Shared);
    outcomes[1][0] = Outcome::Wins(Paid::Shared);
    outcomes[1][3] = Outcome::Poor;
    let mut left_over = [[false; 7]; 2];
    left_over[0][1] = true;
    let arbitration = Arbitration { outcomes, shared: [8, 3], flit: Some(0), times: 1, ..Arbitration::default() };
    let leaves = LinkFact::Leaves { messages: 2, alone: false, queued: false, lines: true, beside_line: false };
    let ships = LinkFact::Ships { lines: true, beside_line: false, queued: false };
    let facts = [(1, LinkFact::Arbitrates(arbitration)), (1, LinkFact::Misses(left_over)), (1, ships), (2, leaves)];
    let at = of(&facts.map(|(at, fact)| (at, Fact::Link(LINK, fact))), 10);
    for (event, expected) in [
        ("RxC_ARB_LOST_VN0.AD_SNP", 1),
        ("RxC_ARB_NOCRD_VN1.BL_RSP", 1),
        ("RxC_ARB_NOREQ_VN1.BL_RSP", 0),
        ("RxC_ARB_MISC.ADBL_PARALLEL_WIN_VN0", 1),
        ("RxC_ARB_MISC.ADBL_PARALLEL_WIN_VN1", 0),
        ("RxC_ARB_MISC.VN01_PARALLEL_WIN", 1),
        ("RxC_ARB_MISC.ALL_PARALLEL_WIN", 0),
        // Eight shared credits are fewer than ten, three fewer than five.
        ("RxC_VNA_CRD_MISC.REQ_VN01_ALLOC_LT10", 1),
        ("RxC_VNA_CRD_MISC.REQ_ADBL_ALLOC_L5", 1),
        ("RxC_VNA_CRD_MISC.VN1_JUST_AD", 1),
        ("RxC_VNA_CRD_MISC.VN0_JUST_AD", 0),
        ("RxC_HELD.VN1", 1),
        ("RxC_HELD.PARALLEL_SUCCESS", 1),
        // A snoop was left over.
        ("RxC_HELD.CANT_SLOT_AD", 1),
        ("RxC_HDR_FLITS_SENT.1_MSG", 0),
        ("RxC_HDR_FLITS_SENT.2_MSGS", 1),
        ("RxC_HDR_FLITS_SENT.SLOTS_2", 1),
        ("RxC_PACKING_MISS_VN0.AD_SNP", 1),
    ] {
        counts(&at, 0, &format!("m3upi/{event}"), expected);
    }
}

/// Table 2-373: messages of a ring and network make no progress, in cycles. Table 2-389: what finds the link idle
/// travels in a flit of its own.
#[test]
fn what_waits_while_there_is_no_room_makes_no_progress() {
    let [snoop, line] = [packet(LinkMessage::SnoopData, 0), packet(LinkMessage::Writeback, 1)];
    let facts = [
        (4, LinkFact::PassesGate(snoop, Bypass::Idle)),
        (4, LinkFact::Ships { lines: false, beside_line: false, queued: false }),
        (5, LinkFact::Leaves { messages: 1, alone: false, queued: false, lines: false, beside_line: false }),
        (6, LinkFact::WaitsAtGate(snoop)),
        (13, LinkFact::WaitsAtGate(line)),
        (18, LinkFact::MadeNoProgress { network: 0, ring: 0, cycles: 8 }),
        (18, LinkFact::MadeNoProgress { network: 1, ring: 1, cycles: 5 }),
        (18, LinkFact::Resumes { cycles: 8, lines: 5, valid: [8, 5], accumulating: 8, joined: 0 }),
    ];
    let at = of(&facts.map(|(at, fact)| (at, Fact::Link(LINK, fact))), 40);
    counts(&at, 0, "m3upi/RxC_ARB_MISC.NO_PROG_AD_VN0", 8);
    counts(&at, 0, "m3upi/RxC_ARB_MISC.NO_PROG_BL_VN1", 5);
    counts(&at, 0, "m3upi/RxC_ARB_MISC.NO_PROG_AD_VN1", 0);
    // Tables 2-383, 2-387 and 2-390: cycles in which a flit of headers is ready and cannot go, and one for a line.
    counts(&at, 0, "m3upi/RxC_HDR_FLIT_NOT_SENT.ALL", 8);
    counts(&at, 0, "m3upi/RxC_FLIT_GEN_HDR1.ACCUM_READ", 8);
    counts(&at, 0, "m3upi/RxC_DATA_FLITS_NOT_SENT.ALL", 5);
    counts(&at, 0, "m3upi/RxC_HDR_FLITS_SENT.1_MSG", 1);
    counts(&at, 0, "m3upi/RxC_HDR_FLITS_SENT.1_MSG_VNX", 0);
}

#[test]
fn what_comes_in_goes_through_its_queues() {
    let line = LinkPacket { taker: Some(Taker::Stack(0)), ..packet(LinkMessage::PeerWrite, 0) };
    let address = LinkPacket { slot: 1, ..packet(LinkMessage::SnoopData, 1) };
    let facts = [
        (2, LinkFact::WaitsAtReceiver(line, [false; 3], FlowRing::Block)),
        (3, LinkFact::PassesReceiver(address, [true, false, false])),
        (3, LinkFact::PassesFlow(address)),
        (3, LinkFact::GoesOn(address)),
        (6, LinkFact::LeavesReceiver(line)),
        (6, LinkFact::EntersFlow(line)),
        (8, LinkFact::StaysInFlow(line)),
        (9, LinkFact::LeavesFlow(line)),
        (9, LinkFact::GoesOn(line)),
        (9, LinkFact::GoesOn(line)),
        (15, LinkFact::TakerReady(3)),
    ];
    let at = of(&facts.map(|(at, fact)| (at, Fact::Link(LINK, fact))), 20);
    counts(&at, 0, "m3upi/MULTI_SLOT_RCVD.BL_SLOT0", 1);
    counts(&at, 0, "m3upi/MULTI_SLOT_RCVD.AD_SLOT1", 1);
    // A line is three flits behind its header's slot, and fills the three slots of each, for four cycles.
    counts(&at, 0, "upi/RxL_INSERTS.SLOT0", 4);
    counts(&at, 0, "upi/RxL_INSERTS.SLOT2", 3);
    counts(&at, 0, "upi/RxL_OCCUPANCY.SLOT2", 12);
    counts(&at, 0, "upi/RxL_BYPASSED.SLOT1", 1);
    counts(&at, 0, "upi/RxL_SLOT_BYPASS.S1_RXQ0", 1);
    counts(&at, 0, "upi/M3_BYP_BLOCKED.FLOWQ_BL_VNA_EQ0", 1);
    counts(&at, 0, "m3upi/TxC_AD_FLQ_BYPASS.AD_SLOT1", 1);
    counts(&at, 0, "m3upi/TxC_BL_FLQ_OCCUPANCY.VN0_NCB", 3);
    counts(&at, 0, "m3upi/TxC_BL_ARB_FAIL.VN0_NCB", 1);
    // Both credits of stacks 0 and 1 are taken from 9 to 15.
    counts(&at, 0, "m3upi/M2_BL_CREDITS_EMPTY.IIO1_NCB", 6);
    // Five shared credits wait to go back: four since 6, one since 3.
    counts(&at, 0, "upi/VNA_CREDIT_RETURN_OCCUPANCY", 4 * 14 + 17);
}

#[test]
fn a_direction_that_rests_is_seen_at_both_ends() {
    let width = |from, to| Fact::Link(LINK, LinkFact::Width(from, to));
    let facts = [
        (0, width(None, LinkWidth::Full)),
        (100, width(Some(LinkWidth::Full), LinkWidth::Half)),
        (160, width(Some(LinkWidth::Half), LinkWidth::Full)),
    ];
    let at = of(&facts, 200);
    counts(&at, 0, "upi/TxL0_POWER_CYCLES", 140);
    counts(&at, 1, "upi/RxL0_POWER_CYCLES", 140);
    counts(&at, 0, "upi/TxL0P_POWER_CYCLES", 60);
    counts(&at, 1, "upi/RxL0P_POWER_CYCLES", 60);
    counts(&at, 0, "upi/RxL0P_POWER_CYCLES", 0);
    counts(&at, 0, "upi/TxL0P_POWER_CYCLES_LL_ENTER", 10);
    counts(&at, 0, "upi/TxL0P_POWER_CYCLES_M3_EXIT", 50);
}

#[test]
fn cores_sleep_and_messages_are_taken() {
    let facts = [
        (0, Fact::Core(0, None, CState::Runs, false)),
        (0, Fact::Package(0, PackageCondition::PackageRuns, true)),
        (0, Fact::System(0, SystemFact::Starts)),
        (10, Fact::System(0, SystemFact::Comes(SystemMessage::Register, false))),
        (12, Fact::System(0, SystemFact::Comes(SystemMessage::Doorbell, true))),
        (14, Fact::System(0, SystemFact::Taken(SystemMessage::Register, false, true))),
        (16, Fact::System(0, SystemFact::Taken(SystemMessage::Doorbell, true, true))),
        (18, Fact::System(0, SystemFact::Answered(SystemMessage::Register))),
        (30, Fact::Core(0, Some(CState::Runs), CState::Light, true)),
        (30, Fact::CoreChanges(0, true)),
        (35, Fact::CoreChanges(0, true)),
        (50, Fact::CoreChanges(0, false)),
        (55, Fact::CoreChanges(0, false)),
    ];
    let at = of(&facts, 100);
    counts(&at, 0, "pcu/POWER_STATE_OCCUPANCY_CORES_C0", 30);
    counts(&at, 0, "pcu/POWER_STATE_OCCUPANCY_CORES_C3", 70);
    // One or two cores change from 30 to 55, two of them from 35 to 50.
    counts(&at, 0, "pcu/CORE_TRANSITION_CYCLES", 25);
    counts(&at, 0, "pcu/TOTAL_TRANSITION_CYCLES", 40);
    counts(&at, 0, "pcu/DEMOTIONS", 1);
    counts(&at, 0, "pcu/PKG_RESIDENCY_C0_CYCLES", 100);
    counts(&at, 0, "ubox/RACU_REQUESTS", 1);
    counts(&at, 0, "ubox/EVENT_MSG.DOORBELL_RCVD", 1);
    // Two wait from 12 to 14: the ingress is full; something waits from 10 to 16.
    counts(&at, 0, "ubox/M2U_MISC2.RxC_CYCLES_FULL_BL", 2);
    counts(&at, 0, "ubox/M2U_MISC2.RxC_CYCLES_EMPTY_BL", 94);
    counts(&at, 0, "ubox/M2U_MISC2.TxC_CYCLES_EMPTY_BL", 96);
    counts(&at, 0, "ubox/M2U_MISC1.RxC_CYCLES_NE_UPI_NCB", 4);
}

#[test]
fn an_agent_looks_up_for_the_other_socket() {
    let class = |kind| Class { kind, hit: false, remote: false, target: Target::Ddr };
    let agent = (0, 0);
    let facts = [
        (1, Fact::LooksUp(agent, class(Kind::RemoteOwnership), Found::Shared)),
        (2, Fact::LooksUp(agent, class(Kind::RemoteData), Found::Nothing)),
        (3, Fact::LooksUp(agent, class(Kind::RemoteWritebackExclusive), Found::Nothing)),
        // Table 2-85: a claim is no read for ownership.
        (3, Fact::LooksUp(agent, class(Kind::RemoteClaim), Found::Nothing)),
        // A store around the caches is no writeback.
        (3, Fact::LooksUp(agent, class(Kind::RemoteWrite), Found::Nothing)),
        (4, Fact::LooksUp(agent, class(Kind::SnoopData), Found::Modified)),
        (4, Fact::LooksUp(agent, class(Kind::Ownership), Found::FilterShared)),
        (4, Fact::LooksUp(agent, class(Kind::FullStore), Found::FilterShared)),
        (5, Fact::Agent(agent, AgentFact::SnoopsCores(SnoopCause::Core, true))),
        (5, Fact::Agent(agent, AgentFact::SnoopsCores(SnoopCause::Remote, false))),
        (6, Fact::Agent(agent, AgentFact::DropsEntry(FilterVictim::Shared))),
        (6, Fact::Agent(agent, AgentFact::SnoopsCores(SnoopCause::Evict, true))),
        (6, Fact::Agent(agent, AgentFact::DropsSilently)),
        (6, Fact::Agent(agent, AgentFact::Answered(SnoopReply::WritesBack))),
        (7, Fact::Agent(agent, AgentFact::Grants(Kind::WritebackClean))),
        (8, Fact::TakesEntry(agent, class(Kind::DataRead))),
        (9, Fact::GivesEntry(agent, class(Kind::DataRead), 0)),
    ];
    let at = of(&facts, 20);
    for (name, expected) in [
        ("HITME_LOOKUP.READ", 3),
        ("HITME_LOOKUP.WRITE", 1),
        ("HITME_HIT.WBMTOE", 1),
        ("HITME_HIT.WBMTOI_OR_S", 0),
        ("HITME_MISS.SHARED_RDINVOWN", 1),
        ("HITME_MISS.NOTSHARED_RDINVOWN", 0),
        ("HITME_MISS.READ_OR_INV", 2),
        ("HITME_UPDATE.RDINVOWN", 1),
        ("CORE_SNP.REMOTE_ONE", 1),
        ("CORE_SNP.REMOTE_GTONE", 0),
        ("CORE_SNP.ANY_ONE", 1),
        ("MISC.RSPI_WAS_FSE", 1),
        ("SNOOP_RESP.RSPWB", 1),
        ("CORE_SNP.EVICT_GTONE", 1),
        ("CORE_SNP.ANY_GTONE", 2),
        ("MISC.RFO_HIT_S", 1),
        ("SF_EVICTION.S_STATE", 1),
        ("DIRECT_GO_OPC.GO_PULL", 1),
        ("DIRECT_GO_OPC.GO", 0),
        ("DIRECT_GO.HA_TOR_DEALLOC", 1),
    ] {
        counts(&at, 0, &format!("cha/{name}"), expected);
    }
}
