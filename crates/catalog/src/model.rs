//! The shape of the compiled catalogue. Every value is `'static`: the build step writes them as Rust statics.

use pericore_registers::{AddressSpace, BitRange};

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

/// A kind of PMON unit (all instances alike).
#[derive(Debug)]
pub struct Unit {
    /// Command-line name, for example `cbo`.
    pub name: &'static str,
    /// Full name.
    pub title: &'static str,
    /// What the unit is.
    pub description: &'static str,
    /// Section of the guide.
    pub source: &'static str,
    /// Unit name in Intel's event files.
    pub intel_unit: Option<&'static str>,
    /// Event prefix in Intel's event files, for example `UNC_C_`.
    pub intel_prefix: Option<&'static str>,
    /// PMU name of Linux perf without the instance suffix, for example `uncore_cbox`.
    pub perf_pmu: Option<&'static str>,
    /// Name of the clock domain.
    pub clock: &'static str,
    /// Number of PMON instances in a socket at most; 0 if the unit has no PMON block with a fixed place.
    pub instances: u16,
    /// Unit type number in the discovery table, on families that have one.
    pub discovery_type: Option<u16>,
    /// Instances that neither hear the socket's freeze nor tell of overflows.
    pub isolated: &'static [u16],
    /// Programmable counters.
    pub counters: u8,
    /// Width of the programmable counters in bits.
    pub counter_width: u8,
    /// Where instances lie.
    pub placements: &'static [Placement],
    /// Registers.
    pub registers: &'static [Register],
    /// Sets of fields that share bits of a control register and apply to named events only.
    pub field_sets: &'static [FieldSet],
    /// Signals that the hardware feeds to counters.
    pub signals: &'static [Signal],
    /// Events.
    pub events: &'static [Event],
    /// Derived metrics.
    pub metrics: &'static [Metric],
    /// Things a user must know about the whole unit.
    pub caveats: &'static [&'static str],
}

/// Where the instances of a unit lie in one address space.
#[derive(Debug)]
pub struct Placement {
    /// Name that [`Register::placement`] refers to by index; the first is `main`.
    pub name: &'static str,
    /// Address space.
    pub space: AddressSpace,
    /// One location per instance.
    pub instances: &'static [Location],
    /// PCI device IDs, one per instance, or one for all; empty outside PCI.
    pub device_ids: &'static [u16],
    /// PCI: how many buses after the socket's uncore bus.
    pub bus: u8,
}

/// Where one instance's registers start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// Base MSR number.
    Msr {
        /// MSR number to which register offsets are added.
        base: u32,
    },
    /// PCI function on the socket's uncore bus.
    Pci {
        /// Device number.
        device: u8,
        /// Function number.
        function: u8,
    },
    /// Offset from a base address register that the chassis describes.
    Mmio {
        /// Name of the base address.
        bar: &'static str,
        /// Index of the base address.
        index: u8,
        /// Byte offset from it.
        offset: u64,
    },
}

/// What a register is for; the session and the emulated hardware act by role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Unit-wide freeze and reset.
    UnitControl,
    /// Overflow status of the unit's counters.
    UnitStatus,
    /// Event control of a programmable counter.
    Control,
    /// A programmable counter.
    Counter,
    /// Control of the fixed counter.
    FixedControl,
    /// The fixed counter.
    FixedCounter,
    /// Event filter or match register.
    Filter,
    /// Free-running counter: read only, never stopped.
    FreeRunning,
    /// Socket-wide control.
    GlobalControl,
    /// Socket-wide overflow status.
    GlobalStatus,
    /// Clears overflow status (Nehalem).
    OverflowControl,
    /// Identity, topology or capability; not part of counting.
    Identity,
}

/// A register, or an array of like registers.
#[derive(Debug)]
pub struct Register {
    /// Short name; array members append their index.
    pub name: &'static str,
    /// Name in the guide.
    pub guide_name: &'static str,
    /// What it is for.
    pub role: Role,
    /// Index into [`Unit::placements`].
    pub placement: u8,
    /// Offset from the instance's location: MSR numbers, or bytes in PCI and MMIO space.
    pub offset: u32,
    /// Array length; 1 for a single register.
    pub count: u8,
    /// Distance between array members.
    pub stride: u16,
    /// Width in bits: 8, 16, 32 or 64.
    pub width: u8,
    /// Reset value.
    pub reset: u64,
    /// Fields from the highest bit down; together with reserved fields they cover the register.
    pub fields: &'static [Field],
    /// What it is.
    pub description: &'static str,
    /// Section or table.
    pub source: &'static str,
    /// Things a user must know.
    pub caveats: &'static [&'static str],
    /// Name under which a fixed or free-running counter is counted and stands in metrics, for example `DCLK_FIXED`.
    pub event: Option<&'static str>,
    /// Free-running counters: index into [`Unit::signals`]; none for [`Measure::Clock`].
    pub signal: Option<u16>,
    /// Free-running counters: what is taken from the signal.
    pub measure: Measure,
    /// Free-running counters: which of the signal's pulses or entries.
    pub when: &'static [Term],
}

/// How software may use a field, in the guides' letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldAccess {
    /// Read only.
    ReadOnly,
    /// Read only, changed by hardware.
    ReadOnlyVolatile,
    /// Read and write.
    ReadWrite,
    /// Read and write, changed by hardware.
    ReadWriteVolatile,
    /// Write only.
    WriteOnly,
    /// A written 1 clears the bit.
    ReadWriteOneClears,
    /// Reserved.
    Reserved,
    /// Ignored: reads as zero, writes have no effect.
    Ignored,
}

/// A field of a register.
#[derive(Debug)]
pub struct Field {
    /// Name; reserved fields are `rsv` and may repeat.
    pub name: &'static str,
    /// Bits.
    pub bits: BitRange,
    /// Access.
    pub access: FieldAccess,
    /// What it does.
    pub description: &'static str,
    /// Named values.
    pub values: &'static [NamedValue],
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

/// Fields that some events lay over bits of the control register.
#[derive(Debug)]
pub struct FieldSet {
    /// Name that events refer to.
    pub name: &'static str,
    /// Fields.
    pub fields: &'static [Field],
    /// Table.
    pub source: &'static str,
}

/// What hardware feeds to counters.
#[derive(Debug)]
pub struct Signal {
    /// Name; the implicit signal of an event has the event's name.
    pub name: &'static str,
    /// Pulses or level.
    pub kind: SignalKind,
    /// Attributes that each pulse or level change carries, packed from bit 0 up.
    pub attributes: &'static [Attribute],
    /// What it is.
    pub description: &'static str,
}

/// How a signal behaves in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalKind {
    /// Increments at a cycle.
    Pulses,
    /// A number of entries that holds between changes; an entry's arrival is also a pulse.
    Level,
}

/// A named property of a signal's pulses.
#[derive(Debug, Clone, Copy)]
pub struct Attribute {
    /// Name.
    pub name: &'static str,
    /// Bits in the packed tag.
    pub bits: BitRange,
}

/// What a counter takes from a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Pulses, or a level's arrivals.
    Arrivals,
    /// The level, added up each cycle.
    Occupancy,
    /// Cycles in which the level is not zero.
    NonEmpty,
    /// One each cycle of the unit's clock.
    Clock,
    /// The increment that counter 0 of the same instance sees in this cycle.
    Counter0,
}

/// An event and how it is selected.
#[derive(Debug)]
pub struct Event {
    /// Name in the guide, without unit prefix.
    pub name: &'static str,
    /// Event select.
    pub code: u16,
    /// Value of the control register that selects the event without subevent: no enable, threshold, edge or invert bits.
    pub config: u64,
    /// Counters that can take it, as a bit mask.
    pub counters: u16,
    /// Largest increment in one cycle, where the guide says.
    pub max_increment: Option<u16>,
    /// What it counts.
    pub description: &'static str,
    /// Section or table.
    pub source: &'static str,
    /// Things a user must know.
    pub caveats: &'static [&'static str],
    /// Filter fields that apply to the event.
    pub filters: &'static [FilterUse],
    /// Index into [`Unit::field_sets`] of the fields that the event lays over the control register.
    pub field_set: Option<u8>,
    /// Index into [`Unit::signals`]; none for [`Measure::Clock`] and [`Measure::Counter0`].
    pub signal: Option<u16>,
    /// What is taken from the signal.
    pub measure: Measure,
    /// How umask and filters choose among the signal's pulses.
    pub decode: &'static [DecodeRow],
    /// Subevents; empty if the event has none.
    pub subevents: &'static [Subevent],
    /// Category in the guide.
    pub category: &'static str,
    /// True if a later document than the guide added it.
    pub later: bool,
}

/// A subevent of an event.
#[derive(Debug)]
pub struct Subevent {
    /// Name, without the event's.
    pub name: &'static str,
    /// Unit mask, bits 15:8 of the control register.
    pub umask: Option<u8>,
    /// Value of the control register that selects it; see [`Event::config`].
    pub config: u64,
    /// Counters that can take it.
    pub counters: u16,
    /// Largest increment in one cycle.
    pub max_increment: Option<u16>,
    /// What it counts.
    pub description: &'static str,
    /// Section or table, where it differs from the event's.
    pub source: &'static str,
    /// Things a user must know.
    pub caveats: &'static [&'static str],
    /// Filter fields that apply.
    pub filters: &'static [FilterUse],
    /// True if a later document than the guide added it.
    pub later: bool,
}

/// A filter field that an event can use.
#[derive(Debug, Clone, Copy)]
pub struct FilterUse {
    /// Field name, found in a filter register, in the control register or in the event's field set.
    pub field: &'static str,
    /// What happens if the user does not set it.
    pub need: FilterNeed,
}

/// Whether a filter must be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterNeed {
    /// The event counts nothing useful without it: the user must choose.
    Required,
    /// It narrows the count; without it everything counts.
    Optional,
    /// It must be set, and this value counts everything.
    Default(u64),
}

/// What a bit of the control value means for the signal's pulses.
#[derive(Debug)]
pub struct DecodeRow {
    /// What brings the row into force.
    pub selector: Selector,
    /// How the row combines with others.
    pub role: DecodeRole,
    /// `Any` and `Some` rows are alternatives within their group; each group must hold.
    pub group: u8,
    /// All must hold.
    pub terms: &'static [Term],
}

/// What brings a decode row into force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selector {
    /// It always is.
    Always,
    /// A bit of the umask, 0 to 7, or of its extension, 8 to 39.
    Umask(u8),
    /// A bit of a field of the control register, the event's field set or a filter register.
    Field(&'static str, u8),
}

/// How a decode row combines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeRole {
    /// A pulse counts if any of the selected rows of the group holds, or none is selected.
    Any,
    /// A pulse counts if any of the selected rows of the group holds; with none selected nothing counts.
    Some,
    /// A pulse counts only if all of the selected `All` rows hold.
    All,
    /// Nothing counts unless the row is selected; the terms must hold too.
    Required,
}

/// A test of one of a pulse's attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// Index into [`Signal::attributes`].
    pub attribute: u8,
    /// What is asked of the attribute.
    pub relation: Relation,
    /// What it is compared with.
    pub operand: Operand,
    /// The bits of both that [`Relation::Equals`] compares.
    pub mask: Operand,
}

/// What a term asks of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// It equals the operand in the bits of the mask.
    Equals,
    /// It differs from the operand.
    Differs,
    /// The operand, a bit mask, has the bit that the attribute numbers.
    In,
    /// The attribute, a bit mask, shares a bit with the operand.
    Has,
    /// It is at least as large as the operand.
    AtLeast,
}

/// What an attribute is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// A number.
    Value(u64),
    /// A field of the event's field set, a filter register or the control register, whichever has it first.
    Field(&'static str),
}

/// A derived metric.
#[derive(Debug)]
pub struct Metric {
    /// Name.
    pub name: &'static str,
    /// Expression in the metric language.
    pub expression: &'static str,
    /// What the guide prints, where it differs.
    pub printed: Option<&'static str>,
    /// Unit of measure of the result.
    pub unit_of_measure: &'static str,
    /// What it says.
    pub description: &'static str,
    /// Section or table.
    pub source: &'static str,
    /// Things a user must know.
    pub caveats: &'static [&'static str],
}

/// A place where we differ from a document.
#[derive(Debug)]
pub struct Deviation {
    /// Family.
    pub family: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Event, register, field or metric.
    pub subject: &'static str,
    /// Which property differs.
    pub field: &'static str,
    /// What the guide prints.
    pub guide: &'static str,
    /// What Intel's event file has.
    pub intel: &'static str,
    /// What we have.
    pub ours: &'static str,
    /// Why.
    pub evidence: &'static str,
}

/// A choice where the documents are silent.
#[derive(Debug)]
pub struct Choice {
    /// What it is about.
    pub subject: &'static str,
    /// Family, or `all`.
    pub family: &'static str,
    /// Unit, or `all`.
    pub unit: &'static str,
    /// What the documents say and leave open.
    pub documents: &'static str,
    /// What we do.
    pub choice: &'static str,
    /// Why.
    pub why: &'static str,
    /// Who else does the same.
    pub others: &'static str,
}
