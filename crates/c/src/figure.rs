//! A figure of a region, with its validity.

use std::ffi::c_char;

use pericore_metrics::{Grade, Validity};

use crate::counting::RegionFigure;
use crate::text::{NAME_SIZE, TEXT_SIZE, fixed};

/// How far a figure can be trusted, best first. From `PERICORE_GRADE_WRAPPED_UNKNOWN` on there is no number.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureGrade {
    /// Counted all the time.
    Measured = 0,
    /// Counted part of the time, in turn with others, and scaled up.
    Scaled = 1,
    /// A number with a doubt: see the reason.
    Suspect = 2,
    /// No number: a counter may have wrapped more than once.
    WrappedUnknown = 3,
    /// No number: the quotient has none, or nothing was counted.
    NotDefined = 4,
    /// No number: the hardware gave none.
    Unreadable = 5,
}

impl From<Grade> for FigureGrade {
    fn from(grade: Grade) -> Self {
        match grade {
            Grade::Measured => Self::Measured,
            Grade::Scaled => Self::Scaled,
            Grade::Suspect => Self::Suspect,
            Grade::WrappedUnknown => Self::WrappedUnknown,
            Grade::NotDefined => Self::NotDefined,
            Grade::Unreadable => Self::Unreadable,
        }
    }
}

/// What was counted, or evaluated, while a region was open.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Figure {
    /// The value in `unit_of_measure`; `NAN` if there is no number.
    pub value: f64,
    /// Of an event the exact count; 0 for metrics, and if there is no number.
    pub count: u64,
    /// The standard error of a scaled value; `NAN` if it is not known, 0 for what was counted all the time.
    pub standard_error: f64,
    /// Seconds for which the region was open; virtual ones on a software machine.
    pub seconds: f64,
    /// The share of that time in which it was counted, above 0 and at most 1.
    pub duty: f64,
    /// How often the region was started.
    pub starts: u64,
    /// How far the value can be trusted.
    pub grade: FigureGrade,
    /// The event as it was asked for, or the metric.
    pub name: [c_char; NAME_SIZE],
    /// "events" for events; of metrics for example "B" or "B/s".
    pub unit_of_measure: [c_char; NAME_SIZE],
    /// Why the value is not plainly measured; empty if it is.
    pub reason: [c_char; TEXT_SIZE],
}

impl From<&RegionFigure> for Figure {
    fn from(figure: &RegionFigure) -> Self {
        let RegionFigure { name, unit_of_measure, value, count, validity, standard_error, seconds, starts } = figure;
        let grade = validity.grade();
        let exact = if *validity == Validity::MEASURED { 0.0 } else { f64::NAN };
        Self {
            value: value.filter(|_| grade.has_number()).unwrap_or(f64::NAN),
            count: count.filter(|_| grade.has_number()).unwrap_or(0),
            standard_error: standard_error.unwrap_or(exact),
            seconds: *seconds,
            duty: validity.duty(),
            starts: *starts,
            grade: grade.into(),
            name: fixed(name),
            unit_of_measure: fixed(unit_of_measure),
            reason: fixed(&if grade == Grade::Measured { String::new() } else { validity.to_string() }),
        }
    }
}
