//! Which load an address comes from, in a program whose loads are known: `tests/programs/chain.c`.

use crate::harness::{BASE, chain, trace_program};
use pericore_tracer::{Kind, Options};

const LINES: usize = 4096;
/// The numbers of lines of `gather`.
const NUMBERS: u64 = BASE + (1 << 40);

/// Where each load of a line of the chains was, and how many loads ago its address came.
fn loads(way: &str) -> Vec<(u64, u8)> {
    let traced = trace_program(chain(), &[way, &LINES.to_string()], Options::default());
    assert!(traced.finished.status.success(), "{:?}", traced.finished);
    let loads = traced.accesses.iter().filter(|access| access.kind == Kind::Load);
    loads.map(|access| (access.address, access.after)).collect()
}

/// Where an array begins was loaded, too, before its first line: no distance reaches further than this.
const FIRST: usize = 256;

/// All loads of a way have this distance.
fn distances(way: &str, expected: u8) {
    let loads = loads(way);
    assert_eq!(loads.len(), LINES, "{way}: each line is loaded once");
    let other = loads[FIRST..].iter().position(|(_, after)| *after != expected);
    assert_eq!(other.map(|at| loads[FIRST + at]), None, "{way}");
}

#[test]
fn a_pointer_comes_from_the_load_before() {
    distances("follow", 1);
}

#[test]
fn through_the_stack_too() {
    distances("spill", 1);
}

/// What happens behind a block's last access is known in the next block.
#[test]
fn from_one_register_to_another_too() {
    distances("move", 1);
}

/// The pointer is in a line that another word's load has brought: it waits for that.
#[test]
fn what_lies_beside_waits_for_the_line() {
    distances("beside", 1);
}

#[test]
fn a_number_of_a_line_does_as_well_as_a_pointer() {
    distances("index", 1);
}

#[test]
fn two_chains_are_two() {
    distances("pair", 2);
}

/// The very same lines in the same order: their addresses are computed.
#[test]
fn computed_addresses_wait_for_nothing() {
    distances("array", 0);
}

/// Eight numbers are in a line: the lines that they name wait for it, and the next line of numbers waits for none of
/// them.
#[test]
fn what_is_gathered_waits_for_its_number() {
    let loads = loads("gather");
    assert_eq!(loads.len(), LINES + LINES / 8);
    for (group, loads) in loads.chunks(9).enumerate().skip(FIRST / 8) {
        assert_eq!(loads[0], (NUMBERS + group as u64 * 64, 0));
        let distances: Vec<u8> = loads[1..].iter().map(|(_, after)| *after).collect();
        assert_eq!(distances, [1, 2, 3, 4, 5, 6, 7, 8], "group {group}");
    }
}
