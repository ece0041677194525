//! The model against published measurements: 25 % where the figure is of a relative of the part.

use pericore_engine::Tick;
use pericore_parts::work::Worker;

use super::model;
use super::truth::Digest;
use crate::emerald_rapids::EmeraldRapids;
use crate::ledger::Question;

/// Runs a workload until it is done, without what it does afterwards, and gives the nanoseconds that it took.
fn time(model: &mut EmeraldRapids) -> f64 {
    let mut digest = Digest::default();
    while model.progress().done < model.progress().total {
        model.run_until_any(model.now() + 7_000, &mut digest);
        assert!(model.now() < 700_000_000, "the workload does not end");
    }
    nanoseconds(model, model.now())
}

fn nanoseconds(model: &EmeraldRapids, ticks: Tick) -> f64 {
    ticks as f64 * 1e9 / model.clocks().ticks_per_second as f64
}

/// Bytes that crossed the memory channels.
fn bytes(model: &EmeraldRapids) -> f64 {
    let at = model.snapshot();
    let of = |instance| at.value(instance, Question::new("imc", "CAS_COUNT").subevent("ALL")).unwrap_or(0);
    (0..16).map(of).sum::<u64>() as f64 * 64.0
}

#[track_caller]
fn within(what: &str, value: f64, published: f64, per_cent: f64) {
    let error = 100.0 * (value / published - 1.0);
    println!("{what}: {value:.1}, published {published}, {error:+.1} %");
    assert!(error.abs() <= per_cent, "{what}: {value:.1}, published {published}, {error:+.1} %");
}

#[test]
fn idle_latency_is_that_of_the_relatives() {
    let (mut model, _) = model("chase:requests=2000,footprint=16G");
    // published-numbers: Xeon 8480+ 116 ns, 8460Y+ 111 ns.
    within("idle latency, ns", time(&mut model) / 2000.0, 113.5, 25.0);
}

/// What the counters of the read queues say of a channel since the start: nanoseconds in a queue, and requests in it.
fn read_queues(model: &EmeraldRapids, elapsed: f64) -> (f64, f64) {
    let at = model.snapshot();
    let sum = |event: &str, subevent: Option<&str>| -> f64 {
        (0..8)
            .map(|channel| at.value(channel, Question::new("imc", event).subevent(subevent)).unwrap_or(0))
            .sum::<u64>() as f64
    };
    let inserts = sum("RPQ_INSERTS", Some("PCH0")) + sum("RPQ_INSERTS", Some("PCH1"));
    let cycles = sum("RPQ_OCCUPANCY_PCH0", None) + sum("RPQ_OCCUPANCY_PCH1", None);
    let stay = cycles * nanoseconds(model, model.clocks().dclk.ticks());
    (stay / inserts, stay / elapsed / 8.0)
}

/// published-numbers: one channel of a Xeon 6548Y+ at 5200 MT/s, whose clocks are a quarter of that.
const CLOCK: f64 = 4.0 / 5.2;

#[test]
fn saturated_channels_are_like_the_published_one() {
    let (mut model, _) = model("stream:requests=150000,threads=64,footprint=16G");
    let elapsed = time(&mut model);
    // It saturates at 79 % of its peak; here eight of 44.8 GB/s.
    within("load bandwidth, GB/s", bytes(&model) / elapsed, 0.79 * 358.4, 25.0);
    let (stay, entries) = read_queues(&model, elapsed);
    within("stay in a saturated read queue, ns", stay, 132.2 * CLOCK, 25.0);
    within("entries of a channel's saturated read queues", entries, 52.7, 25.0);
}

#[test]
fn bandwidth_grows_with_threads_until_memory_is_full() {
    // published-numbers: one core reads 14.5 GB/s from memory, and a channel saturates at 79 % of its peak.
    for threads in [8_u32, 16, 32, 64] {
        let (mut model, _) = model(&format!("stream:requests=80000,threads={threads},footprint=16G"));
        let elapsed = time(&mut model);
        let (reached, wanted) = (bytes(&model) / elapsed, (f64::from(threads) * 14.5).min(0.79 * 358.4));
        assert!(reached >= 0.9 * wanted, "{threads} threads: {reached:.0} GB/s of {wanted:.0}");
    }
}

#[test]
fn channels_with_little_to_do_are_like_the_published_one() {
    // As many threads as bring the published 3.5 entries.
    let (mut model, _) = model("random:requests=100000,threads=6,footprint=16G");
    let elapsed = time(&mut model);
    let (stay, entries) = read_queues(&model, elapsed);
    within("entries of a channel's read queues", entries, 3.5, 25.0);
    within("stay in a read queue, ns", stay, 43.9 * CLOCK, 25.0);
}

#[test]
fn a_link_carries_what_was_published() {
    let (mut model, _) = model("two stream:requests=100000,threads=128,footprint=8G,remote=100");
    let elapsed = time(&mut model);
    let at = model.snapshot();
    let received = |link| at.value(link, Question::new("upi", "RxL_FLITS").subevent("ALL_DATA")).unwrap_or(0);
    let slots = (0..8).map(received).max().unwrap_or(0);
    // docs/silicon: remote reads of an 8568 reach 154.8 GB/s over its four links; a line is nine data slots.
    within("one link, GB/s", slots as f64 / 9.0 * 64.0 / elapsed, 38.7, 25.0);
}
