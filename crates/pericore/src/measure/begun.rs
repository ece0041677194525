//! The start of a software machine's measurement: from reset, or after a warm-up.

use pericore_machine::workload::{Kind, Scenario, Workload};
use pericore_machine::{Machine, MachineSpec, WarmUp};

use super::WaitLine;
use crate::failure::Failure;

/// A machine about to do what is measured of a scenario, with its truth if that is wanted, and its warm-up if it had
/// one.
///
/// # Errors
/// A machine that cannot be.
pub fn begin(spec: &MachineSpec, scenario: &Scenario, truth: bool) -> Result<(Machine, Option<WarmUp>), Failure> {
    let machine = Machine::for_scenario(spec, scenario).map_err(Failure::usage)?;
    let mut machine = if truth { machine } else { machine.without_truth() };
    let line = WaitLine::new("warming up…");
    let warm_up = machine.warm_up(scenario);
    drop(line);
    Ok((machine, warm_up))
}

/// A live machine repeats a steady window.
///
/// # Errors
/// Its workload is to begin cold.
pub fn must_be_steady(is_cold: bool) -> Result<(), Failure> {
    if !is_cold {
        return Ok(());
    }
    Err(Failure::usage(
        "--cold: a live machine repeats a window of its steady workload; leave it out, or measure the start with \
         `pericore stat` or `record`",
    ))
}

/// Footprint, threads and start of a scenario that is one workload, to follow its name; nothing of others.
pub fn words(scenario: &Scenario, warm_up: Option<WarmUp>, ticks_per_second: u64) -> String {
    let workload = match &scenario.phases[..] {
        [phase] => phase.workload.as_ref().filter(|workload| workload.kind != Kind::Idle),
        _ => scenario.begins_warm(),
    };
    let Some(workload) = workload else { return String::new() };
    let Workload { threads, footprint, kind, .. } = *workload;
    let what = if matches!(kind, Kind::DmaRead | Kind::DmaWrite) { "device" } else { "thread" };
    let plural = if threads == 1 { "" } else { "s" };
    let start = warm_up.map_or_else(
        || "cold".to_owned(),
        |WarmUp { ticks, settled }| {
            let microseconds = ticks as f64 * 1e6 / ticks_per_second as f64;
            let rates = if settled { "" } else { ", rates not settled" };
            format!("{microseconds:.1} us warm-up{rates}")
        },
    );
    format!("; {threads} {what}{plural}, {}, {start}", bytes(footprint))
}

fn bytes(bytes: u64) -> String {
    match bytes {
        0x10_0000.. => format!("{} MiB", bytes >> 20),
        0x400.. => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}
