//! Links, by hand: a few messages sent at once, and what must become of them.

use super::super::event::Event;
use super::super::link::Packet;
use super::truth::Digest;
use super::{MICROSECOND, model, with};
use crate::emerald_rapids::EmeraldRapids;
use crate::ledger::Question;
use pericore_facts::emerald_rapids::{LinkMessage, Ring, Taker};
use pericore_truth::emerald_rapids::Snapshot;

/// An agent whose link is the first and whose virtual network is VN0.
const AGENT: u8 = 0;

fn quiet() -> EmeraldRapids {
    let (mut model, _) = model("two idle");
    model.run_until_any(1, &mut Digest::default());
    model
}

/// Sends messages of a class from the agent's tile to the same tile of the other socket, all in one cycle.
fn send(model: &mut EmeraldRapids, count: usize, packet: Packet) {
    let tile = model.places.cha[usize::from(AGENT)];
    for _ in 0..count {
        // What happens at the end is a look at a link that nobody waits for.
        with(model, &mut Digest::default(), |model, readers| {
            model.send_packet(0, AGENT, packet, tile, tile, 0, Event::LinkIdle.of(0), readers)
        });
    }
}

fn after(model: &mut EmeraldRapids, microseconds: u64) -> Snapshot {
    model.run_until_any(microseconds * MICROSECOND, &mut Digest::default());
    model.snapshot()
}

fn sent(at: &Snapshot, event: &str, subevent: &str) -> u64 {
    at.count(0, 0, Question::new("m3upi", event).subevent(subevent)).unwrap()
}

#[test]
fn the_first_of_three_requests_goes_alone_and_the_others_share_a_flit() {
    let mut model = quiet();
    send(&mut model, 3, Packet::new(LinkMessage::ReadData));
    let at = after(&mut model, 1);
    assert_eq!(sent(&at, "RxC_BYPASSED", "AD_S0_IDLE"), 1);
    assert_eq!(sent(&at, "RxC_INSERTS_VN0", "AD_REQ"), 2);
    assert_eq!((sent(&at, "RxC_HDR_FLITS_SENT", "1_MSG"), sent(&at, "RxC_HDR_FLITS_SENT", "2_MSGS")), (1, 1));
    // On the other side each has its slot.
    let slot = |slot| at.count(1, 0, Question::new("m3upi", "MULTI_SLOT_RCVD").subevent(slot));
    assert_eq!((slot("AD_SLOT0"), slot("AD_SLOT1"), slot("AD_SLOT2")), (Some(2), Some(1), Some(0)));
}

#[test]
fn writebacks_beyond_the_shared_credits_travel_on_their_own() {
    let mut model = quiet();
    // 144 shared credits are 36 lines of four; two more have credits of their class, and the rest waits for what
    // comes back.
    send(&mut model, 40, Packet::new(LinkMessage::Writeback));
    let at = after(&mut model, 1);
    assert!(sent(&at, "VN0_CREDITS_USED", "WB") >= 2);
    assert!(sent(&at, "VN0_NO_CREDITS", "WB") > 0 && sent(&at, "RxC_ARB_NOCRD_VN0", "BL_WB") > 0);
    assert!(sent(&at, "RxC_VNA_CRD", "LT1") > 0);
    let received = |pool: &str| at.count(1, 0, Question::new("upi", &format!("RxL_CREDITS_CONSUMED_{pool}"))).unwrap();
    assert_eq!(received("VNA") + received("VN0"), 40);
    assert_eq!((received("VN0"), received("VN1")), (sent(&at, "VN0_CREDITS_USED", "WB"), 0));
    // Later nothing waits any more, and all credits are back.
    let later = after(&mut model, 2);
    assert_eq!(sent(&later, "RxC_VNA_CRD", "LT10"), sent(&at, "RxC_VNA_CRD", "LT10"));
    assert_eq!(sent(&later, "RxC_CRD_OCC", "VNA_IN_USE"), sent(&at, "RxC_CRD_OCC", "VNA_IN_USE"));
}

#[test]
fn data_has_no_credits_of_its_own_and_waits() {
    let mut model = quiet();
    send(&mut model, 40, Packet::new(LinkMessage::ExclusiveDone));
    let at = after(&mut model, 1);
    assert!(sent(&at, "RxC_ARB_NOCRD_VN0", "BL_RSP") > 0);
    assert_eq!(at.count(1, 0, Question::new("upi", "RxL_CREDITS_CONSUMED_VNA")), Some(40));
    // Nine data slots a line, each line through the block ring's flow queue.
    assert_eq!(at.count(1, 0, Question::new("upi", "RxL_FLITS").subevent("ALL_DATA")), Some(40 * 9));
    assert_eq!(at.count(1, 0, Question::new("m3upi", "TxC_BL_FLQ_INSERTS").subevent("VN0_RSP")), Some(40));
}

#[test]
fn completions_take_the_acknowledge_ring() {
    let mut model = quiet();
    send(&mut model, 1, Packet::new(LinkMessage::Completion));
    let at = after(&mut model, 1);
    assert_eq!(at.count(1, 0, Question::new("m3upi", "TxC_AK_FLQ_INSERTS")), Some(1));
    assert_eq!(at.count(1, 0, Question::new("m3upi", "MULTI_SLOT_RCVD").subevent("AK_SLOT0")), Some(1));
}

#[test]
fn completions_for_agents_have_a_ring_of_their_own() {
    let goes_by = |taker| Packet::new(LinkMessage::Completion).for_taker(taker).far_ring();
    assert_eq!(goes_by(Some(Taker::Agent)), Ring::AcknowledgeAgents);
    assert_eq!(goes_by(Some(Taker::Stack(3))), Ring::Acknowledge);
    assert_eq!(goes_by(None), Ring::Acknowledge, "a core");
}

#[test]
fn a_link_that_slept_trains_before_it_sends() {
    let mut model = quiet();
    let at = after(&mut model, 10);
    let of = |at: &Snapshot, event: &str| at.count(0, 0, Question::new("upi", event)).unwrap();
    // Idle from the start: lanes rest after 4 us, and the link is shut down after 8 us.
    assert_eq!((of(&at, "POWER_L1_REQ"), of(&at, "PHY_INIT_CYCLES")), (1, 0));
    assert!(of(&at, "L1_POWER_CYCLES") > 0 && of(&at, "TxL0P_POWER_CYCLES") > 0);
    send(&mut model, 1, Packet::new(LinkMessage::ReadData));
    let at = after(&mut model, 11);
    // 500 uncore cycles of 28 ticks, in link cycles.
    let cycles = 500 * 28 / model.clocks().upiclk.ticks();
    assert!(of(&at, "PHY_INIT_CYCLES").abs_diff(cycles) <= 1, "{}", of(&at, "PHY_INIT_CYCLES"));
    // The other end trains as long.
    assert!(at.count(1, 0, Question::new("upi", "PHY_INIT_CYCLES")).unwrap().abs_diff(cycles) <= 1);
}

#[test]
fn an_idle_link_sends_a_flit_a_cycle_until_it_sleeps() {
    let mut model = quiet();
    let at = after(&mut model, 10);
    let of =
        |socket: u16, event: &str, kind: &str| at.count(socket, 0, Question::new("upi", event).subevent(kind)).unwrap();
    // 10,000 cycles with all lanes, as many with half of them, then nothing; link and mesh have one clock rate.
    assert_eq!(model.clocks().uclk.ticks(), model.clocks().upiclk.ticks());
    assert_eq!(of(0, "TxL_FLITS", "IDLE"), 15_000);
    assert_eq!((of(1, "RxL_FLITS", "IDLE"), of(0, "TxL_FLITS", "ALL_NULL")), (15_000, 0));
    // A request ends the rest: two slots of its flit stay empty, which shows when lanes rest again.
    send(&mut model, 1, Packet::new(LinkMessage::ReadData));
    let at = after(&mut model, 16);
    assert_eq!(at.count(0, 0, Question::new("upi", "TxL_FLITS").subevent("ALL_NULL")), Some(2));
}

#[test]
fn a_writeback_goes_a_cycle_after_its_home_has_fetched_it() {
    let mut model = quiet();
    send(&mut model, 1, Packet::new(LinkMessage::Writeback));
    let at = after(&mut model, 1);
    let of = |event: &str, name: &str| at.count(1, 0, Question::new("m3upi", event).subevent(name)).unwrap();
    assert_eq!((of("TxC_AD_FLQ_INSERTS", "VN0_WB"), of("TxC_BL_FLQ_INSERTS", "VN0_WB")), (1, 1));
    let (stays, waits) = (of("TxC_BL_WB_FLQ_OCCUPANCY", "VN0_LOCAL"), of("WB_PENDING", "WAITING4PULL_VN0"));
    assert_eq!(stays - waits, 1);
    // Word of it leaves in the cycle after it has come, and goes to the home and back.
    assert_eq!(of("TxC_AD_FLQ_OCCUPANCY", "VN0_WB"), 1);
    assert!(waits > 10, "{waits}");
    assert_eq!(of("CHA_AD_CREDITS_EMPTY", "WB"), 0);
}

#[test]
fn halves_of_lines_come_one_after_the_other() {
    let line = Packet::new(LinkMessage::ExclusiveDone);
    let mut model = quiet();
    send(&mut model, 3, line);
    let at = after(&mut model, 1);
    // A tile gives a line to the mesh in two cycles: no half is waited for, and no header needs the second one.
    assert_eq!((sent(&at, "RxC_FLITS_GEN_BL", "P1_WAIT"), sent(&at, "RxC_FLITS_SLOT_BL", "P0_WAIT")), (0, 0));
    assert_eq!((sent(&at, "RxC_FLITS_SLOT_BL", "P1_NOT_REQ"), sent(&at, "RxC_FLITS_SLOT_BL", "P1_WAIT")), (3, 0));
    // Three that come at once need six cycles: the first is slotted when both of its halves are here, the second
    // without its second one, the third without any.
    let mut model = quiet();
    come(&mut model, 3, line);
    let at = after(&mut model, 1);
    assert_eq!((sent(&at, "RxC_FLITS_GEN_BL", "P1_WAIT"), sent(&at, "RxC_FLITS_SLOT_BL", "P0_WAIT")), (2, 1));
}

/// Messages come off the mesh at the first link in one cycle.
fn come(model: &mut EmeraldRapids, count: usize, packet: Packet) {
    with(model, &mut Digest::default(), |model, _| model.come_to_link(count, packet));
}

#[test]
fn what_comes_while_a_flit_is_held_joins_it() {
    let cycles = |requests: usize| {
        let mut model = quiet();
        // One line is being sent, two flits are with the link layer: the next is held.
        come(&mut model, 6, Packet::new(LinkMessage::ExclusiveDone));
        let soon = 8 * model.clocks().uclk.ticks();
        model.run_until_any(soon, &mut Digest::default());
        come(&mut model, requests, Packet::new(LinkMessage::ReadCode));
        let at = after(&mut model, 1);
        (sent(&at, "RxC_FLIT_GEN_HDR1", "ACCUM"), sent(&at, "RxC_FLIT_GEN_HDR1", "ACCUM_WASTED"))
    };
    let ((all, wasted), (others, fewer)) = (cycles(0), cycles(1));
    assert!(all > 0 && all == wasted, "{wasted} of {all}");
    assert_eq!(fewer, others - 1, "a request joins a flit in one of {others} cycles");
}

#[test]
fn credits_of_an_idle_direction_need_no_flit() {
    let mut model = quiet();
    send(&mut model, 1, Packet::new(LinkMessage::ReadData));
    let at = after(&mut model, 1);
    // The peer has nothing to send, so that it sends the request's credit by itself.
    let of = |name: &str| at.count(1, 0, Question::new("m3upi", "RxC_FLITS_MISC").subevent(name)).unwrap();
    assert_eq!((of("S2REQ_RECEIVED"), of("S2REQ_WITHDRAWN")), (1, 1));
    assert_eq!((of("S2REQ_IN_HOLDOFF"), of("S2REQ_IN_SERVICE")), (0, 0));
}
