//! Pages that no TLB has are walked for: how many lines of the page tables are read, and what that takes. Counts are
//! those of raw counters.

use pericore_machine::MachineSpec;
use pericore_machine::curve::{Footprints, Loaded};
use pericore_machine::workload::PageSize;

use super::raw::{
    between, count_on_e5_channel, count_on_emr_channel, e5_channel_count, emr_channel_count, finish, machine, msr,
    read, write,
};

/// Lines that memory reads in a workload, and lines that the LLC's slices are asked for by reads.
fn lines_of_e5(workload: &str) -> (u64, u64) {
    let mut machine = machine("e5-2680", workload);
    for channel in 0..4 {
        // CAS_COUNT.RD: 0x04, umask 0x03 (Tables 2-64 and 2-66).
        count_on_e5_channel(&mut machine, 0xff, channel, 0, 0x0304);
    }
    for slice in 0..8 {
        // LLC_LOOKUP.DATA_READ: 0x34, umask 0x03, in any state (Table 2-16).
        write(&mut machine, msr(0xd14 + 0x20 * slice), 0x1f << 18);
        write(&mut machine, msr(0xd10 + 0x20 * slice), 0x40_0334);
    }
    finish(&mut machine);
    let from_memory = (0..4).map(|channel| e5_channel_count(&mut machine, 0xff, channel, 0)).sum();
    (from_memory, (0..8).map(|slice| read(&mut machine, msr(0xd16 + 0x20 * slice))).sum())
}

/// By hand: 4 MiB are 65,536 lines in 1,024 pages of 4 KiB, whose entries of eight bytes are in 128 lines, each read
/// for the first of its eight pages and in the L1 or the L2 for the others. Of 2 MiB there are two pages, with one
/// line; the second comes 32,768 lines later, when the L2 has it no more, and the LLC is asked again.
#[test]
fn a_walk_in_order_reads_a_line_of_the_tables_for_eight_pages() {
    let walk = "stream:requests=64k,threads=1,footprint=4M";
    assert_eq!(lines_of_e5(walk), (65_536, 65_536), "one piece");
    assert_eq!(lines_of_e5(&format!("{walk},pages=4K")), (65_536 + 128, 65_536 + 128));
    assert_eq!(lines_of_e5(&format!("{walk},pages=2M")), (65_536 + 1, 65_536 + 2));
    // Of streaming stores only the walks read.
    assert_eq!(lines_of_e5("ntstore:requests=64k,threads=1,footprint=4M,pages=4K").0, 128);
}

/// As many on the other machines. A prefetcher that went on behind the end of a page would read lines of other frames.
#[test]
fn other_machines_read_as_many() {
    for (pages, tables) in [("", 0), (",pages=4K", 128), (",pages=2M", 1)] {
        let walk = format!("stream:requests=64k,threads=1,footprint=4M{pages}");
        let mut nehalem = machine("x5570", &walk);
        // UNC_QMC_NORMAL_READS.ANY: 0x2c, umask 0x07 (SDM, event table of the uncore).
        write(&mut nehalem, msr(0x3c0), 0x40_072c);
        write(&mut nehalem, msr(0x391), 0x1);
        finish(&mut nehalem);
        assert_eq!(read(&mut nehalem, msr(0x3b0)), 65_536 + tables, "Nehalem{pages}");

        let mut emr = machine("8592+", &walk);
        // CAS_COUNT.RD: 0x05, umask 0xcf (Table 2-138).
        (0..8).for_each(|channel| count_on_emr_channel(&mut emr, channel, 0, 0xcf05));
        finish(&mut emr);
        let reads: u64 = (0..8).map(|channel| emr_channel_count(&mut emr, channel, 0)).sum();
        // A miss brings the three lines behind it, too: up to three behind the last one.
        let all = 65_536 + tables;
        assert!((all..=all + 3).contains(&reads), "Emerald Rapids{pages}: {reads}, {all} are needed");
    }
}

/// By hand: 8,192 loads of lines of 64 MiB, drawn alike, reach 8,160 different ones of 1,048,576; and of the 16,384
/// pages' 2,048 lines of entries 2,010 or 2,011. Of 2 MiB there are 32 pages, whose entries are in four lines.
#[test]
fn loads_at_random_reach_the_lines_of_the_tables_at_random() {
    let chase = |pages| lines_of_e5(&format!("chase:requests=8192,footprint=64M,pages={pages}")).0 as f64;
    between("4 KiB", 0.995 * 10_170.5, chase("4K"), 1.005 * 10_170.5);
    between("2 MiB", 0.995 * 8164.0, chase("2M"), 1.005 * 8164.0);
}

/// Nanoseconds of a dependent load.
fn latency(name: &str, pages: PageSize, footprint: u64) -> f64 {
    let spec = MachineSpec::parse(name).expect("a machine");
    Footprints::new(&spec, Loaded::Local, pages).expect("its memory").measure(footprint).expect("a point").latency
}

/// By hand: of 64 MiB the second level has 512 of 16,384 pages, so 97 % of the loads walk. Their tables are 2,048
/// lines; with a line of data for each of theirs, the 512 lines of the L1 have an eighth of them and the 4,096 of the
/// L2 three fifths, and the LLC has the others: 4, 12 and 30 cycles, or 16 on the average. With 19 besides that are 34
/// cycles of 2.7 GHz for each load.
#[test]
fn a_chase_through_small_pages_waits_for_their_entries() {
    let cost = latency("e5-2680", PageSize::Small, 64 << 20) - latency("e5-2680", PageSize::Large, 64 << 20);
    between("E5-2600", 0.88 * 12.6, cost, 1.12 * 12.6);
}

/// By hand: 1 MiB has 256 pages. The 64 entries of the first level have a quarter of them, the second level all others:
/// 7 cycles of 2.7 GHz for three loads of four. Of the 32 pages of 128 KiB the first level has all.
#[test]
fn pages_of_the_second_level_cost_seven_cycles() {
    let cost =
        |footprint| latency("e5-2680", PageSize::Small, footprint) - latency("e5-2680", PageSize::Large, footprint);
    between("1 MiB", 0.9 * 1.944, cost(1 << 20), 1.1 * 1.944);
    between("128 KiB", -0.05, cost(128 << 10), 0.05);
}

/// Nanoseconds for each of so many accesses, from the first on.
fn each(name: &str, workload: &str, requests: u32) -> f64 {
    finish(&mut machine(name, &format!("{workload},requests={requests}"))) / f64::from(requests)
}

/// Published of a relative with the same TLBs, Xeon X5650: a load whose entry for 2 MiB is missing takes 23 cycles
/// more, of 2.93 GHz here. By hand: of 512 MiB the first level has 32 of 256 pages, and the second none; the entries of
/// all are in 32 lines, which come from memory once and are in the L1 from then on.
#[test]
fn a_walk_for_a_large_page_takes_23_cycles_on_nehalem() {
    let chase = "chase:footprint=512M";
    let cost = each("x5570", &format!("{chase},pages=2M"), 20_000) - each("x5570", chase, 20_000);
    let walks = (1.0 - 32.0 / 256.0) * 23.0 / 2.933;
    between("X5570", 0.95 * walks, cost, 1.05 * walks + 32.0 * 60.0 / 20_000.0);
}

/// By hand: one walker is done with a walk in 35 cycles, as above, and 97 % of the loads need one. The lines of the
/// tables, 2,048, come from memory first, in 62 ns each, and as long as one does nobody else's page is found. So ten
/// loads at a time do not hide it. Of the four walkers of Emerald Rapids they hide most: with one, lines from memory in
/// 115 ns and walks in 34 cycles would take 24 ns for each load.
#[test]
fn walkers_bound_loads_that_wait_for_nobody() {
    for (name, gigahertz, memory) in [("e5-2680", 2.7, 62.0), ("x5570", 2.933, 60.0)] {
        let random = "random:threads=1,footprint=64M,read=100";
        let bound = 0.97 * 35.0 / gigahertz + 2048.0 * memory / 20_000.0;
        between(name, 0.0, each(name, random, 20_000), 0.5 * bound);
        between(name, 0.92 * bound, each(name, &format!("{random},pages=4K"), 20_000), 1.1 * bound);
    }
    let random = "random:threads=1,footprint=64M,read=100";
    let cost = each("8592+", &format!("{random},pages=4K"), 20_000) - each("8592+", random, 20_000);
    between("8592+", 0.0, cost, 3.0);
}

/// Sixteen threads walk through 1 MiB each, eight on each socket: 131,072 lines and 2,048 pages, whose tables lie
/// beside them in the socket's own memory.
#[test]
fn each_socket_reads_the_tables_of_its_own_copy() {
    let mut machine = machine("e5-2680:sockets=2", "stream:requests=256k,threads=16,footprint=16M,pages=4K");
    let buses = [0x7f, 0xff];
    for channel in 0..4 {
        buses.into_iter().for_each(|bus| count_on_e5_channel(&mut machine, bus, channel, 0, 0x0304));
    }
    finish(&mut machine);
    let mut of = |bus| (0..4).map(|channel| e5_channel_count(&mut machine, bus, channel, 0)).sum::<u64>();
    assert_eq!(buses.map(&mut of), [131_072 + 256; 2]);
}
