//! What a family is: its documents, processors and clocks.

use super::Unit;

/// A processor family whose uncore the catalogue describes.
#[derive(Debug)]
pub struct Family {
    /// Command-line name, for example `e5-2600`.
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// Product name.
    pub title: &'static str,
    /// Documents that `source` strings cite.
    pub documents: &'static [Document],
    /// CPUID identities.
    pub cpus: &'static [CpuModel],
    /// Clock domains that units count in.
    pub clocks: &'static [ClockDomain],
    /// Metrics that are counted when the user names none, as `unit/METRIC`.
    pub default_metrics: &'static [&'static str],
    /// PMON units.
    pub units: &'static [&'static Unit],
    /// Sets of named values.
    pub value_sets: &'static [ValueSet],
}

/// A source document.
#[derive(Debug)]
pub struct Document {
    /// Short form used in `source` strings.
    pub cite: &'static str,
    /// Title, date and order number.
    pub title: &'static str,
}

/// A CPUID family and model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuModel {
    /// Display family.
    pub family: u16,
    /// Display model.
    pub model: u16,
}

/// A clock that units count in.
#[derive(Debug)]
pub struct ClockDomain {
    /// Name that [`Unit::clock`] refers to.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
}

/// A value with a name, for example an opcode.
#[derive(Debug)]
pub struct NamedValue {
    /// Name as the guide prints it.
    pub name: &'static str,
    /// Value.
    pub value: u64,
    /// What it means.
    pub description: &'static str,
}

/// Named values of one kind.
#[derive(Debug)]
pub struct ValueSet {
    /// Name.
    pub name: &'static str,
    /// Table.
    pub source: &'static str,
    /// Values.
    pub values: &'static [NamedValue],
}
