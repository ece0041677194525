//! PMON units: where they stand and the registers they have.

use pericore_registers::{AddressSpace, BitRange};
use serde::{Deserialize, Serialize};

use crate::{
    Event, FieldId, Identity, Measure, Metric, NamedValue, OnePer, RegisterId, Signal, SocketBus, Term, UnitId,
    embedded,
};

/// A kind of PMON unit (all instances alike).
#[derive(Debug, Serialize, Deserialize)]
pub struct Unit<'c> {
    /// What tells it from the family's other units.
    pub id: UnitId,
    /// Command-line name, for example `cbo`.
    pub name: &'c str,
    /// The block that it is, for example `cha-v3`: the same registers and events in each family that has it.
    pub block: &'c str,
    /// Full name.
    pub title: &'c str,
    /// What the unit is.
    pub description: &'c str,
    /// Section of the guide.
    pub source: &'c str,
    /// Unit name in Intel's event files.
    #[serde(borrow)]
    pub intel_unit: Option<&'c str>,
    /// Event prefix in Intel's event files, for example `UNC_C_`.
    #[serde(borrow)]
    pub intel_prefix: Option<&'c str>,
    /// PMU name of Linux perf without the instance suffix, for example `uncore_cbox`.
    #[serde(borrow)]
    pub perf_pmu: Option<&'c str>,
    /// Names that Linux perf has for events of that PMU, and what they stand for: `EVENT.SUBEVENT`, then settings, commas between.
    #[serde(deserialize_with = "embedded::list")]
    pub perf_events: &'c [(&'c str, &'c str)],
    /// Name of the clock domain.
    pub clock: &'c str,
    /// Number of PMON instances in a socket at most; 0 if the unit has no PMON block with a fixed place.
    pub instances: u16,
    /// What there is one instance for, where that depends on the part.
    pub one_per: Option<OnePer>,
    /// Unit type number in the discovery table, on families that have one.
    pub discovery_type: Option<u16>,
    /// Instances that neither hear the socket's freeze nor tell of overflows.
    #[serde(deserialize_with = "embedded::list")]
    pub isolated: &'c [u16],
    /// Programmable counters.
    pub counters: u8,
    /// Width of the programmable counters in bits.
    pub counter_width: u8,
    /// Where instances lie.
    #[serde(deserialize_with = "embedded::list")]
    pub placements: &'c [Placement<'c>],
    /// Registers.
    #[serde(deserialize_with = "embedded::list")]
    pub registers: &'c [Register<'c>],
    /// Sets of fields that share bits of a control register and apply to named events only.
    #[serde(deserialize_with = "embedded::list")]
    pub field_sets: &'c [FieldSet<'c>],
    /// Signals that the hardware feeds to counters.
    #[serde(deserialize_with = "embedded::list")]
    pub signals: &'c [Signal<'c>],
    /// Events.
    #[serde(deserialize_with = "embedded::list")]
    pub events: &'c [Event<'c>],
    /// Derived metrics.
    #[serde(deserialize_with = "embedded::list")]
    pub metrics: &'c [Metric<'c>],
    /// Things a user must know about the whole unit.
    #[serde(deserialize_with = "embedded::list")]
    pub caveats: &'c [&'c str],
}

/// Where the instances of a unit lie in one address space.
#[derive(Debug, Serialize, Deserialize)]
pub struct Placement<'c> {
    /// Name that [`Register::placement`] refers to by index; the first is `main`.
    pub name: &'c str,
    /// Address space.
    #[serde(with = "embedded::Space")]
    pub space: AddressSpace,
    /// One location per instance.
    #[serde(deserialize_with = "embedded::list")]
    pub instances: &'c [Location<'c>],
    /// PCI device IDs, one per instance, or one for all; empty outside PCI.
    #[serde(deserialize_with = "embedded::list")]
    pub device_ids: &'c [u16],
    /// PCI: which of the socket's buses the functions are on.
    pub bus: SocketBus,
}

/// Where one instance's registers start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Location<'c> {
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
        bar: &'c str,
        /// Index of the base address.
        index: u8,
        /// Byte offset from it.
        offset: u64,
    },
}

/// What a register is for; the session and the emulated hardware act by role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
#[derive(Debug, Serialize, Deserialize)]
pub struct Register<'c> {
    /// What tells it from the family's other registers.
    pub id: RegisterId,
    /// Short name; array members append their index.
    pub name: &'c str,
    /// Name in the guide.
    pub guide_name: &'c str,
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
    #[serde(deserialize_with = "embedded::list")]
    pub fields: &'c [Field<'c>],
    /// What it is.
    pub description: &'c str,
    /// Section or table.
    pub source: &'c str,
    /// Things a user must know.
    #[serde(deserialize_with = "embedded::list")]
    pub caveats: &'c [&'c str],
    /// Why every count of it is in doubt, where what the documents say of it cannot all be true.
    #[serde(borrow)]
    pub doubt: Option<&'c str>,
    /// Identity registers: what software finds its way by, if it is known.
    pub identity: Option<Identity>,
    /// Name under which a fixed or free-running counter is counted and stands in metrics, for example `DCLK_FIXED`.
    #[serde(borrow)]
    pub event: Option<&'c str>,
    /// Free-running counters: index into [`Unit::signals`]; none for [`Measure::Clock`].
    pub signal: Option<u16>,
    /// Free-running counters: what is taken from the signal.
    pub measure: Measure,
    /// Free-running counters: which of the signal's pulses or entries.
    #[serde(deserialize_with = "embedded::list")]
    pub when: &'c [Term<'c>],
}

/// How software may use a field, in the guides' letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FieldAccess {
    /// Read only.
    #[serde(rename = "RO")]
    ReadOnly,
    /// Read only, changed by hardware.
    #[serde(rename = "RO-V")]
    ReadOnlyVolatile,
    /// Read and write.
    #[serde(rename = "RW")]
    ReadWrite,
    /// Read and write, changed by hardware.
    #[serde(rename = "RW-V")]
    ReadWriteVolatile,
    /// Write only.
    #[serde(rename = "WO")]
    WriteOnly,
    /// A written 1 clears the bit.
    #[serde(rename = "RW1C")]
    ReadWriteOneClears,
    /// Reserved.
    #[serde(rename = "RV")]
    Reserved,
    /// Ignored: reads as zero, writes have no effect.
    #[serde(rename = "IG")]
    Ignored,
}

/// A field of a register.
#[derive(Debug, Serialize, Deserialize)]
pub struct Field<'c> {
    /// What tells it from the family's other fields.
    pub id: FieldId,
    /// Name; reserved fields are `rsv` and may repeat.
    pub name: &'c str,
    /// Bits.
    #[serde(with = "embedded::Bits")]
    pub bits: BitRange,
    /// Access.
    pub access: FieldAccess,
    /// What it does.
    pub description: &'c str,
    /// Named values.
    #[serde(deserialize_with = "embedded::list")]
    pub values: &'c [NamedValue<'c>],
}

/// Fields that some events lay over bits of the control register.
#[derive(Debug, Serialize, Deserialize)]
pub struct FieldSet<'c> {
    /// Name that events refer to.
    pub name: &'c str,
    /// Fields.
    #[serde(deserialize_with = "embedded::list")]
    pub fields: &'c [Field<'c>],
    /// Table.
    pub source: &'c str,
}
