//! `--sample`: what of a run can be sampled, and when its windows are enough.

use pericore_emulation::sampled::{Estimate, Extent, ProgramWindows, WindowCounts, WorkloadWindows};
use pericore_machine::Machine;
use pericore_machine::workload::{Kind, SampleRequest, Scenario, Workload};
use pericore_observe::plan::Plan;

use crate::failure::Failure;

/// Accesses of a workload that goes on for a given time.
const ENDLESS: u64 = 1 << 60;

/// What is to be sampled.
#[derive(Debug, Clone, Copy)]
pub enum SampledWork<'a> {
    /// A program, or a trace of one.
    Program,
    /// The scenario in a file.
    Scenario,
    /// A workload, by its text.
    Workload(&'a str),
}

/// Refuses what cannot be sampled, before anything is built.
///
/// # Errors
/// That, and what to do about it.
pub fn check(
    subject: SampledWork<'_>,
    request: SampleRequest,
    timeout: Option<f64>,
    is_cold: bool,
) -> Result<(), Failure> {
    let refusal = match subject {
        SampledWork::Program if timeout.is_some() => {
            "a program is sampled to its end; leave out --timeout, or --sample"
        }
        SampledWork::Program => return Ok(()),
        SampledWork::Scenario => {
            "a scenario has phases, and what is sampled has to be steady; name a workload, or leave out --sample"
        }
        SampledWork::Workload(_) if is_cold => {
            "with --cold the workload is not steady, and windows would not stand for the rest; leave out --cold, or \
             --sample"
        }
        SampledWork::Workload(_) if request.seed.is_some() => {
            "the windows of a workload follow each other, and have no places that a seed could choose; give seed= with \
             the workload, for other accesses"
        }
        SampledWork::Workload(text) if timeout.is_some() && names_requests(text) => {
            "with --timeout the workload goes on for that long; leave out requests=, or --timeout"
        }
        SampledWork::Workload(_) => return Ok(()),
    };
    Err(Failure::usage(format!("--sample: {refusal}")))
}

/// True if a workload says how many accesses it has.
fn names_requests(workload: &str) -> bool {
    let keys = workload.split_once(':').map_or("", |(_, keys)| keys);
    keys.split(',').any(|key| key.split('=').next() == Some("requests"))
}

/// How long a workload goes on, and the same workload with as many accesses as that takes.
///
/// # Errors
/// There is nothing that could be sampled.
pub fn extend(scenario: Scenario, timeout: Option<f64>) -> Result<(Scenario, LengthOf), Failure> {
    let [phase] = &scenario.phases[..] else { return Err(nothing()) };
    let workload = phase.workload.as_ref().filter(|workload| workload.kind != Kind::Idle).ok_or_else(nothing)?;
    let (length, requests) = match timeout {
        Some(milliseconds) => (LengthOf::Seconds(milliseconds / 1e3), ENDLESS),
        None => (LengthOf::Accesses(workload.requests), workload.requests),
    };
    Ok((Scenario::from(Workload { requests, ..workload.clone() }), length))
}

fn nothing() -> Failure {
    Failure::usage("--sample: in a pause there is nothing to sample; name another workload, or leave out --sample")
}

/// How long a workload goes on.
#[derive(Debug, Clone, Copy)]
pub enum LengthOf {
    /// For so many virtual seconds.
    Seconds(f64),
    /// For so many accesses.
    Accesses(u64),
}

/// Before the first window of a program, or of a workload that goes on for so long, on a machine whose caches have so
/// many bytes.
///
/// # Errors
/// The workload is too short.
pub fn begin(
    machine: &mut Machine,
    request: SampleRequest,
    (length, caches): (Option<LengthOf>, u64),
    plan: &Plan,
) -> Result<WindowCounts, Failure> {
    let rounds = plan.rounds();
    let extent = match length {
        None => {
            let windows = ProgramWindows::new(rounds, request.error());
            windows.one_in().into_iter().for_each(|one_in| machine.set_density(one_in));
            return Ok(WindowCounts::Program(Box::new(windows)));
        }
        Some(LengthOf::Seconds(seconds)) => Extent::Time((seconds * machine.clocks().ticks_per_second() as f64) as u64),
        Some(LengthOf::Accesses(accesses)) => Extent::Accesses(accesses),
    };
    let windows = WorkloadWindows::new(machine, extent, request.size, rounds, caches).map_err(Failure::usage)?;
    Ok(WindowCounts::Workload(windows))
}

/// The number that is known worst for its size.
#[derive(Debug, Clone)]
pub struct Widest {
    /// Half of its 95 % interval, as a share of it.
    pub half: f64,
    /// Its name, and where it was counted.
    pub name: String,
}

/// What is to be said of the sample at the end.
pub fn words(estimate: &Estimate, request: SampleRequest, widest: Option<&Widest>, is_program: bool) -> String {
    let Estimate { windows, share, .. } = estimate;
    let (share, what) = (share * 100.0, if is_program { "accesses" } else { "run" });
    let mut words = format!(" sampled: {windows} windows, {share:.2} % of the {what}; all numbers are scaled up,\n");
    words += "   with half of an interval meant to have the whole run's in 95 of 100 runs\n";
    let Some(requested) = request.error() else { return words };
    let Some(Widest { half, name }) = widest else {
        return if share >= 100.0 { words + " error requested: reached, all was counted\n" } else { words };
    };
    let is_reached = if *half <= requested { "reached" } else { "not reached when the run ended" };
    let [requested, half] = [requested * 100.0, *half * 100.0];
    words + &format!(" error requested: {requested} %, {is_reached}: the widest is {half:.2} %, of {name}\n")
}
