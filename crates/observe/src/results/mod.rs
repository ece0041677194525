//! Counts added up, and metrics evaluated, by instance, socket or system.

mod layout;
mod metrics;

use std::cell::OnceCell;
use std::collections::BTreeSet;

use pericore_metrics::{Validity, Value};

pub use layout::{Instance, Layout};
pub use metrics::{MetricTotal, metric_totals};

use crate::session::{Count, Length, Sample, Slices, at_end_of_range};

/// What to add up over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Nothing: each instance by itself.
    Instance,
    /// The instances of a socket.
    Socket,
    /// All.
    System,
}

/// A part of the machine that a number is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// The socket; none for the whole system.
    pub socket: Option<u16>,
    /// The instance; none if several are added up.
    pub instance: Option<u16>,
}

/// An event's count in a part of the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct EventTotal {
    /// Where.
    pub part: Part,
    /// The exact count; none if any of the counts in it has no number.
    pub count: Option<u64>,
    /// How far it can be trusted: everything that is to be said of any count in it.
    pub validity: Validity,
    /// Number of instances in it.
    pub instances: usize,
    /// How long it was counted: over several sockets the mean of theirs.
    pub length: Length,
    /// For a scaled count its standard error; none if nothing can be said.
    pub standard_error: Option<f64>,
}

impl EventTotal {
    /// The count as a number to compute with.
    pub fn value(&self) -> Value {
        match self.count {
            #[expect(clippy::cast_precision_loss, reason = "metrics are computed in f64; `count` stays exact")]
            Some(count) => Value::new(count as f64, self.validity.clone()),
            None => Value::missing(self.validity.clone()),
        }
    }
}

impl Scope {
    /// The part of the machine that an instance belongs to.
    pub const fn part(self, socket: u16, instance: u16) -> Part {
        match self {
            Self::Instance => Part { socket: Some(socket), instance: Some(instance) },
            Self::Socket => Part { socket: Some(socket), instance: None },
            Self::System => Part { socket: None, instance: None },
        }
    }

    fn part_of(self, count: &Count) -> Part {
        self.part(count.socket, count.instance)
    }
}

/// The counts of one event (an index in the selection's events), added up by `scope`; parts in ascending order.
pub fn event_totals(sample: &Sample, event: usize, scope: Scope) -> Vec<EventTotal> {
    let counts: Vec<&Count> = sample.counts.iter().filter(|count| count.event == event).collect();
    added_up(sample, &counts, scope)
}

/// The counts of a sample, added up by a scope: of each event when it is first wanted, and once, however many metrics
/// want it.
#[derive(Debug)]
pub struct Totals<'a> {
    sample: &'a Sample,
    scope: Scope,
    events: Vec<EventCounts<'a>>,
}

/// The counts of an event.
#[derive(Debug, Default)]
struct EventCounts<'a> {
    counts: Vec<&'a Count>,
    totals: OnceCell<Vec<EventTotal>>,
}

impl<'a> Totals<'a> {
    /// Of a sample.
    pub fn of(sample: &'a Sample, scope: Scope) -> Self {
        let mut events: Vec<EventCounts<'a>> = Vec::new();
        for count in &sample.counts {
            if events.len() <= count.event {
                events.resize_with(count.event + 1, EventCounts::default);
            }
            events[count.event].counts.push(count);
        }
        Self { sample, scope, events }
    }

    /// Of one event (an index in the selection's events); parts in ascending order.
    pub fn event(&self, event: usize) -> &[EventTotal] {
        let Some(EventCounts { counts, totals }) = self.events.get(event) else { return &[] };
        totals.get_or_init(|| added_up(self.sample, counts, self.scope))
    }

    /// What is added up over.
    pub const fn scope(&self) -> Scope {
        self.scope
    }

    /// The sample.
    pub const fn sample(&self) -> &'a Sample {
        self.sample
    }
}

/// The counts of one event, added up.
fn added_up(sample: &Sample, counts: &[&Count], scope: Scope) -> Vec<EventTotal> {
    let mut totals: Vec<(EventTotal, Errors)> = Vec::new();
    for count in counts {
        let part = scope.part_of(count);
        // In order as counts mostly come: a unit of hundreds of instances must not be searched for each of them.
        match totals.binary_search_by_key(&part, |(total, _)| total.part) {
            Ok(at) => {
                let (total, errors) = &mut totals[at];
                total.count = total.count.zip(count.count).map(|(a, b)| a.saturating_add(b));
                total.validity = std::mem::take(&mut total.validity).and(&count.validity);
                total.instances += 1;
                errors.add(count, sample);
            }
            Err(at) => {
                let (count_here, validity) = (count.count, count.validity.clone());
                let length = match part.socket {
                    Some(socket) => sample.length_in(socket),
                    None => sample.length_over(counts.iter().map(|count| count.socket).collect::<BTreeSet<_>>()),
                };
                let total =
                    EventTotal { part, count: count_here, validity, instances: 1, length, standard_error: None };
                let mut errors = Errors::default();
                errors.add(count, sample);
                totals.insert(at, (total, errors));
            }
        }
    }
    let finish = |(mut total, errors): (EventTotal, Errors)| {
        total.standard_error = total.count.and_then(|_| errors.standard_error());
        total.validity = total.validity.and(&at_end_of_range(total.count));
        total
    };
    totals.into_iter().map(finish).collect()
}

/// The total of a part, among those of one event.
pub(crate) fn total_in(totals: &[EventTotal], part: Part) -> Option<&EventTotal> {
    totals.binary_search_by_key(&part, |total| total.part).ok().map(|at| &totals[at])
}

/// The errors of counts in the making of their sum.
#[derive(Default)]
struct Errors {
    /// What ran at the same times is added up part by part: its errors go together. With the seconds that it stands for.
    sums: Vec<(Slices, f64)>,
    /// True if some count's error is not known.
    unknown: bool,
}

impl Errors {
    fn add(&mut self, count: &Count, sample: &Sample) {
        if count.slices.is_empty() {
            return;
        }
        self.unknown |= count.standard_error.is_none();
        let together = self.sums.iter_mut().find_map(|(sum, _)| {
            let added = sum.beside(&count.slices)?;
            *sum = added;
            Some(())
        });
        if together.is_none() {
            self.sums.push((count.slices.clone(), sample.length_in(count.socket).seconds));
        }
    }

    /// Nothing if no count is scaled, or if an error is not known. Errors of what ran at different times are added up: that they
    /// cancel out cannot be relied on.
    fn standard_error(&self) -> Option<f64> {
        if self.unknown || self.sums.is_empty() {
            return None;
        }
        self.sums.iter().map(|(sum, seconds)| sum.standard_error(*seconds)).sum()
    }
}

#[cfg(test)]
mod tests;
