//! Programs whose misses are calculated by hand. A first-level cache has 512 lines in 64 sets of 8 ways here.

use crate::harness::{BASE, pattern, static_pattern, trace, trace_program, words};
use pericore_tracer::{Geometry, Kind, Options, Source, Tracer};
use std::collections::BTreeSet;

#[test]
fn a_footprint_beyond_the_cache_misses_in_every_pass() {
    // 1 MiB is 16384 lines; in order and least recently used, none is still there when its turn comes again.
    let traced = trace(&["read", "0x100000", "64", "2"]);
    assert_eq!(traced.counts(), [32768, 0, 0, 0, 0]);
    // Eight loads a line miss once.
    assert_eq!(trace(&["read", "0x100000", "8", "1"]).counts(), [16384, 0, 0, 0, 0]);
    // Every fourth line.
    assert_eq!(trace(&["read", "0x100000", "256", "1"]).counts(), [4096, 0, 0, 0, 0]);
}

#[test]
fn a_footprint_within_the_cache_misses_once() {
    let traced = trace(&["read", "0x4000", "8", "100"]);
    assert_eq!(traced.counts(), [256, 0, 0, 0, 0]);
    assert_eq!(
        traced.accesses.iter().map(|access| access.address).collect::<Vec<_>>(),
        (0..256).map(|i| BASE + i * 64).collect::<Vec<_>>()
    );
    // 100 passes of 2048 loads, and what the C library does.
    let total = traced.finished.summary.total;
    assert!((204_800..300_000).contains(&total.loads), "{total:?}");
}

#[test]
fn the_shape_of_the_cache_can_be_set() {
    // 16 KiB do not fit into 8 KiB.
    let options = Options { data_cache: Geometry { bytes: 8 << 10, ways: 4 }, ..Options::default() };
    assert_eq!(trace_program(pattern(), &["read", "0x4000", "64", "3"], options).of(Kind::Load), 768);
    // 40 KiB do not fit into 32 KiB, but into 48 KiB in 12 ways.
    let options = Options { data_cache: Geometry { bytes: 48 << 10, ways: 12 }, ..Options::default() };
    assert_eq!(trace_program(pattern(), &["read", "0xA000", "64", "3"], options).of(Kind::Load), 640);
}

#[test]
fn stores_and_what_they_cost_later() {
    assert_eq!(trace(&["write", "0x100000"]).counts(), [0, 16384, 0, 16384, 0]);
    let update = trace(&["update", "0x100000"]);
    assert_eq!(update.counts(), [16384, 0, 16384, 16384, 0]);
    let written: BTreeSet<u64> =
        update.accesses.iter().filter(|access| access.kind == Kind::WriteBack).map(|access| access.address).collect();
    assert_eq!(written.len(), 16384);
}

#[test]
fn accesses_across_two_lines_are_two() {
    let traced = trace(&["straddle", "1000"]);
    assert_eq!(traced.counts(), [2000, 0, 0, 0, 0]);
    assert!(traced.accesses.iter().all(|access| access.size == 8));
    assert_eq!((traced.accesses[0].address, traced.accesses[1].address), (BASE + 60, BASE + 64));
}

#[test]
fn non_temporal_stores_go_around_the_cache() {
    assert_eq!(trace(&["stream", "0x10000"]).counts(), [0, 0, 0, 0, 1024]);
}

/// 1000 bytes from 40 on: the first line has 24 of them, the last 16, and fifteen lines between are overwritten whole.
#[test]
fn a_string_instruction_overwrites_lines_whole() {
    let traced = trace(&["clear", "40", "1000"]);
    let stores: Vec<_> = traced.accesses.iter().map(|access| (access.kind, access.address, access.size)).collect();
    let mut expected = vec![(Kind::Store, BASE + 40, 1)];
    expected.extend((1..16).map(|line| (Kind::Store, BASE + line * 64, 64)));
    expected.push((Kind::Store, BASE + 1024, 1));
    assert_eq!(stores, expected);
    // All bytes are stores; the instruction is one.
    let total = traced.finished.summary.total;
    let one = trace(&["clear", "40", "1"]).finished.summary.total;
    assert_eq!(total.stores - one.stores, 999);
    assert!(total.instructions.abs_diff(one.instructions) < 200, "{total:?} {one:?}");
}

/// Lines of the source begin elsewhere than those of the target: they are loaded in the middle of these. 1280 bytes of
/// the source are in 21 lines, and fill 20 of the target. What is already there is not asked for.
#[test]
fn a_copy_overwrites_lines_whole() {
    let traced = trace(&["copy", "0", "1280"]);
    let of = |kind: Kind| traced.accesses.iter().filter(move |access| access.kind == kind);
    assert_eq!(of(Kind::Load).count(), 21);
    let stores: Vec<_> = of(Kind::Store).map(|store| (store.address, store.size)).collect();
    assert_eq!(stores, (0..20).map(|line| (BASE + line * 64, 64)).collect::<Vec<_>>());
    assert!(traced.accesses.is_sorted_by_key(|access| access.instructions));
}

#[test]
fn sixty_four_threads_have_a_cache_each() {
    let traced = trace(&["threads", "64", "0x10000"]);
    assert_eq!(traced.threads.len(), 65);
    assert_eq!(traced.finished.summary.processes, 1);
    for share in 0..64 {
        let range = BASE + (share << 20)..BASE + ((share + 1) << 20);
        let own: Vec<_> = traced.accesses.iter().filter(|access| range.contains(&access.address)).collect();
        let threads: BTreeSet<u32> = own.iter().map(|access| access.thread).collect();
        assert_eq!(threads.len(), 1, "share {share}");
        assert_eq!(own.iter().filter(|access| access.kind == Kind::Load).count(), 512);
        assert_eq!(own.iter().filter(|access| access.kind == Kind::Store).count(), 512);
        assert!(own.is_sorted_by_key(|access| access.instructions));
    }
}

#[test]
fn a_line_that_two_threads_hand_to_each_other_is_fetched_each_time() {
    // Of 1000 hand-overs, each takes the line from the other thread: a store that misses, or one to a line that the other's load has made
    // shared. Where a hand-over comes between an access and the plugin's hearing of it, one goes missing; without regard for each
    // other, all but the first would.
    let [_, stores, upgrades, ..] = trace(&["pass", "500"]).counts();
    assert!((200..=1002).contains(&(stores + upgrades)), "{stores} stores, {upgrades} upgrades");
}

#[test]
fn a_line_is_handed_over_though_both_threads_use_another_that_a_simple_hash_confuses_with_it() {
    // The plugin's table of owners once forgot a line when another one got its place, as one that is 4 MiB and a line
    // further did: both threads then held the line as their own, and nothing was heard of it any more.
    let [_, stores, upgrades, ..] = trace(&["pass", "500", "0x400040"]).counts();
    assert!((200..=1002).contains(&(stores + upgrades)), "{stores} stores, {upgrades} upgrades");
}

#[test]
fn short_threads_by_the_thousand() {
    let traced = trace(&["churn", "3000"]);
    assert_eq!(traced.threads.len(), 3001);
    assert_eq!(traced.counts(), [3000, 0, 0, 0, 0]);
}

#[test]
fn gigabytes() {
    assert_eq!(trace(&["sparse", "256"]).counts(), [256, 0, 0, 0, 0]);
}

#[test]
fn memory_that_was_given_back_is_gone_from_the_cache() {
    let traced = trace(&["renew", "0x4000", "10"]);
    assert_eq!(traced.counts(), [2560, 0, 0, 0, 0]);
    let unmapped: Vec<_> = traced.accesses.iter().filter(|access| access.kind == Kind::Unmap).collect();
    assert_eq!(unmapped.len(), 10);
    assert!(unmapped.iter().all(|access| access.address == BASE && access.size == 0x4000));
}

#[test]
fn static_programs() {
    let traced = trace_program(static_pattern(), &["update", "0x100000"], Options::default());
    assert_eq!(traced.counts(), [16384, 0, 16384, 16384, 0]);
}

#[test]
fn a_slow_reader_loses_nothing() {
    use pericore_tracer::{Source, Tracer};
    let arguments = words(&["update", "0x400000"]);
    let mut running = Tracer::launch(pattern().as_os_str(), &arguments, Options::default()).expect("starts");
    let (mut batch, mut loads, mut batches) = (Vec::new(), 0, 0);
    while running.next_batch(&mut batch).expect("accesses") {
        let range = BASE..BASE + 0x40_0000;
        loads += batch.iter().filter(|access| access.kind == Kind::Load && range.contains(&access.address)).count();
        batches += 1;
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert_eq!(loads, 65536);
    assert!(batches > 100, "{batches} batches: the ring is bounded");
    let summary = running.summary();
    assert_eq!(summary.notes, []);
}

#[test]
fn a_thread_that_misses_nothing_still_tells_how_far_it_is() {
    // 64 lines, 100,000 times: at least one instruction for each load, and hardly a miss.
    let mut running =
        Tracer::launch(pattern().as_os_str(), &words(&["read", "0x1000", "64", "100000"]), Options::default())
            .expect("starts");
    let (mut batch, mut before, mut longest, mut told) = (Vec::new(), 0, 0, Vec::new());
    while running.next_batch(&mut batch).expect("accesses") {
        for access in &batch {
            assert!(access.instructions >= before, "instructions never fall");
            longest = longest.max(access.instructions - before);
            before = access.instructions;
            if access.kind == Kind::Progress {
                assert_eq!(access.address, 0);
                told.push(access.instructions);
            }
        }
    }
    let [thread] = running.threads() else { panic!("one thread") };
    assert!(thread.counts.instructions >= 6_400_000);
    // Every 2^20 instructions, but for the block that crosses the mark, and at the end.
    assert!(longest < (1 << 20) + 512, "{longest}");
    assert_eq!(told.len() as u64, (thread.counts.instructions >> 20) + 1);
    assert_eq!(told.last(), Some(&thread.counts.instructions));
}
