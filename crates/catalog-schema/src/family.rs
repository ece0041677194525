//! What a family is: its documents, processors and clocks.

use serde::{Deserialize, Serialize};

use crate::{CpuModel, PciFunction, ProcessorPart, Unit, embedded};

/// A processor family whose uncore the catalogue describes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Family<'c> {
    /// Command-line name, for example `e5-2600`.
    pub name: &'c str,
    /// Other accepted names.
    #[serde(deserialize_with = "embedded::list")]
    pub aliases: &'c [&'c str],
    /// Product name.
    pub title: &'c str,
    /// Documents that `source` strings cite.
    #[serde(deserialize_with = "embedded::list")]
    pub documents: &'c [Document<'c>],
    /// CPUID identities.
    #[serde(deserialize_with = "embedded::list")]
    pub cpus: &'c [CpuModel],
    /// Clock domains that units count in.
    #[serde(deserialize_with = "embedded::list")]
    pub clocks: &'c [ClockDomain<'c>],
    /// Metrics that are counted when the user names none, as `unit/METRIC`.
    #[serde(deserialize_with = "embedded::list")]
    pub default_metrics: &'c [&'c str],
    /// Sets of metrics under a name.
    #[serde(deserialize_with = "embedded::list")]
    pub views: &'c [MetricView<'c>],
    /// The figures that a report begins with, in this order.
    #[serde(deserialize_with = "embedded::list")]
    pub summary: &'c [SummaryFigure<'c>],
    /// Where unit instances are on the die, row by row: names of instances with spaces between, `.` for other parts.
    /// Empty where that is not known.
    #[serde(deserialize_with = "embedded::list")]
    pub floorplan: &'c [&'c str],
    /// One of its processors as CPUID describes it, if that is known.
    pub processor: Option<ProcessorPart<'c>>,
    /// PCI functions of each socket's uncore bus that tools look for, or that a bus scan needs to find the others.
    #[serde(deserialize_with = "embedded::list")]
    pub stubs: &'c [PciFunction<'c>],
    /// The PCI function of each socket's first bus that leads to its discovery table, on families that have one.
    pub discovery: Option<PciFunction<'c>>,
    /// PMON units.
    #[serde(deserialize_with = "embedded::units")]
    pub units: &'c [&'c Unit<'c>],
    /// Sets of named values.
    #[serde(deserialize_with = "embedded::list")]
    pub value_sets: &'c [ValueSet<'c>],
}

/// A source document.
#[derive(Debug, Serialize, Deserialize)]
pub struct Document<'c> {
    /// Short form used in `source` strings.
    pub cite: &'c str,
    /// Title, date and order number.
    pub title: &'c str,
}

/// A clock that units count in.
#[derive(Debug, Serialize, Deserialize)]
pub struct ClockDomain<'c> {
    /// Name that [`Unit::clock`] refers to.
    pub name: &'c str,
    /// What it is.
    pub description: &'c str,
}

/// Metrics that are read together, because they answer one question.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct MetricView<'c> {
    /// Name, which stands for the metrics: `memory`.
    pub name: &'c str,
    /// What they tell, in a few words.
    pub title: &'c str,
    /// The metrics, as `unit/METRIC`.
    #[serde(deserialize_with = "embedded::list")]
    pub metrics: &'c [&'c str],
}

/// A figure that a report begins with, if its metric was counted.
#[derive(Debug, Serialize, Deserialize)]
pub struct SummaryFigure<'c> {
    /// What people call it: `reads`.
    pub label: &'c str,
    /// Its metric, as `unit/METRIC`.
    pub metric: &'c str,
    /// The metric that it cannot exceed, in the same unit of measure.
    pub of: Option<&'c str>,
}

/// A value with a name, for example an opcode.
#[derive(Debug, Serialize, Deserialize)]
pub struct NamedValue<'c> {
    /// Name as the guide prints it.
    pub name: &'c str,
    /// Value.
    pub value: u64,
    /// What it means.
    pub description: &'c str,
}

/// Named values of one kind.
#[derive(Debug, Serialize, Deserialize)]
pub struct ValueSet<'c> {
    /// Name.
    pub name: &'c str,
    /// Table.
    pub source: &'c str,
    /// Values.
    #[serde(deserialize_with = "embedded::list")]
    pub values: &'c [NamedValue<'c>],
}
