//! Families as Linux's own driver offers them: PMUs, and what selects an event there.

use pericore_registers::BitRange;
use serde::{Deserialize, Serialize};

use crate::{CpuModel, Document, MetricView, embedded};

/// A family's PMUs and events, as Intel's event files and the kernel's driver have them.
#[derive(Debug, Serialize, Deserialize)]
pub struct KernelFamily<'c> {
    /// Command-line name, for example `ice-lake`; that of a family with registers, where it is one.
    pub name: &'c str,
    /// Intel's short code, for example `icx`.
    pub code: &'c str,
    /// Other accepted names.
    #[serde(deserialize_with = "embedded::list")]
    pub aliases: &'c [&'c str],
    /// Product name; empty for a family with registers, which has its own.
    pub title: &'c str,
    /// What the headers of Intel's files call it.
    pub header: &'c str,
    /// Intel's files that the events come from: names, and versions with dates.
    #[serde(deserialize_with = "embedded::list")]
    pub documents: &'c [Document<'c>],
    /// CPUID identities; none for a family with registers, which has its own.
    #[serde(deserialize_with = "embedded::list")]
    pub cpus: &'c [KernelCpu],
    /// Metrics that are counted if nothing is named.
    #[serde(deserialize_with = "embedded::list")]
    pub default_metrics: &'c [&'c str],
    /// Metrics.
    #[serde(deserialize_with = "embedded::list")]
    pub metrics: &'c [KernelMetric<'c>],
    /// Metrics that are read together, as far as the family has them.
    #[serde(deserialize_with = "embedded::list")]
    pub views: &'c [MetricView<'c>],
    /// Where the metrics come from.
    pub metrics_source: &'c str,
    /// Units.
    #[serde(deserialize_with = "embedded::list")]
    pub units: &'c [KernelUnit<'c>],
}

/// A metric, as Intel's files have it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct KernelMetric<'c> {
    /// Name.
    pub name: &'c str,
    /// Unit of measure, in Intel's words.
    pub unit_of_measure: &'c str,
    /// Formula over letters.
    pub formula: &'c str,
    /// Letters, and the event that each stands for.
    #[serde(deserialize_with = "embedded::list")]
    pub events: &'c [(&'c str, &'c str)],
    /// Letters, and the constant that each stands for.
    #[serde(deserialize_with = "embedded::list")]
    pub constants: &'c [(&'c str, &'c str)],
}

/// A CPUID identity. Two families differ in the stepping alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelCpu {
    /// Display family and model.
    pub model: CpuModel,
    /// The first and last stepping, 0 to 15.
    pub steppings: (u8, u8),
}

/// A kind of unit.
#[derive(Debug, Serialize, Deserialize)]
pub struct KernelUnit<'c> {
    /// Command-line name, for example `cha`.
    pub name: &'c str,
    /// What it is.
    pub title: &'c str,
    /// Name in Intel's event files, for example `UPI LL`.
    pub intel_unit: &'c str,
    /// How the names of its events begin in Intel's files.
    pub prefix: &'c str,
    /// Names that drivers have for its PMU, without an instance's number, the newest first; empty if none has one.
    #[serde(deserialize_with = "embedded::list")]
    pub pmus: &'c [&'c str],
    /// Events that drivers have names for, and the terms that these stand for: `event=0x04,umask=0x03`.
    #[serde(deserialize_with = "embedded::list")]
    pub aliases: &'c [(&'c str, &'c str)],
    /// Where the unit's control register has the code (`event`) and the umask, each with its extension.
    #[serde(deserialize_with = "embedded::list")]
    pub control: &'c [PmuField<'c>],
    /// Fields of `perf_event_attr`.
    #[serde(deserialize_with = "embedded::list")]
    pub fields: &'c [PmuField<'c>],
    /// Events, by name.
    #[serde(deserialize_with = "embedded::list")]
    pub events: &'c [PmuEvent<'c>],
}

/// A field of `perf_event_attr`, as a PMU's `format` folder has it.
#[derive(Debug, Serialize, Deserialize)]
pub struct PmuField<'c> {
    /// Name, for example `umask`.
    pub name: &'c str,
    /// In which word.
    pub word: AttributeWord,
    /// Its bits, from the value's lowest on.
    #[serde(deserialize_with = "embedded::list")]
    pub bits: &'c [FieldBits],
}

/// Neighbouring bits of a [`PmuField`].
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FieldBits(#[serde(with = "embedded::Bits")] pub BitRange);

/// A word of `perf_event_attr` that a PMU reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AttributeWord {
    /// `config`: the unit's control register.
    Config,
    /// `config1`: filters.
    Config1,
    /// `config2`: more filters.
    Config2,
}

/// Events with the same name up to the dot.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'c"))]
pub struct PmuEvent<'c> {
    /// Index of the name without the unit's prefix.
    pub name: u32,
    /// False if the name in Intel's files does not begin with the unit's prefix.
    pub prefixed: bool,
    /// Event select, with its extension as bit 8.
    pub code: u16,
    /// Events, by what follows the dot.
    #[serde(deserialize_with = "embedded::list")]
    pub rows: &'c [PmuRow<'c>],
}

/// An event.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'c"))]
pub struct PmuRow<'c> {
    /// Index of what follows the dot.
    pub subevent: Option<u32>,
    /// Umask, its extension from bit 8 on.
    pub umask: u64,
    /// Which ports of an I/O stack, `ch_mask`.
    pub ports: u16,
    /// Which flow classes of an I/O stack, `fc_mask`.
    pub flow_classes: u8,
    /// Value of the unit's second filter register that it is meant with.
    pub filter_value: u32,
    /// Filters that it takes, by index, separated by commas.
    pub filters: Option<u32>,
    /// Further fields of the PMU that it sets.
    #[serde(deserialize_with = "embedded::list")]
    pub settings: &'c [(&'c str, u64)],
    /// Counters that can take it, as a bit mask; none if it has one of its own, fixed or free-running.
    pub counters: u16,
    /// True if Intel advises against it.
    pub deprecated: bool,
    /// True if the driver offers it.
    pub offered: bool,
}

impl<'c> PmuField<'c> {
    /// The bits of its word that are its.
    pub fn mask(&self) -> u64 {
        self.bits.iter().fold(0, |mask, range| mask | range.0.mask())
    }

    /// Its value in the word.
    pub fn value(&self, word: u64) -> u64 {
        let (mut value, mut from) = (0, 0);
        for range in self.bits {
            value |= range.0.get(word) << from;
            from += range.0.width;
        }
        value
    }

    /// The word with this value in it; bits of the value that have no place are left out.
    pub fn word(&self, value: u64) -> u64 {
        let (mut word, mut rest) = (0, value);
        for range in self.bits {
            word = range.0.set(word, rest);
            rest = rest.checked_shr(range.0.width.into()).unwrap_or(0);
        }
        word
    }

    /// A filter's name as families with registers have it.
    pub fn filter_name(&self) -> &'c str {
        self.name.strip_prefix("filter_").unwrap_or(self.name)
    }
}

impl<'c> KernelUnit<'c> {
    /// The value of the control register that selects an event, with the bits where the hardware has them.
    pub fn control(&self, event: &PmuEvent<'c>, row: &PmuRow<'c>) -> u64 {
        let placed = |fields: &[PmuField<'c>], name: &str, value: u64| {
            fields.iter().find(|field| field.name == name).map_or(0, |field| field.word(value))
        };
        let select = placed(self.control, "event", event.code.into()) | placed(self.control, "umask", row.umask);
        let masks = [("ch_mask", u64::from(row.ports)), ("fc_mask", u64::from(row.flow_classes))];
        let is_control = |name: &str| self.fields.iter().any(|f| f.name == name && f.word == AttributeWord::Config);
        let settings = row.settings.iter().copied().filter(|(name, _)| is_control(name));
        masks.into_iter().chain(settings).fold(select, |all, (name, value)| all | placed(self.fields, name, value))
    }

    /// The filters that a row is meant with: its filter value lies in the upper half of `config1`, others have names.
    pub fn filters(&self, row: &PmuRow<'c>) -> Vec<(&'c str, u64)> {
        let word = u64::from(row.filter_value) << 32;
        let filters = self.fields.iter().filter(|field| field.word == AttributeWord::Config1);
        let set = filters.filter(|field| field.mask() & word != 0);
        let of_value = set.map(|field| (field.filter_name(), field.value(word)));
        let of_name = row.settings.iter().filter_map(|&(name, value)| Some((self.filter(name)?.filter_name(), value)));
        of_value.chain(of_name).collect()
    }

    /// The driver's field for a filter: it may put `filter_` in front of the name.
    pub fn filter(&self, name: &str) -> Option<&'c PmuField<'c>> {
        let filters = self.fields.iter().filter(|field| field.word != AttributeWord::Config);
        filters.into_iter().find(|field| field.name == name || field.filter_name() == name)
    }
}
