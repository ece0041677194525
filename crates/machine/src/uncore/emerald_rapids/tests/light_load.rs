//! What agents do only while memory has little to do.

use super::laws::sum;
use super::model;
use super::truth::Digest;
use pericore_parts::work::Worker;

/// Reads that went past the home agent's pipe, among all of them, when a workload is done.
fn bypasses(workload: &str) -> f64 {
    let (mut model, _) = model(workload);
    while model.progress().done < model.progress().total {
        model.run_until_any(model.now() + 7_000, &mut Digest::default());
    }
    let cha = |event: &str| sum(&model.snapshot(), "cha", &format!("BYPASS_CHA_IMC.{event}")) as f64;
    let (taken, not_taken) = (cha("TAKEN"), cha("NOT_TAKEN"));
    taken / (taken + not_taken)
}

#[test]
fn reads_bypass_the_home_agents_pipe_under_light_load_only() {
    // One load at a time: no queue ever holds a second one.
    assert!(bypasses("chase:requests=400,footprint=4G") > 0.99);
    let saturated = bypasses("stream:requests=100000,threads=64,footprint=16G");
    assert!(saturated < 0.2, "{saturated}");
}
