//! What a family is: its documents, processors and clocks.

use serde::{Deserialize, Serialize};

use crate::{CpuModel, PciFunction, ProcessorPart, Unit, embedded};

/// A processor family whose uncore the catalogue describes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Family {
    /// Command-line name, for example `e5-2600`.
    pub name: &'static str,
    /// Other accepted names.
    #[serde(deserialize_with = "embedded::list")]
    pub aliases: &'static [&'static str],
    /// Product name.
    pub title: &'static str,
    /// Documents that `source` strings cite.
    #[serde(deserialize_with = "embedded::list")]
    pub documents: &'static [Document],
    /// CPUID identities.
    #[serde(deserialize_with = "embedded::list")]
    pub cpus: &'static [CpuModel],
    /// Clock domains that units count in.
    #[serde(deserialize_with = "embedded::list")]
    pub clocks: &'static [ClockDomain],
    /// Metrics that are counted when the user names none, as `unit/METRIC`.
    #[serde(deserialize_with = "embedded::list")]
    pub default_metrics: &'static [&'static str],
    /// Sets of metrics under a name.
    #[serde(deserialize_with = "embedded::list")]
    pub views: &'static [MetricView],
    /// The figures that a report begins with, in this order.
    #[serde(deserialize_with = "embedded::list")]
    pub summary: &'static [SummaryFigure],
    /// One of its processors as CPUID describes it, if that is known.
    pub processor: Option<ProcessorPart>,
    /// PCI functions of each socket's uncore bus that tools look for, or that a bus scan needs to find the others.
    #[serde(deserialize_with = "embedded::list")]
    pub stubs: &'static [PciFunction],
    /// The PCI function of each socket's first bus that leads to its discovery table, on families that have one.
    pub discovery: Option<PciFunction>,
    /// PMON units.
    #[serde(deserialize_with = "embedded::units")]
    pub units: &'static [&'static Unit],
    /// Sets of named values.
    #[serde(deserialize_with = "embedded::list")]
    pub value_sets: &'static [ValueSet],
}

/// A source document.
#[derive(Debug, Serialize, Deserialize)]
pub struct Document {
    /// Short form used in `source` strings.
    pub cite: &'static str,
    /// Title, date and order number.
    pub title: &'static str,
}

/// A clock that units count in.
#[derive(Debug, Serialize, Deserialize)]
pub struct ClockDomain {
    /// Name that [`Unit::clock`] refers to.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
}

/// Metrics that are read together, because they answer one question.
#[derive(Debug, Serialize, Deserialize)]
pub struct MetricView {
    /// Name, which stands for the metrics: `memory`.
    pub name: &'static str,
    /// What they tell, in a few words.
    pub title: &'static str,
    /// The metrics, as `unit/METRIC`.
    #[serde(deserialize_with = "embedded::list")]
    pub metrics: &'static [&'static str],
}

/// A figure that a report begins with, if its metric was counted.
#[derive(Debug, Serialize, Deserialize)]
pub struct SummaryFigure {
    /// What people call it: `reads`.
    pub label: &'static str,
    /// Its metric, as `unit/METRIC`.
    pub metric: &'static str,
    /// The metric that it cannot exceed, in the same unit of measure.
    pub of: Option<&'static str>,
}

/// A value with a name, for example an opcode.
#[derive(Debug, Serialize, Deserialize)]
pub struct NamedValue {
    /// Name as the guide prints it.
    pub name: &'static str,
    /// Value.
    pub value: u64,
    /// What it means.
    pub description: &'static str,
}

/// Named values of one kind.
#[derive(Debug, Serialize, Deserialize)]
pub struct ValueSet {
    /// Name.
    pub name: &'static str,
    /// Table.
    pub source: &'static str,
    /// Values.
    #[serde(deserialize_with = "embedded::list")]
    pub values: &'static [NamedValue],
}
