//! What devices can move: lanes of PCI Express, the link to the I/O hub, ways of the LLC that they write into.

use pericore_machine::workload::Scenario;
use pericore_machine::{Machine, MachineSpec};
use pericore_registers::{Address, Bdf};

use super::raw::{between, count_on_e5_channel, e5_channel_count, finish, machine, msr, read, run, write};

/// Counter 0 of R2PCIe of an E5-2600 (guide 2.9: device 19, function 1): its control, and itself.
fn ring_stop(offset: u16) -> Address {
    Address::Pci { bdf: Bdf::new(0xff, 19, 1), offset }
}

/// GB/s that devices of an E5-2600 move in 100 us once they are at it: lines at the ring stop by an event that counts
/// each so often, reads of memory and writes.
fn moved(workload: &str, event: u64, often: u64) -> [f64; 3] {
    let mut machine = machine("e5-2600", workload);
    write(&mut machine, ring_stop(0xd8), 0x40_0000 | event);
    for channel in 0..4 {
        // CAS_COUNT: 0x04, reads 0x03, writes 0x0c.
        count_on_e5_channel(&mut machine, 0xff, channel, 0, 0x0304);
        count_on_e5_channel(&mut machine, 0xff, channel, 1, 0x0c04);
    }
    // The slowest needs 291 us to fill two ways of the LLC, 2 MB at 7.2 GB/s.
    let [before, after] = [300_000, 100_000].map(|nanoseconds| {
        run(&mut machine, nanoseconds);
        let memory = [0, 1].map(|n| (0..4).map(|channel| e5_channel_count(&mut machine, 0xff, channel, n)).sum());
        [read(&mut machine, ring_stop(0xa0)) / often, memory[0], memory[1]]
    });
    std::array::from_fn(|n| (after[n] - before[n]) as f64 * 64.0 / 1e5)
}

/// 40 lanes at 8 GT/s with 128 bits in 130 give 39.4 GB/s in a direction; a device of eight lanes gives 7.9.
#[test]
fn devices_of_an_e5_2600_share_forty_lanes() {
    for writes in [false, true] {
        // IIO_CREDITS_ACQUIRED.DRS, 0x33: lines for devices. TxR_INSERTS, 0x24: a write's address and its line.
        let (name, event, often) = if writes { ("write", 0x24, 2) } else { ("read", 0x0833, 1) };
        let rates = [1, 4, 16].map(|devices| {
            let workload = format!("dma-{name}:requests=1G,threads={devices},footprint=256M");
            let [lines, read, written] = moved(&workload, event, often);
            // What is not in the LLC is read from memory; what is written leaves it for memory.
            let (same, other) = if writes { (written, read) } else { (read, written) };
            between(&format!("{devices} devices, {name}: memory"), lines * 0.98, same, lines * 1.02);
            assert!(other < 0.1, "{other} GB/s the other way");
            lines
        });
        let [one, four, sixteen] = rates;
        // Packets' headers cost about a tenth.
        between("a device's lanes", 0.8 * 7.88, one, 7.88);
        between("four devices", 3.9 * one, four, 4.1 * one);
        between("all lanes", 0.8 * 39.38, sixteen, 39.38);
    }
}

/// Lines that an E5-2600's memory reads and is written over a whole scenario.
fn lines(name: &str, scenario: &str) -> [u64; 2] {
    let spec = MachineSpec::parse(name).expect("a machine");
    let scenario = Scenario::parse(scenario, &spec.limits().expect("a model")).expect("a scenario");
    let mut machine = Machine::for_scenario(&spec, &scenario).expect("a machine");
    for channel in 0..4 {
        count_on_e5_channel(&mut machine, 0xff, channel, 0, 0x0304);
        count_on_e5_channel(&mut machine, 0xff, channel, 1, 0x0c04);
    }
    let _ = finish(&mut machine);
    [0, 1].map(|n| (0..4).map(|channel| e5_channel_count(&mut machine, 0xff, channel, n)).sum())
}

/// Two of the 20 ways of 20 MB are 2 MB, 32768 lines.
#[test]
fn a_buffer_of_more_than_two_ways_leaves_for_memory() {
    let twice = |bytes: u64, name| {
        lines(name, &format!("phase only\n workload dma-write:threads=1,footprint={bytes},requests={}", bytes / 32))
    };
    assert_eq!(twice(1 << 20, "e5-2600"), [0, 0], "it fits");
    // Written twice, 65536 lines each: what came last is still there.
    assert_eq!(twice(4 << 20, "e5-2600"), [0, 2 * 65536 - 32768], "twice as much as fits");
    assert_eq!(twice(4 << 20, "e5-2600:ddio=4"), [0, 0], "told otherwise");
}

/// 16 MB in a row take 16 ways of every set, and are read once.
#[test]
fn devices_leave_the_lines_of_cores_where_they_are() {
    let walk = "workload stream:threads=4,footprint=16M,requests=262144";
    let day = format!(
        "phase one\n {walk}\nphase two\n workload dma-write:threads=2,footprint=128M,requests=400k\n\
         phase three\n {walk}\n"
    );
    assert_eq!(lines("e5-2600", &day)[0], 262_144, "read once");
    let all = lines("e5-2600:ddio=20", &day)[0];
    assert!(all > 400_000, "devices that may use every way push them out: {all}");
}

/// A link of 6.4 GT/s and 16 bits carries 12.8 GB/s in a direction. A written line takes ten of its flits of eight
/// bytes of data: 10.2 GB/s; one that is read, nine.
#[test]
fn devices_of_nehalem_share_the_link_to_their_hub() {
    // QHL_REQUESTS, 0x20: reads of the I/O hub 0x01, writes 0x02.
    for (name, event, most) in [("write", 0x0220, 10.24), ("read", 0x0120, 11.38)] {
        let [one, two, eight] = [1, 2, 8].map(|devices| {
            let mut machine = machine("x5570", &format!("dma-{name}:requests=1G,threads={devices},footprint=64M"));
            write(&mut machine, msr(0x3c0), 0x40_0000 | event);
            write(&mut machine, msr(0x391), 0x1);
            run(&mut machine, 20_000);
            let before = read(&mut machine, msr(0x3b0));
            run(&mut machine, 100_000);
            (read(&mut machine, msr(0x3b0)) - before) as f64 * 64.0 / 1e5
        });
        // Eight lanes of the second generation: 4 GB/s.
        between("a device's lanes", 3.6, one, 4.0);
        between("two devices", 1.9 * one, two, 2.0 * one);
        between("the link", 0.9 * most, eight, most);
    }
}

/// GB/s of lines that devices of an 8592+ move, once each, from 40,000 on to 160,000.
fn emerald_rapids_moves(workload: &str) -> f64 {
    let mut machine = machine("8592+", &format!("{workload},requests=160000"));
    let step = machine.clocks().ticks_per_second() / 20_000_000;
    let mut began = None;
    while machine.progress().done < 160_000 {
        machine.run_for(step);
        if began.is_none() && machine.progress().done >= 40_000 {
            began = Some((machine.now(), machine.progress().done));
        }
    }
    let (from, done) = began.expect("it has begun");
    let seconds = (machine.now() - from) as f64 / machine.clocks().ticks_per_second() as f64;
    (160_000 - done) as f64 * 64.0 / 1e9 / seconds
}

/// 80 lanes at 32 GT/s with 128 bits in 130 give 315 GB/s in a direction; a device of sixteen lanes gives 63.
#[test]
fn devices_of_an_emerald_rapids_share_eighty_lanes() {
    for kind in ["dma-write", "dma-read"] {
        // What is written fits the LLC; what is read comes from channels of 358.4 GB/s.
        let footprint = if kind == "dma-write" { "128M" } else { "4G" };
        let [one, four, forty] =
            [1, 4, 40].map(|devices| emerald_rapids_moves(&format!("{kind}:threads={devices},footprint={footprint}")));
        between(&format!("{kind}: a device's lanes"), 5.0, one, 63.0);
        between(&format!("{kind}: four devices"), 3.5 * one, four, 4.1 * one);
        between(&format!("{kind}: all lanes"), 4.0 * one, forty, 315.1);
    }
}
