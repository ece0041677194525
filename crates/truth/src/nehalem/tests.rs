//! Counts of facts made by hand, against the SDM's sentences.

use pericore_engine::{Clocks, Period};
use pericore_facts::FactReader;
use pericore_facts::nehalem::{Class, NehalemFact, Use};

use super::{Ledger, Opcodes, Shape, Snapshot};
use crate::Question;

/// Ticks of an uncore cycle.
const CYCLE: u64 = 33;

fn ledger() -> Ledger {
    let uclk = Period::new(CYCLE);
    let clocks = Clocks { ticks_per_second: 1, uclk, dclk: uclk, qclk: uclk };
    let shape = Shape { sockets: 1, trackers: [32, 16, 12], home_entries: [24, 16, 24], reads: 12, writes: 16 };
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
