//! Memory of a run: what a machine holds is decided when it is built and warm, not by how long it runs.
//!
//! The heap is counted, so that the result does not depend on the load of the machine. The full length of 100 million requests is
//! `cargo test --release -p pericore-machine --test memory -- --ignored --nocapture`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pericore_machine::signal::{SignalSink, Tick, Wire};
use pericore_machine::workload::Workload;
use pericore_machine::{Machine, MachineSpec, add_part};

/// The system's allocator, with an account.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);
/// The account is the process's: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

// SAFETY: every call goes on to the system's allocator as it came; the account beside it touches no memory of the caller.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: `pointer` came from `alloc` above, and so from the system's allocator, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static HEAP: Counting = Counting;

const GIB: usize = 1 << 30;

/// Machines of two sockets, each with a workload that misses everywhere.
const RUNS: [(&str, &str); 3] = [
    ("e5-2600:sockets=2", "random:threads=32,footprint=16G,read=70,remote=50"),
    ("emerald-rapids:sockets=2", "random:threads=128,footprint=16G,read=70,remote=50"),
    ("nehalem:sockets=2", "random:threads=16,footprint=4G,read=70,remote=50"),
];

struct Nothing;

impl SignalSink for Nothing {
    fn pulse(&mut self, _: Wire, _: u64, _: Tick, _: u32) {}
    fn enter(&mut self, _: Wire, _: u64, _: Tick) {}
    fn leave(&mut self, _: Wire, _: u64, _: Tick) {}
}

fn run_until(machine: &mut Machine, requests: u64) {
    while machine.progress().done < requests {
        machine.run_into_any(1_000_000, &mut Nothing);
    }
}

/// Bytes in use at most and calls of the allocator, up to `warm` requests and from there to `all`.
fn measure(machine: &str, workload: &str, warm: u64, all: u64) -> [(usize, usize); 2] {
    let spec = MachineSpec::parse(machine).expect("a machine");
    let workload = Workload::parse(&format!("{workload},requests={all}"), &spec.limits().expect("a model"));
    PEAK.store(LIVE.load(Ordering::Relaxed), Ordering::Relaxed);
    let mut calls = CALLS.load(Ordering::Relaxed);
    let mut machine = Machine::new(&spec, &workload.expect("a workload")).expect("a machine");
    [warm, all].map(|requests| {
        run_until(&mut machine, requests);
        let before = std::mem::replace(&mut calls, CALLS.load(Ordering::Relaxed));
        (PEAK.load(Ordering::Relaxed), calls - before)
    })
}

#[test]
fn memory_does_not_grow_with_the_requests() {
    let _alone = ALONE.lock();
    for (machine, workload) in RUNS {
        let [(warm, _), (peak, calls)] = measure(machine, workload, 50_000, 200_000);
        println!("{machine}: {warm} bytes at most up to 50 000 requests, {peak} up to 200 000; {calls} allocations");
        assert!(peak < GIB, "{machine}: {peak} bytes");
        // Queues that take more than ever before may grow a last time.
        assert!(peak - warm < 64 << 10, "{machine}: from {warm} bytes to {peak}");
        assert!(calls < 64, "{machine}: {calls} allocations in 150 000 requests");
    }
}

/// A part's file stays when it is read for the first time, as machines are asked for by its name. Read again, or
/// refused, it leaves nothing.
#[test]
fn a_part_that_is_read_again_takes_no_memory() {
    const PART: &str =
        "part = \"own-48\"\nfamily = \"sapphire-rapids\"\nlike = \"8480+\"\n[datasheet]\ncores = 48\n[fitted]\n";
    let _alone = ALONE.lock();
    add_part(PART).expect("a part");
    let refused = PART.replace("own-48", "nehalem");
    let read = |times: usize| {
        for _ in 0..times {
            assert_eq!(add_part(PART), Ok("own-48"));
            add_part(&refused).expect_err("the name is a family's");
        }
        LIVE.load(Ordering::Relaxed)
    };
    let (once, often) = (read(1), read(100));
    // A mesh alone has more than a hundred tiles.
    assert!(often < once + 4096, "{once} bytes, then {often}");
}

#[test]
#[ignore = "minutes: cargo test --release -p pericore-machine --test memory -- --ignored --nocapture"]
fn a_hundred_million_requests_stay_under_a_gigabyte() {
    let _alone = ALONE.lock();
    for (machine, workload) in RUNS {
        let [(warm, _), (peak, calls)] = measure(machine, workload, 1_000_000, 100_000_000);
        println!("{machine}: {warm} bytes at most up to 1 M requests, {peak} up to 100 M; {calls} allocations");
        assert!(peak < GIB && peak - warm < 64 << 10, "{machine}: from {warm} bytes to {peak}");
    }
}
