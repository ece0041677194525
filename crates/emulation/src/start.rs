//! The start of a measurement: a machine that is warm or after reset, and how both are named.

use pericore_machine::chassis::Shape;
use pericore_machine::workload::{Kind, Scenario, Workload};
use pericore_machine::{BuildError, Machine, MachineSpec, WarmUp};
use pericore_observe::discover::Cpu;
use pericore_text::on_one_line;

/// A machine about to do what is measured of a scenario, with its truth if that is wanted, and its warm-up if it had
/// one.
///
/// # Errors
/// A machine that cannot be built.
pub fn begin(spec: &MachineSpec, scenario: &Scenario, truth: bool) -> Result<(Machine, Option<WarmUp>), BuildError> {
    let machine = Machine::for_scenario(spec, scenario)?;
    let mut machine = if truth { machine } else { machine.without_truth() };
    let warm_up = machine.warm_up(scenario);
    Ok((machine, warm_up))
}

/// The logical processors of a software machine.
pub fn cpus(shape: &Shape) -> Vec<Cpu> {
    let package = |number| shape.socket_of_cpu(number).map(|package| Cpu { number, package });
    (0..shape.cpus()).filter_map(package).collect()
}

/// What is measured, in words; `name` is the machine as the user wrote it.
pub fn title(spec: &MachineSpec, name: &str, shape: &Shape, workload: &str) -> String {
    let Shape { sockets, cores, built, .. } = *shape;
    let plural = if sockets == 1 { "" } else { "s" };
    let cores = if cores < built { format!(" of {cores} active cores") } else { String::new() };
    let registers = if spec.is_snapshot() { format!(", registers of {name}") } else { String::new() };
    let family = spec.family().name;
    let preset = spec.preset();
    on_one_line(&format!("EMULATED {family} ({preset}), {sockets} socket{plural}{cores}{registers}: {workload}"))
}

/// Footprint, threads and start of a scenario that is one workload, to follow its name; nothing of others.
pub fn words(scenario: &Scenario, warm_up: Option<WarmUp>, ticks_per_second: u64) -> String {
    let workload = match &scenario.phases[..] {
        [phase] => phase.workload.as_ref().filter(|workload| workload.kind != Kind::Idle),
        _ => scenario.begins_warm(),
    };
    let Some(workload) = workload else { return String::new() };
    let Workload { threads, footprint, kind, .. } = *workload;
    let what = if kind.is_of_devices() { "device" } else { "thread" };
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
