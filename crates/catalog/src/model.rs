//! Rows of what lives as long as the process: the families in the binary, and what the process has added to them.
//!
//! They are [`crate::rows`], whose texts and lists may go sooner, for good.

use std::sync::LazyLock;

use crate::rows::Arena;
pub use crate::rows::{
    AttributeWord, CacheGeometry, CacheKind, CounterControl, CpuModel, CpuidLeaf, DecodeRole, Error, FIRST_FIXED,
    FieldAccess, FieldBits, FieldId, FilterNeed, Identity, KernelCpu, Measure, MsrKind, MsrScope, Numbering, OnePer,
    Quantity, RegisterId, Relation, Role, Side, SignalKind, SocketBus, UnitId, inflate, pack, unpack,
};

/// The arena of rows that are needed for as long as the process lives. What is put into it stays.
pub fn lasting() -> &'static Arena {
    static ROWS: LazyLock<Arena> = LazyLock::new(Arena::default);
    &ROWS
}

macro_rules! rows_for_good {
    ($($row:ident),* $(,)?) => {
        $(
            #[doc = concat!("[`rows::", stringify!($row), "`](crate::rows::", stringify!($row), "), for good.")]
            pub type $row = crate::rows::$row<'static>;
        )*
    };
}

rows_for_good!(
    Attribute,
    Choice,
    ClockDomain,
    CoreMsr,
    DecodeRow,
    Deviation,
    Document,
    Event,
    Family,
    Field,
    FieldSet,
    FilterUse,
    Judgements,
    KernelFamily,
    KernelMetric,
    KernelUnit,
    Limit,
    Location,
    Metric,
    MetricView,
    NamedValue,
    Operand,
    PciFunction,
    Placement,
    PmuEvent,
    PmuField,
    PmuRow,
    ProcessorPart,
    Register,
    Selector,
    Signal,
    Subevent,
    SummaryFigure,
    Term,
    Unit,
    ValueSet,
);
