//! Measuring this machine: its own registers, wall time, and a program as a child, or everything until the end is
//! asked for.

mod dead_time;
mod measurement;
mod registers;
mod software;
mod stacks;
mod taint;
mod title;
mod ways;

use std::process::ExitCode;
use std::sync::Arc;

use pericore_catalog::kernel;
pub use pericore_observe::linux::sessions::{EMULATED as STANDS_IN, emulated as stand_in};
use pericore_observe::linux::{Host, Stopwatch};
use pericore_observe::register_process::RegisterProcess;
use pericore_observe::selection::{SelectedMetric, Selection, SelectionPart};
use pericore_observe::session::Neighbour;

use super::interrupt::Interrupt;
use super::wakeup::Wakeup;
use super::{MeasureArgs, Planned, Receiver, Subject, Task, preparation};
use crate::failure::{Failure, USAGE};
use crate::machine::run::{end_with_keeper, is_within};
use crate::{restore, target};
use measurement::{ByRegisters, Measurement, ToCount};
use pericore_emulation::silent::Silent;
pub use registers::register_process;
use software::software_machines;
use title::title;
use ways::{ChosenWays, Constraints};

/// Seconds of a round, unless the user says.
const TURN: f64 = 10e-3;

/// Seconds between two looks for an overflow: the counters stand until then.
const POLL: f64 = 1e-3;

/// Seconds between two looks whether a session that is waited for has ended.
const LOOK: f64 = 50e-3;

/// Seconds of a round.
fn turn(args: &MeasureArgs) -> f64 {
    args.rotate.map_or(TURN, |milliseconds| milliseconds / 1e3)
}

/// What a virtual machine of a known model is told. CPUID has the host's model, and the hypervisor's bit.
pub const VIRTUAL: &str = "this is a virtual machine, and most hypervisors hide the uncore: count on the host";

/// Measures the machine that this runs on.
///
/// # Errors
/// A machine whose uncore is not known or not reachable, a command line that cannot be carried out, or a run that
/// failed.
pub fn run(task: Task<'_>, receiver: &mut dyn Receiver) -> Result<ExitCode, Failure> {
    let host = target::host()?;
    // What is wrong with it is said when a session enters there.
    let _ = restore::other_sessions().map(|known| known.make_directories());
    // Before anything of others is parsed.
    let process = register_process(&host, restore::aftermath(task.args.journal.as_deref()))?;
    on(task, &host, &process, receiver)
}

/// What measuring it would do.
///
/// # Errors
/// As [`run`].
pub fn plan(task: Task<'_>) -> Result<Planned, Failure> {
    let host = target::host()?;
    let process = register_process(&host, restore::aftermath(task.args.journal.as_deref()))?;
    let selection = wanted(task, &host)?;
    let ways = chosen(task, &host, &selection).map_err(|failure| elsewhere(failure, &host))?;
    let by_registers = |part: &SelectionPart| {
        let plan = preparation::plan(task, &mut process.connect(None), &host.cpus, part.selection.clone());
        plan.map_err(|failure| elsewhere(ways.beside(failure), &host))
    };
    let registers = ways.registers.as_ref().map(by_registers).transpose()?;
    Ok(Planned { registers, kernel: ways.kernel.map(|(plan, _)| plan), reasons: ways.reasons })
}

/// What to count on a host, if the command line makes sense there.
fn wanted(task: Task<'_>, host: &Host) -> Result<Selection, Failure> {
    let Task { args, course } = task;
    // Wrong command lines are so on every machine.
    if course.repeat > 1 && args.program.words().is_empty() && args.timeout.is_none() {
        return Err(Failure::usage("-r repeats a program: name one, or give each run an end with --timeout"));
    }
    let family = host.family();
    if let Some(what) = args.only_for_software() {
        return Err(Failure::usage(format!(
            "{what} applies to software machines only; add --machine {}, or leave it out",
            software_machines(family.as_ref().ok().copied())
        )));
    }
    let family = family.map_err(Failure::failed)?;
    let with_cores = |family| {
        let mut selection = args.wanted.selection(family)?;
        let depends = |metric: &SelectedMetric| {
            let references = metric.expression.references();
            references.iter().any(|reference| reference.is_variable() && reference.name == "threads_per_core")
        };
        selection.threads_per_core = selection.metrics.iter().any(depends).then(|| host.threads_per_core());
        Ok(selection)
    };
    let Some(kernel) = kernel::of(family) else { return with_cores(family) };
    let driven = kernel.driven_family();
    // Files say what they have that a family has not: once is enough. Without registers the driver's events are all.
    if !args.wanted.files.is_empty() || kernel.is_without_registers() {
        return with_cores(driven);
    }
    // What registers count has the first word: an unknown name may be one that only the kernel's driver counts.
    args.wanted.selection(family).or_else(|unknown| with_cores(driven).map_err(|_| unknown))
}

/// In which ways a selection is counted.
fn chosen(task: Task<'_>, host: &Host, selection: &Selection) -> Result<ChosenWays, Failure> {
    let MeasureArgs { guard, take_over, no_freeze, through, .. } = task.args;
    let given = [
        ("--guard", *guard),
        ("--take-over", *take_over),
        ("--no-freeze", *no_freeze),
        ("-c", task.course.period.is_some()),
    ];
    let registers = given.into_iter().find_map(|(option, is_given)| is_given.then_some(option));
    // Without a folder for journals, or rights to it, no session of this user is known.
    let seen = restore::sessions_seen().unwrap_or_default();
    ChosenWays::choose(&Constraints { through: *through, registers, sessions: &seen }, host, selection)
}

/// A failure on a host, with where else to look; but what no machine can do stays as it is.
fn elsewhere(failure: Failure, host: &Host) -> Failure {
    let Some(family) = host.family().ok().filter(|_| failure.status() != USAGE) else { return failure };
    let failure = match host.processor.is_virtual && stand_in().is_none() {
        true => failure.with_advice(VIRTUAL),
        false => failure,
    };
    let software = software_machines(Some(family));
    failure.with_advice(&format!(
        "`pericore doctor` says what else is missing; --machine {software} counts on a software machine instead"
    ))
}

/// The same on a host that is known.
fn on(
    task: Task<'_>,
    host: &Host,
    process: &Arc<RegisterProcess>,
    receiver: &mut dyn Receiver,
) -> Result<ExitCode, Failure> {
    let selection = wanted(task, host)?;
    let ways = chosen(task, host, &selection).map_err(|failure| elsewhere(failure, host))?;
    let schedule = task.schedule(turn(task.args), POLL);
    let mut space = process.connect(None);
    let mut watching: Option<(Interrupt, Wakeup)> = None;
    let mut status = ExitCode::SUCCESS;
    for run in 0..task.course.repeat {
        let mut registers = None;
        if let Some(part) = &ways.registers {
            let other_sessions = restore::other_sessions().map_err(|failure| ways.beside(failure))?;
            let outwait = |neighbour: &Neighbour| outwait(neighbour, watching.as_mut());
            let wanted = &part.selection;
            let found = preparation::plan_among(task, &mut space, &host.cpus, wanted, &other_sessions, outwait)
                .map_err(|failure| elsewhere(ways.beside(failure), host))?;
            let Some((plan, entrance)) = found else { break };
            registers = Some(ByRegisters { plan, events: part.events.clone(), sessions: other_sessions, entrance });
        }
        // The plan of all that is counted has no accesses: its parts have them.
        let cost = registers.as_ref().map(|registers| registers.plan.cost()).unwrap_or_default();
        let prepared = ToCount { selection: selection.clone(), registers, kernel: ways.kernel.clone() };
        let plan = prepared.plan();
        // Before the first write to a register: from here on signals end the measurement, and everything is put back.
        let (interrupt, wakeup) = match &mut watching {
            Some(watching) => watching,
            None => watching.insert((Interrupt::watch()?, Wakeup::new()?)),
        };
        if run == 0 {
            // Not before: whoever waits for others to end has neither a file nor a socket that a signal could leave
            // behind.
            receiver.open()?;
            if !receiver.needs_every_sample() {
                preparation::warn_of_wraps(task, &schedule, &plan);
            }
            preparation::warn_of_turns(task, &schedule, &plan);
            let (title, ender) = (title(task.args.program.words(), host, &plan, stand_in()), wakeup.ender().clone());
            end_with_keeper(&ender)?;
            let kernel = ways.kernel.as_ref().map(|(plan, _)| plan);
            let stacks = stacks::behind(host, &selection);
            receiver.begin(&Subject {
                title,
                emulated: stand_in(),
                plan: &plan,
                cost,
                kernel,
                ways: &ways.reasons,
                stacks: stacks.as_ref(),
                host: stand_in().is_none().then_some(host),
                ender,
            })?;
        }
        let (is_first, is_last) = (run == 0, run + 1 == task.course.repeat);
        let watch = Stopwatch::default();
        // A machine whose traffic somebody else has chosen may give what no model does: `machine run --inject`.
        let silent = match (is_within(), host.family()) {
            (true, Ok(family)) => Silent::of(family, &plan.selection),
            _ => Silent::default(),
        };
        let mut measurement = Measurement {
            task,
            schedule,
            host,
            process,
            is_first,
            is_last,
            watch,
            interrupt,
            wakeup,
            silent,
            receiver,
        };
        status = measurement.measure(prepared)?;
        if is_ended(interrupt, wakeup) {
            break;
        }
    }
    if let Some(signal) = watching.as_ref().and_then(|(interrupt, _)| interrupt.signal()) {
        receiver.interrupted(signal);
    }
    receiver.finish()?;
    Ok(watching.map_or(status, |(interrupt, _)| interrupt.exit(status)))
}

/// Waits for another session to end; false if the end of ours comes first. Before the first run signals end the
/// program, so that it needs no look.
fn outwait(neighbour: &Neighbour, watching: Option<&mut (Interrupt, Wakeup)>) -> Result<bool, Failure> {
    let Some((interrupt, wakeup)) = watching else {
        return neighbour.wait().map(|()| true).map_err(Failure::failed);
    };
    while !neighbour.has_ended().map_err(Failure::failed)? {
        if is_ended(interrupt, wakeup) {
            return Ok(false);
        }
        wakeup.sleep(Some(LOOK))?;
    }
    Ok(true)
}

/// True if a signal or the receiver wants an end.
fn is_ended(interrupt: &Interrupt, wakeup: &Wakeup) -> bool {
    interrupt.signal().is_some() || wakeup.ender().is_requested()
}

#[cfg(test)]
mod tests;
