//! Lines spread over slices, channels and halves of channels. A hash that does not is seen in bandwidth and in tables of each unit.

use super::raw::{
    count_on_e5_channel, count_on_emr_channel, e5_channel_count, emr_channel_count, even, finish, machine, msr, read,
    write,
};

/// Reads of each line once, and of lines by chance: (workload, lines).
const RANDOM: (&str, u64) = ("random:requests=24000,threads=8,footprint=8G", 24_000);
const IN_ORDER: (&str, u64) = ("stream:requests=16000,threads=1,footprint=1G", 16_000);

#[test]
fn e5_2600_uses_all_slices_and_channels() {
    for (workload, lines) in [RANDOM, IN_ORDER] {
        let mut e5 = machine("e5-2680", workload);
        for channel in 0..4 {
            // CAS_COUNT.RD: 0x04, 0x03.
            count_on_e5_channel(&mut e5, 0xff, channel, 0, 0x0304);
        }
        for slice in (0..8).map(|slice| 0x20 * slice) {
            // LLC_LOOKUP.DATA_READ: 0x34, 0x03, with all states in the filter, bits 22:18 (Table 2-12).
            write(&mut e5, msr(0xd14 + slice), 0x1f << 18);
            write(&mut e5, msr(0xd10 + slice), 0x40_0334);
        }
        finish(&mut e5);
        let channels = [0, 1, 2, 3].map(|channel| e5_channel_count(&mut e5, 0xff, channel, 0));
        even(workload, &channels, 5.0);
        let slices: Vec<u64> = (0..8).map(|slice| read(&mut e5, msr(0xd16 + 0x20 * slice))).collect();
        even(workload, &slices, 6.0);
        // Almost no line is read twice, so nearly each look-up is a read of memory.
        let (read, looked_up) = (channels.iter().sum::<u64>(), slices.iter().sum::<u64>());
        assert!((lines * 99 / 100..=looked_up).contains(&read), "{workload}: {read}");
        assert!((read..=lines).contains(&looked_up), "{workload}: {looked_up}");
    }
}

#[test]
fn nehalem_uses_all_channels() {
    for (workload, lines) in [RANDOM, IN_ORDER] {
        let mut nehalem = machine("x5570", workload);
        for (n, event) in [(0, 0x012c), (1, 0x022c), (2, 0x042c), (3, 0x0163), (4, 0x0463), (5, 0x1063)] {
            // QMC_NORMAL_READS.CH0 to CH2: 0x2C; DRAM_READ_CAS.CH0 to CH2: 0x63.
            write(&mut nehalem, msr(0x3c0 + n), 0x40_0000 | event);
        }
        write(&mut nehalem, msr(0x391), 0x3f);
        finish(&mut nehalem);
        let counts = [0, 1, 2, 3, 4, 5].map(|n| read(&mut nehalem, msr(0x3b0 + n)));
        even(workload, &counts[..3], 5.0);
        assert_eq!(counts[..3], counts[3..], "{workload}: each read is a column command of its channel");
        let read = counts[..3].iter().sum::<u64>();
        assert!((lines * 99 / 100..=lines).contains(&read), "{workload}: {read}");
    }
}

#[test]
fn emerald_rapids_uses_all_agents_channels_and_their_halves() {
    let (workload, lines) = ("random:requests=48000,threads=32,footprint=32G", 48_000);
    let mut emr = machine("8592+", workload);
    for channel in 0..8 {
        // CAS_COUNT of reads, 0x05, in pseudo channel 0 and in 1 (Table 2-138).
        count_on_emr_channel(&mut emr, channel, 0, 0x4f05);
        count_on_emr_channel(&mut emr, channel, 1, 0x8f05);
    }
    for agent in (0..64).map(|agent| 0x10 * agent) {
        // TOR_INSERTS.IA: 0x35, umask 0x01, extension 0xC001FF.
        write(&mut emr, msr(0x2002 + agent), 0xc0_01ff_0000_0135);
    }
    finish(&mut emr);
    let halves: Vec<u64> = (0..16).map(|half| emr_channel_count(&mut emr, half / 2, half % 2)).collect();
    let agents: Vec<u64> = (0..64).map(|agent| read(&mut emr, msr(0x2008 + 0x10 * agent))).collect();
    even("reads of each half of a channel", &halves, 8.0);
    even("requests at each agent", &agents, 15.0);
    let read = halves.iter().sum::<u64>();
    // What a system does besides reads some lines, too.
    assert!((lines * 99 / 100..lines * 105 / 100).contains(&read), "{read} reads, {lines} lines");
    let asked = agents.iter().sum::<u64>();
    assert!((lines * 99 / 100..lines * 105 / 100).contains(&asked), "{asked} requests, {lines} lines");
}

/// A slot of a ring passes a stop in even and odd cycles by turns, so that neither polarity has a stop for itself.
#[test]
fn both_polarities_pass_every_stop_of_emerald_rapids() {
    let mut emr = machine("8592+", "random:requests=60000,threads=64,footprint=32G");
    for agent in (0..64).map(|agent| 0x10 * agent) {
        // VERT_RING_BL_IN_USE, 0xb2: up and down, even 0x05, odd 0x0a; HORZ_RING_BL_IN_USE, 0xb8: left and right.
        for (n, event) in (0..).zip([0x05b2, 0x0ab2, 0x05b8, 0x0ab8]) {
            write(&mut emr, msr(0x2002 + n + agent), event);
        }
    }
    finish(&mut emr);
    for agent in 0..64 {
        let counts = [0, 1, 2, 3].map(|n| read(&mut emr, msr(0x2008 + n + 0x10 * agent)));
        for [even, odd] in [[counts[0], counts[1]], [counts[2], counts[3]]] {
            // Stops at the ends of a row or column may have little to see.
            let all = even + odd;
            assert!(all < 100 || even * 10 > all * 3 && odd * 10 > all * 3, "agent {agent}: {counts:?}");
        }
        assert!(counts.iter().sum::<u64>() > 400, "agent {agent}: {counts:?}");
    }
}
