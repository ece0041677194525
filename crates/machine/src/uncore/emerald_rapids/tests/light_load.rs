//! What agents do only while memory has little to do.

use super::laws::sum;
use super::truth::Digest;
use super::{MICROSECOND, Parameters, model};
use crate::emerald_rapids::EmeraldRapids;
use pericore_hardware::signal::Wiring;
use pericore_parts::work::Worker;
use pericore_workload::Workload;

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

/// Nanoseconds of a read of memory that waits for the one before, and how many prefetches agents sent for how many
/// reads. Nothing else runs, and so the clocks fall into step, and the time with them: it is the mean over ways back
/// from memory of different lengths.
fn chase(xpt: bool) -> (f64, [u64; 2]) {
    const READS: u64 = 500;
    let ways = 28..40;
    let (mut time, mut counts) = (0.0, [0; 2]);
    for memory_to_mesh in ways.clone() {
        let parameters = Parameters { xpt, memory_to_mesh, ..Parameters::preset("8592+").unwrap() };
        let family = pericore_catalog::family(parameters.phases.family).unwrap();
        let workload = format!("chase:requests={READS},footprint=4G");
        let workload = Workload::parse(&workload, &parameters.limits()).unwrap();
        let mut wiring = Wiring::new(family, 1);
        let mut model = EmeraldRapids::for_scenario(parameters, workload.into(), &mut wiring).unwrap();
        while model.progress().done < model.progress().total {
            model.run_until_any(model.now() + MICROSECOND / 100, &mut Digest::default());
        }
        time += model.now() as f64 / MICROSECOND as f64 * 1000.0 / READS as f64;
        let at = model.snapshot();
        counts[0] += sum(&at, "cha", "XPT_PREF.SENT0") + sum(&at, "cha", "XPT_PREF.SENT1");
        counts[1] += sum(&at, "m2m", "IMC_READS.ALL");
    }
    (time / ways.count() as f64, counts)
}

/// A look-up that ends in a miss takes ten cycles of 2.5 GHz; memory has begun to read the line meanwhile.
#[test]
fn a_prefetch_saves_the_time_of_the_look_up() {
    let ((with, sent), (without, none)) = (chase(true), chase(false));
    assert!((3.2..=4.8).contains(&(without - with)), "{with} and {without} ns");
    assert_eq!((sent, none), ([6000, 6000], [0, 6000]));
}
