//! Figures against published measurements: Intel's Performance Analysis Guide for these processors (Levinthal, 2009),
//! which gives round numbers, and so 25 % of tolerance.

use pericore_parts::work::Worker;

use super::super::Nehalem;
use super::laws::{Nothing, count};
use super::model;

/// Runs until a share of the accesses is done.
fn run_share(model: &mut Nehalem, per_cent: u64) {
    while model.progress().done * 100 < model.progress().total * per_cent {
        model.run_until_any(model.now() + 88_000, &mut Nothing);
    }
}

/// Mean time of an access between two shares of the accesses, in ns.
fn nanoseconds(workload: &str, from: u64, to: u64) -> f64 {
    let (mut model, _) = model(workload);
    run_share(&mut model, from);
    let (start, done) = (model.now(), model.progress().done);
    run_share(&mut model, to);
    (model.now() - start) as f64 / 88.0 / (model.progress().done - done) as f64
}

/// GB/s that memory delivers, over all sockets.
fn bandwidth(workload: &str) -> f64 {
    let (mut model, _) = model(workload);
    run_share(&mut model, 20);
    let (start, before) = (model.now(), model.snapshot());
    run_share(&mut model, 95);
    let (seconds, after) = ((model.now() - start) as f64 / 88e9, model.snapshot());
    let lines = |at| (0..model.sockets()).map(|socket| count(at, socket, "QMC_NORMAL_READS.ANY")).sum::<u64>();
    (lines(&after) - lines(&before)) as f64 * 64.0 / seconds / 1e9
}

fn within(name: &str, value: f64, least: f64, most: f64) {
    println!("{name}: {value:.1}");
    assert!((least..=most).contains(&value), "{name}: {value}, allowed {least} to {most}");
}

#[test]
fn an_llc_hit_takes_about_40_core_cycles() {
    // Larger than the L2; in the last quarter every line has been touched, and most accesses hit the LLC, the rest the
    // L2.
    let cycles = nanoseconds("chase:requests=300000,footprint=2M", 75, 100) * 22.0 * 4.0 / 30.0;
    within("LLC hit, core cycles, with an eighth from the L2", cycles, 30.0, 50.0);
}

#[test]
fn local_memory_takes_about_60_nanoseconds() {
    within("local memory", nanoseconds("chase:requests=2000,footprint=4G", 0, 100), 45.0, 75.0);
    within("local memory of two sockets", nanoseconds("2 chase:requests=2000,footprint=4G", 0, 100), 45.0, 75.0);
}

#[test]
fn remote_memory_takes_about_100_nanoseconds() {
    within("remote memory", nanoseconds("2 chase:requests=2000,footprint=4G,remote=100", 0, 100), 75.0, 125.0);
}

#[test]
fn bandwidth_stays_below_what_the_wires_carry() {
    // Three channels of DDR3-1333: 32 GB/s a socket. A link: 12.8 GB/s, of which a line takes eight flits of nine.
    within("local bandwidth", bandwidth("stream:requests=40000"), 16.0, 32.0);
    within("local bandwidth of two sockets", bandwidth("2 stream:requests=80000"), 32.0, 64.0);
    within("remote bandwidth, both ways", bandwidth("2 stream:requests=60000,remote=100"), 11.0, 22.7);
}
