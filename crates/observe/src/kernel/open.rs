//! Opening the kernel's counters, and what it means if one cannot be opened.

use std::fs;
use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, capabilities};

use super::driver::DriverNames;
use super::error::KernelError;
use super::format::Attributes;
use super::prepare::{KernelCounter, KernelPlan};
use super::system_call::PerfEvents;
use super::terms::KernelTerm;
use crate::linux::Root;

/// Files that a process has open beside its counters: more than any of ours.
const OTHER_FILES: u64 = 256;

/// Counters that start, stop and are read together.
#[derive(Debug)]
pub(super) struct Group<C> {
    /// Index in the plan's sockets.
    pub(super) socket: usize,
    /// Index in the socket's instances.
    pub(super) instance: usize,
    /// The round in which it counts; none if it always does.
    pub(super) round: Option<usize>,
    /// The PMU, for messages.
    pub(super) pmu: String,
    /// The leader first. They close in this order, which the kernel allows.
    pub(super) files: Vec<C>,
    /// Index of each file in the instance's counters; none for a leader that nobody wants to know, and that the others
    /// need.
    pub(super) counters: Vec<Option<usize>>,
}

/// Opens all counters of a plan, none of which counts yet. Events of a `{}` group are opened as a group of the
/// kernel's, and so are those of a metric, if they fit.
///
/// # Errors
/// [`KernelError`] with what stands in the way.
pub(super) fn open_all<P: PerfEvents>(
    perf: &mut P,
    root: &Root,
    plan: &KernelPlan,
) -> Result<Vec<Group<P::Counter>>, KernelError> {
    make_room(plan.counters.len() as u64)?;
    let mut groups = Vec::new();
    for own in plan.by_instance() {
        for set in together(plan, own) {
            groups.extend(open_set(perf, root, plan, &set)?);
        }
    }
    Ok(groups)
}

/// What a sample costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KernelCost {
    /// Groups that are read, with a system call each; of rounds the dearest of each instance.
    pub groups: usize,
    /// Counters in them.
    pub counters: usize,
    /// Groups that a change of rounds stops, reads and starts, at most.
    pub turning: usize,
}

impl KernelPlan {
    /// What a sample costs, if all groups fit.
    pub fn cost(&self) -> KernelCost {
        let mut cost = KernelCost::default();
        for own in self.by_instance() {
            let planned = &self.plan.sockets[own[0].socket].instances[own[0].instance];
            let sets = together(self, own);
            let in_round = |set: &Set<'_>| planned.counters[set.counters[0].counter].round;
            let of = |round: Option<usize>| {
                let chosen = sets.iter().filter(move |set| in_round(set) == round);
                chosen.fold((0, 0), |(groups, counters), set| (groups + 1, counters + set.counters.len()))
            };
            let always = of(None);
            let turn = (0..planned.rounds).map(|round| of(Some(round))).max().unwrap_or((0, 0));
            cost.groups += always.0 + turn.0;
            cost.counters += always.1 + turn.1;
            cost.turning += turn.0;
        }
        cost
    }

    /// The counters of each instance.
    fn by_instance(&self) -> impl Iterator<Item = &[KernelCounter]> {
        self.counters.chunk_by(|one, other| (one.socket, one.instance) == (other.socket, other.instance))
    }

    /// Looks whether the kernel lets this process count: opens one counter, and closes it at once.
    ///
    /// # Errors
    /// [`KernelError`] with what stands in the way.
    pub fn probe<P: PerfEvents>(&self, perf: &mut P, root: &Root) -> Result<(), KernelError> {
        let Some(counter) = self.counters.first() else { return Ok(()) };
        match perf.open(counter.kind, counter.event.attributes, counter.cpu, None) {
            Ok(_) => Ok(()),
            Err(error) => Err(meaning(perf, root, self, counter, &error, None)),
        }
    }
}

/// Counters that belong together.
struct Set<'p> {
    counters: Vec<&'p KernelCounter>,
    /// True if the user put them into one group.
    is_firm: bool,
    /// The `config` of the leader that they need and that is none of them.
    leader: Option<u64>,
}

/// The counters of one instance, those together that the user has put in a group, or that one metric needs, and that
/// count in the same round on the same PMU.
fn together<'p>(plan: &KernelPlan, counters: &'p [KernelCounter]) -> Vec<Set<'p>> {
    let selection = &plan.plan.selection;
    let used = |counter: &KernelCounter| {
        &plan.plan.sockets[counter.socket].instances[counter.instance].counters[counter.counter]
    };
    let of_group = |group: usize| {
        let listed = selection.listed.iter().filter(move |listed| listed.group == Some(group));
        (true, listed.map(|listed| listed.event).collect::<Vec<usize>>())
    };
    let last = selection.listed.iter().filter_map(|listed| listed.group).max().map_or(0, |last| last + 1);
    let of_metric = |metric: &crate::selection::SelectedMetric| {
        (false, metric.inputs.iter().map(|(_, event)| *event).collect::<Vec<usize>>())
    };
    // What repeats another counter's increments counts beside it.
    let pairs = selection.events.iter().enumerate().filter_map(|(event, selected)| {
        let repeated = selected.programming()?.companion?;
        Some((true, vec![event, repeated]))
    });
    let friends = (0..last).map(of_group).chain(pairs).chain(selection.metrics.iter().map(of_metric));
    let (led, counters) = led_apart(counters);
    let mut sets: Vec<Set<'_>> =
        counters.into_iter().map(|counter| Set { counters: vec![counter], is_firm: false, leader: None }).collect();
    for (is_firm, events) in friends {
        let mut joined: Vec<Set<'_>> = Vec::new();
        let (concerned, others): (Vec<_>, Vec<_>) = sets.into_iter().partition(|set| {
            set.counters.iter().any(|counter| used(counter).events.iter().any(|event| events.contains(event)))
        });
        for set in concerned {
            let first = set.counters[0];
            let fits = |other: &&mut Set<'_>| {
                let other = other.counters[0];
                (&other.pmu, used(other).round) == (&first.pmu, used(first).round)
            };
            match joined.iter_mut().find(fits) {
                Some(known) => {
                    known.counters.extend(set.counters);
                    known.is_firm |= set.is_firm || is_firm;
                }
                None => joined.push(set),
            }
        }
        joined.extend(others);
        sets = joined;
    }
    sets.extend(led);
    sets
}

/// The counters that need a leader, as a group of their own behind it; and the others.
fn led_apart(counters: &[KernelCounter]) -> (Option<Set<'_>>, Vec<&KernelCounter>) {
    let names = DriverNames::shipped();
    let config = |counter: &KernelCounter| counter.event.attributes.words[0];
    let needed = counters.iter().find_map(|counter| names.leader_of(&counter.pmu, config(counter)));
    let Some(leader) = needed else { return (None, counters.iter().collect()) };
    let belongs = |counter: &&KernelCounter| {
        names.leader_of(&counter.pmu, config(counter)).is_some() || names.is_leader(&counter.pmu, config(counter))
    };
    let (mut led, others): (Vec<_>, Vec<_>) = counters.iter().partition(belongs);
    led.sort_by_key(|counter| config(counter) != leader);
    let is_absent = config(led[0]) != leader;
    (Some(Set { counters: led, is_firm: true, leader: is_absent.then_some(leader) }), others)
}

fn open_set<P: PerfEvents>(
    perf: &mut P,
    root: &Root,
    plan: &KernelPlan,
    set: &Set<'_>,
) -> Result<Vec<Group<P::Counter>>, KernelError> {
    let mut groups: Vec<Group<P::Counter>> = Vec::new();
    for counter in &set.counters {
        let used = &plan.plan.sockets[counter.socket].instances[counter.instance].counters[counter.counter];
        if let Some(group) = groups.first_mut() {
            match perf.open(counter.kind, counter.event.attributes, counter.cpu, group.files.first()) {
                Ok(file) => {
                    group.files.push(file);
                    group.counters.push(Some(counter.counter));
                    continue;
                }
                // The driver refuses a group that does not fit its counters. What only a metric has together can be
                // apart.
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) && !set.is_firm => {}
                Err(error) => return Err(meaning(perf, root, plan, counter, &error, group.files.first())),
            }
        }
        let lead = |words| Attributes { words, ..Attributes::default() };
        let leader = set.leader.filter(|_| groups.is_empty()).map(|config| lead([config, 0, 0, 0]));
        let leader = leader.map(|attributes| perf.open(counter.kind, attributes, counter.cpu, None)).transpose();
        let leader = leader.map_err(|error| meaning(perf, root, plan, counter, &error, None))?;
        let file = perf
            .open(counter.kind, counter.event.attributes, counter.cpu, leader.as_ref())
            .map_err(|error| meaning(perf, root, plan, counter, &error, leader.as_ref()))?;
        let counters = leader.iter().map(|_| None).chain([Some(counter.counter)]).collect();
        groups.push(Group {
            socket: counter.socket,
            instance: counter.instance,
            round: used.round,
            pmu: counter.pmu.clone(),
            files: leader.into_iter().chain([file]).collect(),
            counters,
        });
    }
    Ok(groups)
}

/// Why a counter was not opened.
fn meaning<P: PerfEvents>(
    perf: &mut P,
    root: &Root,
    plan: &KernelPlan,
    counter: &KernelCounter,
    error: &io::Error,
    leader: Option<&P::Counter>,
) -> KernelError {
    let KernelCounter { pmu, cpu, .. } = counter;
    let used = &plan.plan.sockets[counter.socket].instances[counter.instance].counters[counter.counter];
    let label = used.events.first().map_or_else(String::new, |event| plan.plan.selection.events[*event].label.clone());
    let is_there = root.join("sys/bus/event_source/devices").join(pmu).exists();
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => refused_rights(root, error),
        Some(libc::ENOSYS) => KernelError::NoSystemCall,
        Some(libc::EMFILE) => KernelError::Files { needed: plan.counters.len() as u64, limit: limit_of_files() },
        Some(libc::ENFILE) => KernelError::SystemFiles,
        Some(libc::ENOMEM) => KernelError::Memory { needed: plan.counters.len() as u64 },
        _ if !is_there => KernelError::Disappeared { pmu: pmu.clone() },
        Some(libc::ENODEV) => KernelError::Offline { pmu: pmu.clone(), cpu: *cpu },
        Some(libc::ENOENT) => KernelError::Unregistered { pmu: pmu.clone(), kind: counter.kind },
        Some(libc::EBUSY) => KernelError::Busy { label, pmu: pmu.clone() },
        Some(libc::EOPNOTSUPP) => {
            KernelError::Unsupported { label, pmu: pmu.clone(), terms: counter.event.to_string() }
        }
        Some(libc::EINVAL) => KernelError::Refused {
            label,
            pmu: pmu.clone(),
            terms: counter.event.to_string(),
            why: culprit(perf, counter, leader),
        },
        _ => KernelError::System { label, pmu: pmu.clone(), why: error.to_string() },
    }
}

/// What of an event the kernel refuses: it does not say, so the event is tried without each part.
fn culprit<P: PerfEvents>(perf: &mut P, counter: &KernelCounter, leader: Option<&P::Counter>) -> String {
    let KernelCounter { kind, cpu, event, .. } = counter;
    if leader.is_some() && perf.open(*kind, event.attributes, *cpu, None).is_ok() {
        return "it does not fit its counters together with the others of its group".to_owned();
    }
    for KernelTerm { name, value, format } in event.terms.iter().filter(|term| term.value != 0) {
        let without = format.set(event.attributes, 0).unwrap_or(event.attributes);
        if perf.open(*kind, without, *cpu, None).is_ok() {
            return format!("it takes the event without {name}={value:#x} (format/{name} says {format})");
        }
    }
    "none of the terms alone is the reason; the driver may have no such counter".to_owned()
}

/// Levels of `perf_event_paranoid` from here on are Debian's and Ubuntu's own, and ask for CAP_SYS_ADMIN.
const OF_DISTRIBUTIONS: i32 = 3;

/// Who forbids it: the kernel's rule for users without rights, or something that forbids it to those who have them.
fn refused_rights(root: &Root, error: &io::Error) -> KernelError {
    let text = fs::read_to_string(root.join("proc/sys/kernel/perf_event_paranoid")).unwrap_or_default();
    let level = text.trim().parse::<i32>().ok();
    let holds = |set| capabilities(None).is_ok_and(|sets| sets.effective.contains(set));
    match level {
        _ if holds(CapabilitySet::SYS_ADMIN) => KernelError::Forbidden { why: error.to_string() },
        Some(level) if level >= OF_DISTRIBUTIONS => KernelError::Restricted { level },
        Some(level) if level > 0 && !holds(CapabilitySet::PERFMON) => KernelError::Paranoid { level },
        _ => KernelError::Forbidden { why: error.to_string() },
    }
}

fn limit_of_files() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Raises the limit of open files, if it is too low for so many counters.
fn make_room(counters: u64) -> Result<(), KernelError> {
    let needed = counters + OTHER_FILES;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let Some(soft) = current.filter(|limit| *limit < needed) else { return Ok(()) };
    // Root may raise both.
    let both = Rlimit { current: Some(needed), maximum: maximum.map(|hard| hard.max(needed)) };
    let up_to_hard = Rlimit { current: Some(maximum.map_or(needed, |hard| hard.min(needed))), maximum };
    if setrlimit(Resource::Nofile, both).is_ok() {
        return Ok(());
    }
    let limit = up_to_hard.current.unwrap_or(soft);
    let is_raised = setrlimit(Resource::Nofile, up_to_hard).is_ok();
    if is_raised && limit > counters { Ok(()) } else { Err(KernelError::Files { needed: counters, limit }) }
}
