//! Counts added up since the start.

use std::collections::BTreeMap;

use pericore_metrics::{Grade, Validity};
use pericore_observe::plan::Plan;
use pericore_observe::results::{Part, Scope, Totals};
use pericore_observe::selection::{EventSource, Selection};

/// An event under the name that it goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The user's name for it, or what the user wrote, or what a metric needs.
    pub name: String,
    /// Index in the selection's events.
    pub event: usize,
}

/// Every event of a selection: the listed ones under each of their names, then those that only metrics need.
///
/// # Errors
/// A name that the user gave to two events.
pub fn names(selection: &Selection) -> Result<Vec<Named>, String> {
    let mut all: Vec<Named> = Vec::new();
    let listed = selection.listed.iter().map(|listed| Named { name: listed.label.clone(), event: listed.event });
    let unlisted = (0..selection.events.len())
        .filter(|event| selection.listed.iter().all(|listed| listed.event != *event))
        .map(|event| Named { name: unlisted_name(selection, event), event });
    for named in listed.chain(unlisted) {
        match all.iter().find(|known| known.name == named.name) {
            Some(known) if known.event == named.event => {}
            Some(_) => return Err(named.name),
            None => all.push(named),
        }
    }
    Ok(all)
}

/// The name of an event that the user did not list. Two of one label are two events if what they count depends on
/// different events beside them.
fn unlisted_name(selection: &Selection, event: usize) -> String {
    let label = &selection.events[event].label;
    let beside = match &selection.events[event].source {
        EventSource::Programmed(programming) => programming.companion.and_then(|other| selection.events.get(other)),
        EventSource::Fixed(_) | EventSource::FreeRunning { .. } => None,
    };
    let is_alone = selection.events.iter().filter(|other| other.label == *label).count() == 1;
    match beside.filter(|_| !is_alone) {
        Some(beside) => format!("{label} beside {}", beside.label),
        None => label.clone(),
    }
}

/// A count since the start, in a part of the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Running {
    /// All increments of the intervals that have a number.
    pub count: u128,
    /// Seconds of intervals that have none.
    pub missing: f64,
    /// Seconds of intervals whose number is in doubt.
    pub doubtful: f64,
    /// What is to be said of the last interval.
    pub validity: Validity,
    /// Instances in it.
    pub instances: usize,
}

/// All counts since the start.
#[derive(Debug, Default)]
pub struct Tally {
    /// By event and part of the machine.
    running: BTreeMap<(usize, Part), Running>,
    /// Samples so far.
    pub samples: u64,
    /// Their seconds in each part that has a length of its own: by socket, or the mean over sockets for the whole
    /// system.
    seconds: BTreeMap<Option<u16>, f64>,
}

impl Tally {
    /// Adds a sample, added up over the same as those before. An interval without a number adds nothing, so that a
    /// count never goes back and never jumps: what it lacks is said in seconds.
    pub fn add(&mut self, plan: &Plan, totals: &Totals<'_>) {
        let sample = totals.sample();
        self.samples += 1;
        match totals.scope() {
            Scope::System => *self.seconds.entry(None).or_default() += sample.seconds,
            Scope::Socket | Scope::Instance => {
                for socket in plan.sockets.iter().map(|part| part.socket) {
                    *self.seconds.entry(Some(socket)).or_default() += sample.length_in(socket).seconds;
                }
            }
        }
        for event in 0..plan.selection.events.len() {
            for total in totals.event(event) {
                let nothing =
                    || Running { count: 0, missing: 0.0, doubtful: 0.0, validity: Validity::MEASURED, instances: 0 };
                let running = self.running.entry((event, total.part)).or_insert_with(nothing);
                match total.count {
                    Some(count) => running.count += u128::from(count),
                    None => running.missing += total.length.seconds,
                }
                if total.validity.grade() == Grade::Suspect {
                    running.doubtful += total.length.seconds;
                }
                running.validity.clone_from(&total.validity);
                running.instances = total.instances;
            }
        }
    }

    /// Seconds that the samples cover, by socket; of none if they are those of the whole system.
    pub fn seconds(&self) -> impl Iterator<Item = (Option<u16>, f64)> {
        self.seconds.iter().map(|(socket, seconds)| (*socket, *seconds))
    }

    /// The counts of an event, by part of the machine.
    pub fn of(&self, event: usize) -> impl Iterator<Item = (Part, &Running)> {
        let first = Part { socket: None, instance: None };
        self.running.range((event, first)..(event + 1, first)).map(|((_, part), running)| (*part, running))
    }
}
