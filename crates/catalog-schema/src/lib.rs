//! The shape of the catalogue: what its compiler writes and `pericore-catalog` reads.
//!
//! The compiler packs a family's rows into bytes ([`pack`]), which are embedded in the binary; [`unpack`] reads them when the
//! family is first asked for. Rows are `'static`: their texts are borrowed from the embedded bytes.

mod core_msr;
mod decode;
mod deviation;
mod embedded;
mod event;
mod family;
mod kernel;
mod lookup;
mod metric;
mod pci;
mod processor;
mod topology;
mod unit;

pub use core_msr::{CoreMsr, CounterControl, FIRST_FIXED, MsrKind, MsrScope};
pub use decode::{DecodeRole, DecodeRow, Operand, Relation, Selector, Term};
pub use deviation::{Choice, Deviation, Judgements};
pub use event::{Attribute, Event, FilterNeed, FilterUse, Measure, Signal, SignalKind, Subevent};
pub use family::{ClockDomain, Document, Family, MetricView, NamedValue, SummaryFigure, ValueSet};
pub use kernel::{
    AttributeWord, FieldBits, KernelCpu, KernelFamily, KernelMetric, KernelUnit, PmuEvent, PmuField, PmuRow,
};
pub use metric::{Limit, Metric, Quantity, Side};
pub use pci::PciFunction;
pub use processor::{CacheGeometry, CacheKind, CpuModel, CpuidLeaf, ProcessorPart};
pub use topology::{Identity, OnePer};
pub use unit::{Field, FieldAccess, FieldSet, Location, Placement, Register, Role, Unit};

pub use postcard::Error;
use serde::{Deserialize, Serialize};

/// Rows as bytes.
///
/// # Errors
/// None for the types of this crate.
pub fn pack<T: Serialize>(rows: &T) -> Result<Vec<u8>, Error> {
    postcard::to_allocvec(rows)
}

/// The rows that [`pack`] wrote. Their lists are allocated for the life of the process: unpack each family once.
///
/// # Errors
/// Bytes that this version's [`pack`] did not write.
pub fn unpack<T: Deserialize<'static>>(bytes: &'static [u8]) -> Result<T, Error> {
    postcard::from_bytes(bytes)
}
