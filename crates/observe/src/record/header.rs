//! The first line: what was measured, and what the numbers of the samples refer to.

use std::collections::BTreeMap;

use crate::plan::Plan;
use crate::selection::{Asked, EventSource, SelectedEvent};

/// What is to be known of a recording before its samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Machine and program or workload, and what there is to say of the file.
    pub about: About,
    /// The family's name.
    pub family: String,
    /// The texts that make the selection again.
    pub asked: Vec<Asked>,
    /// What was counted.
    pub events: Vec<Counted>,
    /// The instances that counted something.
    pub instances: Vec<Place>,
    /// What the numbers of a sample are, in their order: indexes in `events` and `instances`.
    pub counts: Vec<(usize, usize)>,
    /// Hardware threads of a core, if the metrics depend on it.
    pub threads_per_core: Option<u16>,
}

/// What a recording says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// The version of pericore that wrote it.
    pub pericore: String,
    /// Machine and program or workload in words; of an emulated machine they begin with EMULATED.
    pub title: String,
    /// The software machine's preset, if it was one.
    pub emulated: Option<String>,
    /// When it began, UTC, as in RFC 3339; none in virtual time, which begins anew with each run.
    pub started: Option<String>,
    /// The machine's name in its network; none of a software machine, so that the same seed gives the same file.
    pub host: Option<String>,
    /// The event files that had a part in the selection.
    pub event_files: Vec<String>,
    /// True if the model's own counts are recorded as well.
    pub truth: bool,
}

/// A recorded event: enough to notice that another catalogue means something else by the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// `unit/EVENT.SUBEVENT,key=value/`.
    pub label: String,
    /// The unit's name.
    pub unit: String,
    /// The only instance that counted it, or all.
    pub instance: Option<u16>,
    /// What the count comes from.
    pub source: Source,
}

/// What a count came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A programmable counter.
    Programmed {
        /// Value of the control register, without the enable bit.
        control: u64,
        /// Filter fields, `register.field`, and their values.
        filters: BTreeMap<String, u64>,
        /// Index of the event that was on counter 0 at the same time.
        companion: Option<usize>,
    },
    /// The unit's fixed counter.
    Fixed {
        /// Its register.
        register: String,
    },
    /// A free-running counter.
    FreeRunning {
        /// The counters' register array.
        register: String,
        /// Member of the array.
        member: u8,
    },
}

/// An instance that counted something.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// Socket.
    pub socket: u16,
    /// The unit's name.
    pub unit: String,
    /// Instance within the socket.
    pub number: u16,
}

impl Header {
    /// The header of what a plan counts.
    pub fn new(about: About, plan: &Plan) -> Self {
        let selection = &plan.selection;
        let (mut instances, mut counts) = (Vec::new(), Vec::new());
        for socket in &plan.sockets {
            for instance in &socket.instances {
                let events = instance.events();
                if events.is_empty() {
                    continue;
                }
                counts.extend(events.into_iter().map(|event| (event, instances.len())));
                let unit = instance.unit.name.to_owned();
                instances.push(Place { socket: socket.socket, unit, number: instance.number });
            }
        }
        Self {
            about,
            family: selection.family.name.to_owned(),
            asked: selection.asked.clone(),
            events: selection.events.iter().map(Counted::from).collect(),
            instances,
            counts,
            threads_per_core: selection.threads_per_core,
        }
    }
}

impl From<&SelectedEvent> for Counted {
    fn from(event: &SelectedEvent) -> Self {
        let source = match &event.source {
            EventSource::Programmed(programming) => Source::Programmed {
                control: programming.control,
                filters: programming
                    .filters
                    .iter()
                    .map(|filter| (format!("{}.{}", filter.register.name, filter.field.name), filter.value))
                    .collect(),
                companion: programming.companion,
            },
            EventSource::Fixed(register) => Source::Fixed { register: register.name.to_owned() },
            EventSource::FreeRunning { register, member } => {
                Source::FreeRunning { register: register.name.to_owned(), member: *member }
            }
        };
        Self { label: event.label.clone(), unit: event.unit.name.to_owned(), instance: event.instance, source }
    }
}
