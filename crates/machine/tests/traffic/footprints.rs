//! An LLC becomes full by and by where the pages of a footprint lie anywhere in memory; and at once where it is in one
//! piece.

use pericore_machine::MachineSpec;
use pericore_machine::curve::{Footprints, Loaded};
use pericore_machine::workload::PageSize;

use super::raw::between;

/// Per cent of the loads for which memory reads a line, and nanoseconds of each.
fn measured(machine: &str, pages: PageSize, footprint: u64) -> (f64, f64) {
    let spec = MachineSpec::parse(machine).expect("a machine");
    let point = Footprints::new(&spec, Loaded::Local, pages).expect("its memory").measure(footprint).expect("a point");
    (point.from_memory, point.latency)
}

/// By hand: bits 6 to 16 of an address choose a set of a slice, and a hash of all bits one of eight slices. So of the
/// pages of 4 KiB one in 32 has lines for a set, and one in 256 a line: of 16, 18, 20 and 24 MiB a set gets 16, 18, 20
/// and 24 lines on the average, in numbers that are Poisson's. A set with n lines drawn alike, of which 20 are there,
/// misses (n - 20) of n loads: in all 2.3, 5.0, 8.9 and 18.9 %. Of the 256 sets that differ one deviates so much that
/// these are known to a quarter.
#[test]
fn an_llc_of_twenty_megabytes_misses_before_it_is_full() {
    for (megabytes, missing) in [(16, 2.3), (18, 5.0), (20, 8.9), (24, 18.9)] {
        let (missed, latency) = measured("e5-2680", PageSize::Small, megabytes << 20);
        between(&format!("{megabytes} MiB, %"), 0.7 * missing, missed, 1.3 * missing);
        // Misses take 62 ns, hits 10 to 25, with their walks.
        between(&format!("{megabytes} MiB, ns"), 10.0 + 0.37 * missed, latency, 25.0 + 0.62 * missed);
    }
}

/// By hand, 20 MiB: 8.9 % of the loads take 51 ns longer than the others, since memory has their lines, or 4.5 ns on
/// the average. The TLB has 512 of 5,120 pages; the lines of the others' entries are 640, of which with as many of data
/// as come between them the L1 has a third and the L2 the others. Nine loads of ten walk, in 19 cycles and 4 or 12: 28
/// of 2.7 GHz, or 9.4 ns on the average.
#[test]
fn near_the_llcs_size_walks_cost_more_than_misses() {
    let [(_, small), (_, large)] = [PageSize::Small, PageSize::Large].map(|pages| measured("e5-2680", pages, 20 << 20));
    between("20 MiB, ns", 0.85 * 13.9, small - large, 1.15 * 13.9);
}

/// Sets and slices of 320 MiB have 20 ways, too: 5.0 % at nine tenths. There silicon begins to miss.
#[test]
fn an_llc_of_emerald_rapids_misses_before_it_is_full() {
    let (missed, latency) = measured("8592+", PageSize::Small, 288 << 20);
    between("288 MiB, %", 3.5, missed, 6.5);
    let (less, near) = measured("8592+", PageSize::Small, 128 << 20);
    between("128 MiB, %", 0.0, less, 0.2);
    assert!(latency > near + 1.0, "{near} and {latency} ns");
}

/// Pages of 2 MiB fill all sets of the E5-2600 alike.
#[test]
fn large_pages_fill_the_sets_of_a_small_llc_alike() {
    let (missed, _) = measured("e5-2680", PageSize::Large, 20 << 20);
    between("20 MiB, %", 0.0, missed, 0.2);
}
