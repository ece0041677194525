//! Emerald Rapids and Sapphire Rapids: tables 1-8 to 1-14 of the guide; the first of each kind lies where the other
//! family has it (Linux's spr_uncore_*).

use super::super::truth::{Block, mmio, msr, pci};
use super::{Event, Happening, Place, Scene};
use Happening::{Cycles, Ledger};
use pericore_registers::Address;

/// Bit 0 of the unit control freezes; counters lie 8 bytes, or registers, behind it.
fn place(name: &str, unit_control: Address, controls: Address, stride: u16, counters: (Address, u16)) -> Place {
    let block = Block { unit_control: Some(unit_control), freeze: 1, controls: (controls, stride, 4), enable: 0 };
    Place { name: name.to_owned(), block, counters, is_stopped: |value, _| value & 1 == 1 }
}

fn in_msrs(name: &str, unit_control: u32) -> Place {
    place(name, msr(unit_control), msr(unit_control + 2), 1, (msr(unit_control + 8), 1))
}

fn event(perf: String, place: Place, config: u64, happening: Happening) -> Event {
    Event { perf, place, config, happening }
}

/// Codes and umasks: chapter 2. With eight slices: each access of an MSR stops the guest, and a check makes some for
/// each counter in each of a dozen runs.
fn scene(machine: &'static str, checks: u64) -> Scene {
    let mut events = Vec::new();
    for cha in [0, 3, 7] {
        let place = in_msrs(&format!("cha{cha}"), 0x2000 + 0x10 * u32::from(cha));
        let pmu = format!("uncore_cha_{cha}");
        events.push(event(format!("{pmu}/event=0x1/"), place.clone(), 0x01, Cycles("uclk")));
        let reads = Ledger("cha", cha, "REQUESTS", "READS_LOCAL");
        events.push(event(format!("{pmu}/event=0x50,umask=0x1/"), place, 0x0150, reads));
    }
    for imc in [0, 3, 6] {
        let base = 0xf002_2800 + 0x8_0000 * u64::from(imc / 2) + 0x8000 * u64::from(imc % 2);
        let place = place(&format!("imc{imc}"), mmio(base), mmio(base + 0x40), 4, (mmio(base + 0x8), 8));
        let pmu = format!("uncore_imc_{imc}");
        events.push(event(format!("{pmu}/event=0x1,umask=0x1/"), place.clone(), 0x0101, Cycles("dclk")));
        let [reads, writes] = ["RD", "WR"].map(|subevent| Ledger("imc", imc, "CAS_COUNT", subevent));
        events.push(event(format!("{pmu}/event=0x5,umask=0xcf/"), place.clone(), 0xcf05, reads));
        events.push(event(format!("{pmu}/event=0x5,umask=0xf0/"), place, 0xf005, writes));
    }
    for (pmu, name, unit_control, clock) in [
        ("uncore_iio_0", "iio0", 0x3000, "ioclk"),
        ("uncore_m2pcie_0", "m2pcie0", 0x3200, "uclk"),
        ("uncore_pcu", "pcu", 0x2fc0, "pclk"),
        ("uncore_mdf_0", "mdf0", 0x2800, "uclk"),
    ] {
        events.push(event(format!("{pmu}/event=0x1/"), in_msrs(name, unit_control), 0x01, Cycles(clock)));
    }
    for (pmu, name, (device, function, unit_control, controls), clock) in [
        ("uncore_m2m_0", "m2m0", (12, 0, 0x438, 0x468), "uclk"),
        ("uncore_upi_0", "upi0", (1, 1, 0x318, 0x350), "upiclk"),
        ("uncore_m3upi_0", "m3upi0", (5, 1, 0xa0, 0xd8), "uclk"),
    ] {
        let at = |offset: u16| pci(0xfe, device, function, offset);
        let place = place(name, at(unit_control), at(controls), 8, (at(unit_control + 8), 8));
        events.push(event(format!("{pmu}/event=0x1/"), place, 0x01, Cycles(clock)));
    }
    // Few sets of the LLC are soon full of dirty lines, and then memory sees writes.
    let workload = "mixed:read=60,stride=64k,footprint=1G,threads=8";
    // The filter of CHA 6.
    Scene { machine, workload, checks, events, most: 8, note: 0x206e }
}

#[test]
#[ignore = "minutes of a guest: the long form"]
fn the_check_and_perf_are_both_right_on_emerald_rapids() {
    scene("emerald-rapids:slices=8", 1).run();
}

#[test]
#[ignore = "minutes of a guest: the long form"]
fn the_check_and_perf_are_both_right_on_sapphire_rapids() {
    scene("sapphire-rapids:slices=8", 1).run();
}
