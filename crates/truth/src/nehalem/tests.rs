//! Counts of facts made by hand, against the SDM's sentences.

use pericore_engine::{Clocks, NEVER, Period};
use pericore_facts::FactReader;
use pericore_facts::nehalem::{
    Class, Kind, NehalemFact, ProbeRecord, Record, Reply, SnoopStation, Source, Station, Use,
};

use super::{Ledger, Opcodes, Shape, Snapshot};
use crate::Question;

/// Ticks of an uncore cycle.
const CYCLE: u64 = 33;

fn ledger() -> Ledger {
    let uclk = Period::new(CYCLE);
    let clocks = Clocks { ticks_per_second: 1, uclk, dclk: uclk, qclk: uclk };
    let shape = Shape {
        sockets: 1,
        trackers: [32, 16, 12],
        home_entries: [24, 16, 24],
        reads: 12,
        writes: 16,
        high_priority: [6, 8],
    };
    Ledger::new(clocks, Opcodes { forward_shared: 0x1A, forward: 0x19, write_back: 0x1D }, shape)
}

fn count(at: &Snapshot, event: &str, subevent: &str) -> u64 {
    at.count(0, 0, Question::new("uncore", event).subevent(Some(subevent))).unwrap()
}

/// 40H and 41H, LINK_0: cycles in which the link's channels are stalled, however many of them.
#[test]
fn a_cycle_in_which_several_classes_are_stalled_counts_once() {
    let mut ledger = ledger();
    // Home messages of link 0 from cycle 10 to 20, snoops from 12 to 15, responses from 30 to 34; data from 14 to 18.
    for (cycle, class, since) in [
        (10, Class::Home, None),
        (12, Class::Snoop, None),
        (14, Class::Data, None),
        (15, Class::Snoop, Some(12)),
        (18, Class::Data, Some(14)),
        (20, Class::Home, Some(10)),
        (30, Class::Response, None),
        (34, Class::Response, Some(30)),
    ] {
        let stall = Use::NoCredit(0, class);
        let ends = |since: u64| NehalemFact::Ends(0, stall, since * CYCLE);
        ledger.read(cycle * CYCLE, since.map_or(NehalemFact::Begins(0, stall), ends));
    }
    let at = ledger.at(40 * CYCLE);
    let of = |subevent: &str| count(&at, "QPI_TX_STALLED_SINGLE_FLIT", subevent);
    assert_eq!((of("HOME_LINK_0"), of("SNOOP_LINK_0"), of("NDR_LINK_0")), (10, 3, 4));
    assert_eq!((of("LINK_0"), of("LINK_1")), (14, 0));
    assert_eq!(count(&at, "QPI_TX_STALLED_MULTI_FLIT", "LINK_0"), 4);
}

/// 25H: cycles in which a tracker contains two or more requests with an address conflict.
#[test]
fn a_tracker_is_in_conflict_with_two_requests_or_more() {
    let mut ledger = ledger();
    // Requests of the local tracker that share their addresses with others: one from cycle 10 to 20, one from 14 to 25,
    // one from 16 to 18; of the remote tracker one, from 10 to 30.
    for (cycle, source, since) in [
        (10, Source::Local, None),
        (10, Source::Remote, None),
        (14, Source::Local, None),
        (16, Source::Local, None),
        (18, Source::Local, Some(16)),
        (20, Source::Local, Some(10)),
        (25, Source::Local, Some(14)),
        (30, Source::Remote, Some(10)),
    ] {
        let contest = Use::Contest(source);
        let ends = |since: u64| NehalemFact::Ends(0, contest, since * CYCLE);
        ledger.read(cycle * CYCLE, since.map_or(NehalemFact::Begins(0, contest), ends));
    }
    let at = ledger.at(40 * CYCLE);
    assert!(at.is_sound());
    let of = |subevent: &str| count(&at, "QHL_CONFLICT_CYCLES", subevent);
    assert_eq!((of("LOCAL"), of("REMOTE"), of("IOH")), (20 - 14, 0, 0));
}

/// 06H and 07H: a line in state E that is passed on to be shared, a line in state M that is read, each in its own bit.
#[test]
fn a_response_to_a_snoop_counts_in_one_bit() {
    let mut ledger = ledger();
    for (reply, times) in [
        (Reply::Gone, 1),
        (Reply::Shared, 2),
        (Reply::ForwardShared, 3),
        (Reply::Forward, 4),
        (Reply::Conflict, 5),
        (Reply::ForwardSharedWriteBack, 6),
        (Reply::WriteBack, 7),
    ] {
        let record = ProbeRecord {
            socket: 0,
            local: false,
            link: None,
            waited: NEVER,
            queued: NEVER,
            looked_up: NEVER,
            hit: false,
            reply: Some(reply),
            left: NEVER,
        };
        (0..times).for_each(|_| ledger.read(CYCLE, NehalemFact::Snoop(SnoopStation::Ended, &record)));
    }
    let at = ledger.at(2 * CYCLE);
    let of = |subevent: &str| count(&at, "SNP_RESP_TO_REMOTE_HOME", subevent);
    assert_eq!(["I_STATE", "S_STATE", "FWD_S_STATE", "FWD_I_STATE", "CONFLICT", "WB"].map(of), [1, 2, 3, 4, 5, 6 + 7]);
    // The mask of HITM has the bits of FWD_S_STATE and of WB.
    assert_eq!(of("HITM"), 3 + 6 + 7);
}

/// 03H/20H counts entries of the write tracker that miss; 08H and 09H count what cores write back.
#[test]
fn writes_count_by_what_the_llc_has_of_them() {
    let write = |kind: Kind, hit: bool| Record {
        kind,
        socket: 0,
        home: 0,
        source: Source::Local,
        channel: 0,
        queued: 10 * CYCLE,
        looked_up: 14 * CYCLE,
        hit,
        replied: NEVER,
        numbered: if hit { NEVER } else { 14 * CYCLE },
        at_home: NEVER,
        bypassed: false,
        left_home: NEVER,
        at_memory: NEVER,
        served: NEVER,
        hurried: false,
        cancelled: false,
        isochronous_write: false,
        filled: None,
        acknowledged: false,
        left: 20 * CYCLE,
    };
    let mut ledger = ledger();
    // Three write-backs and two lines written around the caches.
    for (record, times) in [(write(Kind::WriteBack, true), 3), (write(Kind::Around { partial: false }, false), 2)] {
        (0..times).for_each(|_| ledger.read(20 * CYCLE, NehalemFact::Request(Station::Ended, &record)));
    }
    let at = ledger.at(30 * CYCLE);
    assert_eq!(["WRITE_TRACKER", "WT_TO_RTID_ACQUIRED"].map(|name| count(&at, "GQ_ALLOC", name)), [2, 2]);
    assert_eq!((count(&at, "LLC_HITS", "WRITE"), count(&at, "LLC_MISS", "WRITE")), (3, 0));
}
