//! What to count: from the user's words to events with complete control values.
//!
//! [`Selection::add_events`] reads the event syntax, [`Selection::add_metrics`] adds metrics and the events that they
//! need. Equal events are counted once.

mod error;
mod metric;
mod names;
mod part;
mod pattern;
mod programming;
mod resolve;
mod settings;
mod syntax;

pub use error::{Problem, Selectable, SelectionError};
pub use metric::{LIMITS, SelectedMetric};
pub use part::SelectionPart;
use pericore_catalog::{Event, Family, Field, Measure, Register, Role, Subevent, Unit};

/// Events and metrics of a family, ready to be planned.
#[derive(Debug, Clone)]
pub struct Selection {
    /// The family.
    pub family: &'static Family,
    /// Each count that is needed, once.
    pub events: Vec<SelectedEvent>,
    /// The events that the user named, in that order.
    pub listed: Vec<Listed>,
    /// The metrics that the user named, in that order.
    pub metrics: Vec<SelectedMetric>,
    /// The texts that all this came from, in the order of adding: [`Selection::again`] makes the same of them.
    pub asked: Vec<Asked>,
    /// Hardware threads of a core, which some formulas depend on; none where no metric needs to know.
    pub threads_per_core: Option<u16>,
    /// Each event is counted on every counter that may take it and that no event before it has taken, instead of on
    /// one: for who looks at counters themselves.
    pub on_every_counter: bool,
}

/// A text that was added to a selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// By [`Selection::add_events`].
    Events(String),
    /// By [`Selection::add_metrics`].
    Metrics(String),
}

/// An event as the user named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The user's name for it, or what the user wrote.
    pub label: String,
    /// Index into [`Selection::events`].
    pub event: usize,
    /// Number of the `{}` group.
    pub group: Option<usize>,
}

/// A count: what, and in which instances.
#[derive(Debug, Clone)]
pub struct SelectedEvent {
    /// `unit/EVENT.SUBEVENT,key=value/`.
    pub label: String,
    /// The unit.
    pub unit: &'static Unit,
    /// The only instance to count in, or all.
    pub instance: Option<u16>,
    /// What is counted.
    pub source: EventSource,
}

/// What a count comes from.
#[derive(Debug, Clone)]
pub enum EventSource {
    /// A programmable counter.
    Programmed(Programming),
    /// The unit's fixed counter.
    Fixed(&'static Register),
    /// A free-running counter, which is only read.
    FreeRunning {
        /// The counters' register array.
        register: &'static Register,
        /// Member of the array.
        member: u8,
    },
}

/// How a programmable counter is set up.
#[derive(Debug, Clone)]
pub struct Programming {
    /// Value of the control register, without the enable bit.
    pub control: u64,
    /// Counters that can take it, as a bit mask.
    pub counters: u16,
    /// Filter fields and the values that the event needs in them.
    pub filters: Vec<FilterSetting>,
    /// The event, unless it was given by number and the catalogue does not know it.
    pub event: Option<&'static Event>,
    /// The subevent.
    pub subevent: Option<&'static Subevent>,
    /// Index in [`Selection::events`] of the event that must be on counter 0 at the same time.
    pub companion: Option<usize>,
}

/// A filter field and the value that an event needs in it.
#[derive(Debug, Clone, Copy)]
pub struct FilterSetting {
    /// The filter register.
    pub register: &'static Register,
    /// The field.
    pub field: &'static Field,
    /// The value.
    pub value: u64,
}

impl PartialEq for FilterSetting {
    fn eq(&self, other: &Self) -> bool {
        self.field.id == other.field.id && self.value == other.value
    }
}

impl SelectedEvent {
    /// The programming, for an event of a programmable counter.
    pub const fn programming(&self) -> Option<&Programming> {
        match &self.source {
            EventSource::Programmed(programming) => Some(programming),
            _ => None,
        }
    }

    /// True if both are the same count.
    fn same_count(&self, other: &Self) -> bool {
        let same_source = match (&self.source, &other.source) {
            (EventSource::Programmed(a), EventSource::Programmed(b)) => a.same_as(b),
            (EventSource::Fixed(a), EventSource::Fixed(b)) => a.id == b.id,
            (
                EventSource::FreeRunning { register: a, member: i },
                EventSource::FreeRunning { register: b, member: j },
            ) => a.id == b.id && i == j,
            _ => false,
        };
        same_source && self.unit.id == other.unit.id && self.instance == other.instance
    }

    fn measure(&self) -> Option<Measure> {
        self.programming()?.event.map(|event| event.measure)
    }
}

impl Programming {
    /// True if the control value is that of a catalogue row and nothing else.
    fn is_plain(&self) -> bool {
        let config = self.subevent.map(|subevent| subevent.config).or(self.event.map(|event| event.config));
        config == Some(self.control)
    }

    /// True if one counter can serve both.
    pub fn same_as(&self, other: &Self) -> bool {
        self.control == other.control
            && self.companion == other.companion
            && self.filters.len() == other.filters.len()
            && self.filters.iter().all(|filter| other.filters.contains(filter))
    }
}

impl Selection {
    /// Nothing yet.
    pub const fn new(family: &'static Family) -> Self {
        Self {
            family,
            events: Vec::new(),
            listed: Vec::new(),
            metrics: Vec::new(),
            asked: Vec::new(),
            threads_per_core: None,
            on_every_counter: false,
        }
    }

    /// What the texts of another selection come to in this family.
    ///
    /// # Errors
    /// [`SelectionError`], if the family does not know what they name.
    pub fn again(family: &'static Family, asked: &[Asked]) -> Result<Self, SelectionError> {
        let mut selection = Self::new(family);
        for asked in asked {
            match asked {
                Asked::Events(text) => selection.add_events(text)?,
                Asked::Metrics(text) => selection.add_metrics(text)?,
            }
        }
        Ok(selection)
    }

    /// Adds events: `unit/EVENT.SUBEVENT,key=value/`, `unit3/…/` for one instance, `{…}` groups, bare `EVENT.SUBEVENT`,
    /// Intel's `UNC_…` names, perf's `uncore_imc_0/event=0x4,umask=0x3/`; separated by commas.
    /// `unit/CAS_*/` stands for all events whose names fit.
    ///
    /// # Errors
    /// [`SelectionError`], which points at the place. Nothing is added then.
    pub fn add_events(&mut self, text: &str) -> Result<(), SelectionError> {
        let counts = |event: &str| Self::new(self.family).add_events(event).is_ok();
        let text = &*pattern::expand(self.family, text, counts)?;
        let written = syntax::parse(text)?;
        let first_group = self.listed.iter().filter_map(|listed| listed.group).max().map_or(0, |group| group + 1);
        let mut grown = self.clone();
        let mut added: Vec<Option<usize>> = Vec::new();
        let mut resolved = Vec::new();
        for event in &written {
            let (selected, name) = resolve::resolve(grown.family, text, event)?;
            // What repeats another counter waits until that one is known.
            let waits = selected.measure() == Some(Measure::Counter0);
            added.push(if waits { None } else { Some(grown.add(selected.clone())) });
            resolved.push((selected, name));
        }
        for (at, (mut selected, name)) in resolved.into_iter().enumerate() {
            let event = &written[at];
            let group = event.group;
            let index = match added[at] {
                Some(index) => index,
                None => {
                    let together = (0..written.len()).filter(|&other| group.is_some() && written[other].group == group);
                    let group_members: Vec<usize> = together.filter_map(|other| added[other]).collect();
                    grown
                        .give_companion(&mut selected, &group_members)
                        .map_err(|problem| event.whole.refuse(text, problem))?;
                    grown.add(selected)
                }
            };
            let label = name.unwrap_or_else(|| event.whole.text.to_owned());
            grown.listed.push(Listed { label, event: index, group: group.map(|group| first_group + group) });
        }
        grown.asked.push(Asked::Events(text.to_owned()));
        *self = grown;
        Ok(())
    }

    /// True if a unit is needed for some event: what discovery has to look for.
    pub fn uses(&self, unit: &Unit) -> bool {
        self.events.iter().any(|event| event.unit.id == unit.id)
    }

    /// The index of the count, which is added unless an equal one is there.
    fn add(&mut self, event: SelectedEvent) -> usize {
        if let Some(index) = self.events.iter().position(|known| known.same_count(&event)) {
            return index;
        }
        self.events.push(event);
        self.events.len() - 1
    }

    /// Finds the event that `event` repeats: among `together` if any of them will do, else among all occupancies.
    fn give_companion(&self, event: &mut SelectedEvent, together: &[usize]) -> Result<(), Problem> {
        let fits = |index: &usize| {
            let other = &self.events[*index];
            let same_place = other.instance.is_none() || other.instance == event.instance;
            other.unit.id == event.unit.id && same_place && other.measure().is_some_and(|m| m != Measure::Counter0)
        };
        let is_occupancy = |index: &usize| self.events[*index].measure() == Some(Measure::Occupancy);
        let near: Vec<usize> = together.iter().copied().filter(fits).collect();
        let near_occupancies: Vec<usize> = near.iter().copied().filter(is_occupancy).collect();
        let all: Vec<usize> = (0..self.events.len()).filter(|index| fits(index) && is_occupancy(index)).collect();
        let candidates =
            [near_occupancies, near, all].into_iter().find(|candidates| !candidates.is_empty()).unwrap_or_default();
        let EventSource::Programmed(programming) = &mut event.source else { return Ok(()) };
        let name = programming.event.map_or("the event", |event| event.name);
        match candidates[..] {
            [only] => programming.companion = Some(only),
            [] => return Err(Problem::NoCompanion { event: name, what: "no event for it is chosen" }),
            _ => return Err(Problem::NoCompanion { event: name, what: "several events could be meant" }),
        }
        Ok(())
    }
}

/// The unit's control register.
fn control_register(unit: &'static Unit) -> Option<&'static Register> {
    unit.register(Role::Control)
}

#[cfg(test)]
mod part_tests;
#[cfg(test)]
mod programming_tests;
#[cfg(test)]
mod tests;
