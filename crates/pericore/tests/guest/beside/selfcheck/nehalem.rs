//! Nehalem: one unit, whose counters are enabled in a register that all share (SDM 18.8.2).

use super::super::truth::{Block, msr};
use super::{Event, Happening, Place, Scene};

/// Event and umask as the SDM has them, and the ledger's names.
const EVENTS: [(u64, u64, &str, &str); 7] = [
    (0x03, 0x01, "GQ_ALLOC", "READ_TRACKER"),
    (0x08, 0x01, "LLC_HITS", "READ"),
    (0x09, 0x01, "LLC_MISS", "READ"),
    (0x20, 0x10, "QHL_REQUESTS", "LOCAL_READS"),
    (0x2c, 0x01, "QMC_NORMAL_READS", "CH0"),
    (0x2c, 0x07, "QMC_NORMAL_READS", "ANY"),
    (0x2f, 0x01, "QMC_WRITES", "FULL_CH0"),
];

#[test]
#[ignore = "minutes of a guest: the long form"]
fn the_check_and_perf_are_both_right_on_nehalem() {
    let block = Block { unit_control: Some(msr(0x391)), freeze: 0, controls: (msr(0x3c0), 1, 8), enable: 1 << 22 };
    let place = Place {
        name: "uncore".to_owned(),
        block,
        counters: (msr(0x3b0), 1),
        is_stopped: |value, number| value >> number & 1 == 0,
    };
    let event = |(code, umask, name, subevent)| Event {
        perf: format!("uncore/event={code:#x},umask={umask:#x}/"),
        place: place.clone(),
        config: umask << 8 | code,
        happening: Happening::Ledger("uncore", 0, name, subevent),
    };
    // Which addresses and opcodes one event matches.
    let note = 0x396;
    let events = EVENTS.map(event).to_vec();
    let (machine, workload) = ("nehalem", "mixed:read=60,footprint=1G,threads=4");
    Scene { machine, workload, checks: 10, events, most: 5, note }.run();
}
