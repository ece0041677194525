//! What memory channels do besides reads and writes: refreshes by time.

use super::raw::{
    count_on_e5_channel, count_on_emr_channel, e5_channel_count, emr_channel_count, machine, msr, read, run, write,
};

/// Refreshes that `ranks` ranks need in a time, give or take the ones that each may put off, and one under way.
#[track_caller]
fn on_time(what: &str, refreshes: u64, nanoseconds: u64, interval: u64, ranks: u64, put_off: u64) {
    let due = ranks * nanoseconds / interval;
    let (least, most) = (due - ranks * (put_off + 1), due + ranks);
    assert!((least..=most).contains(&refreshes), "{what}: {refreshes} refreshes, {least} to {most} are due");
}

/// A rank is refreshed once in tREFI on the average: 7.8 us (JESD79-3), and 3.9 us (JESD79-5). Reads go on all the time, so that no rank
/// sleeps and refreshes itself. Ranks as in the data sheets of the presets: two a channel.
#[test]
fn ranks_are_refreshed_on_time() {
    let reads = "random:requests=1M,threads=4,footprint=8G";
    let mut nehalem = machine("x5570", reads);
    for (n, event) in [(0, 0x0165), (1, 0x0265), (2, 0x0465)] {
        // DRAM_REFRESH.CH0 to CH2: 0x65.
        write(&mut nehalem, msr(0x3c0 + n), 0x40_0000 | event);
    }
    write(&mut nehalem, msr(0x391), 0x7);
    run(&mut nehalem, 200_000);
    for n in 0..3 {
        on_time("Nehalem", read(&mut nehalem, msr(0x3b0 + n)), 200_000, 7_800, 2, 8);
    }

    let mut e5 = machine("e5-2680", reads);
    for channel in 0..4 {
        // DRAM_REFRESH, 0x05: panic and high, 0x06.
        count_on_e5_channel(&mut e5, 0xff, channel, 0, 0x0605);
    }
    run(&mut e5, 200_000);
    for channel in 0..4 {
        on_time("E5-2600", e5_channel_count(&mut e5, 0xff, channel, 0), 200_000, 7_800, 2, 8);
    }

    let mut emr = machine("8592+", "random:requests=1M,threads=16,footprint=8G");
    for channel in 0..8 {
        // DRAM_REFRESH, 0x45: panic and high of pseudo channel 0, 0x06, and of 1, 0x30.
        count_on_emr_channel(&mut emr, channel, 0, 0x0645);
        count_on_emr_channel(&mut emr, channel, 1, 0x3045);
    }
    run(&mut emr, 100_000);
    for half in 0..16 {
        on_time("Emerald Rapids", emr_channel_count(&mut emr, half / 2, half % 2), 100_000, 3_900, 2, 4);
    }
}
