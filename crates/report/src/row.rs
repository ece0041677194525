//! What a measurement came to: rows ready for any output form.

use pericore_catalog::{Limit, Quantity, Side, SummaryFigure};
use pericore_metrics::{Grade, UnitOfMeasure, Value};

use crate::fewer::Answering;

/// A measurement, or one interval of it.
#[derive(Debug)]
pub struct Report {
    /// Seconds from the start to the end of this interval; `None` without `-I`.
    pub interval_end: Option<f64>,
    /// True if it is all intervals together, behind them.
    pub is_summary: bool,
    /// Length in seconds, the mean over sockets; of several runs the mean.
    pub seconds: f64,
    /// True if the counters stood for an unknown part of it, so that they ran for so long at most.
    pub stood: bool,
    /// The share of the time in which counters were paused besides, so that nothing was counted.
    pub paused: f64,
    /// True if it has been printed before, and these rows of it are in doubt by now.
    pub is_withdrawn: bool,
    /// Number of runs that it is the mean of; `None` for a single one.
    pub runs: Option<usize>,
    /// Events, then metrics, in the order that the user named them.
    pub rows: Vec<Row>,
    /// The figures that it begins with, where their metrics are among the rows.
    pub summary: &'static [SummaryFigure],
    /// The die, row by row: instances between spaces, a dot where nothing is; empty where it is not known.
    pub floorplan: &'static [&'static str],
}

/// One line.
#[derive(Debug)]
pub struct Row {
    /// Event or metric.
    pub name: String,
    /// Socket or instance, unless everything was added up.
    pub place: Option<Place>,
    /// The number and how far it can be trusted.
    pub value: Value,
    /// How long it was counted, in seconds: each socket has a length of its own. The mean over sockets and runs that
    /// are added up.
    pub seconds: f64,
    /// What a metric is measured in; `None` for an event's count.
    pub unit_of_measure: Option<UnitOfMeasure>,
    /// For a scaled number its standard error, in the row's unit of measure, if it can be told.
    pub standard_error: Option<f64>,
    /// For the mean of several runs its standard error, as a share of it.
    pub spread: Option<f64>,
    /// For a number of a sampled run its 95 % interval, in the row's unit of measure.
    pub interval: Option<[f64; 2]>,
    /// Of a sampled run for which an error was requested: the error, as a share of the number, and whether half of the
    /// interval is within it.
    pub requested: Option<(f64, bool)>,
    /// What the model knows, if it was asked for and the model knows it.
    pub truth: Option<f64>,
    /// Of a metric: from where on it tells a limit.
    pub limit: Option<Limit>,
    /// Of a metric: what kind of quantity it is.
    pub nature: Nature,
    /// Of how many instances it is the sum, if such a machine can have more.
    pub answering: Option<Answering>,
    /// How its counters were reached, on a real machine: `registers`, `kernel`, or of a metric `both`.
    pub through: Option<&'static str>,
}

/// What kind of quantity a metric is; of an event nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nature {
    /// Whether it adds up.
    pub quantity: Option<Quantity>,
    /// At which side its bytes are counted.
    pub side: Option<Side>,
    /// What this number weighs in a mean over time, unless as much as its time.
    pub weight: Option<f64>,
}

/// Where a row's number comes from.
#[derive(Debug, Clone)]
pub struct Place {
    /// Socket number.
    pub socket: u16,
    /// Instance, if rows are per instance: `cbo3`.
    pub instance: Option<String>,
    /// Instances that the number adds up.
    pub instances: usize,
}

impl Row {
    /// Difference to the truth in the row's unit of measure; `None` without truth or number.
    pub fn error(&self) -> Option<f64> {
        Some(self.value.number()? - self.truth?)
    }

    /// True if it tells a limit that is reached; `None` without a limit or number.
    pub fn reaches_limit(&self) -> Option<bool> {
        Some(self.limit?.is_reached(self.value.number()?))
    }

    /// What its number weighs in a mean over time: quotients of counts are added up, numerators and denominators apart.
    pub fn weight(&self) -> f64 {
        self.nature.weight.unwrap_or(self.seconds)
    }

    /// Its name, and at which side it counts.
    pub fn title(&self) -> String {
        match self.nature.side {
            None => self.name.clone(),
            Some(side) => format!("{} ({})", self.name, side.words()),
        }
    }

    /// What stands for a number that there is not.
    pub fn placeholder(&self) -> &'static str {
        placeholder(self.value.validity().grade(), self.unit_of_measure.is_some())
    }
}

/// What tests begin with.
#[cfg(test)]
impl Row {
    /// A row that was counted for a second, of everything together and without a unit of measure.
    pub(crate) fn named(name: &str, value: Value) -> Self {
        Self {
            name: name.to_owned(),
            place: None,
            value,
            seconds: 1.0,
            unit_of_measure: None,
            standard_error: None,
            spread: None,
            interval: None,
            requested: None,
            truth: None,
            limit: None,
            nature: Nature::default(),
            answering: None,
            through: None,
        }
    }
}

/// What tests begin with.
#[cfg(test)]
impl Report {
    /// A second with these rows.
    pub(crate) const fn of(rows: Vec<Row>) -> Self {
        Self {
            interval_end: None,
            is_summary: false,
            seconds: 1.0,
            stood: false,
            paused: 0.0,
            is_withdrawn: false,
            runs: None,
            rows,
            summary: &[],
            floorplan: &[],
        }
    }
}

/// What stands for a number that there is not, in perf's words; perf has none for a quotient that has no value.
pub const fn placeholder(grade: Grade, is_metric: bool) -> &'static str {
    match grade {
        Grade::Unreadable => "<not supported>",
        Grade::NotDefined if is_metric => "<not defined>",
        _ => "<not counted>",
    }
}

/// What stands behind a number that is not plainly measured, where there is no room for words.
pub const fn mark(grade: Grade) -> char {
    match grade {
        Grade::Measured => ' ',
        Grade::Scaled => '~',
        Grade::Suspect => '?',
        Grade::WrappedUnknown | Grade::NotDefined | Grade::Unreadable => NO_NUMBER,
    }
}

/// The mark where there is no number.
pub const NO_NUMBER: char = '!';

/// The mark of a limit that is reached.
pub const LIMIT: char = '^';

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "S{}", self.socket)?;
        match &self.instance {
            Some(instance) => write!(f, " {instance}"),
            None => Ok(()),
        }
    }
}
