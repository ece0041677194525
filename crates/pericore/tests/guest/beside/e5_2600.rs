//! E5-2600: a channel in configuration space. Tables 2-58 to 2-62 of 327043-001.

use super::injection::Injection;
use super::sections::section;
use super::truth::{Block, Happening, pci};
use super::{Scene, boot, everybody_is_right, refused, switched_off};

const FREEZE: u64 = 0x1_0100;

const SCENE: Scene = Scene {
    ours: ["imc0/CAS_COUNT.RD_REG/", "imc0/CLOCKTICKS/"],
    per_second: 2_000_003,
    block: Block {
        unit_control: Some(pci(0xff, 16, 0, 0xf4)),
        freeze: FREEZE,
        controls: (pci(0xff, 16, 0, 0xd8), 4, 4),
        enable: 1 << 22,
    },
    one: ("uncore_imc_0/event=0x1/", 0x0001, Happening::Rate(300_007)),
    many: "{uncore_imc_0/event=0x1/,uncore_imc_0/event=0x2/},\
        {uncore_imc_0/event=0x4,umask=0xc/,uncore_imc_0/event=0x80/},\
        uncore_imc_0/event=0x3/",
    first_of_many: ("uncore_imc_0/event=0x1/", 0x0001, Happening::Rate(300_007)),
    // CBo 7's filter.
    note: 0xdf4,
    registers: "setpci -s ff:10.0 f4.l d8.l dc.l e0.l e4.l",
    is_stopped: |value, _| value & FREEZE == FREEZE,
};

#[test]
#[ignore = "two minutes of a guest: the long form"]
fn perf_comes_and_goes_on_e5_2600() {
    if switched_off() {
        return;
    }
    let hardware = boot::hardware("e5-2600", |wiring| {
        let mut injection = Injection::default();
        injection.pulses(wiring, "imc", ("CAS_COUNT", "RD_REG"), 2_000_003);
        injection.pulses(wiring, "imc", ("ACT_COUNT", ""), 300_007);
        injection
    });
    let run = SCENE.run(&hardware, refused::ON_E5_2600);
    everybody_is_right(&SCENE, &run);
    // Never frozen, perf's counter 0 enabled with its event, nothing of ours enabled.
    for held in ["held beside", "held killed"] {
        let values = section(&run.output, held);
        assert_eq!(values[..2], ["00010000", "00400001"], "{held}: {values:?}");
        assert!(!values[2..].iter().any(|value| value.starts_with("004")), "{held}: {values:?}");
    }
    for held in ["held joined", "held at last"] {
        let values = section(&run.output, held);
        assert_eq!(values[0], "00010000", "{held}: {values:?}");
        assert!(!values.contains(&"00400000") && !values.contains(&"00400104"), "{held}: {values:?}");
    }
    refused::judge_e5_2600(&run);
}
