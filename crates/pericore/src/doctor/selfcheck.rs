//! `doctor --selfcheck`: whether this machine's counters do what the documents say, or a software machine's.

use std::time::Duration;

use pericore_doctor::Finding;
use pericore_doctor::selfcheck::{self, CheckError, TestTime};
use pericore_machine::workload::Scenario;
use pericore_machine::{Machine, SharedMachine};
use pericore_observe::discover::discover;
use pericore_observe::linux::{Host, Stopwatch};
use pericore_observe::register_process::RegisterProcess;
use pericore_observe::session::{Guard, JournalFile, Moment, Options};

use crate::failure::Failure;
use crate::machine::opened;
use crate::measure::emulated::cpus;
use crate::restore;

/// What a finding is about if no check could begin.
const CHECK: &str = "selfcheck";

/// Nothing but clocks ticks in it.
const IDLE: &str = "idle";

/// Virtual seconds in which the slowest clock of a software machine ticks some thousand times.
const VIRTUAL_WINDOW: f64 = 5e-6;

/// Seconds in which the time that a start or stop takes does not matter.
const WINDOW: f64 = 10e-3;

/// The wall's time.
#[derive(Debug, Default)]
struct WallTime(Stopwatch);

impl<S> TestTime<S> for WallTime {
    fn now(&mut self, _: &mut S) -> Moment {
        self.0.moment()
    }

    fn pass(&mut self, _: &mut S, seconds: f64) {
        std::thread::sleep(Duration::from_secs_f64(seconds));
    }

    fn window(&self) -> f64 {
        WINDOW
    }
}

/// A software machine's own time.
#[derive(Debug)]
pub struct VirtualTime;

impl TestTime<SharedMachine> for VirtualTime {
    fn now(&mut self, space: &mut SharedMachine) -> Moment {
        let machine = space.borrow();
        let (clocks, now) = (machine.clocks(), machine.now());
        Moment { seconds: clocks.seconds(0, now), tsc: clocks.timestamp(now) }
    }

    fn pass(&mut self, space: &mut SharedMachine, seconds: f64) {
        let ticks = seconds * space.borrow().clocks().ticks_per_second() as f64;
        space.borrow_mut().run_for(ticks as u64);
    }

    fn window(&self) -> f64 {
        VIRTUAL_WINDOW
    }
}

/// Checks a software machine.
///
/// # Errors
/// There is no such machine.
pub fn software(machine: &str) -> Result<Vec<Finding>, Failure> {
    let spec = opened::spec(machine)?;
    let idle = Scenario::of(IDLE, &spec.limits().map_err(Failure::usage)?).map_err(Failure::usage)?;
    let machine = Machine::for_scenario(&spec, &idle).map_err(Failure::usage)?.without_truth();
    let cpus = cpus(machine.chassis().shape());
    let mut machine = SharedMachine::new(machine);
    let topology = match discover(&mut machine, spec.family(), &cpus, |_| true) {
        Ok(topology) => topology,
        Err(error) => return Ok(vec![Finding::refused(CHECK, &error)]),
    };
    let mut findings = selfcheck::absent(&topology);
    findings.extend(reported(selfcheck::check_counters(
        machine,
        &topology,
        Options::default(),
        None,
        &mut VirtualTime,
    )));
    Ok(findings)
}

/// Makes the folders of journals, as long as this process may. What is wrong with them is said when a session begins.
pub fn make_folders() {
    let _ = restore::other_sessions().map(|known| known.make_directories());
}

/// Checks this machine.
///
/// # Errors
/// No folder for journals, or a system that does not tell its boot.
pub fn this_machine(host: &Host, process: &RegisterProcess) -> Result<Vec<Finding>, Failure> {
    let family = host.family().map_err(Failure::failed)?;
    let mut space = process.connect(None);
    let topology = match discover(&mut space, family, &host.cpus, |_| true) {
        Ok(topology) => topology,
        Err(error) => return Ok(vec![Finding::refused(CHECK, &error)]),
    };
    let mut findings = selfcheck::absent(&topology);
    let other_sessions = restore::other_sessions()?;
    let path = restore::journal_of_this_process()?;
    let journal = Some(JournalFile { path, boot: restore::boot()?, machine: restore::this_machine() });
    let entrance = other_sessions.enter().map_err(Failure::failed)?;
    let options = Options { take_over: false, guard: Guard::All, journal, other_sessions: Some(other_sessions) };
    // If this process is killed, the other one puts back.
    for journal in options.journals() {
        process.note_journal(&journal.path).map_err(Failure::failed)?;
    }
    let pace = &mut WallTime::default();
    findings.extend(reported(selfcheck::check_counters(space, &topology, options, Some(entrance), pace)));
    Ok(findings)
}

/// What came of it, or what kept it from beginning.
fn reported(outcome: Result<Vec<Finding>, CheckError>) -> Vec<Finding> {
    outcome.unwrap_or_else(|error| vec![Finding::refused(CHECK, &error)])
}

#[cfg(test)]
mod tests;
