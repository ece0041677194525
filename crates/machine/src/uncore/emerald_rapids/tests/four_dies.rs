//! Messages by hand over the mesh of four dies, and an 8480+ by its registers.
//!
//! A die has five rows and five columns. Slices 14 to 17 are row 1 of the upper right die, columns 5 to 8; 34 to 37 are
//! row 7, columns 1 to 4, of the lower left one, 48 to 51 the same row of the lower right one. Of the ten blocks of
//! fabric of a die the first five are at the ends of its columns, the others at the ends of its rows; the lower right
//! die is the fourth, with 30 to 39.

use pericore_facts::emerald_rapids::Ring;

use super::mesh::Bench;

#[test]
fn a_message_to_the_die_across_goes_over_two_bridges() {
    let mut bench = Bench::of("8480+ idle");
    let (from, to) = (bench.model.places.cha[17], bench.model.places.cha[36]);
    // Two cycles on, three stops down, nine over the bridge, two stops down, three to the left, nine over the bridge,
    // one stop, two off.
    assert_eq!(bench.send(Ring::Address, 1, from, to), 2 + 3 + 9 + 2 + 3 + 9 + 1 + 2);
    bench.check(&[
        // The credit is back when the message has turned (cycle 16) and gone back six stops and a bridge, and a cycle.
        ("cha", 17, "AG1_AD_CRD_ACQUIRED0.TGR7", 1),
        ("cha", 17, "AG1_AD_CRD_OCCUPANCY0.TGR7", 16 + 15 + 1),
        // Down column 8, first on the upper die, then on the lower one; it left in cycle 0.
        ("cha", 21, "VERT_RING_AD_IN_USE.DN_EVEN", 1),
        ("cha", 25, "VERT_RING_AD_IN_USE.DN_EVEN", 1),
        ("cha", 47, "VERT_RING_AD_IN_USE.DN_EVEN", 1),
        ("cha", 51, "VERT_RING_AD_IN_USE.DN_EVEN", 1),
        ("cha", 51, "VERT_RING_AD_IN_USE.DN_ODD", 0),
        ("cha", 51, "TxR_HORZ_BYPASS.AD_ALL", 1),
        // Left along row 7, from one lower die to the other.
        ("cha", 48, "HORZ_RING_AD_IN_USE.LEFT_EVEN", 1),
        ("cha", 37, "HORZ_RING_AD_IN_USE.LEFT_EVEN", 1),
        ("cha", 36, "HORZ_RING_AD_IN_USE.LEFT_EVEN", 1),
        ("cha", 36, "RxR_BYPASS.AD_CRD", 1),
        // Out of the upper right die at its fourth column, into the lower right one; out of that at its third row.
        ("mdf", 13, "RxR_BYPASS.AD_CRD", 1),
        ("mdf", 33, "CRS_TxR_INSERTS.AD_CRD", 1),
        ("mdf", 33, "RxR_BYPASS.AD_CRD", 0),
        ("mdf", 37, "RxR_BYPASS.AD_CRD", 1),
        ("mdf", 37, "CRS_TxR_INSERTS.AD_CRD", 0),
        ("mdf", 27, "CRS_TxR_INSERTS.AD_CRD", 1),
    ]);
}

#[test]
fn a_bridge_aside_has_a_buffer_whose_overflow_is_no_bounce_of_the_vertical_ring() {
    let mut bench = Bench::of("8480+ bridge=2 idle");
    let (right, left) = (bench.model.places.cha[48], bench.model.places.cha[37]);
    let arrived: Vec<u64> = (0..10).map(|_| bench.send(Ring::Acknowledge, 0, right, left)).collect();
    // They come to the bridge in cycles 2 to 11, and go in 2, 4, ... 20; then nine over it, and two off.
    assert_eq!(arrived, (0..10).map(|n| 2 + 2 * n + 9 + 2).collect::<Vec<u64>>());
    bench.check(&[
        ("mdf", 37, "RxR_BYPASS.AK", 1),
        ("mdf", 37, "RxR_INSERTS.AK", 9),
        // They wait 0 to 9 cycles, four or more of them from cycle 9 to 13. The last finds four there, and comes in a
        // cycle later.
        ("mdf", 37, "RxR_OCCUPANCY.AK", 44),
        ("mdf", 37, "RxR_FULL.AK", 5),
        ("mdf", 37, "CRS_TxR_V_BOUNCES.AK", 0),
        ("mdf", 27, "CRS_TxR_INSERTS.AK", 10),
    ]);
    // The same from one die to the one below: there it is one.
    let (upper, lower) = (bench.model.places.cha[12], bench.model.places.cha[28]);
    let arrived: Vec<u64> = (0..10).map(|_| bench.send(Ring::Acknowledge, 0, upper, lower)).collect();
    assert_eq!(arrived, (0..10).map(|n| 2 + 2 * n + 9 + 2).collect::<Vec<u64>>());
    bench.check(&[
        ("mdf", 2, "RxR_FULL.AK", 5),
        ("mdf", 2, "CRS_TxR_V_BOUNCES.AK", 1),
        ("mdf", 22, "CRS_TxR_INSERTS.AK", 10),
    ]);
}
