//! Emerald Rapids, a session from set-up to re-arm: 1.3.2, 1.4, 1.10.4 to 1.10.6, by hand from the guide (817509-001).

use pericore_machine::chassis::Block;
use pericore_machine::signal::{SignalSink, Wire};
use pericore_registers::Width;
use pericore_tests::pmon::discovery::walk;
use pericore_tests::pmon::raw::{B30, CYCLE, DCLK, Raw};

/// Table 1-8.
const GLOBAL_CTL: u32 = 0x2ff0;
const GLOBAL_STATUS: [u32; 2] = [0x2ff2, 0x2ff3];

const EMPTY: u64 = 1 << 48;

/// The bit of the global status registers that discovery gives a block.
fn position(raw: &mut Raw, socket: usize, kind: u16, id: u16) -> u32 {
    let tables = walk(raw);
    let unit = tables[socket].1.units.iter().find(|unit| (unit.kind, unit.id) == (kind, id));
    unit.expect("the block is in the table").status_position.into()
}

/// A slot of a data flit sent on a link.
fn data_flits(raw: &mut Raw, link: u16) -> (Wire, u64) {
    let wire = raw.wire("upi", link, "tx_flits");
    (wire, raw.tag("upi", "tx_flits", &[("kind", 0), ("slot", 1)]))
}

/// 1.10.4 with polling: freeze at the box, choose the event, reset, unfreeze; 1.10.5 a: freeze, read, go on.
#[test]
fn polling_a_caching_agent() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let wire = raw.wire("cha", 5, "DIR_LOOKUP");
    let snoop = raw.tag("cha", "DIR_LOOKUP", &[("sub", 0x01)]);
    raw.wrmsr(0x2050, 0x1); // a) frz of agent 5
    raw.wrmsr(0x2052, 0xdead_0000);
    raw.wrmsr(0x2059, 77);
    raw.wrmsr(0x2050, 0x301); // c) resets, still frozen
    assert_eq!((raw.rdmsr(0x2052), raw.rdmsr(0x2059)), (0, 0));
    raw.wrmsr(0x2053, 0x153); // b) DIR_LOOKUP.SNP on counter 1: event 0x53, umask 0x01; there is no enable bit
    raw.pulse(wire, snoop, 3, 1);
    raw.at(10);
    assert_eq!(raw.rdmsr(0x2059), 0, "frozen");
    assert_eq!(raw.rdmsr(0x2050), 0x1, "freeze reads back, resets do not");
    raw.wrmsr(0x2050, 0x0); // e)
    raw.pulse(wire, snoop, 11, 2);
    raw.pulse(wire, snoop, 12, 1);
    raw.at(20);
    raw.wrmsr(0x2050, 0x1);
    raw.pulse(wire, snoop, 21, 1);
    raw.at(30);
    assert_eq!(raw.rdmsr(0x2059), 3);
    raw.wrmsr(0x2050, 0x0);
    raw.pulse(wire, snoop, 31, 1);
    raw.at(40);
    assert_eq!(raw.rdmsr(0x2059), 4);
    // Table 1-5: rst of the control zeroes the one counter.
    raw.wrmsr(0x205a, 9);
    raw.wrmsr(0x2053, 0x2_0153);
    assert_eq!((raw.rdmsr(0x2059), raw.rdmsr(0x205a), raw.rdmsr(0x2053)), (0, 9, 0x153));
}

/// 1.10.4 a: the global freeze stops every block of the socket, and no block of another.
#[test]
fn the_global_freeze_is_of_the_socket() {
    let mut raw = Raw::new("emerald-rapids", 2);
    // CLOCKTICKS, event 0x01, on agent 0 and the PCU of both sockets; CPU 8 is in socket 1.
    for cpu in [0, 8] {
        raw.wrmsr_on(cpu, 0x2002, 0x01);
        raw.wrmsr_on(cpu, 0x2fc2, 0x01);
    }
    raw.at(100);
    raw.wrmsr_on(9, GLOBAL_CTL, 0x1);
    raw.at(250);
    assert_eq!([0x2008, 0x2fc8].map(|msr| raw.rdmsr_on(3, msr)), [250, 250]);
    assert_eq!([0x2008, 0x2fc8].map(|msr| raw.rdmsr_on(15, msr)), [100, 100], "any CPU of the package sees the same");
    raw.wrmsr_on(8, GLOBAL_CTL, 0x0);
    raw.at(300);
    assert_eq!(raw.rdmsr_on(8, 0x2008), 150);
    assert_eq!(raw.rdmsr_on(31, 0x2008), 150, "second threads too");
}

/// The sampling example of 1.10.4 d, corrected: the millionth slot of a data flit on link 0, counter 1. The guide sets the counter to
/// 2^48 - 1000 and leaves out frz_ovf, bit 20. Then 1.10.5 b and 1.10.6.
#[test]
fn sampling_a_link() {
    let mut raw = Raw::new("emerald-rapids", 1);
    raw.machine.set_interrupted_core(3);
    let upi = position(&mut raw, 0, 8, 0);
    let status = GLOBAL_STATUS[upi as usize / 64];
    let bit = 1 << (upi % 64);
    let (wire, data) = data_flits(&mut raw, 0);
    raw.wrmsr(GLOBAL_CTL, 0x1); // a)
    raw.pci_write_long(B30, 1, 1, 0x358, 0x0010_0f02); // b) TxL_FLITS, umask 0x0F, frz_ovf
    raw.pci_write(B30, 1, 1, 0x318, 0x300); // c) resets the control as well
    assert_eq!(raw.pci(B30, 1, 1, 0x358), 0);
    raw.pci_write_long(B30, 1, 1, 0x358, 0x0010_0f02);
    raw.pci_write_long(B30, 1, 1, 0x328, EMPTY - 1_000_000); // d)
    raw.wrmsr(0x2002, 0x01); // clocks of agent 0, to see the freeze
    raw.wrmsr(GLOBAL_CTL, 0x0); // e)
    raw.pulse(wire, data, 1000, 999_999);
    raw.at(2000);
    assert_eq!(raw.pci_count(B30, 1, 1, 0x328), EMPTY - 1);
    assert_eq!((raw.rdmsr(status) & bit, raw.pci(B30, 1, 1, 0x38c)), (0, 0));
    raw.pulse(wire, data, 2500, 1);
    raw.pulse(wire, data, 2600, 1);
    raw.at(3000);
    // 1.10.5 b: the global status tells the block, the unit status the counter.
    assert_eq!([raw.rdmsr(GLOBAL_STATUS[0]), raw.rdmsr(GLOBAL_STATUS[1])][upi as usize / 64], bit);
    assert_eq!(raw.pci(B30, 1, 1, 0x38c), 0x2);
    assert_eq!(raw.rdmsr(GLOBAL_CTL), 0x1, "frozen");
    assert_eq!(raw.pci_count(B30, 1, 1, 0x328), 0, "it wrapped, and stood from then on");
    assert_eq!(raw.rdmsr(0x2008), 2500, "so did all others");
    let interrupts = raw.machine.take_interrupts();
    assert_eq!(interrupts.len(), 1);
    assert_eq!((interrupts[0].socket, interrupts[0].cores, interrupts[0].tick), (0, 1 << 3, 2500 * CYCLE));
    // 1.10.6: clear counters, clear both overflow bits, set the next sample, go on.
    raw.pci_write(B30, 1, 1, 0x318, 0x200);
    raw.wrmsr(status, bit);
    raw.pci_write(B30, 1, 1, 0x38c, 0x2);
    assert_eq!((raw.rdmsr(status), raw.pci(B30, 1, 1, 0x38c)), (0, 0));
    raw.pci_write_long(B30, 1, 1, 0x328, EMPTY - 10);
    raw.wrmsr(GLOBAL_CTL, 0x0);
    raw.pulse(wire, data, 3100, 25);
    raw.at(4000);
    assert_eq!(raw.pci_count(B30, 1, 1, 0x328), 15, "between overflow and freeze it goes on counting (1.4.0.1)");
    assert_eq!((raw.rdmsr(status) & bit, raw.pci(B30, 1, 1, 0x38c), raw.rdmsr(GLOBAL_CTL)), (bit, 0x2, 0x1));
    assert_eq!(raw.rdmsr(0x2008), 2600);
    assert_eq!(raw.machine.take_interrupts().len(), 1);
}

/// 1.4.0.2: no new freeze until the bit in the unit's status and the one in the global status are both cleared.
#[test]
fn a_second_freeze_needs_both_bits_cleared() {
    for (clear_unit, clear_global, freezes) in
        [(false, false, false), (true, false, false), (false, true, false), (true, true, true)]
    {
        let mut raw = Raw::new("emerald-rapids", 1);
        let upi = position(&mut raw, 0, 8, 0);
        let (wire, data) = data_flits(&mut raw, 0);
        raw.pci_write_long(B30, 1, 1, 0x358, 0x0010_0f02);
        raw.pci_write_long(B30, 1, 1, 0x328, EMPTY - 1);
        raw.pulse(wire, data, 10, 1);
        raw.at(20);
        assert_eq!(raw.rdmsr(GLOBAL_CTL), 1);
        if clear_unit {
            raw.pci_write(B30, 1, 1, 0x38c, 0xf);
        }
        if clear_global {
            raw.wrmsr(GLOBAL_STATUS[upi as usize / 64], u64::MAX);
        }
        raw.pci_write_long(B30, 1, 1, 0x328, EMPTY - 1);
        raw.wrmsr(GLOBAL_CTL, 0);
        raw.pulse(wire, data, 30, 1);
        raw.at(40);
        assert_eq!(raw.rdmsr(GLOBAL_CTL) == 1, freezes, "unit {clear_unit}, global {clear_global}");
        assert_eq!(raw.pci(B30, 1, 1, 0x38c), 0x2, "the unit's bit is set again in any case");
        assert_eq!(raw.machine.take_interrupts().len(), 1 + usize::from(freezes));
    }
}

/// Without frz_ovf an overflow shows in the unit's status and nowhere else (1.4.0.2).
#[test]
fn overflow_without_notice() {
    let mut raw = Raw::new("emerald-rapids", 1);
    raw.wrmsr(0x2002, 0x01);
    raw.wrmsr(0x2003, 0x01);
    raw.wrmsr(0x2008, EMPTY - 50);
    raw.wrmsr(0x2009, EMPTY - 500);
    raw.at(100);
    assert_eq!((raw.rdmsr(0x2001), raw.rdmsr(GLOBAL_CTL)), (0x1, 0));
    assert_eq!(GLOBAL_STATUS.map(|msr| raw.rdmsr(msr)), [0, 0]);
    assert_eq!(raw.rdmsr(0x2008), 50, "it wraps and goes on");
    raw.at(1000);
    assert_eq!(raw.rdmsr(0x2001), 0x3);
    raw.wrmsr(0x2001, 0x1);
    assert_eq!(raw.rdmsr(0x2001), 0x2, "a written 1 clears, a 0 does not");
    assert!(raw.machine.take_interrupts().is_empty());
}

/// A counter that freezes does so in its cycle, however late software looks: clocks, and an occupancy behind a threshold.
#[test]
fn freezes_are_foreseen() {
    let mut raw = Raw::new("emerald-rapids", 1);
    raw.wrmsr(0x2012, 0x10_0001); // agent 1, clocks, frz_ovf
    raw.wrmsr(0x2018, EMPTY - 12_345);
    raw.wrmsr(0x2002, 0x01);
    raw.at(1_000_000);
    assert_eq!((raw.rdmsr(0x2008), raw.rdmsr(0x2018)), (12_345, 0));
    // TOR_OCCUPANCY 0x36, umask 0x01 and threshold 2: cycles with two requests of cores.
    let mut raw = Raw::new("emerald-rapids", 1);
    let tor = raw.wire("cha", 0, "tor");
    let core = raw.tag("cha", "tor", &[("sub", 0x01)]);
    raw.wrmsr(0x2002, 0x0210_0136);
    raw.wrmsr(0x2008, EMPTY - 100);
    raw.wrmsr(0x2013, 0x01);
    raw.enter(tor, core, 10);
    raw.enter(tor, core, 1000);
    raw.at(5000);
    assert_eq!((raw.rdmsr(0x2008), raw.rdmsr(0x2019)), (0, 1100));
}

/// Each block that discovery lists sets the bit that discovery gives it, when its counter 0 overflows in clocks.
#[test]
fn every_block_has_its_bit() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let units = walk(&mut raw).remove(0).1.units;
    let message = raw.wire("ubox", 0, "EVENT_MSG");
    let msi = raw.tag("ubox", "EVENT_MSG", &[("sub", 0x02)]);
    let mut now = 0;
    for unit in units {
        let (width, address): (Width, fn(u64) -> pericore_registers::Address) = match unit.access {
            0 => (Width::B8, |at| pericore_registers::Address::Msr { cpu: 0, msr: at as u32 }),
            1 => (Width::B4, |at| pericore_registers::Address::Mmio { physical: at }),
            _ => (Width::B4, |at| pericore_registers::Address::Pci {
                bdf: pericore_registers::Bdf::new((at >> 20) as u8, (at >> 15 & 31) as u8, (at >> 12 & 7) as u8),
                offset: at as u16 & 0xfff,
            }),
        };
        use pericore_registers::RegisterSpace;
        let control = address(unit.unit_ctl + unit.ctl_offset);
        // CLOCKTICKS is event 0x01, CXL CM's with umask 0x02; the U-Box has none: EVENT_MSG.MSI_RCVD, 0x42 with umask 0x02.
        let select =
            [(12, 0x0201), (5, 0x0242)].into_iter().find(|&(kind, _)| kind == unit.kind).map_or(0x0101, |row| row.1);
        raw.machine.write(control, width, 0x10_0000 | select).expect("control 0");
        let counter = unit.unit_ctl + unit.ctr_offset;
        if unit.access == 0 {
            raw.machine.write(address(counter), Width::B8, EMPTY - 1).expect("counter 0");
        } else {
            raw.machine.write(address(counter), Width::B4, 0xffff_ffff).expect("counter 0");
            raw.machine.write(address(counter + 4), Width::B4, 0xffff).expect("counter 0");
        }
        raw.pulse(message, msi, now + 500, 1);
        now += 1000;
        raw.at(now);
        let isolated = (unit.kind, unit.id) == (12, 1);
        let expected = if isolated { 0 } else { 1u128 << unit.status_position };
        let status = u128::from(raw.rdmsr(GLOBAL_STATUS[0])) | u128::from(raw.rdmsr(GLOBAL_STATUS[1])) << 64;
        assert_eq!(status, expected, "{unit:x?}");
        assert_eq!(raw.machine.read(address(unit.unit_ctl + unit.status_offset), width), Ok(1), "{unit:x?}");
        raw.machine.write(control, width, 0).expect("control 0");
        raw.machine.write(address(unit.unit_ctl + unit.status_offset), width, 1).expect("status");
        GLOBAL_STATUS.into_iter().for_each(|msr| raw.wrmsr(msr, u64::MAX));
        raw.wrmsr(GLOBAL_CTL, 0);
    }
}

/// 2.12.1: CXL CM unit 1 tells nobody of an overflow, and does not hear the freeze.
#[test]
fn cxl_cm_unit_1_goes_on() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let units = walk(&mut raw).remove(0).1.units;
    let block = |id| units.iter().find(|unit| (unit.kind, unit.id) == (12, id)).expect("in the table");
    for id in [0, 1] {
        // CLOCKTICKS: umask 0x02 in Intel's file, 0x01 in the guide.
        raw.memory_write(block(id).unit_ctl + block(id).ctl_offset, Width::B8, 0x10_0201);
        raw.memory_write(block(id).unit_ctl + block(id).ctr_offset, Width::B8, EMPTY - 50);
    }
    // Unit 1 first alone.
    raw.memory_write(block(0).unit_ctl, Width::B8, 0x1);
    raw.at(100);
    assert_eq!(raw.memory(block(1).unit_ctl + block(1).ctr_offset, Width::B8), 50);
    assert_eq!(raw.rdmsr(GLOBAL_CTL), 0);
    raw.memory_write(block(0).unit_ctl, Width::B8, 0x0);
    raw.at(200);
    assert_eq!(raw.rdmsr(GLOBAL_CTL), 1);
    assert_eq!(raw.memory(block(0).unit_ctl + block(0).ctr_offset, Width::B8), 0);
    assert_eq!(raw.memory(block(1).unit_ctl + block(1).ctr_offset, Width::B8), 150);
}

/// A memory channel: PCM's order of writes; DCLK's control at +0x54 and counter at +0x38 (Table 1-12 has them exchanged), enable 22 and
/// reset 19, ov_en 20 (Table 2-129).
#[test]
fn a_memory_channel() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let channel = 0xf002_a800; // controller 0, channel 1
    let wire = raw.wire("imc", 1, "cas");
    let [read, write] = [0, 4].map(|kind| raw.tag("imc", "cas", &[("kind", kind)]));
    for (offset, value) in [
        (0x0, 0x1),
        (0x0, 0x101),
        (0x54, 0x40_0000),
        (0x54, 0x48_0000),
        (0x40, 0xcf05), // CAS_COUNT.RD
        (0x44, 0xf005), // CAS_COUNT.WR
        (0x0, 0x201),
        (0x0, 0x0),
    ] {
        raw.memory_write(channel + offset, Width::B4, value);
    }
    for cycle in 0..10 {
        raw.machine.pulse(wire, if cycle % 3 == 0 { write } else { read }, cycle * DCLK, 1);
    }
    raw.at_dclk(5000);
    assert_eq!([0x8, 0x10, 0x38].map(|offset| raw.memory(channel + offset, Width::B8)), [6, 4, 5000]);
    assert_eq!(raw.memory(channel + 0x40, Width::B8), 0xf005_0000_cf05, "a quadword over two controls");
    // The fixed counter with ov_en freezes the socket; it has no bit in the unit's status.
    let imc = position(&mut raw, 0, 6, 1);
    raw.memory_write(channel + 0x54, Width::B4, 0x50_0000);
    raw.memory_write(channel + 0x38, Width::B8, EMPTY - 100);
    raw.at_dclk(6000);
    assert_eq!(raw.memory(channel + 0x38, Width::B8), 0);
    assert_eq!(raw.memory(channel + 0x5c, Width::B4), 0);
    assert_eq!((raw.rdmsr(GLOBAL_CTL), raw.rdmsr(GLOBAL_STATUS[imc as usize / 64])), (1, 1 << (imc % 64)));
}

/// Free-running counters: no freeze, no reset and no write reaches them (2.3.2, 2.4.2); they pause while their unit is powered down.
#[test]
fn free_running_counters() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let controller = 0xf008_0000; // controller 1: channels 2 and 3
    let bandwidth = raw.wire("iio", 2, "FRCTR_BW_IN_P");
    let port = raw.tag("iio", "FRCTR_BW_IN_P", &[("member", 5)]);
    raw.pulse(bandwidth, port, 1, 16);
    raw.wrmsr(GLOBAL_CTL, 1);
    raw.wrmsr(0x3020, 0x301);
    raw.wrmsr(0x3825, 0);
    raw.memory_write(controller + 0x22b0, Width::B8, 0);
    raw.at_dclk(1000);
    assert_eq!(raw.rdmsr(0x3825), 16, "Table 1-10: stack 2, port 5, in units of 4 bytes");
    assert_eq!(raw.rdmsr(0x3824), 0);
    assert_eq!(raw.memory(controller + 0x22b0, Width::B8), 1000);
    assert_eq!(raw.rdmsr(0x342e), 1000 * DCLK / CYCLE, "Table 1-9: clocks of stack 2");
    let (stack, channel) = (Block::new(0, "iio", 2), Block::new(0, "imc", 2));
    raw.machine.set_power(&stack, false).expect("there is a stack 2");
    raw.machine.set_power(&channel, false).expect("there is a channel 2");
    raw.pulse(bandwidth, port, 5000, 100);
    raw.at_dclk(9000);
    assert_eq!(raw.memory(controller + 0x22b0, Width::B8), 1000);
    assert_eq!((raw.rdmsr(0x3825), raw.rdmsr(0x342e)), (16, 1000 * DCLK / CYCLE));
    raw.machine.set_power(&stack, true).expect("there is a stack 2");
    raw.pulse(bandwidth, port, 9000 * DCLK / CYCLE + 1, 100);
    raw.at_dclk(9100);
    assert_eq!(raw.rdmsr(0x3825), 116);
    assert_eq!(raw.rdmsr(0x342e), 1100 * DCLK / CYCLE);
}

/// The counter of uncore clocks at 0x2FDE and 0x2FDF (Table 1-8) needs its enable, bit 22.
#[test]
fn the_uclk_counter() {
    let mut raw = Raw::new("emerald-rapids", 1);
    raw.at(100);
    raw.wrmsr(0x2fde, 0x40_0000);
    raw.at(350);
    assert_eq!(raw.rdmsr(0x2fdf), 250);
    raw.wrmsr(0x2fde, 0);
    raw.at(400);
    assert_eq!(raw.rdmsr(0x2fdf), 250);
}

/// A 48-bit counter read as two dwords while it counts: between the reads the lower one may carry.
#[test]
fn torn_reads() {
    let mut raw = Raw::new("emerald-rapids", 1);
    raw.pci_write(B30, 1, 1, 0x350, 0x01);
    raw.pci_write_long(B30, 1, 1, 0x320, 0x1_ffff_fff0);
    let low = raw.pci(B30, 1, 1, 0x320);
    raw.at(0x20);
    let high = raw.pci(B30, 1, 1, 0x324);
    assert_eq!((high, low), (2, 0xffff_fff0), "neither the value before nor the one after");
    assert_eq!(raw.pci_count(B30, 1, 1, 0x320), 0x2_0000_0010);
    // Parts of a register are written alone.
    raw.pci_write(B30, 1, 1, 0x320, 0);
    assert_eq!(raw.pci_count(B30, 1, 1, 0x320), 0x2_0000_0000);
    raw.pci_write(B30, 1, 1, 0x324, 0xdead_beef);
    assert_eq!(raw.pci_count(B30, 1, 1, 0x320), 0xbeef_0000_0000, "48 bits");
}

/// Table 2-161: RDB_INSERTS is event 0x17 with umask 0x01 for pseudo-channel 0, 0x02 for 1 and 0x03 for both. The event's own value has
/// both bits, and takes nothing away from the subevents that have one.
#[test]
fn an_event_with_a_umask_of_its_own_leaves_its_subevents_theirs() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let base = u64::from(raw.pci(B30, 0, 1, 0xd0) & 0x1fff_ffff) << 23;
    let controller = u64::from(raw.pci(B30, 0, 1, 0xd8) & 0x7ff) << 12;
    // Table 1-12: channel 0, controls from 0x22840, counters from 0x22808.
    let channel = base + controller;
    for (counter, control) in (0..).zip([0x117, 0x217, 0x317]) {
        raw.memory_write(channel + 0x22840 + 4 * counter, Width::B4, control);
    }
    let wire = raw.wire("imc", 0, "rdb");
    for (bit, inserts) in [(0x01, 5), (0x02, 7)] {
        let tag = raw.tag("imc", "rdb", &[("sub", bit)]);
        for insert in 0..inserts {
            raw.enter(wire, tag, 100 * bit + 10 * insert);
            raw.leave(wire, tag, 100 * bit + 10 * insert + 5);
        }
    }
    raw.at(1000);
    let counts = [0, 1, 2].map(|counter| raw.memory(channel + 0x22808 + 8 * counter, Width::B8));
    assert_eq!(counts, [5, 7, 12]);
}
