//! What a selection comes to in a recording: which of the recorded counts are its events.

use pericore_catalog::Family;

use super::header::{Counted, Header, Source};
use crate::results::{Instance, Layout};
use crate::selection::{Selection, SelectionError};
use crate::session::{Count, Sample};

/// A recording, seen with a selection's eyes.
#[derive(Debug)]
pub struct View {
    selection: Selection,
    instances: Vec<Instance>,
    /// Position of each count in a recorded sample, and the event of the selection that it is.
    picks: Vec<(usize, usize)>,
}

/// A selection that a recording cannot serve.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// The recording is of another family.
    #[error(
        "it was recorded on {recorded}, and what is asked for are events of {wanted}; name a recording of that family"
    )]
    OtherFamily {
        /// Family of the recording.
        recorded: String,
        /// Family of the selection.
        wanted: &'static str,
    },
    /// The family has no such unit any more.
    #[error(
        "it has counts of the unit {unit:?}, which {family} does not have; read it with pericore {version}, which wrote it"
    )]
    NoUnit {
        /// The unit's name.
        unit: String,
        /// Family.
        family: &'static str,
        /// Version of pericore that wrote it.
        version: String,
    },
    /// The event was not recorded.
    #[error("{label} was not recorded (only {recorded}); name what was, or record again with it")]
    NotRecorded {
        /// The event.
        label: String,
        /// What was, in a few words.
        recorded: String,
    },
    /// The name means something else now.
    #[error(
        "{label} is not what was recorded by this name: then it was {recorded}, here it is {here}; read it with pericore {version}, which \
         wrote it, and with the same --events files"
    )]
    Differs {
        /// The event.
        label: String,
        /// What was counted.
        recorded: String,
        /// What the catalogue at hand says.
        here: String,
        /// Version of pericore that wrote it.
        version: String,
    },
}

/// Recorded events that an error names.
const NAMED: usize = 6;

/// The selection that was recorded, with a family's rows of today.
///
/// # Errors
/// A name that the family no longer has.
pub fn selection_of(header: &Header, family: &'static Family) -> Result<Selection, SelectionError> {
    Selection::again(family, &header.asked)
}

impl View {
    /// Finds all events of a selection in a recording. An event of one instance is found in a recording of all.
    ///
    /// # Errors
    /// [`ViewError`], which names the event that is missing.
    pub fn new(header: &Header, selection: Selection) -> Result<Self, ViewError> {
        let (view, missing) = Self::of_what_is_there(header, selection)?;
        missing.into_iter().next().map_or(Ok(view), Err)
    }

    /// Finds those events of a selection that a recording has; what needs another is left out. The errors name each
    /// event that is missing.
    ///
    /// # Errors
    /// The recording is of another family, or means something else by a name, or has none of the events.
    pub fn of_what_is_there(header: &Header, mut selection: Selection) -> Result<(Self, Vec<ViewError>), ViewError> {
        let family = selection.family;
        if header.family != family.name {
            return Err(ViewError::OtherFamily { recorded: header.family.clone(), wanted: family.name });
        }
        selection.threads_per_core = header.threads_per_core;
        let wanted: Vec<Counted> = selection.events.iter().map(Counted::from).collect();
        let mut found: Vec<Option<usize>> = Vec::new();
        for event in 0..wanted.len() {
            found.push(match find(header, &wanted, event) {
                Ok(recorded) => Some(recorded),
                Err(ViewError::NotRecorded { .. }) => None,
                Err(error) => return Err(error),
            });
        }
        let mut picks = Vec::new();
        let mut used = vec![false; header.instances.len()];
        for (position, &(recorded, instance)) in header.counts.iter().enumerate() {
            let number = header.instances[instance].number;
            for (event, _) in found.iter().enumerate().filter(|(_, found)| **found == Some(recorded)) {
                if wanted[event].instance.is_none_or(|only| only == number) {
                    picks.push((position, event));
                    used[instance] = true;
                }
            }
        }
        // An instance that is not there would be a row less, without a word.
        let is_there = |event: usize| picks.iter().any(|(_, picked)| *picked == event);
        let missing: Vec<_> = wanted.iter().enumerate().filter(|(event, _)| !is_there(*event)).collect();
        let missing: Vec<ViewError> = missing.into_iter().map(|(_, event)| not_recorded(header, event)).collect();
        selection.listed.retain(|listed| is_there(listed.event));
        selection.metrics.retain(|metric| metric.inputs.iter().all(|(_, event)| is_there(*event)));
        if selection.listed.is_empty()
            && selection.metrics.is_empty()
            && let Some(error) = missing.first()
        {
            return Err(error.clone());
        }
        let places = header.instances.iter().zip(used).filter(|(_, used)| *used).map(|(place, _)| place);
        let instances = places
            .map(|place| {
                let unit = family.unit(&place.unit).ok_or_else(|| no_unit(header, family, &place.unit))?;
                Ok(Instance { socket: place.socket, unit, number: place.number, through: None })
            })
            .collect::<Result<_, _>>()?;
        Ok((Self { selection, instances, picks }, missing))
    }

    /// What is counted where, for [`results`](crate::results).
    pub fn layout(&self) -> Layout<'_> {
        // Of a socket in which nothing answered, a recording knows nothing.
        let mut looked_at: Vec<u16> = self.instances.iter().map(|instance| instance.socket).collect();
        looked_at.sort_unstable();
        looked_at.dedup();
        Layout { selection: &self.selection, instances: self.instances.clone(), looked_at }
    }

    /// A recorded sample in terms of the selection.
    #[must_use]
    pub fn of(&self, recorded: &Sample) -> Sample {
        let pick =
            |&(position, event): &(usize, usize)| Some(Count { event, ..recorded.counts.get(position)?.clone() });
        let counts = self.picks.iter().filter_map(pick).collect();
        Sample { counts, sockets: recorded.sockets.clone(), withdrawn: None, ..*recorded }
    }
}

fn no_unit(header: &Header, family: &Family, unit: &str) -> ViewError {
    ViewError::NoUnit { unit: unit.to_owned(), family: family.name, version: header.about.pericore.clone() }
}

/// The index of the recorded event that is the same count, or one of all instances where one is wanted.
fn find(header: &Header, wanted: &[Counted], event: usize) -> Result<usize, ViewError> {
    let event = &wanted[event];
    let same = |recorded: &&Counted| {
        recorded.unit == event.unit && same_source(&header.events, &recorded.source, wanted, &event.source)
    };
    let in_place = |instance: Option<u16>| {
        let mut known = header.events.iter().enumerate().filter(|(_, recorded)| recorded.instance == instance);
        known.find(|(_, recorded)| same(recorded)).map(|(index, _)| index)
    };
    if let Some(found) = in_place(event.instance).or_else(|| in_place(None)) {
        return Ok(found);
    }
    let namesake = header.events.iter().find(|recorded| recorded.label == event.label && recorded.unit == event.unit);
    Err(match namesake {
        Some(recorded) => ViewError::Differs {
            label: event.label.clone(),
            recorded: recorded.source.to_string(),
            here: event.source.to_string(),
            version: header.about.pericore.clone(),
        },
        None => not_recorded(header, event),
    })
}

/// True if both count the same; companions are compared by what they are, since their indexes are of different lists.
fn same_source(recorded: &[Counted], one: &Source, wanted: &[Counted], other: &Source) -> bool {
    let (
        Source::Programmed { control, filters, companion },
        Source::Programmed { control: c, filters: f, companion: o },
    ) = (one, other)
    else {
        return one == other;
    };
    // What a companion repeats is never itself such an event, so its own companion does not matter.
    let plain = |list: &[Counted], index: &Option<usize>| {
        let companion = index.and_then(|index| list.get(index))?;
        match &companion.source {
            Source::Programmed { control, filters, .. } => Some((companion.unit.clone(), *control, filters.clone())),
            _ => None,
        }
    };
    control == c && filters == f && plain(recorded, companion) == plain(wanted, o)
}

fn not_recorded(header: &Header, event: &Counted) -> ViewError {
    let labels: Vec<&str> = header.events.iter().take(NAMED).map(|recorded| recorded.label.as_str()).collect();
    let more = header.events.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    ViewError::NotRecorded { label: event.label.clone(), recorded: format!("{}{more}", labels.join(", ")) }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Programmed { control, filters, .. } => {
                write!(f, "control {control:#x}")?;
                filters.iter().try_for_each(|(field, value)| write!(f, ", {field} {value:#x}"))
            }
            Self::Fixed { register } => write!(f, "the fixed counter {register}"),
            Self::FreeRunning { register, member } => write!(f, "the free-running counter {register}[{member}]"),
        }
    }
}
