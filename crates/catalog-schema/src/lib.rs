//! The shape of the catalogue: what its compiler writes and `pericore-catalog` reads.
//!
//! Rows refer to each other and to texts, for as long as all of them are there (`'c`): those of a user's files lie in
//! an [`Arena`], and go with it. The compiler packs a family's rows into bytes ([`pack`], [`deflate`]), which are
//! embedded in the binary; when the family is first asked for they are inflated, and [`unpack`] reads them. Those are
//! `'static`: their texts are borrowed from the inflated bytes.

mod arena;
mod core_msr;
mod decode;
mod deflated;
mod deviation;
mod embedded;
mod event;
mod family;
mod id;
mod kernel;
mod lookup;
mod metric;
mod pci;
mod processor;
mod topology;
mod unit;

pub use arena::Arena;
pub use core_msr::{CoreMsr, CounterControl, FIRST_FIXED, MsrKind, MsrScope};
pub use decode::{DecodeRole, DecodeRow, Operand, Relation, Selector, Term};
pub use deflated::{deflate, inflate};
pub use deviation::{Choice, Deviation, Judgements};
pub use event::{Attribute, Event, FilterNeed, FilterUse, Measure, Signal, SignalKind, Subevent};
pub use family::{ClockDomain, Document, Family, MetricView, NamedValue, SummaryFigure, ValueSet};
pub use id::{FieldId, Numbering, RegisterId, UnitId};
pub use kernel::{
    AttributeWord, FieldBits, KernelCpu, KernelFamily, KernelMetric, KernelUnit, PmuEvent, PmuField, PmuRow,
};
pub use metric::{Limit, Metric, Quantity, Side};
pub use pci::PciFunction;
pub use processor::{CacheGeometry, CacheKind, CpuModel, CpuidLeaf, ProcessorPart};
pub use topology::{Identity, OnePer, SocketBus};
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

/// The rows that [`pack`] wrote: texts are borrowed from the bytes, and lists stay for the life of the process, so
/// unpack what is shipped, and each family once.
///
/// # Errors
/// Bytes that this version's [`pack`] did not write.
pub fn unpack<'c, T: Deserialize<'c>>(bytes: &'c [u8]) -> Result<T, Error> {
    postcard::from_bytes(bytes)
}
