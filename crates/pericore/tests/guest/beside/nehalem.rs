//! Nehalem: one unit, whose counters are enabled in a register that all share. The kernel writes it whole: all enables
//! when an event begins, none when its last one ends. SDM 18.8.2.

use super::injection::Injection;
use super::sections::section;
use super::truth::{Block, Happening, msr};
use super::{Scene, boot, everybody_is_right, switched_off};

const SCENE: Scene = Scene {
    ours: ["uncore/QHL_REQUESTS.LOCAL_READS/", "uncore/CLK_UNHALTED/"],
    per_second: 1_000_003,
    block: Block { unit_control: Some(msr(0x391)), freeze: 0, controls: (msr(0x3c0), 1, 8), enable: 1 << 22 },
    one: ("uncore/event=0x2f,umask=0x1/", 0x012f, Happening::Rate(300_007)),
    many: "{uncore/event=0x2f,umask=0x1/,uncore/event=0x2f,umask=0x2/,uncore/event=0x2f,umask=0x4/,\
        uncore/event=0x20,umask=0x1/,uncore/event=0x20,umask=0x2/},\
        {uncore/event=0x20,umask=0x4/,uncore/event=0x20,umask=0x8/,uncore/event=0x2c,umask=0x1/,\
        uncore/event=0x2c,umask=0x2/,uncore/event=0x2c,umask=0x4/}",
    first_of_many: ("uncore/event=0x2f,umask=0x1/", 0x012f, Happening::Rate(300_007)),
    // Which addresses and opcodes one event matches.
    note: 0x396,
    registers: "for r in 0x391 0x3c0 0x3c1 0x3c2 0x395; do rdmsr $r; done",
    is_stopped: |value, number| value >> number & 1 == 0,
};

#[test]
#[ignore = "three more minutes of a guest: the long form"]
fn perf_comes_and_goes_on_nehalem() {
    if switched_off() {
        return;
    }
    let hardware = boot::hardware_of("nehalem", 1, 4, |wiring| {
        let mut injection = Injection::default();
        injection.pulses(wiring, "uncore", ("QHL_REQUESTS", "LOCAL_READS"), 1_000_003);
        injection.pulses(wiring, "uncore", ("QMC_WRITES", "FULL_CH0"), 300_007);
        injection
    });
    let run = SCENE.run(&hardware, "");
    everybody_is_right(&SCENE, &run);
    for held in ["held beside", "held killed"] {
        let values = section(&run.output, held);
        assert!(values[0].ends_with("ff") && values[1] == "40012f", "{held}: {values:?}");
    }
    for held in ["held beside", "held joined", "held killed", "held at last"] {
        let values = section(&run.output, held);
        assert!(!values.contains(&"401020") && values[4] == "0", "{held}: {values:?}");
    }
}
