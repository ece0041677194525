//! Rows that cannot be used.

/// Why a row cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Not an object with values of the right kinds.
    #[error("the row does not read: {0}")]
    Unreadable(String),
    /// A key that must be there.
    #[error("the row has no {0}")]
    Missing(&'static str),
    /// An event of the cores.
    #[error("the row has no Unit: core events are not counted here")]
    CoreEvent,
    /// A unit that the family does not have.
    #[error("the family has no unit {0:?}")]
    UnknownUnit(String),
    /// The unit has no programmable counters.
    #[error("{0} has no programmable counters")]
    NoControl(String),
    /// A name that the event syntax could not take.
    #[error("the name has signs in it that event names cannot have")]
    BadName,
    /// Not a number.
    #[error("{key} is {value:?}, which is no number")]
    NotANumber {
        /// Key.
        key: &'static str,
        /// Value as it stands.
        value: String,
    },
    /// A number that does not fit the control register.
    #[error("{key} {value:#x} does not fit {unit}, {limit}")]
    DoesNotFit {
        /// Key.
        key: &'static str,
        /// Value.
        value: u64,
        /// Unit.
        unit: String,
        /// What would.
        limit: String,
    },
    /// A counter that the unit does not have.
    #[error("counter {value} is none of {unit}'s {count}")]
    NoCounter {
        /// Unit.
        unit: String,
        /// The counter as written.
        value: String,
        /// How many there are.
        count: u8,
    },
    /// A fixed or free-running counter.
    #[error("a fixed or free-running counter is no event to program; those of the family are built in")]
    NotProgrammable,
    /// An event for which the file also has subevents.
    #[error("{event} has subevents; count this with {event} and umask={umask:#x}")]
    BesideSubevents {
        /// Event.
        event: String,
        /// Its umask.
        umask: u8,
    },
    /// The file has the name already, for something else.
    #[error("the file has this name already, in line {0}, with another encoding; that row is used")]
    Twice(usize),
    /// A metric of the cores.
    #[error("it needs {0}, an event of the cores, which are not counted here")]
    CoreMetric(String),
    /// A metric of an event that nobody knows.
    #[error("it needs {0}, which the family does not have; give the file with its events too")]
    UnknownEvent(String),
    /// Something that a formula needs and that is not known here.
    #[error("it needs {0}, which is not known here")]
    UnknownConstant(String),
    /// Behind the colon of an event's name.
    #[error("{event} has the modifier {modifier:?}, which is not known here")]
    UnknownModifier {
        /// Event.
        event: String,
        /// Modifier.
        modifier: String,
    },
    /// A formula that does not parse.
    #[error("its formula does not read: {0}")]
    Formula(String),
    /// A subevent whose code differs from the event's.
    #[error("the code {code:#x} differs from {known:#x}, the code of {event}")]
    OtherCode {
        /// Event.
        event: String,
        /// The row's code.
        code: u16,
        /// The event's code.
        known: u16,
    },
}
