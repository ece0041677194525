//! `doctor --selfcheck`: whether this machine's counters do what the documents say, or a software machine's.

mod both_ways;
mod own;
mod software;

use pericore_catalog::event_file::{Problem, Replaced, RowProblem};
use pericore_catalog::search::{Found, Topic, resolve};
use pericore_catalog::{Family, Role, kernel};
use pericore_doctor::Finding;
use pericore_doctor::selfcheck::{self, CheckError, FileCode, UNKNOWN};
use pericore_machine::{MachineSpec, SharedMachine};
use pericore_observe::discover::discover;
use pericore_observe::linux::Host;
use pericore_observe::register_process::RegisterProcess;
use pericore_observe::session::{Entrance, Guard, JournalFile, Options};

use self::own::{OwnTraffic, RealTraffic, WallTime};
use self::software::{VirtualTime, idle, with_traffic};
use crate::event_files::{EventFilesArg, Extended};
use crate::failure::Failure;
use crate::machine::opened;
use crate::measure::stand_in;
use crate::restore;
use pericore_emulation::start::cpus;

/// Of a software machine's traffic.
const SEED: u64 = 1;

/// What a finding is about if no check could begin.
const CHECK: &str = "selfcheck";

/// Checks a software machine: its clocks with nothing on it, its counts with traffic.
///
/// # Errors
/// There is no such machine, or an event file that cannot be used.
pub fn software(machine: &str, files: &EventFilesArg) -> Result<Vec<Finding>, Failure> {
    let spec = opened::spec(machine)?;
    let codes = codes(files, spec.family())?;
    software_beside(&spec, &codes, SEED, |_| {})
}

/// The same with traffic of a seed, and of machines that others have already made use of.
fn software_beside(
    spec: &MachineSpec,
    codes: &[FileCode],
    seed: u64,
    mut used: impl FnMut(&mut SharedMachine),
) -> Result<Vec<Finding>, Failure> {
    let (mut machine, time) = (idle(spec)?, &mut VirtualTime);
    let cpus = cpus(machine.borrow().chassis().shape());
    let topology = match discover(&mut machine, spec.family(), &cpus, |_| true) {
        Ok(topology) => topology,
        Err(error) => return Ok(vec![Finding::refused(CHECK, &error)]),
    };
    used(&mut machine);
    let mut findings = selfcheck::absent(&topology);
    findings.extend(reported(selfcheck::check_counters(machine, &topology, Options::default(), None, time)));
    let (mut machine, mut traffic) = with_traffic(spec, seed)?;
    used(&mut machine);
    let checked = selfcheck::check_traffic(machine, &topology, Options::default(), None, time, &mut traffic);
    findings.extend(reported(checked));
    if !codes.is_empty() {
        let (machine, mut traffic) = with_traffic(spec, seed)?;
        let options = Options::default();
        findings.extend(reported(selfcheck::check_codes(machine, &topology, options, None, time, &mut traffic, codes)));
    }
    Ok(findings)
}

/// The codes of event files that differ from the documents, and those that no control can hold.
pub fn codes(files: &EventFilesArg, family: &'static Family) -> Result<Vec<FileCode>, Failure> {
    let Extended { replaced, problems, .. } = files.extend(family)?;
    let code = |(file, row): (String, Replaced)| {
        let Replaced { line, name, built_in: (documented, _), file: (of_file, _) } = row;
        (documented != of_file).then(|| FileCode {
            place: format!("{file}:{line}"),
            name,
            documented,
            of_file: Ok(of_file),
        })
    };
    // What else keeps a row from being used is a limit of ours, or no code: Intel's own files have such rows.
    let unusable = |(file, row): (String, RowProblem)| {
        let (name, documented) = documented(family, &row.name)?;
        let why = match row.problem {
            Problem::DoesNotFit { key: "UMask" | "UMaskExt" | "EventCode", .. } => row.problem.to_string(),
            // An event as a whole, which has subevents, too.
            Problem::BesideSubevents { umask, .. } if umask_of_whole(family, &name)? != u64::from(umask) => {
                format!("it has the umask {umask:#x}")
            }
            _ => return None,
        };
        Some(FileCode { place: format!("{file}:{}", row.line), name, documented, of_file: Err(why) })
    };
    let mut codes: Vec<FileCode> = replaced.into_iter().filter_map(code).collect();
    codes.extend(problems.into_iter().filter_map(unusable));
    Ok(codes)
}

/// The umask of `unit/EVENT` without a subevent.
fn umask_of_whole(family: &Family, name: &str) -> Option<u64> {
    let (unit, event) = name.split_once('/')?;
    let unit = family.unit(unit)?;
    Some(unit.register(Role::Control)?.field("umask")?.bits.get(unit.event(event)?.config))
}

/// Our name of an event and its control value, where the family has one of that name of Intel's.
fn documented(family: &'static Family, name: &str) -> Option<(String, u64)> {
    resolve(&[family], name).into_iter().find_map(|Found { unit, topic, .. }| match topic {
        Topic::Event(event) => Some((format!("{}/{}", unit?.name, event.name), event.config)),
        Topic::Subevent(event, subevent) => {
            Some((format!("{}/{}.{}", unit?.name, event.name, subevent.name), subevent.config))
        }
        _ => None,
    })
}

/// Makes the folders of journals, as long as this process may. What is wrong with them is said when a session begins.
pub fn make_folders() {
    let _ = restore::other_sessions().map(|known| known.make_directories());
}

/// Checks this machine.
///
/// # Errors
/// No folder for journals, or a system that does not tell its boot.
pub fn this_machine(host: &Host, process: &RegisterProcess, codes: &[FileCode]) -> Result<Vec<Finding>, Failure> {
    let family = host.family().map_err(Failure::failed)?;
    if kernel::counts_alone(family) {
        let text = format!("{UNKNOWN}no register of {} is known: it is counted through the kernel alone", family.title);
        return Ok(vec![Finding::note(CHECK, text)]);
    }
    let mut space = process.connect(None);
    let topology = match discover(&mut space, family, &host.cpus, |_| true) {
        Ok(topology) => topology,
        Err(error) => return Ok(vec![Finding::refused(CHECK, &error)]),
    };
    let mut findings = selfcheck::absent(&topology);
    let time = &mut WallTime::default();
    let (options, entrance) = entered(process)?;
    findings.extend(reported(selfcheck::check_counters(space, &topology, options, Some(entrance), time)));
    let (options, entrance) = entered(process)?;
    let (space, entrance) = (process.connect(None), Some(entrance));
    let (mut traffic, why_others) = real_traffic(host, topology.sockets.len());
    findings.extend(why_others);
    let checked = selfcheck::check_traffic(space, &topology, options, entrance, time, &mut traffic);
    findings.extend(reported(checked));
    let (options, entrance) = entered(process)?;
    findings.extend(both_ways::check(host, process.connect(None), &topology, options, entrance));
    if !codes.is_empty() {
        let (options, entrance) = entered(process)?;
        let (space, entrance) = (process.connect(None), Some(entrance));
        let checked = selfcheck::check_codes(space, &topology, options, entrance, time, &mut traffic, codes);
        findings.extend(reported(checked));
    }
    Ok(findings)
}

/// Reads of our own, or what else is counted, and why.
fn real_traffic(host: &Host, sockets: usize) -> (RealTraffic, Option<Finding>) {
    let own = if stand_in().is_some() {
        Err("memory of this process is not the software machine's".to_owned())
    } else {
        OwnTraffic::new(&host.root().join(""), sockets)
    };
    match own {
        Ok(own) => (RealTraffic::Own(own), None),
        Err(why) => {
            let text = format!(
                "{UNKNOWN}counts of memory against traffic of known size: {why}; what runs here is held against laws \
                 alone"
            );
            (RealTraffic::Others, Some(Finding::note("traffic", text)))
        }
    }
}

/// The options of a session, and the right to set it up: nobody else may until it has started.
fn entered(process: &RegisterProcess) -> Result<(Options, Entrance), Failure> {
    let other_sessions = restore::other_sessions()?;
    let path = restore::journal_of_this_process()?;
    let journal = Some(JournalFile { path, boot: restore::boot()?, machine: restore::this_machine() });
    let entrance = other_sessions.enter().map_err(Failure::failed)?;
    let options = Options { take_over: false, guard: Guard::All, journal, other_sessions: Some(other_sessions) };
    // If this process is killed, the other one puts back.
    for journal in options.journals() {
        process.note_journal(&journal.path).map_err(Failure::failed)?;
    }
    Ok((options, entrance))
}

/// What came of it, or what kept it from beginning.
fn reported(outcome: Result<Vec<Finding>, CheckError>) -> Vec<Finding> {
    outcome.unwrap_or_else(|error| vec![Finding::refused(CHECK, &error)])
}

#[cfg(test)]
mod tests;
