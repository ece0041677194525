//! Emerald Rapids: a caching agent in MSRs. Tables 1-8 and 1-9 of the guide.

use super::injection::Injection;
use super::sections::section;
use super::truth::{Block, Happening, msr};
use super::{Scene, boot, everybody_is_right, refused, switched_off};

const SCENE: Scene = Scene {
    ours: ["cha0/REQUESTS.READS_LOCAL/", "cha0/CLOCKTICKS/"],
    per_second: 1_000_003,
    block: Block { unit_control: Some(msr(0x2000)), freeze: 1, controls: (msr(0x2002), 1, 4), enable: 0 },
    one: ("uncore_cha_0/event=0x53,umask=0x2/", 0x0253, Happening::Rate(300_007)),
    many: "{uncore_cha_0/event=0x53,umask=0x2/,uncore_cha_0/event=0x53,umask=0x1/},\
        {uncore_cha_0/event=0x50,umask=0x4/,uncore_cha_0/event=0x50,umask=0x8/},\
        uncore_cha_0/event=0x50,umask=0x10/",
    first_of_many: ("uncore_cha_0/event=0x53,umask=0x2/", 0x0253, Happening::Rate(300_007)),
    // The PCU's last counter.
    note: 0x2fcb,
    registers: "for r in 0x2000 0x2002 0x2003 0x2004 0x2005 0x2ff0; do rdmsr $r; done",
    is_stopped: |value, _| value & 1 == 1,
};

#[test]
#[ignore = "one more minute of a guest: the long form"]
fn perf_comes_and_goes_on_emerald_rapids() {
    if switched_off() {
        return;
    }
    let hardware = boot::hardware("emerald-rapids", |wiring| {
        let mut injection = Injection::default();
        injection.pulses(wiring, "cha", ("REQUESTS", "READS_LOCAL"), 1_000_003);
        injection.pulses(wiring, "cha", ("DIR_LOOKUP", "NO_SNP"), 300_007);
        injection
    });
    let run = SCENE.run(&hardware, refused::ON_EMERALD_RAPIDS);
    everybody_is_right(&SCENE, &run);
    for held in ["held beside", "held killed"] {
        let values = section(&run.output, held);
        assert_eq!(values, ["0", "253", "0", "0", "0", "0"], "{held}");
    }
    for held in ["held joined", "held at last"] {
        let values = section(&run.output, held);
        assert_eq!((values[0], values[5]), ("0", "0"), "{held}: {values:?}");
        assert!(!values.contains(&"1") && !values.contains(&"150"), "{held}: {values:?}");
    }
    refused::judge_emerald_rapids(&run);
}
