//! Carries a scenario out, and judges it.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use pericore_metrics::Grade;
use pericore_observe::discover::{Cpu, Topology, discover};
use pericore_observe::permits::Permits;
use pericore_observe::selection::Selection;
use pericore_observe::session::{Guard, JournalFile, Left, Options, OtherSessions, Restored, Sample, Session, prepare};
use pericore_registers::Address;

use super::files::Files;
use super::hands::{Hands, PLANTED, World};
use super::others::{SUBJECTS, is_counter};
use super::scenario::{Ending, Scenario, What};
use crate::pmon::raw::{CYCLE, Raw};

/// What a run may take: waits for locks have limits below that.
const LIMIT: Duration = Duration::from_secs(30);

const BOOT: &str = "the-boot-of-the-simulation";
const MACHINE: &str = "simulated";

/// What a run came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// The session counted.
    pub counted: bool,
    /// Its registers were put back from its journal.
    pub restored: bool,
    /// Counts that were called measured.
    pub measured: u64,
    /// Accesses.
    pub accesses: u64,
}

/// Carries a scenario out in a thread of its own.
///
/// # Errors
/// What was promised and did not hold.
pub fn run(scenario: &Scenario) -> Result<Report, String> {
    let (sender, receiver) = mpsc::channel();
    let scenario = scenario.clone();
    let run = move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| carry_out(&scenario)));
        let _ = sender.send(outcome.unwrap_or_else(|panic| Err(words(&*panic))));
    };
    let thread = thread::Builder::new().name("simulated".to_owned()).spawn(run).expect("a thread");
    match receiver.recv_timeout(LIMIT) {
        Ok(outcome) => {
            // A run that has ended leaves nothing of its thread.
            let _ = thread.join();
            outcome
        }
        Err(_) => Err(format!("it does not end within {} s", LIMIT.as_secs())),
    }
}

/// The smallest scenario that still fails, and how it does.
pub fn shrink(scenario: &Scenario, failure: String) -> (Scenario, String) {
    let (mut smallest, mut failure) = (scenario.clone(), failure);
    while let Some((smaller, why)) =
        smallest.smaller().into_iter().find_map(|smaller| Some((smaller.clone(), run(&smaller).err()?)))
    {
        (smallest, failure) = (smaller, why);
    }
    (smallest, failure)
}

/// The machines and events that scenarios choose from.
pub(super) const fn subjects() -> usize {
    SUBJECTS.len()
}

impl Scenario {
    /// The scenario of a seed.
    pub fn of_seed(seed: u64) -> Self {
        Self::of(seed, subjects())
    }
}

/// What was found of a family's machine: all are alike.
fn topology(machine: &mut Raw, family: &'static str) -> Topology {
    static KNOWN: Mutex<Option<HashMap<&'static str, Topology>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let look = || {
        let cpus = cpus(machine);
        let family = machine.machine.shape().family;
        discover(&mut machine.machine, family, &cpus, |_| true).expect("the uncore is found")
    };
    known.get_or_insert_default().entry(family).or_insert_with(look).clone()
}

fn cpus(machine: &Raw) -> Vec<Cpu> {
    (0..machine.machine.shape().cpus()).map(|number| Cpu { number, package: 0 }).collect()
}

/// The events that a scenario counts.
fn selection(scenario: &Scenario, topology: &Topology) -> Selection {
    let mut selection = Selection::new(topology.family);
    selection.add_events(SUBJECTS[scenario.subject].events).expect("the events exist");
    selection
}

/// The name of the part of the journal that this process writes.
fn part_name() -> String {
    let process = std::process::id();
    let started = pericore_observe::process::start_time(process).unwrap_or(0);
    format!(".session.journal.{process}-{started}.part")
}

fn carry_out(scenario: &Scenario) -> Result<Report, String> {
    let subject = &SUBJECTS[scenario.subject];
    let mut machine = Raw::with_period(subject.family, 1, CYCLE);
    let topology = topology(&mut machine, subject.family);
    let mut permits = Permits::new(&cpus(&machine));
    permits.add(&topology);
    let files = Files::new(&scenario.litter, &part_name()).map_err(|error| error.to_string())?;
    let mut world = World::new(machine, subject, permits, scenario);
    subject.leftovers.iter().for_each(|leftover| world.other_writes(*leftover));
    world.others.clear();
    if scenario.is_beside_others {
        world.other_counts(subject.joined);
        world.other_counts(subject.elsewhere);
    }
    let hands = Hands::new(world);
    let journal = files.state.join("session.journal");
    let mut report = Report::default();
    // In a thread of its own, in which system calls may fail for good.
    let ended = thread::scope(|scope| {
        let run = || session(scenario, &hands, &topology, &files.state, &journal, &mut report);
        scope.spawn(run).join()
    });
    if let Err(panic) = ended {
        let words = words(&*panic);
        if words != PLANTED {
            return Err(words);
        }
    }
    report.accesses = hands.world().accesses;
    if journal.exists() {
        report.restored = apart(&hands, &topology, &journal)?;
        // A journal does not say who counted before: nobody is disabled for what was.
        hands.world().is_joined |= report.restored && scenario.is_beside_others;
    }
    judge(scenario, &hands, &files)?;
    Ok(report)
}

/// A session from its preparation to its end, as far as it comes.
fn session(scenario: &Scenario, hands: &Hands, topology: &Topology, state: &Path, journal: &Path, report: &mut Report) {
    let others = OtherSessions::new(state, MACHINE, BOOT);
    let Ok(entrance) = others.enter() else { return };
    let selection = selection(scenario, topology);
    let mut looks = hands.clone();
    let Ok(plan) = prepare(&mut looks, topology, selection, Default::default(), Some(&others)) else { return };
    let file = JournalFile { path: journal.to_owned(), boot: BOOT.to_owned(), machine: MACHINE.to_owned() };
    let guard = if scenario.guards { Guard::All } else { Guard::InTurn };
    let options = Options { guard, journal: Some(file), other_sessions: Some(others.clone()), ..Options::default() };
    let Ok(mut session) = Session::start(hands.clone(), plan, options, |hands| hands.moment()) else { return };
    drop(entrance);
    report.counted = true;
    let mut taken: Vec<(Sample, u64, u64)> = Vec::new();
    // Counters begin one after the other: what passed while they did belongs to the first sample.
    let mut stalled = 0;
    for number in 0..scenario.samples {
        hands.world().pass(scenario.cycles);
        if std::mem::take(&mut hands.world().wants_second) {
            second(scenario, hands, topology, &others);
        }
        let is_last = number + 1 == scenario.samples || hands.world().signal;
        if is_last {
            session.check_controls();
        }
        let sample = session.sample(|hands| hands.moment());
        if let Some(withdrawn) = &sample.withdrawn {
            let first = taken.len().saturating_sub(withdrawn.samples as usize);
            for (before, ..) in &mut taken[first..] {
                before.withdraw(withdrawn);
            }
        }
        let now = hands.world().stalled;
        taken.push((sample, scenario.cycles, now - stalled));
        stalled = now;
        if is_last {
            break;
        }
        session.rotate(|hands| hands.moment());
    }
    if scenario.ending == Ending::Stopped {
        let _ = session.stop();
    } else {
        drop(session);
    }
    let mut world = hands.world();
    for (sample, cycles, stalls) in &taken {
        report.measured += check_counts(scenario, &mut world, sample, *cycles, *stalls);
    }
}

/// Another session of ours on the same counters: it is refused, or counts beside, and puts its own back.
fn second(scenario: &Scenario, hands: &Hands, topology: &Topology, others: &OtherSessions) {
    let Ok(entrance) = others.enter() else { return };
    let selection = selection(scenario, topology);
    let mut looks = hands.clone();
    let Ok(plan) = prepare(&mut looks, topology, selection, Default::default(), Some(others)) else { return };
    let options = Options { journal: Some(others.journal(2)), ..Options::default() };
    // It has got counters that the first does not have.
    if let Ok(session) = Session::start(hands.clone(), plan, options, |hands| hands.moment()) {
        drop(entrance);
        let _ = session.stop();
    }
}

/// How many counts of a sample are called measured; each of them is what it must be.
fn check_counts(scenario: &Scenario, world: &mut World, sample: &Sample, cycles: u64, stalls: u64) -> u64 {
    let subject = &SUBJECTS[scenario.subject];
    let clocks: Vec<bool> = subject.events.split("/,").map(|event| event.contains("CL")).collect();
    let mut measured = 0;
    for count in sample.counts.iter().filter(|count| count.validity.grade() == Grade::Measured) {
        measured += 1;
        // Who takes a control in the middle is found where the guide lets it be found: `docs/others.md`.
        if scenario.has(|what| *what == What::TakesOver) {
            continue;
        }
        // What passed while counters stopped or went on belongs to either sample: 2 % of it at most are nobody's.
        let length = sample.length_in(count.socket).tsc_cycles;
        let is_right = |counted: u64| match clocks[count.event.min(clocks.len() - 1)] {
            true => (cycles..=cycles + stalls).contains(&counted) || counted.abs_diff(length) * 50 <= length,
            false => counted == 0,
        };
        if !count.count.is_some_and(is_right) {
            let of = format!("a sample of {cycles} cycles and {stalls} of stalls, {length} by itself");
            world.violations.push(format!("{count:?} of {of} is called measured"));
        }
    }
    measured
}

/// Puts back from a journal, as `pericore restore` does; true if registers were.
fn apart(hands: &Hands, topology: &Topology, journal: &Path) -> Result<bool, String> {
    hands.now_of_others();
    let left = Left::open(journal).map_err(|error| format!("the journal that is left: {error}"))?;
    let Some(left) = left else { return Ok(false) };
    let cpus = cpus(&hands.world().machine);
    let restored = left.journal.restore(&mut hands.clone(), topology.family, &cpus, BOOT);
    match restored.map_err(|error| format!("restore: {error}"))? {
        Restored::PutBack { .. } => left.remove().map_err(|error| error.to_string())?,
        Restored::OtherBoot { .. } => return Err("restore takes this boot for another".to_owned()),
    }
    Ok(true)
}

/// What is promised of every run.
fn judge(scenario: &Scenario, hands: &Hands, files: &Files) -> Result<(), String> {
    let mut world = hands.world();
    let mut violations = std::mem::take(&mut world.violations);
    let subject = &SUBJECTS[scenario.subject];
    let held: Vec<(Address, _)> = world.held.iter().map(|(address, held)| (*address, *held)).collect();
    for (address, (width, before)) in held {
        let now = world.value(address, width);
        // Who has joined a unit is not frozen for what was.
        let is_shared = world.is_joined && subject.gates.contains(&address);
        let is_others = world.others.contains_key(&address) || world.raced.contains(&address);
        if now != before && !is_others && !is_shared {
            violations.push(format!("{address} held {before:#x}, and holds {now:#x}"));
        }
    }
    let others: Vec<(Address, u64)> = world.others.iter().map(|(address, value)| (*address, *value)).collect();
    for (address, value) in others {
        let now = world.value(address, super::others::width(address));
        if now != value && !is_counter(subject.family, address) {
            violations.push(format!("somebody else wrote {value:#x} to {address}, which holds {now:#x}"));
        }
    }
    violations.extend(files.touched().into_iter().map(|what| format!("touched: {what}")));
    // A part whose removal was refused is swept by the next session; a journal was put back and removed.
    if !scenario.has(|what| matches!(what, What::Refused(_))) {
        violations.extend(files.left().into_iter().map(|what| format!("left behind: {what}")));
    }
    if violations.is_empty() { Ok(()) } else { Err(violations.join("\n  ")) }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}
