//! Figures against published measurements (shared/reference/published-numbers.md).

use pericore_hardware::signal::{SignalSink, Tick, Wire};

use super::{model, run};
use crate::e5_2600::E5;
use crate::uncore::tests::recorder::Recorder;
use pericore_parts::work::Worker;
use pericore_truth::e5_2600::Window;

struct Nothing;

impl SignalSink for Nothing {
    fn pulse(&mut self, _: Wire, _: u64, _: Tick, _: u32) {}
    fn enter(&mut self, _: Wire, _: u64, _: Tick) {}
    fn leave(&mut self, _: Wire, _: u64, _: Tick) {}
}

/// Runs until a share of the accesses is done.
fn run_share(model: &mut E5, per_cent: u64) {
    while model.progress().done * 100 < model.progress().total * per_cent {
        model.run_until_any(model.now() + 21_600, &mut Nothing);
    }
}

#[test]
fn idle_latency_is_that_of_the_part() {
    let (mut model, _) = model("chase:requests=2000,footprint=4G");
    run_share(&mut model, 100);
    let nanoseconds = model.clocks().seconds(0, model.now()) * 1e9 / 2000.0;
    // E5-2680 v2, a proxy: 61.7 ns; within 25 %.
    assert!((61.7..=77.1).contains(&nanoseconds), "{nanoseconds}");
}

#[test]
fn an_llc_hit_takes_about_30_core_cycles() {
    // Larger than the L2; after three quarters of the run every line has been touched and hits the LLC.
    let (mut model, _) = model("chase:requests=300000,footprint=1M");
    run_share(&mut model, 75);
    let (before, start, done) = (model.snapshot(), model.now(), model.progress().done);
    run_share(&mut model, 100);
    let after = model.snapshot();
    let window = Window::between(&before, &after);
    let lookups = window.data_reads();
    assert_eq!(lookups.misses, 0);
    let accesses = (model.progress().done - done) as f64;
    let cycles = (model.now() - start) as f64 / 8.0;
    // The rest hits the L2, in 12 cycles, or the L1, in 4: take all of it as L2.
    let inner = (accesses - lookups.lookups as f64) * 12.0;
    let hit = (cycles - inner) / lookups.lookups as f64;
    // i7-3960X, a proxy: 30 cycles; within 25 %.
    assert!((27.0..=33.0).contains(&hit), "{hit}");
}

#[test]
fn eight_streams_reach_the_published_bandwidth() {
    let (mut model, _) = model("stream:requests=60000");
    run_share(&mut model, 20);
    let before = model.snapshot();
    run_share(&mut model, 95);
    let after = model.snapshot();
    let window = Window::between(&before, &after);
    let bytes: u64 = (0..4).map(|channel| window.bytes(channel).unwrap().read).sum();
    let bandwidth = bytes as f64 / window.seconds() / 1e9;
    // E5-2680: 44.6 GB/s; within 10 %.
    assert!((40.1..=49.1).contains(&bandwidth), "{bandwidth}");
}

/// Bandwidth from the LLC over all threads, GB/s, once every line has been touched and is beyond the L2s.
fn llc_bandwidth(threads: u64) -> f64 {
    let (requests, footprint) = (threads * 60_000, threads);
    let (mut model, _) = model(&format!("stream:requests={requests},threads={threads},footprint={footprint}M"));
    run_share(&mut model, 50);
    let before = model.snapshot();
    run_share(&mut model, 95);
    let after = model.snapshot();
    let window = Window::between(&before, &after);
    assert_eq!(window.data_reads().misses, 0);
    window.data_reads().lookups as f64 * 64.0 / window.seconds() / 1e9
}

#[test]
fn one_core_loads_from_the_llc_at_the_published_rate() {
    // E5-2680: 23.5 GB/s; within 10 %. Fitted by the interval of a core's requests.
    let bandwidth = llc_bandwidth(1);
    assert!((21.1..=25.9).contains(&bandwidth), "{bandwidth}");
}

#[test]
fn eight_cores_load_from_the_llc_at_the_published_rate() {
    // E5-2680: 187 GB/s; within 10 %.
    let bandwidth = llc_bandwidth(8);
    assert!((168.3..=205.7).contains(&bandwidth), "{bandwidth}");
}

#[test]
fn eight_copies_reach_the_published_bandwidth() {
    let (mut model, _) = model("copy:requests=1000000");
    // The LLC must be full of written lines first.
    run_share(&mut model, 60);
    let (start, done) = (model.now(), model.progress().done);
    run_share(&mut model, 95);
    let bytes = (model.progress().done - done) as f64 * 64.0;
    let bandwidth = bytes / model.clocks().seconds(start, model.now()) / 1e9;
    // E5-2680: 26.5 GB/s, as the program sees it: without the lines that are read only to be written; within 10 %.
    assert!((23.9..=29.2).contains(&bandwidth), "{bandwidth}");
}

#[test]
fn progress_counts_every_access() {
    let (mut model, _) = model("random:requests=777,threads=5,footprint=1M");
    run(&mut model, &mut Recorder::default());
    assert_eq!(model.progress().done, 777);
}

#[test]
fn remote_latency_is_that_of_the_part() {
    let latency = |workload: &str| {
        let (mut model, _) = model(workload);
        run_share(&mut model, 100);
        model.clocks().seconds(0, model.now()) * 1e9 / 2000.0
    };
    let remote = latency("2 chase:requests=2000,footprint=4G,remote=100");
    // E5-2680 v2, a proxy: 115.1 ns; within 25 %.
    assert!((86.3..=143.9).contains(&remote), "{remote}");
    let local = latency("2 chase:requests=2000,footprint=4G");
    // And 61.7 ns locally, on the same two sockets.
    assert!((46.3..=77.1).contains(&local), "{local}");
}

#[test]
fn streams_from_the_other_socket_reach_the_published_bandwidth() {
    // Eight threads on socket 0, all of their memory on socket 1.
    let (mut model, _) = model("2 stream:requests=60000,threads=8,remote=100");
    run_share(&mut model, 20);
    let before = model.snapshot();
    run_share(&mut model, 95);
    let after = model.snapshot();
    let window = Window::between(&before, &after);
    let bytes: u64 = (4..8).map(|channel| window.bytes(channel).unwrap().read).sum();
    let bandwidth = bytes as f64 / window.seconds() / 1e9;
    // E5-2680 v2, a proxy: 25.5 GB/s; within 25 %.
    assert!((19.1..=31.9).contains(&bandwidth), "{bandwidth}");
}
