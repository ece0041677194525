//! What a channel serves when, and when it sleeps: cycles worked out by hand, with DDR3-1600.

use super::*;
use crate::power::Conditions;

/// A request: cycle, bank, row, queue, and whether it is a part of a line.
type Wanted = (u64, u8, u32, Pending, bool);

const READS: Pending = Pending::Reads;
const WRITES: Pending = Pending::Writes;

/// Runs a channel with these requests until a cycle.
fn ran(timing: Timing, requests: &[Wanted], until: u64, conditions: Option<(Conditions, u64)>) -> Log {
    let mut channel = Channel::new(CLOCK, &Arc::new(timing));
    let (mut log, mut out) = (Log::default(), Vec::new());
    for (line, &(cycle, bank, row, queue, partial)) in (0..).zip(requests) {
        channel.announce(Arrival { cycle, owner: 0, line, bank, row, queue, partial, isochronous: false });
    }
    if let Some((conditions, cycle)) = conditions {
        channel.set_conditions(conditions, cycle);
    }
    while channel.next_tick() < until * CLOCK.ticks() {
        channel.step(&mut log, &mut out);
    }
    log
}

/// Two writes are too many here. Reads that wait then are kept waiting; without any, nothing is.
#[test]
fn writes_that_are_drained_preempt_reads_that_wait() {
    let timing = || Timing { write_high: 2, write_low: 1, ..Timing::ddr3_1600() };
    let writes = [(10, 0, 1, WRITES, false), (20, 1, 1, WRITES, false)];
    assert_eq!(ran(timing(), &writes, 21, None).modes, [(20, MajorMode::Write, false)]);
    // Its row opens at 19, and cannot be read before 30 (tRCD).
    let beside = [writes[0], (19, 2, 1, READS, false), writes[1]];
    let [drain, back, ..] = ran(timing(), &beside, 60, None).modes[..] else { panic!("two changes of mode") };
    assert_eq!(drain, (20, MajorMode::Write, true));
    // One write is left when reads are served again.
    assert_eq!((back.1, back.2), (MajorMode::Read, true));
}

/// Writes that lack a part of their line cannot be drained: it is read first.
#[test]
fn too_many_writes_of_parts_are_completed_first() {
    let timing = Timing { write_high: 2, write_low: 1, underfill_patience: 10_000, ..Timing::ddr3_1600() };
    let parts = [(10, 0, 1, WRITES, true), (19, 2, 1, READS, false), (20, 1, 1, WRITES, true)];
    let log = ran(timing, &parts, 30, None);
    assert_eq!(log.modes[0].0, 20);
    assert_eq!(log.modes[0].1, MajorMode::Partial);
}

/// With reads all the time, what a write of a part lacks waits for 400 cycles, 500 ns.
#[test]
fn what_a_write_lacks_does_not_wait_for_ever() {
    let mut requests = vec![(10, 0, 1, WRITES, true)];
    requests.extend((0..120).map(|n| (11 + 4 * n, 2 + (n % 6) as u8, 1, READS, false)));
    let log = ran(Timing::ddr3_1600(), &requests, 480, None);
    assert_eq!(log.modes.first().map(|&(cycle, mode, _)| (cycle, mode)), Some((10 + 400, MajorMode::Partial)));
}

/// A read of another row closes one that a write would have used; without that write, nothing is preempted.
#[test]
fn a_read_that_closes_a_row_preempts_who_would_have_used_it() {
    let first = (1, 0, 1, READS, false);
    let other = (21, 0, 2, READS, false);
    let of = |requests: &[Wanted]| ran(Timing::ddr3_1600(), requests, 60, None).preempted;
    assert_eq!(of(&[first, other]), []);
    assert_eq!(of(&[first, (20, 0, 1, WRITES, false), other]), [WRITES]);
    assert_eq!(of(&[first, (20, 0, 3, WRITES, false), other]), [], "of a third row");
}

/// Two writes are drained when a read with a deadline comes: it alone is served, before a read that waits without
/// one, and then the writes go on.
#[test]
fn a_read_with_a_deadline_interrupts_what_is_served() {
    let timing = Timing { write_high: 2, write_low: 0, ..Timing::ddr3_1600() };
    let mut channel = Channel::new(CLOCK, &Arc::new(timing));
    let (mut log, mut out) = (Log::default(), Vec::new());
    let requests = [(10, WRITES, false), (19, READS, false), (20, WRITES, false), (22, READS, true)];
    for (bank, (cycle, queue, isochronous)) in (0..).zip(requests) {
        let line = u32::from(bank);
        channel.announce(Arrival { cycle, owner: 0, line, bank, row: 1, queue, partial: false, isochronous });
    }
    while channel.next_tick() < 200 * CLOCK.ticks() {
        channel.step(&mut log, &mut out);
    }
    let modes: Vec<(u64, MajorMode)> = log.modes.iter().map(|&(cycle, mode, _)| (cycle, mode)).collect();
    let order: Vec<MajorMode> = modes.iter().map(|&(_, mode)| mode).collect();
    assert_eq!(order, [MajorMode::Write, MajorMode::Isochronous, MajorMode::Write, MajorMode::Read]);
    assert_eq!((modes[0].0, modes[1].0), (20, 22));
    // Its row opens at 23 at the earliest, and is read 11 cycles later (tRCD).
    assert!((33..=36).contains(&modes[2].0), "{modes:?}");
}

/// Ranks power down after 600 cycles without work, and memory refreshes itself 1,000 later, or 1,000 after it may.
#[test]
fn memory_refreshes_itself_after_a_rest() {
    let may = Conditions { self_refresh: Some(1000), ..Conditions::default() };
    for (from, begins) in [(1, 1600), (2000, 3000)] {
        let log = ran(Timing::ddr3_1600(), &[], 4000, Some((may, from)));
        let of = |&&(_, state, on): &&(u64, MemoryState, bool)| state == MemoryState::SelfRefresh && on;
        let begun: Vec<u64> = log.states.iter().filter(of).map(|&(cycle, ..)| cycle).collect();
        assert_eq!(begun, [begins], "from cycle {from}");
    }
}

/// 2,400 MHz to 2,800: what standards and controllers have in nanoseconds is six sevenths as many cycles, or one more.
#[test]
fn ddr5_4800_is_as_ddr5_5600_in_nanoseconds() {
    let times = |t: Timing| {
        let standard =
            [t.trcd, t.trp, t.tras, t.trc, t.trrd_l, t.tccd_l, t.tccd_l_wr, t.twtr_s, t.twtr_l, t.twr, t.trtp];
        let rest = [t.trfc, t.trefi, t.txp, t.txpdll, t.txs];
        let assumed = [t.write_patience, t.page_idle, t.starvation, t.underfill_patience, t.power_idle];
        [&standard[..], &rest, &assumed].concat()
    };
    for (place, (slow, fast)) in times(Timing::ddr5_4800()).into_iter().zip(times(Timing::ddr5_5600())).enumerate() {
        let (least, most) = (fast * 6 / 7, (fast * 6).div_ceil(7) + 1);
        assert!((least..=most).contains(&slow), "time {place}: {slow} cycles for {fast}");
    }
}
