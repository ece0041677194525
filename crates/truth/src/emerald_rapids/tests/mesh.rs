//! Messages on a mesh of two rows and three columns, by hand: where each took a credit, turned and was taken off.

use pericore_engine::Period;
use pericore_facts::FactReader;
use pericore_facts::emerald_rapids::{Clocks, Dies, LinkMessage, Message, Ring, Shape, Tile};

use super::{CYCLE, Fact, Ledger, Question, Snapshot};

/// Slices 0 to 2 above, 3 to 5 below.
fn of(messages: &[Message], now: u64) -> Snapshot {
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
    let tile = |number: u16| Tile { row: number as u8 / 3, column: number as u8 % 3, unit: Some(("cha", number)) };
    let shape = Shape {
        sockets: 1,
        units: vec![("cha", 6)],
        tiles: (0..6).map(tile).collect(),
        dies: Dies { rows: 2, columns: 3, down: 1, across: 1 },
        link_codes: [0; LinkMessage::COUNT],
        pending: [0; 2],
    };
    let mut ledger = Ledger::new(clocks, shape);
    messages.iter().for_each(|&message| ledger.read(CYCLE * message.put, Fact::Goes(0, message)));
    ledger.snapshot(CYCLE * now, std::iter::empty())
}

/// A message that is put at `put`, leaves and comes to its turn at once, waits there until `turned`, and is on its row
/// for two cycles.
fn message(ring: Ring, (from, turn, to): (u8, u8, u8), put: u64, turned: u64) -> Message {
    let (arrived, credit) = (turned + 2, turned + 4);
    Message {
        ring,
        agent: 0,
        from,
        to,
        turn,
        put,
        first: put,
        released: put,
        credited: put,
        left: put,
        bridged: None,
        reached: put,
        ordered: put,
        turned,
        bridged_aside: None,
        arrived,
        taken: arrived,
        returned: credit,
    }
}

#[track_caller]
fn counts(at: &Snapshot, slice: u16, name: &str, expected: u64) {
    let (event, subevent) = name.split_once('.').map_or((name, None), |(event, sub)| (event, Some(sub)));
    assert_eq!(at.count(0, slice, Question::new("cha", event).subevent(subevent)), Some(expected), "cha{slice} {name}");
}

/// Section 2.1.1: credits are for the row of the destination. What is in its row already takes none, and has queues of
/// its own (Tables 2-30 to 2-34, 2-43 to 2-50).
#[test]
fn what_stays_in_its_row_is_uncredited() {
    let along = message(Ring::Address, (3, 3, 5), 10, 13);
    let turns = message(Ring::Address, (0, 3, 5), 20, 27);
    let data = message(Ring::Block, (3, 3, 4), 30, 30);
    let at = of(&[along, turns, data], 100);
    // Slice 0's message turns at slice 3, whose own go straight into the row.
    counts(&at, 3, "TxR_HORZ_INSERTS.AD_UNCRD", 1);
    counts(&at, 3, "TxR_HORZ_INSERTS.AD_CRD", 1);
    counts(&at, 3, "TxR_HORZ_INSERTS.AD_ALL", 2);
    counts(&at, 3, "TxR_HORZ_OCCUPANCY.AD_UNCRD", 3);
    counts(&at, 3, "TxR_HORZ_OCCUPANCY.AD_CRD", 7);
    counts(&at, 3, "TxR_HORZ_CYCLES_NE.AD_ALL", 10);
    counts(&at, 3, "TxR_HORZ_NACK.AD_UNCRD", 1);
    counts(&at, 3, "TxR_HORZ_BYPASS.BL_UNCRD", 1);
    counts(&at, 3, "TxR_HORZ_BYPASS.BL_CRD", 0);
    counts(&at, 5, "RxR_BYPASS.AD_UNCRD", 1);
    counts(&at, 5, "RxR_BYPASS.AD_CRD", 1);
    counts(&at, 5, "RxR_BYPASS.AD_ALL", 2);
    counts(&at, 4, "RxR_BYPASS.BL_UNCRD", 1);
    // Of three messages one has taken a credit, for row 1, from 20 to 31.
    counts(&at, 0, "AG0_AD_CRD_ACQUIRED0.TGR1", 1);
    counts(&at, 0, "AG0_AD_CRD_OCCUPANCY0.TGR1", 11);
    counts(&at, 3, "AG0_AD_CRD_ACQUIRED0.TGR1", 0);
    counts(&at, 3, "AG0_AD_CRD_OCCUPANCY0.TGR1", 0);
    counts(&at, 3, "AG0_BL_CRD_ACQUIRED0.TGR1", 0);
}

/// Five messages of a row wait in its queue at once, which holds four, from 10 to 40; two that turn into the row there
/// wait in the other queue and find room. Table 2-50 has one bit for all and for those without a credit.
#[test]
fn each_kind_has_a_queue_of_its_own() {
    let along = message(Ring::Block, (0, 0, 2), 10, 40);
    let turns = message(Ring::Block, (3, 0, 2), 10, 20);
    let at = of(&[along, along, along, along, along, turns, turns], 100);
    counts(&at, 0, "TxR_HORZ_CYCLES_FULL.BL_UNCRD", 30);
    counts(&at, 0, "TxR_HORZ_CYCLES_FULL.BL_CRD", 0);
    counts(&at, 0, "RxR_CRD_STARVED.BL_UNCRD", 22);
    counts(&at, 0, "RxR_CRD_STARVED.BL_CRD", 0);
    // From the ninth cycle on: 18 to 39 of the one kind, 18 and 19 of the other.
    counts(&at, 0, "TxR_HORZ_STARVED.BL_ALL", 24);
    counts(&at, 0, "TxR_HORZ_STARVED.BL_UNCRD", 24);
    counts(&at, 0, "TxR_HORZ_ADS_USED.BL_UNCRD", 5);
    counts(&at, 0, "TxR_HORZ_ADS_USED.BL_CRD", 2);
    // Only the queue of addresses with credits raises distress.
    counts(&at, 0, "DISTRESS_ASSERTED.HORZ", 0);
}
