//! The shape of the compiled catalogue. Every value is `'static`: the build step writes them as Rust statics.

mod decode;
mod deviation;
mod event;
mod family;
mod metric;
mod unit;

pub use decode::{DecodeRole, DecodeRow, Operand, Relation, Selector, Term};
pub use deviation::{Choice, Deviation};
pub use event::{Attribute, Event, FilterNeed, FilterUse, Measure, Signal, SignalKind, Subevent};
pub use family::{ClockDomain, CpuModel, Document, Family, NamedValue, ValueSet};
pub use metric::{Limit, Metric};
pub use unit::{Field, FieldAccess, FieldSet, Location, Placement, Register, Role, Unit};
