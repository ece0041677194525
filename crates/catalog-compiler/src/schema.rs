//! The rows of the catalogue files, owned and with their places. The compiled form in `pericore-catalog` mirrors them.
//!
//! Their fields are documented where users meet them: in `pericore_catalog::model` and in `catalog/README.md`.
#![expect(missing_docs, reason = "the compiled form documents each field")]

mod function;
mod judgement;
mod processor;
mod view;

pub use function::FunctionRow;
pub use judgement::{Choice, Deviation};
pub use processor::{CoreMsrRow, ProcessorRow};
pub use view::{SummaryRow, ViewRow};

use pericore_catalog_schema::{
    DecodeRole, FieldAccess, FilterNeed, Identity, Measure, OnePer, Quantity, Relation, Role, Side, SignalKind,
    SocketBus,
};
use pericore_metrics::UnitOfMeasure;

use crate::Place;

/// Everything.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// Families, in file order.
    pub families: Vec<Family>,
    /// Departures from the documents.
    pub deviations: Vec<Deviation>,
    /// Choices where the documents are silent.
    pub choices: Vec<Choice>,
}

/// `families/FAMILY.toml`.
#[derive(Debug, Default)]
pub struct Family {
    pub place: Place,
    pub name: String,
    pub aliases: Vec<String>,
    pub title: String,
    pub documents: Vec<(String, String)>,
    pub cpus: Vec<(u16, u16)>,
    pub clocks: Vec<(String, String)>,
    /// Metrics that are counted when the user names none, as `unit/METRIC`.
    pub default_metrics: Vec<String>,
    /// The file of `views` whose rows it has, too, and where it is named.
    pub shared_views: Option<(String, Place)>,
    pub views: Vec<ViewRow>,
    pub summary: Vec<SummaryRow>,
    /// Rows of the die, with the names of unit instances.
    pub floorplan: Vec<(String, Place)>,
    pub processor: Option<ProcessorRow>,
    pub stubs: Vec<FunctionRow>,
    pub discovery: Option<FunctionRow>,
    pub units: Vec<Unit>,
    pub value_sets: Vec<ValueSet>,
    /// The blocks of its units, with those that these include.
    pub blocks: Vec<String>,
}

/// `blocks/BLOCK/values/NAME.toml`.
#[derive(Debug, Default, Clone)]
pub struct ValueSet {
    pub place: Place,
    pub name: String,
    pub source: String,
    pub values: Vec<NamedValue>,
}

#[derive(Debug, Clone)]
pub struct NamedValue {
    pub place: Place,
    pub name: String,
    pub value: u64,
    pub description: String,
}

/// `blocks/BLOCK/`: a kind of block, which families have as units or which other blocks include.
#[derive(Debug, Default)]
pub struct Block {
    pub name: String,
    /// What `block.toml` says; none for a block that only lends its parts to others.
    pub unit: Option<Unit>,
    pub includes: Vec<Include>,
    pub layouts: Vec<Layout>,
    pub registers: Vec<Register>,
    pub field_sets: Vec<FieldSet>,
    pub signals: Vec<Signal>,
    pub events: Vec<Event>,
    pub metrics: Vec<Metric>,
    pub value_sets: Vec<ValueSet>,
    /// Their family and unit are empty.
    pub deviations: Vec<Deviation>,
}

/// Parts of another block that a block has, too.
#[derive(Debug, Default)]
pub struct Include {
    pub place: Place,
    pub block: String,
    /// Further control fields that its events need here.
    pub select: Vec<(String, u64)>,
    pub without: Vec<(String, Place)>,
}

/// Fields under a name, for registers that are alike.
#[derive(Debug, Clone)]
pub struct Layout {
    pub name: String,
    pub fields: Vec<Field>,
}

/// A unit of a family: a block, where the family has it.
#[derive(Debug, Default, Clone)]
pub struct Unit {
    /// Of the block.
    pub place: Place,
    /// Of its row in the family.
    pub listed: Place,
    pub name: String,
    pub block: String,
    pub title: String,
    pub description: String,
    pub source: String,
    pub intel_unit: Option<String>,
    pub intel_prefix: Option<String>,
    pub perf_pmu: Option<String>,
    /// Names that Linux perf has for events of the unit, and what they stand for.
    pub perf_events: Vec<(String, String)>,
    pub clock: String,
    pub counters: u8,
    pub counter_width: u8,
    pub one_per: Option<OnePer>,
    pub discovery_type: Option<u16>,
    /// Instances that neither hear the socket's freeze nor tell of overflows.
    pub isolated: Vec<u16>,
    pub caveats: Vec<String>,
    pub placements: Vec<Placement>,
    pub registers: Vec<Register>,
    pub field_sets: Vec<FieldSet>,
    pub signals: Vec<Signal>,
    pub events: Vec<Event>,
    pub metrics: Vec<Metric>,
}

#[derive(Debug, Clone)]
pub struct Placement {
    pub place: Place,
    pub name: String,
    pub locations: Locations,
    pub device_ids: Vec<u16>,
    /// PCI: which of the socket's buses the functions are on.
    pub bus: SocketBus,
}

#[derive(Debug, Clone)]
pub enum Locations {
    Msr(Vec<u32>),
    Pci(Vec<(u8, u8)>),
    Mmio(Vec<(String, u8, u64)>),
}

impl Locations {
    pub fn count(&self) -> usize {
        match self {
            Self::Msr(bases) => bases.len(),
            Self::Pci(functions) => functions.len(),
            Self::Mmio(bars) => bars.len(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Register {
    pub place: Place,
    pub name: String,
    pub guide_name: String,
    pub role: Role,
    pub placement: String,
    pub offset: u32,
    pub count: u8,
    pub stride: u16,
    pub width: u8,
    pub reset: u64,
    pub fields: Vec<Field>,
    /// `BLOCK/LAYOUT` that the fields came from.
    pub layout: Option<String>,
    pub description: String,
    pub source: String,
    pub caveats: Vec<String>,
    /// Why every count of it is in doubt.
    pub doubt: Option<String>,
    pub identity: Option<Identity>,
    /// Name under which a fixed or free-running counter is counted and stands in metrics.
    pub event: Option<String>,
    /// Free-running counters: what they take from which signal, and of which entries.
    pub signal: Option<String>,
    pub measure: Measure,
    pub when: Vec<Term>,
    /// Filled in by `resolve`: index into the unit's signals.
    pub signal_index: Option<u16>,
}

impl Register {
    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

#[derive(Debug, Clone)]
pub struct Field {
    pub place: Place,
    pub name: String,
    pub msb: u8,
    pub lsb: u8,
    pub access: FieldAccess,
    pub description: String,
    pub values: Option<String>,
}

impl Field {
    pub fn is_reserved(&self) -> bool {
        matches!(self.name.as_str(), "rsv" | "ig")
    }

    /// The bits, in place.
    pub fn mask(&self) -> u64 {
        let width = u32::from(self.msb - self.lsb) + 1;
        (u64::MAX >> (64 - width)) << self.lsb
    }
}

#[derive(Debug, Clone)]
pub struct FieldSet {
    pub place: Place,
    pub name: String,
    pub source: String,
    pub fields: Vec<Field>,
}

#[derive(Debug, Clone)]
pub struct Signal {
    pub place: Place,
    pub name: String,
    pub kind: SignalKind,
    pub description: String,
    /// Name and width in bits, packed from bit 0 up.
    pub attributes: Vec<(String, u8)>,
}

#[derive(Debug, Clone)]
pub struct Event {
    pub place: Place,
    pub name: String,
    pub code: u16,
    pub counters: Option<u16>,
    pub max_increment: Option<u16>,
    pub category: String,
    pub source: String,
    pub description: String,
    pub caveats: Vec<String>,
    pub filters: Vec<FilterUse>,
    pub later: bool,
    /// Control fields besides event select, from `select` and from shared files.
    pub select: Vec<(String, u64)>,
    pub field_set: Option<String>,
    pub signal: Option<String>,
    pub measure: Measure,
    pub decode: Vec<DecodeRow>,
    pub subevents: Vec<Subevent>,
    /// Another event that has the same encoding on purpose.
    pub same_as: Option<String>,
    /// Filled in by `resolve`.
    pub config: u64,
    /// Filled in by `resolve`: index into the unit's signals.
    pub signal_index: Option<u16>,
}

#[derive(Debug, Clone)]
pub struct Subevent {
    pub place: Place,
    pub name: String,
    pub umask: Option<u64>,
    pub counters: Option<u16>,
    pub max_increment: Option<u16>,
    pub source: Option<String>,
    pub description: String,
    pub caveats: Vec<String>,
    pub filters: Vec<FilterUse>,
    pub later: bool,
    pub select: Vec<(String, u64)>,
    /// Another subevent that has the same encoding on purpose, as `EVENT.SUBEVENT`.
    pub same_as: Option<String>,
    /// Filled in by `resolve`.
    pub config: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterUse {
    pub field: String,
    pub need: FilterNeed,
}

#[derive(Debug, Clone)]
pub struct DecodeRow {
    pub place: Place,
    pub selector: Selector,
    pub role: DecodeRole,
    pub group: u8,
    pub terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    Always,
    Umask(u8),
    Field(String, u8),
}

/// A test of one attribute, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    pub attribute: String,
    pub relation: Relation,
    pub operand: Operand,
    pub mask: Operand,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    Value(u64),
    Field(String),
}

impl DecodeRow {
    /// The fields that the row reads.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        let selecting = match &self.selector {
            Selector::Field(field, _) => Some(field.as_str()),
            Selector::Always | Selector::Umask(_) => None,
        };
        selecting.into_iter().chain(self.terms.iter().flat_map(Term::fields))
    }
}

impl Term {
    /// The fields that the term reads.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        [&self.operand, &self.mask].into_iter().filter_map(|operand| match operand {
            Operand::Field(field) => Some(field.as_str()),
            Operand::Value(_) => None,
        })
    }
}

#[derive(Debug, Clone)]
pub struct Metric {
    pub place: Place,
    pub name: String,
    pub expression: String,
    pub printed: Option<String>,
    pub unit_of_measure: String,
    /// None where the unit of measure tells.
    pub quantity: Option<Quantity>,
    pub side: Option<Side>,
    pub description: String,
    pub source: String,
    pub caveats: Vec<String>,
    pub limit: Option<Limit>,
}

impl Metric {
    /// Whether it adds up, as far as it or its unit of measure says.
    pub fn quantity(&self) -> Option<Quantity> {
        let kind = |adds_up| if adds_up { Quantity::Extensive } else { Quantity::Intensive };
        self.quantity.or_else(|| UnitOfMeasure::from_symbol(&self.unit_of_measure)?.adds_up().map(kind))
    }
}

/// From where on a share says that something limits the machine.
#[derive(Debug, Clone)]
pub struct Limit {
    pub place: Place,
    /// Per cent.
    pub above: u8,
    pub means: String,
    /// Metrics to look at then, as `unit/METRIC`.
    pub see: Vec<String>,
}
