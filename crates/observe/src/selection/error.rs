//! What can be wrong with a request, each with the place in the user's text.

use pericore_catalog::search::did_you_mean;
use pericore_metrics::{ParseError, Spot};

/// A request that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct SelectionError {
    /// Where.
    pub spot: Box<Spot>,
    /// What.
    pub problem: Box<Problem>,
}

impl SelectionError {
    pub(super) fn new(spot: Spot, problem: Problem) -> Self {
        Self { spot: Box::new(spot), problem: Box::new(problem) }
    }

    /// The user's text, and below it carets under the place.
    pub fn caret(&self) -> String {
        self.spot.caret()
    }
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The text does not fit the syntax.
    #[error("expected {expected}, found {found}")]
    Syntax {
        /// What would have been right.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// perf's modifiers of what cores count.
    #[error(
        "no modifier {modifier:?} here: the uncore counts for everybody and in every mode, and a group is counted together or \
         refused; leave it out"
    )]
    Modifier {
        /// From the colon on.
        modifier: String,
    },
    /// No such unit.
    #[error("{family} has no unit {name:?}{}; its units are {units}", did_you_mean(.nearest))]
    UnknownUnit {
        /// Family.
        family: &'static str,
        /// Name as written.
        name: String,
        /// Names like it.
        nearest: Vec<String>,
        /// All units.
        units: String,
    },
    /// An event that is none of a PMU of free-running counters.
    #[error("{unit}'s free-running counters are read and not programmed; name one of them: {known}")]
    NotFreeRunning {
        /// Unit.
        unit: &'static str,
        /// The counters' names.
        known: String,
    },
    /// No such event.
    #[error("{place} has no event {name:?}{}", hint_or(.nearest, "pericore list"))]
    UnknownEvent {
        /// Unit or family.
        place: &'static str,
        /// Name as written.
        name: String,
        /// Names like it.
        nearest: Vec<String>,
    },
    /// No such subevent.
    #[error("{event} has no subevent {name:?}{}; it has {subevents}", did_you_mean(.nearest))]
    UnknownSubevent {
        /// Event.
        event: &'static str,
        /// Name as written.
        name: String,
        /// Names like it.
        nearest: Vec<String>,
        /// All subevents.
        subevents: String,
    },
    /// The event counts nothing without a subevent.
    #[error("{event} needs a subevent or a umask; it has {subevents}")]
    NeedsSubevent {
        /// Event.
        event: &'static str,
        /// All subevents.
        subevents: String,
    },
    /// Several units have the event.
    #[error("{name} is {kind} of {units}; put the unit in front, such as {example}")]
    Ambiguous {
        /// Name as written.
        name: String,
        /// What it is: an event or a metric.
        kind: Selectable,
        /// The units.
        units: String,
        /// How to write it.
        example: String,
    },
    /// An event where a metric is wanted, or the other way round.
    #[error("{name} is {kind}, not {}: select it with {example}", .kind.other())]
    OtherKind {
        /// Name as written.
        name: String,
        /// What it is.
        kind: Selectable,
        /// How to select it.
        example: String,
    },
    /// A unit without an event.
    #[error("no event is chosen; name one first, or give event= or config=")]
    NoEvent,
    /// Two events between one pair of slashes.
    #[error("one event is chosen already; write a second one apart, separated by a comma after the \"/\"")]
    SecondEvent,
    /// No such key.
    #[error("{unit} has no field or filter {key:?}{}; its keys are {keys}", did_you_mean(.nearest))]
    UnknownKey {
        /// Unit.
        unit: &'static str,
        /// Key as written.
        key: String,
        /// Keys like it.
        nearest: Vec<String>,
        /// All keys.
        keys: String,
    },
    /// A field that the session itself sets.
    #[error("{key} is set by the session itself; leave it out")]
    SessionKey {
        /// Key.
        key: String,
    },
    /// A filter that the event does not take.
    #[error("{event} does not take the filter {key}; {allowed}")]
    FilterNotTaken {
        /// Event.
        event: String,
        /// Filter field.
        key: String,
        /// What it takes.
        allowed: String,
    },
    /// A filter that the event counts nothing useful without.
    #[error("{event} needs the filter {field}; add {example}")]
    NeedsFilter {
        /// Event.
        event: String,
        /// Filter field.
        field: &'static str,
        /// For example.
        example: String,
    },
    /// The value is neither a number nor a name that the field knows.
    #[error("{field} has no value {value:?}{}; write a number{names}", did_you_mean(.nearest))]
    UnknownValue {
        /// Field.
        field: String,
        /// Value as written.
        value: String,
        /// Names like it.
        nearest: Vec<String>,
        /// Examples of names.
        names: String,
    },
    /// The value does not fit the field.
    #[error("{value:#x} does not fit {field}, which holds at most {max:#x}")]
    TooLarge {
        /// Field.
        field: String,
        /// Value.
        value: u64,
        /// Largest value.
        max: u64,
    },
    /// A raw control value with bits that are not the user's.
    #[error(
        "config={value:#x} sets bits {bits:#x} of the control register of {unit}, which are reserved or the session's; clear them"
    )]
    ForbiddenBits {
        /// Unit.
        unit: &'static str,
        /// Value.
        value: u64,
        /// The bits.
        bits: u64,
    },
    /// A field set twice with different values.
    #[error("{field} is set to {first:#x} and to {second:#x}; keep one")]
    Contradiction {
        /// Field.
        field: String,
        /// One value.
        first: u64,
        /// The other.
        second: u64,
    },
    /// No such instance in any socket of the family.
    #[error("{unit} has {count} instances in a socket, numbered from 0; {number} is too high")]
    NoSuchInstance {
        /// Unit.
        unit: &'static str,
        /// Instances.
        count: u16,
        /// Number as written.
        number: u64,
    },
    /// No such metric.
    #[error("{place} has no metric {name:?}{}", hint_or(.nearest, "pericore list --metrics"))]
    UnknownMetric {
        /// Unit or family.
        place: &'static str,
        /// Name as written.
        name: String,
        /// Names like it.
        nearest: Vec<String>,
    },
    /// A metric's expression does not parse.
    #[error("the expression does not parse: {0}")]
    Expression(ParseError),
    /// Something in a metric's expression.
    #[error("metric {metric} = {expression}: {}", in_metric(.metric, .problem))]
    InMetric {
        /// Metric.
        metric: String,
        /// Its expression.
        expression: String,
        /// What is wrong in it.
        problem: Box<Problem>,
    },
    /// Metrics that refer to each other, or too many levels of them.
    #[error("metric {metric} refers to itself, or nests too deep; write it in terms of events")]
    MetricTooDeep {
        /// Metric.
        metric: String,
    },
    /// COUNTER0_OCCUPANCY and the like without the event whose increments they repeat.
    #[error(
        "{event} repeats what counter 0 counts; {what}: put it in a group with that event, such as {{unit/EVENT/,unit/{event}/}}"
    )]
    NoCompanion {
        /// Event.
        event: &'static str,
        /// What was found instead of one companion.
        what: &'static str,
    },
}

/// What a name can stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selectable {
    /// An event, which `-e` selects.
    Event,
    /// A metric, which `-M` selects.
    Metric,
}

impl Selectable {
    const fn other(self) -> Self {
        match self {
            Self::Event => Self::Metric,
            Self::Metric => Self::Event,
        }
    }
}

impl std::fmt::Display for Selectable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Event => "an event",
            Self::Metric => "a metric",
        })
    }
}

fn hint_or(nearest: &[String], list: &str) -> String {
    if nearest.is_empty() { format!("; `{list}` shows all") } else { did_you_mean(nearest) }
}

/// A metric takes what its events lack in braces behind its own name.
fn in_metric(metric: &str, problem: &Problem) -> String {
    match problem {
        Problem::NeedsFilter { event, field, example } => {
            format!("{event} needs the filter {field}; write '{metric}{{{example}}}'")
        }
        problem => problem.to_string(),
    }
}
