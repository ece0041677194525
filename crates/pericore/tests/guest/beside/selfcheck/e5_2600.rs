//! E5-2600: tables 2-9 to 2-95 of 327043-001.

use super::super::truth::{Block, msr, pci};
use super::{Event, Happening, Place, Scene};
use Happening::{Cycles, Ledger};

/// 2.1.1: bits 8 (freeze) and 16 (freeze enable) of the box control; bit 22 of a counter control enables.
const FREEZE: u64 = 0x1_0100;
const ENABLE: u64 = 1 << 22;

const fn is_stopped(value: u64, _: u16) -> bool {
    value & FREEZE == FREEZE
}

fn in_msrs(name: String, unit_control: u32, controls: u32, counters: u32) -> Place {
    let block = Block {
        unit_control: Some(msr(unit_control)),
        freeze: FREEZE,
        controls: (msr(controls), 1, 4),
        enable: ENABLE,
    };
    Place { name, block, counters: (msr(counters), 1), is_stopped }
}

fn on_pci(name: String, device: u8, function: u8) -> Place {
    let at = |offset: u16| pci(0xff, device, function, offset);
    let block = Block { unit_control: Some(at(0xf4)), freeze: FREEZE, controls: (at(0xd8), 4, 4), enable: ENABLE };
    Place { name, block, counters: (at(0xa0), 8), is_stopped }
}

/// Codes and umasks: the guide's event tables, and Intel's event file for R2PCIe and R3QPI.
fn events() -> Vec<Event> {
    let event = |perf: String, place: &Place, config: u64, happening: Happening| Event {
        perf,
        place: place.clone(),
        config,
        happening,
    };
    let mut events = Vec::new();
    for cbo in [0, 3, 7] {
        let base = 0xd00 + 0x20 * u32::from(cbo);
        let place = in_msrs(format!("cbo{cbo}"), base + 4, base + 0x10, base + 0x16);
        let pmu = format!("uncore_cbox_{cbo}");
        events.push(event(format!("{pmu}/event=0x0/"), &place, 0, Cycles("uclk")));
        let inserts = Ledger("cbo", cbo, "RxR_INSERTS", "IRQ");
        events.push(event(format!("{pmu}/event=0x13,umask=0x1/"), &place, 0x0113, inserts));
    }
    for (imc, function) in [(0, 0), (1, 1), (2, 4), (3, 5)] {
        let place = on_pci(format!("imc{imc}"), 16, function);
        let pmu = format!("uncore_imc_{imc}");
        events.push(event(format!("{pmu}/event=0x0/"), &place, 0, Cycles("dclk")));
        let [reads, writes] = ["RD", "WR"].map(|subevent| Ledger("imc", imc, "CAS_COUNT", subevent));
        events.push(event(format!("{pmu}/event=0x4,umask=0x3/"), &place, 0x0304, reads));
        events.push(event(format!("{pmu}/event=0x4,umask=0xc/"), &place, 0x0c04, writes));
    }
    let ha = on_pci("ha".to_owned(), 14, 1);
    events.push(event("uncore_ha/event=0x0/".to_owned(), &ha, 0, Cycles("uclk")));
    let reads = Ledger("ha", 0, "REQUESTS", "READS");
    events.push(event("uncore_ha/event=0x1,umask=0x3/".to_owned(), &ha, 0x0301, reads));
    let pcu = in_msrs("pcu".to_owned(), 0xc24, 0xc30, 0xc36);
    events.push(event("uncore_pcu/event=0x0/".to_owned(), &pcu, 0, Cycles("pclk")));
    for (pmu, code, name, device, function, clock) in [
        ("uncore_qpi_0", 0x14, "qpi0", 8, 2, "qclk"),
        ("uncore_r2pcie", 0x1, "r2pcie", 19, 1, "uclk"),
        ("uncore_r3qpi_0", 0x1, "r3qpi0", 19, 5, "uclk"),
    ] {
        let place = on_pci(name.to_owned(), device, function);
        events.push(event(format!("{pmu}/event={code:#x}/"), &place, code, Cycles(clock)));
    }
    events
}

#[test]
#[ignore = "minutes of a guest: the long form"]
fn the_check_and_perf_are_both_right_on_e5_2600() {
    // CBo 6's filter.
    let note = 0xdd4;
    let (machine, workload) = ("e5-2600", "mixed:read=60,footprint=1G,threads=8");
    Scene { machine, workload, checks: 2, events: events(), most: 8, note }.run();
}
