//! Requests that are turned away for want of a credit, by hand.

use super::truth::Digest;
use super::{MICROSECOND, model, with};
use crate::emerald_rapids::EmeraldRapids;
use crate::ledger::Question;
use crate::uncore::emerald_rapids::address;
use pericore_facts::emerald_rapids::{Kind, Reason};

/// A line of the other socket's memory, and its agent.
const LINE: u32 = 1 << address::REGION_BITS | 0x1234;
const AGENT: u8 = address::agent(LINE);

#[track_caller]
fn check(model: &EmeraldRapids, figures: &[(&str, u64)]) {
    let at = model.snapshot();
    for &(name, expected) in figures {
        let (event, subevent) = name.split_once('.').unwrap();
        assert_eq!(at.value(AGENT.into(), Question::new("cha", event).subevent(subevent)), Some(expected), "{name}");
    }
}

#[test]
fn a_read_of_the_other_socket_waits_for_a_credit() {
    let (mut model, _) = model("two idle");
    let mut digest = Digest::default();
    // Eight requests of others hold the agent's credits.
    (0..8).for_each(|_| model.spend(0, AGENT, Reason::Request));
    with(&mut model, &mut digest, |model, readers| model.request(Kind::DataPrefetch, 3, LINE, u16::MAX, readers));
    model.run_until_any(2 * MICROSECOND, &mut digest);
    check(
        &model,
        &[
            ("RxC_INSERTS.IRQ", 1),
            ("RxC_INSERTS.IRQ_REJ", 1),
            ("RxC_IRQ0_REJECT.AD_REQ_VN0", 1),
            ("RxC_IRQ1_REJECT.ANY0", 1),
            ("RxC_REQ_Q0_RETRY.AD_REQ_VN0", 0),
            ("TOR_INSERTS.IA", 0),
        ],
    );
    // One is back: it tries again, and goes on.
    with(&mut model, &mut digest, |model, readers| model.give_credit(0, AGENT, Reason::Request, readers));
    model.run_until_any(4 * MICROSECOND, &mut digest);
    check(
        &model,
        &[
            ("RxC_IRQ0_REJECT.AD_REQ_VN0", 1),
            ("RxC_REQ_Q0_RETRY.AD_REQ_VN0", 1),
            ("RxC_REQ_Q1_RETRY.ANY0", 1),
            ("RxC_OTHER0_RETRY.AD_REQ_VN0", 0),
            ("TOR_INSERTS.IA_MISS_DRD_PREF_REMOTE", 1),
        ],
    );
}

#[test]
fn a_read_waits_for_an_entry_at_its_home() {
    let (mut model, _) = model("two idle");
    let mut digest = Digest::default();
    // Two that make memory write have three each of the seven, and a read has the last one.
    for kind in [Kind::RemoteOwnership, Kind::RemoteWriteback, Kind::RemoteData] {
        model.take_home_entries(0, AGENT, kind);
    }
    with(&mut model, &mut digest, |model, readers| model.request(Kind::DataPrefetch, 3, LINE, u16::MAX, readers));
    model.run_until_any(2 * MICROSECOND, &mut digest);
    check(&model, &[("RxC_IRQ0_REJECT.AD_REQ_VN0", 1), ("TOR_INSERTS.IA", 0)]);
    with(&mut model, &mut digest, |model, readers| model.give_home_entries(0, AGENT, Kind::RemoteData, readers));
    model.run_until_any(4 * MICROSECOND, &mut digest);
    check(&model, &[("RxC_REQ_Q0_RETRY.AD_REQ_VN0", 1), ("TOR_INSERTS.IA_MISS_DRD_PREF_REMOTE", 1)]);
}

#[test]
fn a_writeback_has_four_entries_that_no_read_takes() {
    for (taken, rejected) in [(10, 0), (11, 1)] {
        let (mut model, _) = model("two idle");
        let mut digest = Digest::default();
        (0..taken).for_each(|_| model.take_home_entries(0, AGENT, Kind::RemoteData));
        with(&mut model, &mut digest, |model, readers| model.send_out(0, AGENT, LINE, readers));
        model.run_until_any(MICROSECOND, &mut digest);
        check(&model, &[("RxC_ISMQ0_REJECT.BL_WB_VN0", rejected), ("TOR_INSERTS.EVICT", 1 - rejected)]);
    }
}

#[test]
fn writes_leave_entries_to_requests_that_wait() {
    for (waits, rejected) in [(false, 0), (true, 1)] {
        let (mut model, _) = model("two idle");
        let mut digest = Digest::default();
        // Two writes have six of the seven entries, a read the last: one more write may go beyond, unless a read waits.
        for kind in [Kind::RemoteWriteback, Kind::RemoteWriteback, Kind::RemoteData] {
            model.take_home_entries(0, AGENT, kind);
        }
        if waits {
            with(&mut model, &mut digest, |model, readers| {
                model.request(Kind::DataPrefetch, 3, LINE, u16::MAX, readers)
            });
            model.run_until_any(MICROSECOND, &mut digest);
        }
        with(&mut model, &mut digest, |model, readers| model.send_out(0, AGENT, LINE, readers));
        model.run_until_any(2 * MICROSECOND, &mut digest);
        check(&model, &[("RxC_ISMQ0_REJECT.BL_WB_VN0", rejected), ("TOR_INSERTS.EVICT", 1 - rejected)]);
    }
}

#[test]
fn one_that_finds_the_credit_gone_again_is_turned_away_once_more() {
    let (mut model, _) = model("two idle");
    let mut digest = Digest::default();
    (0..8).for_each(|_| model.spend(0, AGENT, Reason::Request));
    with(&mut model, &mut digest, |model, readers| model.request(Kind::DataPrefetch, 3, LINE, u16::MAX, readers));
    model.run_until_any(MICROSECOND, &mut digest);
    with(&mut model, &mut digest, |model, readers| model.give_credit(0, AGENT, Reason::Request, readers));
    // Somebody else is faster.
    model.spend(0, AGENT, Reason::Request);
    model.run_until_any(2 * MICROSECOND, &mut digest);
    check(
        &model,
        &[
            ("RxC_IRQ0_REJECT.AD_REQ_VN0", 2),
            ("RxC_REQ_Q0_RETRY.AD_REQ_VN0", 1),
            ("RxC_OTHER0_RETRY.AD_REQ_VN0", 1),
            ("RxC_OTHER1_RETRY.ANY0", 1),
        ],
    );
}

#[test]
fn a_line_that_leaves_the_caches_waits_for_a_writeback_credit() {
    let (mut model, _) = model("two idle");
    let mut digest = Digest::default();
    (0..16).for_each(|_| model.spend(0, AGENT, Reason::Writeback));
    with(&mut model, &mut digest, |model, readers| model.send_out(0, AGENT, LINE, readers));
    model.run_until_any(MICROSECOND, &mut digest);
    check(&model, &[("RxC_ISMQ0_REJECT.BL_WB_VN0", 1), ("RxC_ISMQ1_REJECT.ANY0", 1), ("TOR_INSERTS.EVICT", 0)]);
    with(&mut model, &mut digest, |model, readers| model.give_credit(0, AGENT, Reason::Writeback, readers));
    model.run_until_any(3 * MICROSECOND, &mut digest);
    check(&model, &[("RxC_ISMQ0_RETRY.BL_WB_VN0", 1), ("RxC_ISMQ1_RETRY.ANY0", 1), ("TOR_INSERTS.EVICT", 1)]);
}
